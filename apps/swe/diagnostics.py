"""The numbers by which a run is judged: errors, invariants, extremes, the Courant number.

All are made by programs over fields, so they are the same to the last bit for every number of
ranks. Integrals over the sphere are sums of values at points times areas.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

import boundary as bc
import ssr

from .cases import GRAVITY, Scalar
from .geometry import RADIUS
from .scheme import Solver, everywhere

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


@dataclass(frozen=True)
class Values:
    """What is known of the flow at its points, as fields that the next look changes."""

    h: bc.Field
    """The depth of the water in metres."""
    u: bc.Field
    """The contravariant velocity in rad/s."""
    H: bc.Field
    """The height of the surface in metres."""
    zeta: bc.Field
    """The relative vorticity in 1/s."""


def lowered(u: Any, m: Any) -> tuple[Any, Any]:
    """Return the covariant components of a velocity."""
    J, G11, G12, G22 = m
    return J * J * (G22 * u[0] - G12 * u[1]), J * J * (G11 * u[1] - G12 * u[0])


def square(u: Any, m: Any) -> Any:
    """Return the square of a speed in (m/s)^2."""
    down = lowered(u, m)
    return u[0] * down[0] + u[1] * down[1]


class Look:
    """The programs that judge the flows of a kind of solver.

    All take the fields of `Solver.fields`.
    """

    def __init__(self, solver: type[Solver], passive: bool) -> None:
        self.solver, self.passive = solver, passive
        self.fields, self.points = solver.fields(), solver.points
        self.at_points = everywhere(solver.points, solver.panel)

    def metric(self, m: Any) -> list[Any]:
        """Return J and the contravariant metric at the points of all panels."""
        return [self.at_points @ x for x in m[1:5]]

    def speeds(self, U: Any, wind: Any, m: Any, area: Any, width: Any) -> Any:
        """Return the speed of the fastest wave at each point, in m/s; NaN without water."""
        size = self.at_points @ area
        depth, u = self.solver.means(U, wind, m, size, width, self.passive)
        speed = ssr.sqrt(square(u, self.metric(m)))
        return speed if self.passive else speed + ssr.sqrt(GRAVITY * depth)

    @cached_property
    def observe(self) -> ssr.Program:
        """The program that makes values at points, and numbers, of a state."""
        points, solver = self.points, self.solver

        @ssr.program(
            **self.fields,
            f=points,
            b=solver.bottom,
            h=points,
            u=points.vector(2),
            H=points,
            zeta=points,
            width=ssr.scalar,
            per=ssr.scalar,
        )
        def observe(  # type: ignore[no-untyped-def]
            U, wind, m, f, b, area, h, u, H, zeta, width, per
        ):
            size, metric = self.at_points @ area, self.metric(m)
            h[:], u[:] = solver.values(U, wind, m, self.passive)
            H[:] = h + b[points]
            J, down = metric[0], lowered(u, metric)
            zeta[:] = solver.vorticity(down, J, per)
            energy = (
                h * (u[0] * down[0] + u[1] * down[1]) / 2 + GRAVITY * (H**2 - b[points] ** 2) / 2
            )
            enstrophy = (zeta + f / J) ** 2 / (2 * h)
            mass = solver.mass(U, size, width)
            found = [ssr.sum(x) for x in (mass, energy * size, enstrophy * size)]
            return *found, *(extreme(x) for x in (H, zeta) for extreme in (ssr.min, ssr.max))

        return observe

    @cached_property
    def fastest(self) -> ssr.Program:
        """The program that finds the fastest wave."""

        @ssr.program(**self.fields, width=ssr.scalar)
        def fastest(U: Any, wind: Any, m: Any, area: Any, width: Any) -> Any:
            return ssr.max(self.speeds(U, wind, m, area, width))

        return fastest

    @cached_property
    def largest(self) -> ssr.Program:
        """The program of the largest sum of magnitudes, which is finite if all numbers are."""

        @ssr.program(U=self.fields["U"])
        def largest(U: Any) -> Any:
            return ssr.max(abs(U[0]) + abs(U[1]) + abs(U[2]))

        return largest

    @cached_property
    def search(self) -> ssr.Program:
        """The program that finds the first points that are not finite, dry, or too fast."""

        @ssr.program(**self.fields, number=self.points, width=ssr.scalar, top=ssr.scalar)
        def search(  # type: ignore[no-untyped-def]
            U, wind, m, area, number, width, top
        ):
            speed = self.speeds(U, wind, m, area, width)
            size = abs(U[0]) + abs(U[1]) + abs(U[2])
            good = size <= FINITE, speed == speed, speed < top
            return tuple(ssr.min(ssr.where(g, FINITE, number)) for g in good)

        return search

    @cached_property
    def compare(self) -> ssr.Program:
        """The program of sums and largest values of the error of the depth, and of the depth."""

        @ssr.program(**self.fields, exact=self.points, width=ssr.scalar)
        def compare(U: Any, wind: Any, m: Any, area: Any, exact: Any, width: Any) -> Any:
            size = self.at_points @ area
            depth, _ = self.solver.means(U, wind, m, size, width, self.passive)
            found = []
            for x in depth - exact, exact:
                found += [ssr.sum(abs(x) * size), ssr.sum(x**2 * size), ssr.max(abs(x))]
            return tuple(found)

        return compare


@cache
def looking(solver: type[Solver], passive: bool) -> Look:
    """Return the programs for a kind of solver, which are declared once."""
    return Look(solver, passive)


class Gauges:
    """The programs that judge a flow, with the fields that they need."""

    def __init__(self, flow: Solver) -> None:
        self.flow, self.case = flow, flow.case
        self._look = looking(type(flow), flow.case.passive)
        self._width = np.pi / 2 / flow.n
        area = flow.on.empty(flow.panel)
        area.fill(flow.known.sphere)
        known = {name: flow.constants[name] for name in ("wind", "m")}
        self._fields: dict[str, Any] = {"U": flow.state, **known, "area": area}
        self._exact: tuple[Scalar | None, bc.Field] = None, flow.on.empty(flow.points)

    @cached_property
    def values(self) -> Values:
        """The values at points, as the last call of `observe` has left them."""
        on, points = self.flow.on, self.flow.points
        return Values(
            on.empty(points), on.empty(points.vector(2)), on.empty(points), on.empty(points)
        )

    @cached_property
    def _observe(self) -> Callable[..., Any]:
        known = {name: self.flow.constants[name] for name in ("f", "b")}
        return self._look.observe.bind(
            **self._fields, **known, **vars(self.values), width=self._width, per=self.flow.per
        )

    @cached_property
    def _fastest(self) -> Callable[..., Any]:
        return self._look.fastest.bind(**self._fields, width=self._width)

    @cached_property
    def _largest(self) -> Callable[..., Any]:
        return self._look.largest.bind(self.flow.state)

    def observe(self) -> tuple[Invariants, Range, Range]:
        """Make values at points; return the invariants, and the ranges of H and zeta."""
        mass, energy, enstrophy, *ranges = self._observe()
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
            field.fill(lambda *index: self.flow.known.depth(now, *index))
            self._exact = now, field
        found = self._look.compare(**self._fields, exact=field, width=self._width)
        (l1, l2, linf), exact = found[:3], found[3:]
        return Norms(l1 / exact[0], float(np.sqrt(l2 / exact[1])), linf / exact[2])

    def worst(self, speed: float) -> tuple[tuple[int, int, int] | None, ...]:
        """Return the first points with no finite numbers, with no water, and with a speed."""
        number, side = self.flow.on.empty(self.flow.points), len(self.flow.known.at)
        number.fill(lambda p, j, i: (p * side + j) * side + i)
        found = self._look.search(**self._fields, number=number, width=self._width, top=speed)
        return tuple(_place(each, side) for each in found)


def _place(number: float, side: int) -> tuple[int, int, int] | None:
    """Return panel, j and i of a point by its number."""
    if number == FINITE:
        return None
    rest, i = divmod(int(number), side)
    return *divmod(rest, side), i


def courant(speed: float, n: int, dt: float) -> float:
    """Return the Courant number of a time step on panels of n x n cells.

    It is that of the smallest cells: ``dt speed sqrt(1.5) / (a pi / (2 n))``.

    Examples
    --------
    >>> round(courant(300.0, 32, 600.0), 3)
    0.705
    """
    return float(dt * speed * np.sqrt(1.5) / (RADIUS * np.pi / 2 / n))
