"""The ghosts of the cubed sphere in numbers: links, interpolation, rotation.

Six panels of n x n cells in equiangular coordinates alpha, beta; array axes are (panel, beta,
alpha). Edges are west, east (alpha = -+ pi/4), south, north (beta = -+ pi/4). A ghost in layer k
beyond an edge lies on the neighbour's line of cells k, so it needs interpolation along that line
only. Nothing here knows of our packages: it is what the references and tests are made from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]

WEST, EAST, SOUTH, NORTH = range(4)
LINKS = (
    ("3E", "1W", "5N", "4S"),
    ("0E", "2W", "5E-", "4E"),
    ("1E", "3W", "5S-", "4N-"),
    ("2E", "0W", "5W", "4W-"),
    ("3N-", "1N", "0N", "2N-"),
    ("3S", "1S-", "2S-", "0S"),
)
"""For each panel the neighbours beyond west, east, south and north: panel, edge, and a minus where
the two edges run in opposite directions."""

TAPS = 6
"""Points of the interpolation."""


def links() -> Integers:
    """Return for each panel and edge the neighbour, its edge, and 1 for opposite directions."""
    read = [[(int(t[0]), "WESN".index(t[1]), len(t) > 2) for t in row] for row in LINKS]
    return np.array(read, np.int64)


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a fill of some layers.

    Attributes
    ----------
    links
        Shape (6, 4, 3); see the function.
    first, weights
        The first point and the weights of the interpolation, shapes (layers, n) and
        (layers, n, 6), by layer and place along the edge in the neighbour's direction.
    turn
        The rotation [to, from] of contravariant components, shape (6, 4, layers, n, 2, 2).
    """

    links: Integers
    first: Integers
    weights: Array
    turn: Array


def tables(n: int, layers: int) -> Tables:
    """Return the tables of panels of n x n cells."""
    step = np.pi / 2 / n
    outside = np.pi / 4 + (np.arange(layers)[:, None] + 0.5) * step
    along = -np.pi / 4 + (np.arange(n) + 0.5) * step
    x = (np.arctan(np.tan(along) / np.tan(outside)) + np.pi / 4) / step - 0.5
    first = np.clip(np.floor(x).astype(np.int64) - (TAPS // 2 - 1), 0, n - TAPS)
    weights = np.ones((layers, n, TAPS))
    for r in range(TAPS):
        for other in set(range(TAPS)) - {r}:
            weights[:, :, r] *= (x - first - other) / (r - other)
    found = links()
    turn = np.empty((6, 4, layers, n, 2, 2))
    for panel, edge in np.ndindex(6, 4):
        a: Array = {WEST: -outside, EAST: outside}.get(edge, along)
        b: Array = {SOUTH: -outside, NORTH: outside}.get(edge, along)
        turn[panel, edge] = rotation(panel, found[panel, edge, 0], *np.broadcast_arrays(a, b))
    return Tables(found, first, weights, turn)


def rotation(panel: int, neighbour: int, alpha: Array, beta: Array) -> Array:
    """Return the matrices from a neighbour's basis to a panel's, at points of the panel's plane."""
    X, Y = np.tan(alpha), np.tan(beta)
    mine, place = basis(panel, X, Y)
    there = place @ FRAMES[neighbour]
    its, _ = basis(neighbour, there[..., 1] / there[..., 0], there[..., 2] / there[..., 0])
    metric = mine @ np.swapaxes(mine, -1, -2)
    solved: Array = np.linalg.solve(metric, mine @ np.swapaxes(its, -1, -2))
    return solved


FRAMES = np.array(
    [
        [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
        [(0, -1, 0), (1, 0, 0), (0, 0, 1)],
        [(-1, 0, 0), (0, -1, 0), (0, 0, 1)],
        [(0, 1, 0), (-1, 0, 0), (0, 0, 1)],
        [(0, 0, -1), (0, 1, 0), (1, 0, 0)],
        [(0, 0, 1), (0, 1, 0), (-1, 0, 0)],
    ],
    dtype=float,
)
"""For each panel the matrix from (1, tan alpha, tan beta) to a point in space, up to a factor."""


def basis(panel: int, X: Array, Y: Array) -> tuple[Array, Array]:
    """Return the two basis vectors and the place in space of points on the unit sphere."""
    square = 1 + X * X + Y * Y
    along = np.stack([-X / square, 1 - X * X / square, -X * Y / square], -1)
    across = np.stack([-Y / square, -X * Y / square, 1 - Y * Y / square], -1)
    factors = np.stack([1 + X * X, 1 + Y * Y], -1) / np.sqrt(square)[..., None]
    vectors = factors[..., None] * np.stack([along, across], -2)
    place = np.stack([np.ones_like(X), X, Y], -1) / np.sqrt(square)[..., None]
    return vectors @ FRAMES[panel].T, place @ FRAMES[panel].T
