"""From averages over cells to values at their centres: depth, velocity, vorticity.

The state of a solver is an array (3, 6, n, n) with the averages of ``J h``, ``J h u1``, ``J h u2``
over alpha and beta. All formulas use values of one panel only, and are one-sided at its edges.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from . import geometry
from .cases import Case, mean
from .geometry import Array


class Fields(NamedTuple):
    """Values at the centres, each of shape (6, n, n)."""

    h: Array
    """The depth of the water in metres."""
    u1: Array
    """The contravariant velocity along alpha in rad/s."""
    u2: Array
    """The one along beta."""
    H: Array
    """The height of the surface in metres."""
    zeta: Array
    """The relative vorticity in 1/s."""


def second(v: Array, axis: int) -> Array:
    """Return second differences along an axis, at each end from the four values next to it.

    Examples
    --------
    >>> second(np.arange(5.0) ** 2, axis=0)
    array([2., 2., 2., 2., 2.])
    """
    v = np.moveaxis(v, axis, 0)
    d = np.empty_like(v)
    d[1:-1] = v[:-2] - 2 * v[1:-1] + v[2:]
    for end, w in (0, v), (-1, v[::-1]):
        d[end] = 2 * w[0] - 5 * w[1] + 4 * w[2] - w[3]
    return np.moveaxis(d, 0, axis)


def to_points(averages: Array) -> Array:
    """Return values at centres, to fourth order, of averages over cells ``[..., beta, alpha]``."""
    return averages - (second(averages, -1) + second(averages, -2)) / 24


def to_averages(points: Array) -> Array:
    """Return averages over cells, to fourth order, of values at their centres."""
    return points + (second(points, -1) + second(points, -2)) / 24


def derivative(v: Array, axis: int) -> Array:
    """Return derivatives along an axis to fourth order, for points at distance one.

    Examples
    --------
    >>> derivative(np.arange(6.0) ** 4, axis=0).round(9).tolist()
    [0.0, 4.0, 32.0, 108.0, 256.0, 500.0]
    """
    v = np.moveaxis(v, axis, 0)
    d = np.empty_like(v)
    d[2:-2] = (8 * (v[3:-1] - v[1:-3]) - (v[4:] - v[:-4])) / 12
    for sign, end, w in (1, d[:2], v), (-1, d[:-3:-1], v[::-1]):
        end[0] = sign * (-25 * w[0] + 48 * w[1] - 36 * w[2] + 16 * w[3] - 3 * w[4]) / 12
        end[1] = sign * (-3 * w[0] - 10 * w[1] + 18 * w[2] - 6 * w[3] + w[4]) / 12
    return np.moveaxis(d, 0, axis)


def vorticity(u1: Array, u2: Array) -> Array:
    """Return the relative vorticity in 1/s of contravariant velocities, shapes (6, n, n)."""
    n = u1.shape[-1]
    J, (G11, G12, G22), _ = geometry.metric(*geometry.grid(n))
    down1, down2 = G11 * u1 + G12 * u2, G12 * u1 + G22 * u2
    step = 2 * geometry.EDGE / n
    curl: Array = (derivative(down2, -1) - derivative(down1, -2)) / (step * J)
    return curl


@lru_cache(maxsize=8)
def bottom(case: Case, n: int) -> tuple[Array, Array]:
    """Return J and the bottom as the scheme has them at centres, shapes (n, n) and (6, n, n).

    They come from averages as the state does, so that water at rest has a level surface.
    """
    J = to_points(mean(lambda lon, lat: np.ones_like(lon), n)[0])
    return J, to_points(mean(case.bottom, n)) / J


def fields(state: Array, case: Case) -> Fields:
    """Return the fields of a state (3, 6, n, n)."""
    n = state.shape[-1]
    J, b = bottom(case, n)
    water = to_points(state)
    h = water[0] / J
    u1, u2 = case.velocity(n) if case.passive else water[1:] / water[0]
    return Fields(h, u1, u2, h + b, vorticity(u1, u2))
