"""The cubed sphere: six panels, their metric, and where the ghost points of a panel lie.

Panels 0 to 3 surround the equator, 4 is in the north, 5 in the south. On each, ``alpha`` and
``beta`` run from -pi/4 to pi/4 (equiangular). With ``X = tan(alpha)``, ``Y = tan(beta)`` a point is

    r = M (1, X, Y) / rho,    rho^2 = 1 + X^2 + Y^2,    M the rotation of its panel.

The same formulas hold slightly outside of a panel, where its ghost points lie. The metric is the
same on all panels. Arrays of points are ordered ``[beta, alpha]``; components come first. A panel
is a number, or an array of numbers that broadcasts with the points; `PANELS` gives all six.

References
----------
Ronchi, Iacono, Paolucci, The "cubed sphere", J. Comput. Phys. 124 (1996) 93-114.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import boundary as bc

Array = NDArray[np.floating[Any]]

RADIUS = 6.37122e6
"""The radius of the Earth in metres."""

EDGE = np.pi / 4
"""The largest alpha and beta of a panel."""

MATRICES = np.array(
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
        [[-1, 0, 0], [0, -1, 0], [0, 0, 1]],
        [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
        [[0, 0, -1], [0, 1, 0], [1, 0, 0]],
        [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
    ]
)
"""The rotation of each panel, from ``(1, X, Y)`` to Cartesian coordinates."""

PANELS = np.arange(6)[:, None, None]
"""All panels, to be broadcast with points ``[beta, alpha]``."""

SIDES = "WESN"
"""The edges of a panel in the order of all tables: low and high alpha, low and high beta."""


class Metric(NamedTuple):
    """The metric at some points; ``J`` is the area of a unit of alpha and beta."""

    J: Array
    lower: tuple[Array, Array, Array]
    """Covariant: G_11, G_12, G_22."""
    upper: tuple[Array, Array, Array]
    """Contravariant: G^11, G^12, G^22."""


class Christoffel(NamedTuple):
    """The Christoffel symbols that are not zero: ``g1_12`` is Gamma^1_12."""

    g1_11: Array
    g1_12: Array
    g2_12: Array
    g2_22: Array


class Link(NamedTuple):
    """The neighbor beyond an edge: a panel, its edge, and whether that is reversed."""

    panel: int
    side: str
    reversed: bool


def centres(n: int, width: int = 0) -> Array:
    """Return the coordinates of the cells of a line, with some ghosts at both ends.

    Examples
    --------
    >>> centres(2) * 8 / np.pi
    array([-1.,  1.])
    """
    return (np.arange(-width, n + width) + 0.5) * (2 * EDGE / n) - EDGE


def faces(n: int) -> Array:
    """Return the coordinates of the ends of the cells of a line."""
    return np.arange(n + 1) * (2 * EDGE / n) - EDGE


def grid(n: int) -> tuple[Array, Array]:
    """Return alpha and beta of the cell centres of a panel, shapes (1, n) and (n, 1)."""
    return centres(n)[None, :], centres(n)[:, None]


def position(panel: Any, alpha: Array, beta: Array) -> Array:
    """Return the points as unit vectors, shape (3, ...).

    Examples
    --------
    >>> position(4, np.array(0.0), np.array(0.0)).tolist()
    [0.0, 0.0, 1.0]
    """
    X, Y = np.broadcast_arrays(np.tan(alpha), np.tan(beta))
    return _turned(panel, np.stack([np.ones_like(X), X, Y]) / np.sqrt(1 + X**2 + Y**2))


def coordinates(panel: Any, r: Array) -> tuple[Array, Array]:
    """Return alpha and beta of points on or near a panel; the inverse of `position`."""
    v = np.einsum("...rc,r...->c...", MATRICES[panel], r)
    return np.arctan2(v[1], v[0]), np.arctan2(v[2], v[0])


def lonlat(r: Array) -> tuple[Array, Array]:
    """Return longitude and latitude of unit vectors, in radians."""
    return np.arctan2(r[1], r[0]), np.arcsin(np.clip(r[2], -1.0, 1.0))


def basis(panel: Any, alpha: Array, beta: Array) -> Array:
    """Return the basis vectors along alpha and beta in metres, shape (2, 3, ...)."""
    X, Y = np.broadcast_arrays(np.tan(alpha), np.tan(beta))
    d = 1 + X**2 + Y**2
    along = np.stack([-X, d - X**2, -X * Y]) * (1 + X**2)
    up = np.stack([-Y, -X * Y, d - Y**2]) * (1 + Y**2)
    scale = RADIUS / (d * np.sqrt(d))
    return np.stack([_turned(panel, scale * along), _turned(panel, scale * up)])


def _turned(panel: Any, v: Array) -> Array:
    return np.asarray(np.einsum("...rc,c...->r...", MATRICES[panel], v))


def metric(alpha: Array, beta: Array) -> Metric:
    """Return the metric at some points."""
    X, Y = np.tan(alpha), np.tan(beta)
    x, y, d = 1 + X**2, 1 + Y**2, 1 + X**2 + Y**2
    c = RADIUS**2 * x * y / d**2
    J = RADIUS**2 * x * y / (d * np.sqrt(d))
    lower = c * x, -c * X * Y, c * y
    return Metric(J, lower, (lower[2] / J**2, -lower[1] / J**2, lower[0] / J**2))


def christoffel(alpha: Array, beta: Array) -> Christoffel:
    """Return the Christoffel symbols at some points."""
    X, Y = np.tan(alpha), np.tan(beta)
    d = 1 + X**2 + Y**2
    return Christoffel(2 * X * Y**2 / d, -Y * (1 + Y**2) / d, -X * (1 + X**2) / d, 2 * X**2 * Y / d)


def compass(r: Array) -> Array:
    """Return the unit vectors to the east and to the north, shape (2, 3, ...)."""
    lon, lat = lonlat(r)
    east = np.stack([-np.sin(lon), np.cos(lon), np.zeros_like(lon)])
    north = np.stack([-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)])
    return np.stack([east, north])


def contravariant(panel: Any, alpha: Array, beta: Array, wind: Array) -> Array:
    """Return the components u1, u2 in rad/s of a wind to the east and north in m/s, (2, ...)."""
    upper = metric(alpha, beta).upper
    cartesian = np.einsum("e...,er...->r...", wind, compass(position(panel, alpha, beta)))
    u = np.einsum("ir...,r...->i...", basis(panel, alpha, beta), cartesian)
    return np.stack([upper[0] * u[0] + upper[1] * u[1], upper[1] * u[0] + upper[2] * u[1]])


def wind(panel: Any, alpha: Array, beta: Array, u: Array) -> Array:
    """Return the wind to the east and north in m/s of components u1, u2; see `contravariant`."""
    cartesian = np.einsum("i...,ir...->r...", u, basis(panel, alpha, beta))
    east_north = compass(position(panel, alpha, beta))
    return np.asarray(np.einsum("er...,r...->e...", east_north, cartesian))


def rotation(to: int, panel: int, r: Array) -> Array:
    """Return the matrices from components of one panel to those of another, shape (2, 2, ...).

    ``u[i] on to = sum over j of T[i, j] u[j] on panel``, at points given as unit vectors.
    """
    here, there = coordinates(to, r), coordinates(panel, r)
    upper = metric(*here).upper
    E = np.einsum("ir...,jr...->ij...", basis(to, *here), basis(panel, *there))
    return np.stack([upper[0] * E[0] + upper[1] * E[1], upper[1] * E[0] + upper[2] * E[1]])


@cache
def link(panel: int, side: str) -> Link:
    """Return the connection of an edge of a panel to the neighbouring panel.

    Examples
    --------
    >>> link(1, "S")
    Link(panel=5, side='E', reversed=True)
    """
    ends: tuple[Literal["low", "high"], ...] = "low", "high"
    at = SIDES.index(side)
    found = bc.cubed_sphere().link(bc.Side(panel, 1 - at // 2, ends[at % 2]))
    assert found is not None
    there = found.there
    other = SIDES[2 * (1 - there.axis) + ends.index(there.end)]
    return Link(there.block, other, found.flips[0])


def ghosts(n: int, side: str, width: int = 3) -> tuple[Array, Array]:
    """Return alpha and beta of the ghost cells beyond an edge, shape (width, n): [k, t].

    ``k`` counts away from the edge, ``t`` along it.
    """
    outside = EDGE + (np.arange(width) + 0.5) * (2 * EDGE / n)
    across, along = np.meshgrid(outside, centres(n), indexing="ij")
    across = across if side in "EN" else -across
    return (across, along) if side in "WE" else (along, across)


def interpolation(n: int, width: int = 3, taps: int = 6) -> tuple[NDArray[np.int64], Array]:
    """Return first indices and weights of the interpolation of ghost cells from the neighbour.

    A ghost lies on a line of centres of the neighbour, which is as far inside as the ghost is
    outside, at ``s = arctan(tan(tau) / tan(pi/4 + delta))``. So

        ghost[k, t] = sum over r of w[k, t, r] line[k, i0[k, t] + r],

    where ``line[k]`` is that line in the direction of t.

    Parameters
    ----------
    taps
        The even number of points of the stencil, which is the order of the interpolation.

    Returns
    -------
    Arrays i0 (width, n) and w (width, n, taps).

    Examples
    --------
    >>> i0, w = interpolation(8)
    >>> int(i0[2, 3]), w[2, 3].round(4).tolist()
    (1, [0.0112, -0.0972, 0.7535, 0.402, -0.0793, 0.0099])
    """
    step = 2 * EDGE / n
    delta = (np.arange(width)[:, None] + 0.5) * step
    s = np.arctan(np.tan(centres(n)) / np.tan(EDGE + delta))
    x = (s + EDGE) / step - 0.5
    first = np.clip(np.floor(x).astype(np.int64) - (taps // 2 - 1), 0, n - taps)
    at = x - first
    w = np.ones((width, n, taps))
    for r in range(taps):
        for other in set(range(taps)) - {r}:
            w[..., r] *= (at - other) / (r - other)
    return first, w


def rotations(n: int, width: int = 3) -> Array:
    """Return the rotation from the neighbour at all ghosts, shape (2, 2, 6, 4, width, n).

    The axes are components, panel, edge in the order of `SIDES`, k and t.
    """
    T = np.empty((2, 2, 6, 4, width, n))
    for panel in range(6):
        for e, side in enumerate(SIDES):
            r = position(panel, *ghosts(n, side, width))
            T[:, :, panel, e] = rotation(panel, link(panel, side).panel, r)
    return T


def averages(
    n: int,
    function: Callable[[Any, Array, Array], Array],
    points: tuple[Any, Array, Array] | None = None,
) -> Array:
    """Return the mean of a function over the alpha and beta of each cell, by 16 Gauss points.

    Parameters
    ----------
    function
        Takes panels, alpha and beta and returns an array (..., 6, n, n).
    points
        Panels and centres of some cells; of all cells by default.
    """
    nodes, weights = np.polynomial.legendre.leggauss(4)
    panel, alpha, beta = (PANELS, *grid(n)) if points is None else points
    half = EDGE / n
    return sum(  # type: ignore[return-value]
        wa * wb / 4 * function(panel, alpha + half * a, beta + half * b)
        for a, wa in zip(nodes, weights, strict=True)
        for b, wb in zip(nodes, weights, strict=True)
    )


def areas(n: int, alpha: Array | None = None, beta: Array | None = None) -> Array:
    """Return the area of the cells of a panel in square metres, shape (n, n).

    Parameters
    ----------
    alpha, beta
        The centres of some cells, which broadcast; those of all cells by default.

    Examples
    --------
    >>> sphere = 4 * np.pi * RADIUS**2
    >>> float(round(6 * areas(16).sum() / sphere, 12))
    1.0
    """
    points = None if alpha is None or beta is None else (0, alpha, beta)
    return (2 * EDGE / n) ** 2 * averages(n, lambda panel, *at: metric(*at).J, points)
