"""The numerical part: operator, smoother, V-cycle and conjugate gradients.

Points are indexed [z, y, x]. Each of the four grids has half the extents of the one before it, and
its points are those of the finer grid with even indices. All vectors are fields: of one process, or
of ranks that own a box of points each.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import boundary as bc
import ssr

from .clock import Clock

LEVELS = 4
CUBE: dict[Any, float] = {
    offset: -1.0 if any(offset) else 26.0 for offset in product((-1, 0, 1), repeat=3)
}

nz, ny, nx = ssr.sizes("nz ny nx")
coarse, fine = ssr.Space(nz, ny, nx), ssr.Space(2 * nz, 2 * ny, 2 * nx)


@ssr.matrix(rows=coarse, cols=fine)
def R(k: Any, j: Any, i: Any) -> Iterator[Any]:
    """Yield the only entry of a row of the injection."""
    yield (2 * k, 2 * j, 2 * i), 1.0


def staged(points: ssr.Space) -> ssr.Matrix:
    """Return the operator: 26 on the diagonal, and -1 at each neighbour that exists."""
    return ssr.stencil(points, points, CUBE, outside="zero")


def levels(on: bc.Distribution) -> list[bc.Distribution]:
    """Return the distributions of all grids; a coarse point is where its fine one is."""
    found = [on]
    for cells in *[fine] * (LEVELS - 2), coarse:
        found.append(found[-1].coarsen(coarse, cells))
    return found


def smooth(A: Any, x: Any, r: Any) -> None:
    """Do a forward and a backward Gauss-Seidel sweep in each rank's box.

    Points of other ranks have their old values in both sweeps.
    """
    near = A.rank_local()
    s = ssr.materialize(r - (A - near) @ x)
    x[:] = near.tril().solve(s - near.triu(1) @ x)
    x[:] = near.triu().solve(s - near.tril(-1) @ x)


def bottom(A: Any, options: ssr.Options) -> ssr.Program:
    """Return the program of the V-cycle on the coarsest grid."""

    @ssr.program(x=coarse, r=coarse, options=options)
    def smooth_from_zero(x: Any, r: Any) -> None:
        x[:] = 0.0
        smooth(A, x, r)

    return smooth_from_zero


class Grid:
    """The programs on a grid other than the coarsest, for its operator."""

    def __init__(self, A: Any, options: ssr.Options) -> None:
        @ssr.program(x=fine, r=fine, rc=coarse, options=options)
        def down(x: Any, r: Any, rc: Any) -> None:
            x[:] = 0.0
            smooth(A, x, r)
            rc[:] = R @ (r - A @ x)

        @ssr.program(x=fine, r=fine, xc=coarse, options=options)
        def up(x: Any, r: Any, xc: Any) -> None:
            x[:] = x + R.T @ xc
            smooth(A, x, r)

        @ssr.program(x=fine, r=fine, xc=coarse, options=options)
        def up_first(x: Any, r: Any, xc: Any) -> Any:
            up(x, r, xc)
            return ssr.dot(r, x)

        @ssr.program(r=fine, b=fine, x=fine, options=options)
        def residual(r: Any, b: Any, x: Any) -> Any:
            r[:] = b - A @ x
            return ssr.dot(r, r)

        @ssr.program(p=fine, q=fine, z=fine, beta=ssr.scalar, options=options)
        def direction(p: Any, q: Any, z: Any, beta: Any) -> Any:
            p[:] = z + beta * p
            q[:] = A @ p
            return ssr.dot(p, q)

        @ssr.program(x=fine, r=fine, p=fine, q=fine, alpha=ssr.scalar, options=options)
        def advance(x: Any, r: Any, p: Any, q: Any, alpha: Any) -> Any:
            x[:] = x + alpha * p
            r[:] = r - alpha * q
            return ssr.dot(r, r)

        self.down, self.up, self.up_first, self.residual = down, up, up_first, residual
        self.direction, self.advance = direction, advance


class Solver:
    """Conjugate gradients with a V-cycle: fields and programs of all grids, and a clock."""

    def __init__(self, operators: Sequence[Any], on: bc.Distribution, options: ssr.Options) -> None:
        *upper, last = operators
        programs = {A: Grid(A, options) for A in dict.fromkeys(upper)}
        self.grids, self.clock = [programs[A] for A in upper], Clock()
        r, z = ([each.zeros(each.cells[0]) for each in levels(on)] for _ in range(2))
        x, p, q = (on.zeros(fine) for _ in range(3))
        self.r, self.z, self.x, self.p, self.q = r, z, x, p, q
        count, first = range(len(upper)), self.grids[0]
        self.down = [self.grids[n].down.bind(z[n], r[n], r[n + 1]) for n in count]
        ups = [first.up_first, *(grid.up for grid in self.grids[1:])]
        self.up = [up.bind(z[n], r[n], z[n + 1]) for n, up in enumerate(ups)]
        self.bottom = bottom(last, options).bind(z[-1], r[-1])
        self.cycle = ssr.sequence(*self.down, self.bottom, *reversed(self.up))
        self.direction = first.direction.bind(p, q, z[0])
        self.advance = first.advance.bind(x, r[0], p, q)

    def precondition(self) -> float:
        """Do a V-cycle: assign to z about ``A^-1 r`` on the finest grid; return the product r z."""
        *_, product = self.cycle()
        return float(product)

    def solve(
        self, b: bc.Field, iterations: int, tolerance: float = 0.0, *, preconditioned: bool = True
    ) -> list[float]:
        """Solve ``A x = b`` from zero; return the norms of residuals, relative to that of b."""
        direction, norms, old = self.direction, [1.0], math.inf
        if not preconditioned:  # bound here, as it makes room for ghosts around residuals
            direction = self.grids[0].direction.bind(self.p, self.q, self.r[0])
        for start in self.x, self.p:
            start.set(0.0)
        first = rr = self.clock("spmv", self.grids[0].residual, self.r[0], b, self.x)
        while len(norms) <= iterations and norms[-1] > tolerance:
            rz = self.clock("mg", self.precondition) if preconditioned else rr
            pq = self.clock("spmv", direction, rz / old)
            rr = self.clock("waxpby", self.advance, rz / pq)
            norms.append(math.sqrt(rr / first))
            old = rz
        return norms[1:]
