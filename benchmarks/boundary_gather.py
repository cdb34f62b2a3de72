"""The ghosts of the cubed sphere as rows of a matrix: for SciPy, and for a gather in Numba."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from apps.swe import geometry
from benchmarks.boundary_fortran import Integers, links
from benchmarks.fortran import Array, Call

EDGES = ((1, 0), (1, -1), (0, 0), (0, -1))
"""For west, east, south and north: the axis of (beta, alpha) across the edge, and its end."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of ghosts, in the flat numbering of a field with its ghosts.

    Attributes
    ----------
    size
        The number of points of the field.
    target, index, weights
        The place of each ghost, shape (ghosts,); the points that it reads, and their weights,
        shapes (ghosts, taps).
    turn
        The rotation of a vector at each ghost, shape (ghosts, 2, 2).
    """

    size: int
    target: Integers
    index: Integers
    weights: NDArray[np.floating[Any]]
    turn: Array


def ghost_rows(n: int, width: int) -> Rows:
    """Return the rows of all ghosts of panels of n x n cells."""
    places = np.arange(6 * (n + 2 * width) ** 2).reshape(6, n + 2 * width, n + 2 * width)
    first, weights = geometry.interpolation(n, width)
    turn = np.moveaxis(geometry.rotations(n, width), (0, 1), (-2, -1))
    target, index = [], []
    for panel, edge in np.ndindex(6, 4):
        there, its, against = links()[panel, edge]
        outside = [_line(places[panel], edge, width - 1 - k, width) for k in range(width)]
        inside = [_line(places[there - 1], its - 1, width + k, width) for k in range(width)]
        lines = np.array(inside)[:, :: -1 if against else 1]
        reads = first[..., None] + np.arange(weights.shape[-1])
        target.append(np.array(outside).ravel())
        index.append(np.take_along_axis(lines[:, None], reads, 2).reshape(-1, weights.shape[-1]))
    repeated = np.tile(weights.reshape(-1, weights.shape[-1]), (24, 1))
    return Rows(
        places.size,
        np.concatenate(target),
        np.concatenate(index),
        repeated,
        np.ascontiguousarray(turn.reshape(-1, 2, 2)),
    )


def _line(panel: Integers, edge: int, depth: int, width: int) -> Integers:
    """Return the points of a panel at a depth, counted inwards from the outermost of an edge."""
    axis, end = EDGES[edge]
    line: Integers = np.take(panel, depth if end == 0 else -1 - depth, axis)[width:-width]
    return line


def matrices(rows: Rows) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the ghost rows of a scalar, and those of a vector of two components."""
    count, taps = rows.index.shape
    starts = np.arange(0, count * taps + 1, taps)
    scalar = sparse.csr_array(
        (rows.weights.ravel(), rows.index.ravel(), starts), shape=(count, rows.size)
    )
    vector = sparse.block_array(
        [[sparse.diags_array(rows.turn[:, c, d]) @ scalar for d in range(2)] for c in range(2)],
        format="csr",
    )
    return _short(scalar), _short(vector)


def _short(matrix: Any) -> sparse.csr_array:
    """Return a matrix with 32-bit indices."""
    matrix = sparse.csr_array(matrix)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


def csr(rows: Rows, h: Array, u: Array) -> Call:
    """Bind the fill by SciPy's product with the ghost rows."""
    scalar, vector = matrices(rows)
    target, both = rows.target, np.concatenate([rows.target, rows.size + rows.target])
    flat, pair = h.reshape(-1), u.reshape(-1)

    def call() -> None:
        flat[target] = scalar @ flat
        pair[both] = vector @ pair

    return call


def whole(rows: Rows, h: Array, u: Array) -> Call:
    """Bind the fill by SciPy's product with a square matrix, an identity but for the ghosts."""
    scalar, vector = matrices(rows)
    squares = []
    for matrix, size, target in (
        (scalar, rows.size, rows.target),
        (vector, 2 * rows.size, np.concatenate([rows.target, rows.size + rows.target])),
    ):
        ones = np.ones(size)
        ones[target] = 0
        place = sparse.csr_array(
            (np.ones(target.size), (target, np.arange(target.size))), shape=(size, target.size)
        )
        squares.append(_short(sparse.diags_array(ones) + place @ matrix))
    flat, pair = h.reshape(-1), u.reshape(-1)

    def call() -> None:
        flat[:] = squares[0] @ flat
        pair[:] = squares[1] @ pair

    return call


@cache
def compiled() -> Callable[..., None]:
    """Return the compiled gather."""
    import numba

    @numba.njit("void(int64[::1], int64[::1], int64[::1], float64[::1], float64[::1])")
    def gather(target: Any, starts: Any, index: Any, weights: Any, x: Any) -> None:
        for row in range(target.size):
            total = 0.0
            for entry in range(starts[row], starts[row + 1]):
                total += weights[entry] * x[index[entry]]
            x[target[row]] = total

    made: Callable[..., None] = gather
    return made


def gathered(rows: Rows, h: Array, u: Array) -> Call:
    """Bind the fill by a generic gather: an index and a weight for each entry."""
    scalar, vector = matrices(rows)
    target, both = rows.target, np.concatenate([rows.target, rows.size + rows.target])
    data = [
        (to, m.indptr.astype(np.int64), m.indices.astype(np.int64), m.data, x.reshape(-1))
        for to, m, x in ((target, scalar, h), (both, vector, u))
    ]
    gather = compiled()

    def call() -> None:
        gather(*data[0])
        gather(*data[1])

    return call
