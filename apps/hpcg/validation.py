"""The validation of a run: an easy system, and departures from symmetry."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import boundary as bc
import ssr

from .layout import Shape
from .problem import Problem
from .solver import Solver, fine

ITERATIONS = 50
FIRST = 9
EPSILON = float(np.finfo(float).eps)


@ssr.matrix(rows=fine, cols=fine)
def easy(k: Any, j: Any, i: Any) -> Iterator[Any]:
    """Yield the change of the diagonal for an easy system: 10^6 times as large, more in some rows.

    These are the first rows, on the first line of the grid.
    """
    if k == 0 and j == 0 and i < FIRST:
        yield (k, j, i), 26.0e6 * (i + 2) - 26.0
    else:
        yield (k, j, i), 26.0e6 - 26.0


@ssr.matrix(rows=fine, cols=fine)
def scaling(k: Any, j: Any, i: Any) -> Iterator[Any]:
    """Yield the factor of the right side of the easy system."""
    if k == 0 and j == 0 and i < FIRST:
        yield (k, j, i), 1.0e6 * (i + 2)
    else:
        yield (k, j, i), 1.0e6


@ssr.program(b=fine)
def scale(b: Any) -> None:
    """Scale the right side to that of the easy system."""
    b[:] = scaling @ b


@ssr.program(x=fine, y=fine, Ax=fine, Ay=fine)
def departure(x: Any, y: Any, Ax: Any, Ay: Any) -> Any:
    """Return the difference between ``x A y`` and ``y A x``, and its tolerance."""
    most = 2.0 * ssr.dot(x, x) * 52.0 * ssr.dot(y, y) * EPSILON
    return abs(ssr.dot(x, Ay) - ssr.dot(y, Ax)), most


@ssr.program(x=fine)
def largest(x: Any) -> Any:
    """Return the largest absolute value."""
    return ssr.max(abs(x))


@dataclass(frozen=True)
class Tests:
    """The validation of a run: iterations for an easy system, departures from symmetry."""

    plain: tuple[int, ...]
    preconditioned: tuple[int, ...]
    spmv: float
    mg: float
    error: float

    @property
    def converged(self) -> bool:
        """Whether the easy system took as few iterations as it should."""
        return max(self.plain) <= 12 and max(self.preconditioned) <= 2

    @property
    def symmetric(self) -> bool:
        """Whether the operator and the V-cycle are symmetric within rounding."""
        return max(self.spmv, self.mg) <= 1.0


def validate(problem: Problem, solver: Solver) -> Tests:
    """Run the validation tests."""
    first, *others = problem.operators
    scaled = Solver([first + easy.bind(**problem.on.sizes), *others], problem.on, ssr.Options())
    b = problem.right_side.copy()
    scale(b)
    plain, preconditioned = (
        tuple(len(scaled.solve(b, ITERATIONS, 1e-12, preconditioned=given)) for _ in range(2))
        for given in (False, True)
    )
    x, y = (problem.field(partial(noise, problem.shape, seed)) for seed in (1, 2))
    (Ax, Mx), (Ay, My) = (_applied(solver, v) for v in (x, y))
    products, cycles = departure(x, y, Ax, Ay), departure(x, y, Mx, My)
    ones = problem.field(lambda *point: 1.0)
    solver.grids[0].residual(solver.r[0], problem.right_side, ones)
    return Tests(
        plain=plain,
        preconditioned=preconditioned,
        spmv=products[0] / products[1],
        mg=cycles[0] / cycles[1],
        error=largest(solver.r[0]),
    )


def noise(shape: Shape, seed: int, *point: Any) -> Any:
    """Return numbers between 1 and 2 at points without a pattern, the same on any ranks."""
    k, j, i = (np.asarray(axis, np.uint64) for axis in point)
    mixed = (k * np.uint64(shape[1]) + j) * np.uint64(shape[2]) + i + np.uint64(seed << 48)
    for factor in 0xBF58476D1CE4E5B9, 0x94D049BB133111EB:
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(factor)
    return 1.0 + (mixed >> np.uint64(11)) / 2.0**53


def _applied(solver: Solver, x: bc.Field) -> tuple[bc.Field, bc.Field]:
    """Return the products of the operator and of the V-cycle with a field."""
    solver.p.set(0.0)
    solver.r[0].set(x)
    solver.grids[0].direction(solver.p, solver.q, x, 0.0)
    solver.precondition()
    return solver.q.copy(), solver.z[0].copy()
