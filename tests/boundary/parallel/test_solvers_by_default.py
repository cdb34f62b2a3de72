"""Smoothers, preconditioners and solvers with their defaults: on ranks the bits of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.solvers import (
    IC,
    ILU,
    GaussSeidel,
    Jacobi,
    Multigrid,
    bicgstab,
    cg,
    chebyshev,
    gmres,
    interpolation,
    richardson,
)

from . import ranks

Array = np.ndarray[Any, Any]

m = ssr.size("m", at_least=2)
cells, coarse = ssr.Space(2 * m, 2 * m), ssr.Space(m, m)
STAR = {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.0, (1, 0): -1.0, (-1, 0): -1.0}
TILTED = {**STAR, (0, 1): -0.75, (-1, 0): -0.5}
SHARED: dict[str, tuple[Any, Any]] = {
    "2 ranks": (bc.simulated_ranks(2), None),
    "2 ranks, the last axis cut": (bc.simulated_ranks(2), (1, 2)),
    "4 ranks, both axes cut": (bc.simulated_ranks(4), (2, 2)),
    "2 threads": (bc.threads(2), (2, 1)),
}


@pytest.fixture(autouse=True)
def plain_programs() -> Iterator[None]:
    """Let programs run as plain Python, with arrays too."""
    with ranks.plain_programs():
        yield


def closed(weights: Any = STAR) -> ssr.Matrix:
    """Return a stencil on cells with values of zero on the sides."""
    wide = cells.grow(1)
    return (ssr.stencil(cells, wide, weights) @ bc.fill(wide, bc.dirichlet(0.0))).linear


def hierarchy(A: ssr.Matrix) -> Multigrid:
    """Return multigrid with its defaults."""
    P = interpolation(cells, coarse, centering="cell")
    return Multigrid(A, P, P.T)


def galerkin(_: ssr.Matrix) -> Multigrid:
    """Return multigrid by products of matrices, with its defaults."""
    points = ssr.Space(cells.shape[0] - 1, cells.shape[1] - 1)
    return Multigrid.galerkin(ssr.stencil(points, points, STAR, outside="zero"), 2)


def drawn(count: int, size: int) -> Array:
    """Return arrays on cells."""
    return np.random.default_rng(3).standard_normal((count, 2 * size, 2 * size))


def spreads(size: int) -> Iterator[Any]:
    """Yield all ways to share cells."""
    for world, cut in SHARED.values():
        yield bc.distribute(cells, world, cut=cut, m=size)


SMOOTHERS: dict[str, Any] = {"Jacobi": Jacobi, "GaussSeidel": GaussSeidel}
PRECONDITIONERS: dict[str, Callable[[Any], Any]] = {
    "none": lambda A: None,
    "Jacobi": lambda A: Jacobi(),
    "GaussSeidel": lambda A: GaussSeidel(),
    "ILU": lambda A: ILU(),
    "IC": lambda A: IC(),
    "Multigrid": hierarchy,
}
SOLVERS: dict[str, Callable[..., Any]] = {
    "cg": cg,
    "bicgstab": bicgstab,
    "gmres": gmres,
    "richardson": richardson,
    "chebyshev": lambda A, b, **more: chebyshev(A, b, bounds=(0.05, 8.0), **more),
}


def test_all_are_here() -> None:
    """Another solver of the package would have to be added here."""
    made = {n for n in ssr.solvers.__all__ if n[0].islower()}
    assert made == {*SOLVERS, "interpolation", "lobpcg"}
    parts = {n for n, k in vars(ssr.solvers).items() if isinstance(k, type) and hasattr(k, "solve")}
    assert parts == {"ILU", "IC", "Multigrid", "Factorization"}
    sweeps = {n for n, k in vars(ssr.solvers).items() if hasattr(k, "sweep")}
    assert sweeps == {*SMOOTHERS, "Smoother"}
    assert {*SMOOTHERS, "ILU", "IC", "Multigrid", "none"} == set(PRECONDITIONERS)


@pytest.mark.parametrize("name", SMOOTHERS)
def test_smoothers(name: str) -> None:
    """Sweeps of a field, and those that follow changes of it in one program."""
    A, smoother = closed(), SMOOTHERS[name]()

    def start(x: Any, b: Any) -> None:
        smoother.start(A, x, b)

    def sweep(x: Any, b: Any) -> None:
        smoother.sweep(A, x, b)

    def reverse(x: Any, b: Any) -> None:
        smoother.reverse(A, x, b)

    def precondition(x: Any, b: Any) -> None:
        smoother.precondition(A, x, b)

    def several(x: Any, b: Any) -> None:
        x[:] = x + 0.5 * b
        smoother.sweep(A, x, b)
        b[:] = b - A @ x
        smoother.reverse(A, x, b)

    for body in start, sweep, reverse, precondition, several:
        program = ssr.program(x=cells, b=cells)(body)
        x, b = drawn(2, 3)
        program(x, b)
        for on in spreads(3):
            fields = [on.scatter(cells, values) for values in drawn(2, 3)]
            program(*fields)
            ranks.check_equal(fields, [x, b], f"{body.__name__} on {on!r}")


@pytest.mark.parametrize(
    ("solver", "preconditioner"),
    [
        *(("cg", name) for name in PRECONDITIONERS),
        *((name, M) for name in SOLVERS if name != "cg" for M in ("none", "GaussSeidel")),
    ],
)
def test_solvers(solver: str, preconditioner: str) -> None:
    A = closed(TILTED if solver in ("bicgstab", "gmres") else STAR)
    M = PRECONDITIONERS[preconditioner](A)
    (b,) = drawn(1, 4)
    alone = SOLVERS[solver](A, b, M=M, maxiter=2)
    for on in spreads(4):
        many = SOLVERS[solver](A, on.scatter(cells, b), M=M, maxiter=2)
        assert (many.info, many.history) == (alone.info, alone.history)
        ranks.check_equal([many.x], [alone.x], repr(on))


@pytest.mark.parametrize("made", [hierarchy, galerkin])
def test_cycles_of_multigrid(made: Any) -> None:
    """A cycle is the one of arrays, and symmetric: (b, M a) = (a, M b) up to rounding."""
    multigrid = made(closed())
    space = multigrid.matrices[0].rows
    a, b = np.random.default_rng(0).standard_normal((2, *space.extent({"m": 8})))
    za, zb = np.zeros_like(a), np.zeros_like(b)
    multigrid(za, a)
    multigrid(zb, b)
    scale = np.linalg.norm(a) * np.linalg.norm(zb)
    assert abs(np.vdot(b, za) - np.vdot(a, zb)) < 1e-13 * scale
    solved = multigrid.solve(b, maxiter=2)
    for world, cut in SHARED.values():
        on = bc.distribute(space, world, cut=cut, m=8)
        fields = [on.zeros(space) for _ in "ab"]
        for field, right in zip(fields, (a, b), strict=True):
            multigrid(field, on.scatter(space, right))
        ranks.check_equal(fields, [za, zb], repr(on))
        many = multigrid.solve(on.scatter(space, b), maxiter=2)
        assert many.history == solved.history
        ranks.check_equal([many.x], [solved.x], repr(on))
