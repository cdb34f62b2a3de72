"""Programs that take long to build: of solvers, systems of equations and irregular matrices.

Each function declares its programs and returns a function that runs them once on small arrays.
`seconds` divides the time into parts; ``python -m benchmarks.startup builds`` prints them for all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

import ssr
import ssr.solvers
from apps.npb.run import run as flow_run
from benchmarks.operators import Weights, plane, space, twenty_seven_point

Run = Callable[[], object]

GAMMA = 1.4
DISSIPATION = 0.25


def conjugate_gradients() -> Run:
    """Return conjugate gradients with symmetric Gauss-Seidel for the 27-point operator."""
    A = twenty_seven_point()
    solve = ssr.solvers.CG(A, ssr.solvers.GaussSeidel())
    return lambda: solve(np.ones((6, 6, 6)), maxiter=2)


def galerkin() -> Run:
    """Return a cycle of three grids whose coarse matrices are Galerkin products."""
    nz, ny, nx = (4 * extent + 3 for extent in ssr.sizes("nz ny nx"))
    fine = ssr.Space(nz, ny, nx)
    weights: Weights = {o: 6.0 if not any(o) else -1.0 for o in product((-1, 0, 1), repeat=3)
               if sum(map(abs, o)) < 2}  # fmt: skip
    A = ssr.stencil(fine, fine, weights, outside="zero")
    cycle = ssr.solvers.Multigrid.galerkin(A, 3)
    r = np.ones((11, 11, 11))
    return lambda: cycle(np.zeros_like(r), r)


def shift(rows: ssr.Space, cols: ssr.Space, axis: int, weights: Mapping[int, float]) -> ssr.Matrix:
    """Return the entries of a row along an axis."""

    @ssr.matrix(rows=rows, cols=cols)
    def along(*row: Any) -> Iterator[tuple[Any, float]]:
        for step, weight in weights.items():
            column = (*row[:axis], row[axis] + step, *row[axis + 1 :])
            if column in cols:
                yield column, weight

    return along


def flux(U: Any, normal: int) -> Any:
    """Return the flux of mass, momentum and energy along an axis, and the velocity there."""
    over = 1.0 / U[0]
    energy = 0.5 * over * (U[1] * U[1] + U[2] * U[2] + U[3] * U[3])
    pressure = (GAMMA - 1.0) * (U[4] - energy)
    u = U[normal] * over
    F = list(u * U)
    F[normal] += pressure
    F[4] += u * pressure
    return ssr.vector(*F), energy * over


def right_hand_side() -> Run:
    """Return fluxes, diffusion and dissipation of five components in three dimensions."""
    inner = space.grow(-1)
    one = {axis: shift(inner, space, axis, {-1: -0.5, 1: 0.5}) for axis in range(3)}
    two = {axis: shift(inner, space, axis, {-1: 1.0, 0: -2.0, 1: 1.0}) for axis in range(3)}
    four = {-2: 1.0, -1: -4.0, 0: 6.0, 1: -4.0, 2: 1.0}
    smooth = {axis: shift(inner, inner, axis, four) for axis in range(3)}

    @ssr.program(R=inner.vector(5), U=space.vector(5), dt=ssr.scalar)
    def rhs(R: Any, U: Any, dt: Any) -> None:
        total = 0.0
        for axis in range(3):
            F, kinetic = flux(U, 1 + axis)
            second = two[axis] @ U
            viscous = 0.1 * (two[axis] @ (U[1 + axis] / U[0])) + 0.2 * (two[axis] @ kinetic)
            change = 0.75 * second - one[axis] @ F
            change = ssr.vector(*change[:4], change[4] + viscous)
            total = total + change - DISSIPATION * (smooth[axis] @ U[inner])
        R[:] = dt * total

    shape = 8, 8, 8
    U = np.ones((5, *shape))
    R = np.zeros((5, 6, 6, 6))
    return lambda: rhs(R, U, 0.1)


def incomplete() -> Run:
    """Return the factorization and the two sweeps of a DILU with odd offsets in 3-D."""
    offsets = (0, 0, 0), (0, 1, 2), (0, -1, -2), (1, -2, 1), (-1, 2, -1), (1, 0, -1), (-1, 0, 1)

    @ssr.matrix(rows=space, cols=space)
    def A(k: Any, j: Any, i: Any) -> Iterator[tuple[Any, float]]:
        for a, b, c in offsets:
            if (k + a, j + b, i + c) in space:
                yield (k + a, j + b, i + c), -1.0 if any((a, b, c)) else 8.0

    @ssr.recurrence(rows=space, cols=space)
    def D(k: Any, j: Any, i: Any, done: Any) -> Iterator[tuple[Any, Any]]:
        own, row, column = (k, j, i), A.row(k, j, i), A.T.row(k, j, i)
        for before in [c for c in row if c < own and c in column]:
            row[own] -= row[before] * column[before] / done[before, before]
        yield own, row[own]

    data = [np.zeros((4, 4, 4)) for _ in range(D.entries.components)]
    return lambda: D.compute(np.array(data))


def sheared() -> Run:
    """Return the product of a matrix of sheared columns with its transpose."""

    @ssr.matrix(rows=plane, cols=plane)
    def M(j: Any, i: Any) -> Iterator[tuple[Any, float]]:
        yield (j, i), 2.0
        if (j, i + j) in plane:
            yield (j, i + j), 0.5
        if (j + 1, i + 2 * j - 1) in plane:
            yield (j + 1, i + 2 * j - 1), 0.25

    apply = (M.T @ M).program("apply")
    return lambda: apply(np.ones((5, 7)), np.ones((5, 7)))


def statements() -> Run:
    """Return a program of eight statements: stencils, a mask, sweeps and sums on three spaces."""
    faces = plane.faces(1)
    cross = ssr.stencil(
        plane, plane, {(0, 0): 0.5, (0, 1): 0.25, (0, -1): 0.125, (1, 0): -0.5, (-1, 0): 0.25},
        outside="zero",
    )  # fmt: skip
    skew = ssr.stencil(plane, plane, {(0, 0): 2.0, (-2, 1): 0.5, (1, -3): 0.25}, outside="zero")
    slope = shift(faces, plane, 1, {-1: -1.0, 0: 1.0})

    @ssr.program(x=plane, y=plane, z=plane, g=faces, s=ssr.scalar)
    def run(x: Any, y: Any, z: Any, g: Any, s: Any) -> Any:
        y[:] = skew @ (cross @ (x * x)) - s * y
        g[:] = slope @ (x + y) * s
        z[:] = slope.T @ g + z
        x[:] = cross.tril().solve(z - cross.triu(1) @ x)
        y[:] = ssr.where((x > y) & (y < s), cross @ z, 0.5 * y)
        z[:] = skew.T @ (y / (1.0 + x * x))
        number = ssr.dot(z, cross @ y)
        x[:] = cross @ (cross @ z) + number * x
        y[:] = cross.triu().solve(x - cross.tril(-1) @ y)
        return number

    fields = [np.ones((6, 9)) for _ in range(3)]
    return lambda: run(*fields, np.ones((6, 10)), 0.5)


def application(name: str) -> Run:
    """Return BT, SP or LU of the NAS Parallel Benchmarks, class S: a step and its verification."""
    step = import_module(f"apps.{name}").step
    return lambda: flow_run(step, name.upper(), "S")


BUILDS: Mapping[str, Callable[[], Run]] = MappingProxyType(
    {
        "conjugate gradients": conjugate_gradients,
        "Galerkin multigrid": galerkin,
        "right-hand side": right_hand_side,
        "incomplete factors": incomplete,
        "sheared columns": sheared,
        "eight statements": statements,
        "BT": partial(application, "bt"),
        "SP": partial(application, "sp"),
        "LU": partial(application, "lu"),
    }
)
"""The function that declares each program; every call declares it again."""


def seconds(name: str) -> dict[str, float]:
    """Return the processor seconds of a build: those of Python's thread and of LLVM's threads.

    Python's are those of the declaration (``trace``), and of lowering and translation (``lower``),
    including compilation by LLVM that this thread runs instead of waiting for it.
    """
    start = time.process_time()
    run = BUILDS[name]()
    declared, own = time.process_time(), time.thread_time()
    run()
    done, own = time.process_time(), time.thread_time() - own
    return {
        "trace": declared - start,
        "lower": own,
        "llvm": done - declared - own,
        "total": done - start,
    }
