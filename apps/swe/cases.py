"""The flows that the solver is tested with: initial states, bottoms, rotation, solutions.

Five are those of Williamson et al. (tc1, tc2, tc5, tc6) and of Galewsky et al. (galewsky); ``jet``
is the last one without its perturbation and is steady; ``rest`` is water at rest over a mountain.
All functions take longitude and latitude in radians and return metres, seconds and so on.

References
----------
Williamson, Drake, Hack, Jakob, Swarztrauber, A standard test set for numerical approximations to
the shallow water equations in spherical geometry, J. Comput. Phys. 102 (1992) 211-224.
Galewsky, Scott, Polvani, An initial-value problem for testing numerical models of the global
shallow-water equations, Tellus A 56 (2004) 429-440.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .geometry import (
    PANELS,
    RADIUS,
    Array,
    averages,
    contravariant,
    grid,
    lonlat,
    metric,
    position,
)

OMEGA = 7.292e-5
"""The angular speed of the Earth in rad/s."""

GRAVITY = 9.80616
"""In m/s2."""

DAY = 86400.0
"""In seconds."""

Scalar = Callable[[Array, Array], Array]
"""A function of longitude and latitude."""

Points = tuple[Any, Array, Array]
"""Panels, alpha and beta of some points, which broadcast to ``[panel, beta, alpha]``."""


def flat(lon: Array, lat: Array) -> Array:
    """Return zero: no mountains."""
    return np.zeros_like(lon)


def earth(lon: Array, lat: Array) -> Array:
    """Return the Coriolis parameter, ``2 Omega sin(lat)``."""
    return 2 * OMEGA * np.sin(lat)


@dataclass(frozen=True)
class Case:
    """A flow.

    Parameters
    ----------
    depth
        The depth of the water at the start, above the bottom.
    wind
        Its velocity to the east and to the north, an array (2, ...).
    days
        How long it is usually run.
    step
        The time step in seconds for 32 cells along a panel; it is shorter for more cells.
    exact
        The depth at a time in seconds, or None where it is not known.
    passive
        Whether the wind never changes and the depth is only carried with it.
    element_step
        The time step in seconds for one spectral element along a panel.
    rough
        Whether spectral elements need viscosity: waves of the grid come up.
    """

    name: str
    title: str
    depth: Scalar
    wind: Scalar
    days: float
    step: float
    bottom: Scalar = flat
    coriolis: Scalar = earth
    exact: Callable[[float], Scalar] | None = None
    passive: bool = False
    element_step: float = 4000
    rough: bool = False

    def dt(self, n: int) -> float:
        """Return the usual time step for n cells along a panel."""
        return self.step * 32 / n

    def element_dt(self, n: int) -> float:
        """Return the usual time step for n spectral elements along a panel."""
        return self.element_step / n

    def state(self, n: int, points: Points | None = None) -> Array:
        """Return the averages of J h, J h u1, J h u2 over cells, shape (3, 6, n, n) for all."""

        def density(panel: Any, alpha: Array, beta: Array) -> Array:
            place = lonlat(position(panel, alpha, beta))
            u = contravariant(panel, alpha, beta, self.wind(*place))
            water = metric(alpha, beta).J * self.depth(*place)
            return np.stack([water, water * u[0], water * u[1]])

        return averages(n, density, points)

    def velocity(self, n: int, points: Points | None = None) -> Array:
        """Return u1 and u2 at centres at the start, shape (2, 6, n, n) for all cells."""
        where: Points = (PANELS, *grid(n)) if points is None else points
        return contravariant(*where, self.wind(*lonlat(position(*where))))


def at_centres(function: Scalar, n: int) -> Array:
    """Return a function at the centres, shape (6, n, n)."""
    return function(*lonlat(position(PANELS, *grid(n))))


def mean(function: Scalar, n: int, points: Points | None = None) -> Array:
    """Return the averages of J times a function over cells, shape (6, n, n) for all of them."""

    def density(panel: Any, alpha: Array, beta: Array) -> Array:
        return metric(alpha, beta).J * function(*lonlat(position(panel, alpha, beta)))

    return averages(n, density, points)


def steady(depth: Scalar) -> Callable[[float], Scalar]:
    """Return the solution that does not change in time."""
    return lambda seconds: depth


def _turn(speed: float, angle: float) -> Scalar:
    """Return the wind of a solid rotation about an axis that is tilted by an angle."""

    def wind(lon: Array, lat: Array) -> Array:
        east = np.cos(lat) * np.cos(angle) + np.cos(lon) * np.sin(lat) * np.sin(angle)
        return speed * np.stack([east, -np.sin(lon) * np.sin(angle)])

    return wind


def _sine(angle: float) -> Scalar:
    """Return the sine of the latitude with respect to a tilted axis."""
    return lambda lon, lat: np.sin(lat) * np.cos(angle) - np.cos(lon) * np.cos(lat) * np.sin(angle)


def _zonal(height: float, speed: float, angle: float) -> Scalar:
    """Return the height of the surface that keeps a solid rotation in balance."""
    drop = (RADIUS * OMEGA * speed + speed**2 / 2) / GRAVITY
    sine = _sine(angle)
    return lambda lon, lat: height - drop * sine(lon, lat) ** 2


def tc1(angle: float) -> Case:
    """Return a cosine bell that is carried around the sphere once."""
    speed = 2 * np.pi * RADIUS / (12 * DAY)
    start = np.array([0.0, -1.0, 0.0])
    ahead = np.cross([-np.sin(angle), 0.0, np.cos(angle)], start)

    def bell(seconds: float) -> Scalar:
        turned = speed * seconds / RADIUS
        x, y, z = start * np.cos(turned) + ahead * np.sin(turned)

        def depth(lon: Array, lat: Array) -> Array:
            cosine = (x * np.cos(lon) + y * np.sin(lon)) * np.cos(lat) + z * np.sin(lat)
            r = np.minimum(np.arccos(np.clip(cosine, -1.0, 1.0)), 1 / 3)
            height: Array = 500.0 * (1 + np.cos(3 * np.pi * r))
            return height

        return depth

    title = "advection of a cosine bell"
    wind = _turn(speed, angle)
    return Case(
        "tc1", title, bell(0.0), wind, 12, 2160, exact=bell, passive=True, element_step=14400
    )


def tc2(angle: float) -> Case:
    """Return the steady flow in geostrophic balance; the Coriolis parameter is tilted with it."""
    speed = 2 * np.pi * RADIUS / (12 * DAY)
    depth, sine = _zonal(2.94e4 / GRAVITY, speed, angle), _sine(angle)
    return Case(
        "tc2",
        "steady geostrophic flow",
        depth,
        _turn(speed, angle),
        5,
        600,
        coriolis=lambda lon, lat: 2 * OMEGA * sine(lon, lat),
        exact=steady(depth),
    )


def mountain(lon: Array, lat: Array) -> Array:
    """Return the cone of tc5: 2000 m high, at 90 W 30 N."""
    r = np.hypot(np.mod(lon, 2 * np.pi) - 1.5 * np.pi, lat - np.pi / 6)
    height: Array = 2000.0 * (1 - np.minimum(9 * r / np.pi, 1.0))
    return height


def tc5() -> Case:
    """Return a zonal flow that meets a mountain."""
    surface = _zonal(5960.0, 20.0, 0.0)
    title = "zonal flow over a mountain"
    wind = _turn(20.0, 0.0)
    return Case("tc5", title, _above(surface), wind, 15, 600, bottom=mountain, rough=True)


def rest() -> Case:
    """Return water at rest over the mountain, which must stay at rest."""
    depth = _above(lambda lon, lat: np.full_like(lon, 6000.0))
    title, still = "water at rest over a mountain", _turn(0.0, 0.0)
    return Case("rest", title, depth, still, 1, 600, bottom=mountain, exact=steady(depth))


def _above(surface: Scalar) -> Scalar:
    return lambda lon, lat: surface(lon, lat) - mountain(lon, lat)


def tc6() -> Case:
    """Return the Rossby-Haurwitz wave of wave number four."""
    w = K = 7.848e-6
    R = 4

    def wind(lon: Array, lat: Array) -> Array:
        c, s = np.cos(lat), np.sin(lat)
        wave = K * c ** (R - 1) * (R * s**2 - c**2) * np.cos(R * lon)
        north = -K * R * c ** (R - 1) * s * np.sin(R * lon)
        return RADIUS * np.stack([w * c + wave, north])

    def depth(lon: Array, lat: Array) -> Array:
        c = np.cos(lat)
        k = K**2 / 4
        ring = k * c ** (2 * R) * ((R + 1) * c**2 + (2 * R**2 - R - 2))
        A = w / 2 * (2 * OMEGA + w) * c**2 + ring - 2 * R**2 * k * c ** (2 * R - 2)
        B = 2 * (OMEGA + w) * K / ((R + 1) * (R + 2)) * c**R
        B = B * ((R**2 + 2 * R + 2) - (R + 1) ** 2 * c**2)
        C = k * c ** (2 * R) * ((R + 1) * c**2 - (R + 2))
        wave = A + B * np.cos(R * lon) + C * np.cos(2 * R * lon)
        height: Array = 8000.0 + RADIUS**2 / GRAVITY * wave
        return height

    title = "Rossby-Haurwitz wave"
    return Case("tc6", title, depth, wind, 14, 450, element_step=3200, rough=True)


SOUTH, NORTH = np.pi / 7, np.pi / 2 - np.pi / 7
"""The latitudes between which the jet of Galewsky et al. blows."""


def _jet(lat: Array) -> Array:
    """Return its speed to the east."""
    inside = (lat > SOUTH) & (lat < NORTH)
    product = np.where(inside, (lat - SOUTH) * (lat - NORTH), -1.0)
    return np.where(inside, 80.0 * np.exp(4 / (NORTH - SOUTH) ** 2 + 1 / product), 0.0)


def _slope(lat: Array) -> Array:
    """Return how fast the surface falls to the north in balance with the jet, m/rad."""
    u = _jet(lat)
    return (2 * OMEGA * np.sin(lat) * RADIUS + np.tan(lat) * u) * u / GRAVITY


def _integral(lower: Array, upper: Array, points: int) -> Array:
    """Return the integral of `_slope` between two latitudes, by Gauss points."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    half = (upper - lower) / 2
    return half * sum(
        w * _slope(lower + half * (x + 1)) for x, w in zip(nodes, weights, strict=True)
    )


def _balance() -> Callable[[Array], Array]:
    """Return the depth below the jet as a function of latitude; its mean is 10 km."""
    ends = np.linspace(SOUTH, NORTH, 401)
    drops = np.concatenate([[0.0], np.cumsum(_integral(ends[:-1], ends[1:], 8))])

    def drop(lat: Array) -> Array:
        inner = np.clip(lat, SOUTH, NORTH)
        cell = np.clip(np.searchsorted(ends, inner) - 1, 0, ends.size - 2)
        return drops[cell] + _integral(ends[cell], inner, 8)

    nodes, weights = np.polynomial.legendre.leggauss(200)
    lat = (SOUTH + NORTH) / 2 + (NORTH - SOUTH) / 2 * nodes
    below = (NORTH - SOUTH) / 2 * np.sum(weights * drop(lat) * np.cos(lat))
    mean_drop = (below + drops[-1] * (1 - np.sin(NORTH))) / 2
    return lambda lat: 1e4 + mean_drop - drop(lat)


def _galewsky(name: str, title: str, bump: float) -> Case:
    balanced = _balance()

    def depth(lon: Array, lat: Array) -> Array:
        around = np.mod(lon + np.pi, 2 * np.pi) - np.pi
        shape = np.exp(-((3 * around) ** 2) - (15 * (np.pi / 4 - lat)) ** 2)
        height: Array = balanced(lat) + bump * np.cos(lat) * shape
        return height

    def wind(lon: Array, lat: Array) -> Array:
        return np.stack([_jet(lat), np.zeros_like(lat)])

    exact = None if bump else steady(depth)
    return Case(name, title, depth, wind, 6, 480, exact=exact, element_step=3200, rough=True)


def galewsky() -> Case:
    """Return a jet that a small hill of water makes unstable."""
    return _galewsky("galewsky", "barotropic instability of a jet", 120.0)


def jet() -> Case:
    """Return the jet without the hill, which is steady."""
    return _galewsky("jet", "balanced jet", 0.0)


def viscosity(n: int) -> float:
    """Return the viscosity that n spectral elements along a panel need, in m4/s.

    Examples
    --------
    >>> f"{viscosity(20):.6e}"
    '9.150231e+14'
    """
    return float(2.5e14 * (30 / n) ** 3.2)


TILTED = {"tc1": tc1, "tc2": tc2}
UPRIGHT = {"tc5": tc5, "tc6": tc6, "galewsky": galewsky, "jet": jet, "rest": rest}
NAMES = (*TILTED, *UPRIGHT)


def case(name: str, angle: float = 0.0) -> Case:
    """Return a case by name.

    Parameters
    ----------
    angle
        The angle between the axes of the flow and of the Earth in degrees, for tc1 and tc2.

    Examples
    --------
    >>> case("tc2", angle=45).title
    'steady geostrophic flow'
    """
    return TILTED[name](np.deg2rad(angle)) if name in TILTED else UPRIGHT[name]()
