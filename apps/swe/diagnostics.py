"""The numbers by which a run is judged: errors, invariants, the Courant number.

Integrals over the sphere are sums of values at centres times areas of cells.
"""

from typing import NamedTuple

import numpy as np

from . import geometry
from .cases import GRAVITY, Case, at_centres
from .fields import Fields, bottom
from .geometry import RADIUS, Array


class Norms(NamedTuple):
    """Errors of the depth, each relative to the norm of the exact depth."""

    l1: float
    l2: float
    linf: float


class Invariants(NamedTuple):
    """Mass, energy and potential enstrophy, which a flow conserves; NaN where meaningless."""

    mass: float
    energy: float
    enstrophy: float

    def drift(self, start: "Invariants") -> "Invariants":
        """Return the changes since the start, each relative to its value there.

        Examples
        --------
        >>> Invariants(1.5, 1.0, 2.0).drift(Invariants(1.0, 1.0, 4.0))
        Invariants(mass=0.5, energy=0.0, enstrophy=-0.5)
        """
        return Invariants(*((now - then) / then for now, then in zip(self, start, strict=True)))


def norms(depth: Array, exact: Array) -> Norms:
    """Return the errors of mean depths of cells, shapes (6, n, n)."""
    area = geometry.areas(depth.shape[-1])
    error = depth - exact
    return Norms(
        float(np.sum(abs(error) * area) / np.sum(abs(exact) * area)),
        float(np.sqrt(np.sum(error**2 * area) / np.sum(exact**2 * area))),
        float(abs(error).max() / abs(exact).max()),
    )


def depth(state: Array) -> Array:
    """Return the mean depths of the cells of a state (3, 6, n, n)."""
    n = state.shape[-1]
    mean: Array = state[0] * (np.pi / 2 / n) ** 2 / geometry.areas(n)
    return mean


def invariants(state: Array, fields: Fields, case: Case) -> Invariants:
    """Return the invariants of a state and its values at centres."""
    n = state.shape[-1]
    mass = float(state[0].sum()) * (np.pi / 2 / n) ** 2
    if case.passive:
        return Invariants(mass, np.nan, np.nan)
    h, u1, u2, H, zeta = fields
    area, b = geometry.areas(n), bottom(case, n)[1]
    energy = h * _square(u1, u2) / 2 + GRAVITY * (H**2 - b**2) / 2
    enstrophy = (zeta + at_centres(case.coriolis, n)) ** 2 / (2 * h)
    return Invariants(mass, float(np.sum(energy * area)), float(np.sum(enstrophy * area)))


def speeds(state: Array, case: Case) -> Array:
    """Return the speed of the fastest wave in each cell, in m/s; NaN where there is no water."""
    u1, u2 = case.velocity(state.shape[-1]) if case.passive else state[1:] / state[0]
    still = np.zeros_like(u1) if case.passive else np.sqrt(GRAVITY * depth(state))
    fastest: Array = np.sqrt(_square(u1, u2)) + still
    return fastest


def courant(speed: float, n: int, dt: float) -> float:
    """Return the Courant number of a time step; the scheme is stable up to about one.

    It is that of the smallest cells: ``dt speed sqrt(1.5) / (a pi / (2 n))``.

    Examples
    --------
    >>> round(courant(300.0, 32, 600.0), 3)
    0.705
    """
    return float(dt * speed * np.sqrt(1.5) / (RADIUS * np.pi / 2 / n))


def _square(u1: Array, u2: Array) -> Array:
    """Return the square of the speed of contravariant velocities, in (m/s)^2."""
    G11, G12, G22 = geometry.metric(*geometry.grid(u1.shape[-1])).lower
    square: Array = G11 * u1**2 + 2 * G12 * u1 * u2 + G22 * u2**2
    return square
