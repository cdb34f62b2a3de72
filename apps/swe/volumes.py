"""Finite volumes: cell averages on a cubed sphere, fourth order, upwind.

Averages of ``J h, J h u1, J h u2`` become point values at the centres; ghosts of a panel are
interpolated along a line of its neighbour, and velocities turned into its basis; values on both
sides of each face meet in a Riemann solver (LMARS); its fluxes become averages over faces, and
those of mass through panel edges are made equal on both panels. Three stages of a strong stability
preserving Runge-Kutta method make a step (Shu and Osher, J. Comput. Phys. 77, 1988).

Arrays are ordered ``[panel, beta, alpha]``. A direction is 0 for alpha, 1 for beta.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal

import numpy as np

import boundary as bc
import ssr

from . import geometry
from .cases import GRAVITY, Case
from .constants import UPWIND, Constants
from .grid import (
    at_cells,
    bend,
    cells,
    derivative,
    edges,
    faces,
    grid,
    n,
    panel,
    second,
    stencil,
    wide,
)
from .scheme import STAGES, Solver, everywhere

Weights = Literal["linear", "weno"]

alone = bc.Grid(6 * [(n, n)])
ring = alone.cells.grow(1)
extended = bc.fill(ring.vector(3), bc.extrapolate(4))
curved = [stencil(cells, ring, d, {-1: 1.0, 0: -2.0, 1: 1.0}) for d in (0, 1)]
bend_beside = [second(faces[d], 1 - d) for d in (0, 1)]
left = [stencil(faces[d], wide, d, UPWIND) for d in (0, 1)]
right = [stencil(faces[d], wide, d, {-1 - k: w for k, w in UPWIND.items()}) for d in (0, 1)]
taps = [[stencil(faces[d], wide, d, {k: 1.0}) for k in range(-3, 3)] for d in (0, 1)]
across = [stencil(cells, faces[d], d, {1: 1.0, 0: -1.0}) for d in (0, 1)]
central = [stencil(cells, wide, d, {1: 1.0, -1: -1.0}) for d in (0, 1)]
slope = [derivative(cells, d) for d in (0, 1)]
at_faces = [everywhere(faces[d], edges[d]) for d in (0, 1)]
synchronize = bc.synchronize(cells.faces(axis=0), cells.faces(axis=1))


def to_points(wider: Any) -> Any:
    """Return values at centres from averages over cells with one layer of ghosts."""
    return wider[cells] - (curved[0] @ wider + curved[1] @ wider) / 24


def to_averages(q: Any) -> Any:
    """Return averages over cells from values at centres."""
    return q + (bend[0] @ q + bend[1] @ q) / 24


def weno(a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    """Return the WENO-Z value at the face between c and d (Borges et al., J. Comput. Phys. 227)."""
    small = 1e-40 + 1e-16 * (c**2 + 1e-30)
    bends = (
        13 / 12 * (a - 2 * b + c) ** 2 + (a - 4 * b + 3 * c) ** 2 / 4 + small,
        13 / 12 * (b - 2 * c + d) ** 2 + (b - d) ** 2 / 4 + small,
        13 / 12 * (c - 2 * d + e) ** 2 + (3 * c - 4 * d + e) ** 2 / 4 + small,
    )
    far = (bends[0] - bends[2]) ** 2
    s, t, r = (bend**2 for bend in bends)
    # The weights 1/16 (1 + far / s), 10/16 ..., 5/16 ... with one denominator for all.
    low, middle, high = (s + far) * (t * r), 10 * (t + far) * (s * r), 5 * (r + far) * (s * t)
    values = 3 * a - 10 * b + 15 * c, 6 * c + 3 * d - b, 3 * c + 6 * d - e
    total = low * values[0] + middle * values[1] + high * values[2]
    return total / (8 * (low + middle + high))


def sides(q: Any, d: int, weights: Weights) -> tuple[Any, Any]:
    """Return the values of a field on both sides of the faces of a direction."""
    if weights == "linear":
        return left[d] @ q, right[d] @ q
    near = [tap @ q for tap in taps[d]]
    return weno(*near[:5]), weno(*near[:0:-1])


class Flow:
    """The right-hand side of the equations for one case and grid."""

    def __init__(self, size: int, passive: bool, weights: Weights) -> None:
        self.passive, self.weights = passive, weights
        table = bc.interpolate(*geometry.interpolation(size))
        west_east_south_north = np.moveaxis(geometry.rotations(size), (2, 3), (0, 1))
        turn = bc.transform_vector(west_east_south_north[:, [2, 3, 0, 1]])
        self.fill = bc.fill(wide, table @ bc.linked())
        self.turn = bc.fill(wide.vector(2), turn @ table @ bc.linked())

    def rhs(self, U: Any, wind: Any, m: Any, f: Any, b: Any, at_edges: Any, per: Any) -> Any:
        """Return dU/dt for averages with a layer of ghosts; there are ``per`` cells in a radian."""
        water = to_points(U)
        u = wind if self.passive else 1 / water[0] * water[1:]
        H, v = self.fill @ (water[0] * (at_cells @ m[0]) + b[cells]), self.turn @ u
        h, u = H[cells] - b[cells], v[cells]
        flux, gradient = [], []
        for d in (0, 1):
            (Hl, Hr), (ul, ur), (vl, vr) = (sides(q, d, self.weights) for q in (H, *v))
            shape, bottoms = at_edges[d]
            hl, hr = Hl - bottoms[0], Hr - bottoms[1]
            if self.weights == "weno":
                hl, hr = sides(H - b, d, self.weights)
            nl, nr = (ul, ur) if d == 0 else (vl, vr)
            area, half = (at_faces[d] @ x for x in shape)
            speed, height = (nl + nr) * half, (Hl + Hr) / 2
            if not self.passive:
                c = ssr.sqrt(GRAVITY / 2 * (hl + hr))
                speed = speed - GRAVITY / 2 * (Hr - Hl) / c
                height = height + c * (nl - nr) * half / GRAVITY
            mass = area * speed * ssr.where(speed > 0, hl, hr)
            each = mass, mass * ssr.where(speed > 0, ul, ur), mass * ssr.where(speed > 0, vl, vr)
            flux.append([x + bend_beside[d] @ x / 24 for x in each])
            gradient.append(GRAVITY / 6 * per * (8 * (across[d] @ height) - central[d] @ H))
        flux[1][0], flux[0][0] = synchronize @ (flux[1][0], flux[0][0])
        loss = [per * (across[0] @ x + across[1] @ y) for x, y in zip(*flux, strict=True)]
        if self.passive:
            return ssr.vector(-loss[0], 0.0 * loss[0], 0.0 * loss[0])
        source = [to_averages(s) for s in self.source(h, u, gradient, m, f)]
        return ssr.vector(-loss[0], source[0] - loss[1], source[1] - loss[2])

    def source(self, h: Any, u: Any, gradient: Any, m: Any, f: Any) -> tuple[Any, Any]:
        """Return the sources of momentum at the centres: pressure, curvature and rotation."""
        J, G11, G12, G22, g1_11, g1_12, g2_12, g2_22 = (at_cells @ x for x in m[1:])
        a, b = gradient
        s1 = -(g1_11 * u[0] + g1_12 * u[1]) * u[0]
        s2 = -(g2_12 * u[0] + g2_22 * u[1]) * u[1]
        s1 = s1 - (G11 * a + G12 * b) + f * (G11 * u[1] - G12 * u[0])
        s2 = s2 - (G12 * a + G22 * b) + f * (G12 * u[1] - G22 * u[0])
        return J * h * s1, J * h * s2


def program(size: int, passive: bool, weights: Weights) -> ssr.Program:
    """Return the program of a stage: a step in time, drawn towards the old state."""
    flow = Flow(size, passive, weights)

    @ssr.program(
        U=cells.vector(3),
        V=ring.vector(3),
        wind=cells.vector(2),
        m=panel.vector(9),
        f=cells,
        b=wide,
        west_east=edges[0].vector(2),
        bottom_west_east=faces[0].vector(2),
        south_north=edges[1].vector(2),
        bottom_south_north=faces[1].vector(2),
        per=ssr.scalar,
        a=ssr.scalar,
        dt=ssr.scalar,
    )
    def stage(  # type: ignore[no-untyped-def]
        U, V, wind, m, f, b, west_east, bottom_west_east, south_north, bottom_south_north,
        per, a, dt
    ):  # fmt: skip
        at_edges = (west_east, bottom_west_east), (south_north, bottom_south_north)
        V[:] = extended @ V[cells]
        made = V[cells] + dt * flow.rhs(V, wind, m, f, b, at_edges, per)
        V[cells] = made + a * (U - made)

    return stage


@ssr.program(U=cells.vector(3), V=ring.vector(3))
def begin(U: Any, V: Any) -> None:
    """Begin a step: the stages change a field of their own."""
    V[cells] = U


@ssr.program(U=cells.vector(3), V=ring.vector(3))
def end(U: Any, V: Any) -> None:
    """End a step."""
    U[:] = V[cells]


class Volumes(Solver):
    """A flow on a cubed sphere of 6 x n x n cells.

    The state is the averages of J h, J h u1, J h u2 over the cells.

    Parameters
    ----------
    ranks
        The result of `boundary.world` or `boundary.simulated`.
    cut
        In how many parts panels are cut along each axis; by default as suits the ranks.
    """

    points, panel, metric, bottom, limit = cells, panel, panel.vector(9), wide, 1.0

    def __init__(
        self,
        n: int,
        case: Case,
        weights: Weights = "linear",
        ranks: Any = None,
        cut: tuple[int, int] | None = None,
    ) -> None:
        on = bc.distribute(grid, ranks, cut=cut, more=n - 5)
        super().__init__(n, Constants(n, case), program(n, case.passive, weights), on)

    @cached_property
    def _programs(self) -> tuple[Callable[..., Any], ...]:
        """The programs of a step, bound to their fields when the first step is taken."""
        V = self.on.zeros(ring.vector(3))
        stage = self._stage.bind(self.state, V, **self.constants, per=self.per)
        return begin.bind(self.state, V), stage.repeat, end.bind(self.state, V)

    def step(self, dt: float) -> None:
        """Advance by one step of dt seconds."""
        begin, stages, end = self._programs
        begin()
        stages([(a, dt) for a in STAGES])
        end()

    @staticmethod
    def mass(U: Any, area: Any, width: Any) -> Any:
        """Return the mass of cells."""
        return width**2 * U[0]

    @staticmethod
    def values(U: Any, wind: Any, m: Any, passive: bool) -> tuple[Any, Any]:
        """Return depth and velocity at centres, to fourth order."""
        water = U - (bend[0] @ U + bend[1] @ U) / 24
        return water[0] * (at_cells @ m[0]), wind if passive else 1 / water[0] * water[1:]

    @staticmethod
    def means(U: Any, wind: Any, m: Any, area: Any, width: Any, passive: bool) -> tuple[Any, Any]:
        """Return depth and velocity of the averages over cells."""
        return width**2 * U[0] / area, wind if passive else 1 / U[0] * U[1:]

    @staticmethod
    def vorticity(down: Any, J: Any, per: Any) -> Any:
        """Return the relative vorticity, by derivatives to fourth order."""
        return per / 12 * (slope[0] @ down[1] - slope[1] @ down[0]) / J
