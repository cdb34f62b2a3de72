"""The numbers by which a run is judged: errors, invariants, extremes, the Courant number.

All are made by programs over fields, so they are the same to the last bit for every number of
ranks. Integrals over the sphere are sums of values at centres times areas of cells.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

import boundary as bc
import ssr

from . import geometry
from .cases import GRAVITY, Case, Scalar
from .constants import Constants
from .geometry import RADIUS
from .grid import at_cells, bend, cells, derivative, panel, wide

FINITE = np.finfo(np.float64).max


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


class Range(NamedTuple):
    """The lowest and the highest value of a field."""

    low: float
    high: float


class Flow(Protocol):
    """What is judged: a solver."""

    @property
    def on(self) -> bc.Spread:
        """The grid, spread over ranks."""

    @property
    def state(self) -> bc.Field:
        """The averages of J h, J h u1, J h u2 over the cells."""

    @property
    def constants(self) -> Mapping[str, bc.Field]:
        """At least ``wind``, ``m``, ``f`` and ``b``, as in `Constants.functions`."""


@dataclass(frozen=True)
class Values:
    """What is known of the flow at the centres of cells, as fields that the next look changes."""

    h: bc.Field
    """The depth of the water in metres."""
    u: bc.Field
    """The contravariant velocity in rad/s."""
    H: bc.Field
    """The height of the surface in metres."""
    zeta: bc.Field
    """The relative vorticity in 1/s."""


slope = [derivative(cells, d) for d in (0, 1)]
FLOW: dict[str, Any] = {
    "U": cells.vector(3),
    "wind": cells.vector(2),
    "m": panel.vector(9),
    "area": panel,
}
"""The fields of a flow: the state, the wind if it is given, the metric, the areas of cells."""


def to_points(averages: Any) -> Any:
    """Return values at centres, to fourth order, of averages over cells."""
    return averages - (bend[0] @ averages + bend[1] @ averages) / 24


def lowered(u: Any, m: Any) -> tuple[Any, Any]:
    """Return the covariant components of a velocity."""
    J, G11, G12, G22 = (at_cells @ x for x in m[1:5])
    return J * J * (G22 * u[0] - G12 * u[1]), J * J * (G11 * u[1] - G12 * u[0])


def square(u: Any, m: Any) -> Any:
    """Return the square of a speed in (m/s)^2."""
    down = lowered(u, m)
    return u[0] * down[0] + u[1] * down[1]


@cache
def observing(passive: bool) -> ssr.Program:
    """Return the program that makes values at centres, and numbers, of a state."""

    @ssr.program(
        **FLOW,
        f=cells,
        b=wide,
        h=cells,
        u=cells.vector(2),
        H=cells,
        zeta=cells,
        per=ssr.scalar,
    )
    def observe(  # type: ignore[no-untyped-def]
        U, wind, m, f, b, area, h, u, H, zeta, per
    ):
        water = to_points(U)
        h[:] = water[0] * (at_cells @ m[0])
        u[:] = wind if passive else 1 / water[0] * water[1:]
        H[:] = h + b[cells]
        J = at_cells @ m[1]
        down = lowered(u, m)
        zeta[:] = per / 12 * (slope[0] @ down[1] - slope[1] @ down[0]) / J
        size = at_cells @ area
        energy = h * square(u, m) / 2 + GRAVITY * (H**2 - b[cells] ** 2) / 2
        enstrophy = (zeta + f / J) ** 2 / (2 * h)
        found = [ssr.sum(U[0]), ssr.sum(energy * size), ssr.sum(enstrophy * size)]
        return *found, *(extreme(x) for x in (H, zeta) for extreme in (ssr.min, ssr.max))

    return observe


def speeds(U: Any, wind: Any, m: Any, area: Any, width: Any, passive: bool) -> Any:
    """Return the speed of the fastest wave in each cell, in m/s; NaN where there is no water."""
    if passive:
        return ssr.sqrt(square(wind, m))
    depth = width**2 * U[0] / (at_cells @ area)
    return ssr.sqrt(square(1 / U[0] * U[1:], m)) + ssr.sqrt(GRAVITY * depth)


@cache
def watching(passive: bool) -> ssr.Program:
    """Return the program that finds the fastest wave."""

    @ssr.program(**FLOW, width=ssr.scalar)
    def fastest(U: Any, wind: Any, m: Any, area: Any, width: Any) -> Any:
        return ssr.max(speeds(U, wind, m, area, width, passive))

    return fastest


@ssr.program(U=cells.vector(3))
def largest(U: Any) -> Any:
    """Return the largest sum of magnitudes of a state, which is finite if all numbers are."""
    return ssr.max(abs(U[0]) + abs(U[1]) + abs(U[2]))


@cache
def searching(passive: bool) -> ssr.Program:
    """Return the program that finds the first cells that are not finite, dry, or too fast."""

    @ssr.program(**FLOW, number=cells, width=ssr.scalar, top=ssr.scalar)
    def search(  # type: ignore[no-untyped-def]
        U, wind, m, area, number, width, top
    ):
        speed = speeds(U, wind, m, area, width, passive)
        size = abs(U[0]) + abs(U[1]) + abs(U[2])
        good = size <= FINITE, speed == speed, speed < top
        return tuple(ssr.min(ssr.where(g, FINITE, number)) for g in good)

    return search


@ssr.program(U=cells.vector(3), exact=cells, area=panel, width=ssr.scalar)
def compare(U: Any, exact: Any, area: Any, width: Any) -> Any:
    """Return sums and largest values of the error of the depth, and of the exact depth."""
    size = at_cells @ area
    error = width**2 * U[0] / size - exact
    found = []
    for x in error, exact:
        found += [ssr.sum(abs(x) * size), ssr.sum(x**2 * size), ssr.max(abs(x))]
    return tuple(found)


class Gauges:
    """The programs that judge a flow, with the fields that they need.

    Parameters
    ----------
    n, case
        The cells along a panel, and the flow.
    flow
        Its solver.
    """

    def __init__(self, n: int, case: Case, flow: Flow) -> None:
        self.n, self.case, self.flow = n, case, flow
        self._known = Constants(n, case)
        self._width = np.pi / 2 / n
        self._area = flow.on.empty(panel)
        self._area.fill(self._known.sphere)
        self._exact: tuple[Scalar | None, bc.Field] = None, flow.on.empty(cells)

    def _constants(self, *names: str) -> dict[str, bc.Field]:
        return {name: self.flow.constants[name] for name in names}

    @cached_property
    def values(self) -> Values:
        """The values at centres, as the last call of `observe` has left them."""
        on = self.flow.on
        return Values(on.empty(cells), on.empty(cells.vector(2)), on.empty(cells), on.empty(cells))

    @cached_property
    def _observe(self) -> Callable[..., Any]:
        values, per = vars(self.values), self.n / (2 * geometry.EDGE)
        known = self._constants("wind", "m", "f", "b")
        program = observing(self.case.passive)
        return program.bind(self.flow.state, **known, area=self._area, **values, per=per)

    @cached_property
    def _fastest(self) -> Callable[..., Any]:
        known = self._constants("wind", "m")
        program = watching(self.case.passive)
        return program.bind(self.flow.state, **known, area=self._area, width=self._width)

    @cached_property
    def _largest(self) -> Callable[..., Any]:
        return largest.bind(self.flow.state)

    def observe(self) -> tuple[Invariants, Range, Range]:
        """Make values at centres; return the invariants, and the ranges of H and zeta."""
        mass, energy, enstrophy, *ranges = self._observe()
        mass *= self._width**2
        if self.case.passive:
            energy = enstrophy = np.nan
        return Invariants(mass, energy, enstrophy), Range(*ranges[:2]), Range(*ranges[2:])

    def finite(self) -> bool:
        """Whether all numbers of the state are finite."""
        return bool(self._largest() <= FINITE)

    def fastest(self) -> float:
        """Return the speed of the fastest wave in m/s; NaN if there is no water somewhere."""
        return float(self._fastest())

    def norms(self, seconds: float) -> Norms | None:
        """Return the errors of the depth at a time; None if the exact solution is not known."""
        if self.case.exact is None:
            return None
        now, (before, field) = self.case.exact(seconds), self._exact
        if now is not before:
            field.fill(lambda *index: self._known.depth(now, *index))
            self._exact = now, field
        found = compare(self.flow.state, field, self._area, self._width)
        (l1, l2, linf), exact = found[:3], found[3:]
        return Norms(l1 / exact[0], float(np.sqrt(l2 / exact[1])), linf / exact[2])

    def worst(self, speed: float) -> tuple[tuple[int, int, int] | None, ...]:
        """Return the first cells with no finite numbers, with no water, and with a speed."""
        number = self.flow.on.empty(cells)
        number.fill(lambda p, j, i: (p * self.n + j) * self.n + i)
        known = self.flow.constants["wind"], self.flow.constants["m"], self._area
        search = searching(self.case.passive)
        found = search(self.flow.state, *known, number, self._width, speed)
        return tuple(self._place(each) for each in found)

    def _place(self, number: float) -> tuple[int, int, int] | None:
        """Return panel, j and i of a cell by its number."""
        if number == FINITE:
            return None
        rest, i = divmod(int(number), self.n)
        return *divmod(rest, self.n), i


def courant(speed: float, n: int, dt: float) -> float:
    """Return the Courant number of a time step; the scheme is stable up to about one.

    It is that of the smallest cells: ``dt speed sqrt(1.5) / (a pi / (2 n))``.

    Examples
    --------
    >>> round(courant(300.0, 32, 600.0), 3)
    0.705
    """
    return float(dt * speed * np.sqrt(1.5) / (RADIUS * np.pi / 2 / n))
