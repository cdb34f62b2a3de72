"""The numbers by which a run is judged: errors, invariants, extremes, the Courant number.

All are made by programs over fields, so they are the same to the last bit for every number of
ranks. Integrals over the sphere are sums of values at points times areas.
"""

from dataclasses import dataclass
from functools import cache
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
    """Diagnostics of the flow at its points, as fields that the next call overwrites."""

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


class Programs(NamedTuple):
    """The programs that judge the flows of a kind of solver, over the fields of `Solver.fields`."""

    observe: ssr.Program
    """Values at points; returns sums of invariants, and extremes of H and zeta."""
    fastest: ssr.Program
    """Returns the speed of the fastest wave."""
    search: ssr.Program
    """Returns the numbers of the first points that are not finite, dry, or too fast."""
    compare: ssr.Program
    """Returns sums and largest values of the error of the depth, and of the exact depth."""


@cache
def programs(solver: type[Solver], passive: bool) -> Programs:
    """Return the programs for a kind of solver, which are declared once."""
    fields, points = solver.fields(), solver.points
    at_points = everywhere(points, solver.panel)

    def means(U: Any, wind: Any, m: Any, area: Any, width: Any) -> tuple[Any, Any]:
        return solver.means(U, wind, m, at_points @ area, width, passive)

    def speeds(U: Any, wind: Any, m: Any, area: Any, width: Any) -> Any:
        """Return the speed of the fastest wave at each point, in m/s; NaN without water."""
        depth, u = means(U, wind, m, area, width)
        down = lowered(u, [at_points @ x for x in m[1:5]])
        speed = ssr.sqrt(u[0] * down[0] + u[1] * down[1])
        return speed if passive else speed + ssr.sqrt(GRAVITY * depth)

    @ssr.program(
        **fields, f=points, b=solver.bottom, h=points, u=points.vector(2), H=points, zeta=points,
        width=ssr.scalar, per=ssr.scalar,
    )  # fmt: skip
    def observe(  # type: ignore[no-untyped-def]
        U, wind, m, f, b, area, h, u, H, zeta, width, per
    ):
        size, metric = at_points @ area, [at_points @ x for x in m[1:5]]
        h[:], u[:] = solver.values(U, wind, m, passive)
        H[:] = h + b[points]
        J, down = metric[0], lowered(u, metric)
        zeta[:] = solver.vorticity(down, J, per)
        energy = h * (u[0] * down[0] + u[1] * down[1]) / 2 + GRAVITY * (H**2 - b[points] ** 2) / 2
        enstrophy = (zeta + f / J) ** 2 / (2 * h)
        found = [ssr.sum(x) for x in (solver.mass(U, size, width), energy * size, enstrophy * size)]
        return *found, *(extreme(x) for x in (H, zeta) for extreme in (ssr.min, ssr.max))

    @ssr.program(**fields, width=ssr.scalar)
    def fastest(U: Any, wind: Any, m: Any, area: Any, width: Any) -> Any:
        return ssr.max(speeds(U, wind, m, area, width))

    @ssr.program(**fields, number=points, width=ssr.scalar, top=ssr.scalar)
    def search(U, wind, m, area, number, width, top):  # type: ignore[no-untyped-def]
        speed = speeds(U, wind, m, area, width)
        good = abs(U[0]) + abs(U[1]) + abs(U[2]) <= FINITE, speed == speed, speed < top
        return tuple(ssr.min(ssr.where(g, FINITE, number)) for g in good)

    @ssr.program(**fields, exact=points, width=ssr.scalar)
    def compare(U: Any, wind: Any, m: Any, area: Any, exact: Any, width: Any) -> Any:
        size, (depth, _) = at_points @ area, means(U, wind, m, area, width)

        def norms(x: Any) -> tuple[Any, Any, Any]:
            return ssr.sum(abs(x) * size), ssr.sum(x**2 * size), ssr.max(abs(x))

        return *norms(depth - exact), *norms(exact)

    return Programs(observe, fastest, search, compare)


class Gauges:
    """The programs that judge a flow, with the fields that they need.

    Attributes
    ----------
    values
        The values at points, as the last call of `observe` has left them.
    """

    def __init__(self, flow: Solver) -> None:
        self.flow, self.case, on, points = flow, flow.case, flow.on, flow.points
        self._programs = programs(type(flow), flow.case.passive)
        area = on.empty(flow.panel)
        area.fill(flow.known.sphere)
        known = {name: flow.constants[name] for name in ("wind", "m")}
        width = np.pi / 2 / flow.n
        self._fields: dict[str, Any] = {"U": flow.state, **known, "area": area, "width": width}
        self._fastest = self._programs.fastest.bind(**self._fields)
        self._exact: tuple[Scalar | None, bc.Field] = None, on.empty(points)
        self.values = Values(*(on.empty(s) for s in (points, points.vector(2), points, points)))

    def observe(self) -> tuple[Invariants, Range, Range]:
        """Make values at points; return the invariants, and the ranges of H and zeta."""
        known: dict[str, Any] = {name: self.flow.constants[name] for name in ("f", "b")}
        known |= vars(self.values) | self._fields
        mass, energy, enstrophy, *ranges = self._programs.observe(**known, per=self.flow.per)
        if self.case.passive:
            energy = enstrophy = np.nan
        return Invariants(mass, energy, enstrophy), Range(*ranges[:2]), Range(*ranges[2:])

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
        l1, l2, linf, *exact = self._programs.compare(**self._fields, exact=field)
        return Norms(l1 / exact[0], float(np.sqrt(l2 / exact[1])), linf / exact[2])

    def worst(self, speed: float) -> tuple[tuple[int, int, int] | None, ...]:
        """Return the first points with no finite numbers, with no water, and with a speed."""
        side = len(self.flow.known.at)
        number = self.flow.on.empty(self.flow.points)
        number.fill(lambda p, j, i: (p * side + j) * side + i)
        found = self._programs.search(**self._fields, number=number, top=speed)
        return tuple(_place(each, side) for each in found)


def _place(number: float, side: int) -> tuple[int, int, int] | None:
    """Return panel, j and i of a point by its number."""
    if number == FINITE:
        return None
    return int(number) // side**2, int(number) // side % side, int(number) % side


def courant(speed: float, n: int, dt: float) -> float:
    """Return the Courant number of a time step on panels of n x n cells.

    It is that of the smallest cells: ``dt speed sqrt(1.5) / (a pi / (2 n))``.

    Examples
    --------
    >>> round(courant(300.0, 32, 600.0), 3)
    0.705
    """
    return float(dt * speed * np.sqrt(1.5) / (RADIUS * np.pi / 2 / n))
