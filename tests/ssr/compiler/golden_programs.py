"""The programs whose kernels are golden files: of each kind of kernel at least one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import scipy.sparse

import boundary as bc
import ssr
from tests.ssr import registry
from tests.ssr.sample_programs import CROSS, PROGRAMS, five, line, n, plane

wide = plane.grow(1)
reaching = ssr.stencil(plane, wide, CROSS)
velocity, points = plane.vector(2), ssr.Space(5)


def filled(*rules: Any) -> ssr.Program:
    """Return a step of diffusion with ghost points, which are inlined."""
    fill = bc.fill(wide, *rules)

    @ssr.program(u=plane, r=ssr.scalar)
    def diffuse(u: Any, r: Any) -> None:
        u[:] = u - r * (reaching @ (fill @ u))

    return diffuse


def filled_in_place() -> ssr.Program:
    """Return a program that stores ghost points, and then reads them."""
    fill = bc.fill(wide, bc.dirichlet(1.0))

    @ssr.program(v=wide, y=plane, u=plane)
    def stored(v: Any, y: Any, u: Any) -> None:
        v[:] = fill @ u
        y[:] = reaching @ v

    return stored


def lines(axis: int) -> ssr.Program:
    """Return solves of systems along the lines of an axis."""
    along = ssr.axis_stencil(plane, plane, axis, {-1: 1.0, 0: -2.0, 1: 1.0}, outside="zero")

    @ssr.program(x=plane, b=plane, tau=ssr.scalar)
    def solve(x: Any, b: Any, tau: Any) -> None:
        x[:] = (ssr.identity(plane) - tau * along).solve(b)

    return solve


def ring() -> ssr.Program:
    """Return the solve of a periodic system along a line."""
    fill = bc.fill(line.grow(1), bc.periodic())
    bend = (ssr.stencil(line, line.grow(1), {-1: -1.0, 0: 3.0, 1: -1.0}) @ fill).linear

    @ssr.program(x=line, b=line)
    def solve(x: Any, b: Any) -> None:
        x[:] = bend.solve(b)

    return solve


def recurrence() -> ssr.Program:
    """Return the computation of the entries of a factorization."""

    @ssr.recurrence(rows=line, cols=line)
    def LU(i: Any, done: Any) -> Any:
        diagonal = 4.0
        if i > 0:
            lower = -1.0 / done[i - 1, i - 1]
            yield i - 1, lower
            diagonal = diagonal - lower * done[i - 1, i]
        yield i, diagonal
        if i < n - 1:
            yield i + 1, -1.0

    return LU.program("compute")


def reductions() -> ssr.Program:
    """Return sums, a norm and extremes of values that are not stored."""

    @ssr.program(x=plane, y=plane)
    def reduced(x: Any, y: Any) -> Any:
        return ssr.sum(x * y), ssr.norm(five @ x), ssr.max(x), ssr.min(y)

    return reduced


def vectors() -> ssr.Program:
    """Return a step of a vector field, with a condition and functions."""

    @ssr.program(u=velocity, h=plane, dt=ssr.scalar)
    def step(u: Any, h: Any, dt: Any) -> None:
        speed = ssr.sqrt(u[0] * u[0] + u[1] * u[1])
        u[:] = u - dt * (five @ u) / ssr.where(h > 0.5, h, 0.5)
        h[:] = h + dt * speed * ssr.exp(-h)

    return step


def wave() -> ssr.Program:
    """Return two steps that run as one nest."""

    @ssr.program(p=plane, q=plane, c=plane, dt=ssr.scalar)
    def wave(p: Any, q: Any, c: Any, dt: Any) -> None:
        q[:] = q - dt * c * (five @ p)
        p[:] = p + dt * q

    return wave


def stored_matrix() -> ssr.Program:
    """Return a step with a matrix that is kept in memory."""
    ends = scipy.sparse.csr_array(([0.5, 0.25], ([0, 4], [4, 0])), shape=(5, 5))
    matrix = ssr.from_scipy(ends, rows=points, cols=points)

    @ssr.program(y=points, x=points)
    def step(y: Any, x: Any) -> None:
        y[:] = x - matrix @ x

    return step


def with_options(make: Callable[[], ssr.Program], **options: Any) -> Callable[[], ssr.Program]:
    """Return the maker of a program with other options."""

    def made() -> ssr.Program:
        program = make()
        return program.with_options(replace(program.options, **options))

    return made


KERNELS: dict[str, Callable[[], ssr.Program]] = {
    **PROGRAMS,
    "debug": with_options(PROGRAMS["five_point_gauss_seidel"], debug=True),
    "distributed": with_options(wave, distributed=True),
    "distributed_sweep": with_options(PROGRAMS["five_point_gauss_seidel"], distributed=True),
    "fill_dirichlet": lambda: filled(bc.dirichlet(1.0)),
    "fill_periodic": lambda: filled(bc.periodic()),
    "fill_stored": filled_in_place,
    "fill_symmetric": lambda: filled(bc.symmetric()),
    "line_solve_0": lambda: lines(0),
    "line_solve_1": lambda: lines(1),
    "line_solve_periodic": ring,
    "periodic_rows": lambda: registry.cached(registry.CASES["periodic"]).program("apply"),
    "recurrence": recurrence,
    "reductions": reductions,
    "stored_matrix": stored_matrix,
    "vectors": vectors,
    "wave": wave,
}
