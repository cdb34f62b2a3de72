"""The phases of the benchmark: setup, reference, validation, convergence, timed sets."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

import ssr

from .clock import Clock, T
from .solver import Array, Shape, Solver, fine, operators, shapes

WRITTEN = ssr.Options(
    exact=True, split=False, partial_sums=False, recurrence=False, fuse=False, prefetch=False
)
"""The options of the reference, whose kernels do what the programs say and nothing else."""

ITERATIONS = 50
SMALLEST = 16


class ProblemError(ValueError):
    """Raised where the benchmark is not defined for a box of points."""


@dataclass(frozen=True)
class Problem:
    """A box of points and how its operator is given.

    Raises
    ------
    ProblemError
        If an extent is smaller than 16 or not divisible by 8, or one is more than 8 times another.
    """

    nx: int
    ny: int
    nz: int
    matrix: Literal["staged", "csr"] = "staged"

    def __post_init__(self) -> None:
        for name, n in ("nx", self.nx), ("ny", self.ny), ("nz", self.nz):
            if n < SMALLEST:
                raise ProblemError(f"{name} is {n}; the smallest extent is {SMALLEST}.")
            if n % 8:
                raise ProblemError(
                    f"{name} is {n}, which is not divisible by 8: the grid is halved three times."
                )
        if max(self.shape) > 8 * min(self.shape):
            raise ProblemError(
                f"The box {self.nx} x {self.ny} x {self.nz} is too long: its largest extent is "
                "more than 8 times its smallest."
            )

    @property
    def shape(self) -> Shape:
        """The extents in the order of array axes."""
        return self.nz, self.ny, self.nx

    @property
    def rows(self) -> list[int]:
        """The number of rows on each grid."""
        return [math.prod(s) for s in shapes(self.shape)]

    @property
    def entries(self) -> list[int]:
        """The number of entries of the operator on each grid."""
        return [math.prod(3 * n - 2 for n in s) for s in shapes(self.shape)]

    @cached_property
    def operators(self) -> list[Any]:
        """The operators of all grids."""
        return operators(self.matrix, self.shape)

    def solver(self, options: ssr.Options | None = None) -> Solver:
        """Return a solver that has its own arrays."""
        return Solver(self.operators, self.shape, options or ssr.Options())

    @cached_property
    def right_side(self) -> Array:
        """The right side for which the solution is one: 27 less the entries of each row."""
        count: Array = np.array(1.0)
        for n in self.shape:
            along = np.full(n, 3.0)
            along[[0, -1]] = 2.0
            count = np.multiply.outer(count, along)
        return 27.0 - count


@dataclass(frozen=True)
class Counts:
    """Nominal operations and bytes of sets of iterations, whatever the kernels really do."""

    problem: Problem
    sets: int
    iterations: int

    @property
    def flops(self) -> dict[str, int]:
        """Operations of each kind."""
        n, z, count = self.problem.rows[0], self.problem.entries, self.sets * self.iterations
        vectors = 2 * n * (3 * count + self.sets)
        return {
            "ddot": vectors,
            "waxpby": vectors,
            "spmv": 2 * z[0] * (count + self.sets),
            "mg": count * (10 * sum(z[:-1]) + 4 * z[-1]),
        }

    @property
    def timed(self) -> dict[str, int]:
        """Operations as they are timed: dot products belong to what they are computed with."""
        n, count, flops = self.problem.rows[0], self.sets * self.iterations, self.flops
        return {
            "mg": flops["mg"] + 2 * n * count,
            "spmv": flops["spmv"] + 4 * n * (count + self.sets),
            "waxpby": 6 * n * count,
        }

    @property
    def traffic(self) -> tuple[int, int]:
        """Bytes that a code which stores matrices with 32-bit indices reads and writes."""
        n, z, count = self.problem.rows, self.problem.entries, self.sets * self.iterations
        vectors, products = 3 * count + self.sets, count + self.sets
        read = 32 * n[0] * vectors + products * (12 * z[0] + 8 * n[0])
        read += count * (60 * sum(z[:-1]) + 24 * sum(n[:-1]) + 24 * z[-1] + 8 * n[-1])
        write = 8 * vectors + 8 * n[0] * vectors + 8 * n[0] * products
        write += count * (8 * sum(n[:-1]) + 16 * sum(z[:-1]) + 8 * n[-1])
        return read, write


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


@dataclass(frozen=True)
class Result:
    """What a run has measured; seconds are those of all timed sets."""

    problem: Problem
    counts: Counts
    tests: Tests
    compilation: float
    setup: float
    optimisation: float
    reference: float
    tolerance: float
    residuals: Sequence[float]
    finals: Sequence[float]
    seconds: dict[str, float]
    total: float
    bytes_per_row: float

    @property
    def variance(self) -> float:
        """The variance of the last residuals of all sets."""
        return float(np.var(self.finals))

    @property
    def reproducible(self) -> bool:
        """Whether all sets end with the same residual."""
        return self.variance < 1e-6

    @property
    def converged(self) -> bool:
        """Whether the residual is as small as that of the reference."""
        return min(self.residuals) <= self.tolerance * (1.0 + 1e-6)

    @property
    def valid(self) -> bool:
        """Whether the run is valid."""
        tests = self.tests.converged and self.tests.symmetric
        return tests and self.converged and self.reproducible

    @property
    def rating(self) -> float:
        """Operations a second in 10^9, reduced by slow convergence and preparations."""
        flops = sum(self.counts.flops.values()) * ITERATIONS / self.counts.iterations
        ahead = self.counts.sets * (self.optimisation + self.setup) / 10.0
        return flops / (self.total + ahead) / 1e9


def run(problem: Problem, seconds: float) -> Result:
    """Run all phases; the timed sets take about this long."""
    small = Problem(SMALLEST, SMALLEST, SMALLEST, problem.matrix)
    compilation, _ = _clocked(lambda: small.solver().solve(small.right_side, 1))
    setup, solver = _clocked(problem.solver)
    b = problem.right_side
    optimisation, _ = _clocked(lambda: solver.solve(b, 1))
    reference = problem.solver(WRITTEN)
    *_, tolerance = reference.solve(b, ITERATIONS)
    tests = validate(problem, solver)
    worst, history = _clocked(lambda: solver.solve(b, 10 * ITERATIONS, tolerance * (1.0 + 1e-6)))
    counts = Counts(problem, int(seconds / worst) + 1, max(ITERATIONS, len(history)))
    solver.clock.seconds.clear()
    total, histories = _clocked(
        lambda: [solver.solve(b, counts.iterations) for _ in range(counts.sets)]
    )
    kept = [A.to_scipy() for A in problem.operators] if problem.matrix == "csr" else []
    arrays = b, solver.x, solver.p, solver.q, *solver.r, *solver.z
    arrays += tuple(part for A in kept for part in (A.data, A.indices, A.indptr))
    return Result(
        problem=problem,
        counts=counts,
        tests=tests,
        compilation=compilation,
        setup=setup,
        optimisation=optimisation,
        reference=sum(reference.clock.seconds.values()) / ITERATIONS,
        tolerance=tolerance,
        residuals=histories[0],
        finals=[history[-1] for history in histories],
        seconds=dict(solver.clock.seconds),
        total=total,
        bytes_per_row=sum(a.nbytes for a in arrays) / problem.rows[0],
    )


def validate(problem: Problem, solver: Solver) -> Tests:
    """Run the validation tests."""
    scale = np.full(problem.shape, 1e6)
    scale.flat[:9] *= np.arange(2.0, 11.0)
    first, *others = problem.operators
    made = first + ssr.diagonal(fine, 26.0 * (scale - 1.0))
    easy = Solver([made, *others], problem.shape, ssr.Options())
    plain, preconditioned = (
        tuple(
            len(easy.solve(problem.right_side * scale, ITERATIONS, 1e-12, preconditioned=given))
            for _ in range(2)
        )
        for given in (False, True)
    )
    random = np.random.default_rng(0)
    x, y = (random.uniform(1.0, 2.0, problem.shape) for _ in range(2))
    bound = 2.0 * (x * x).sum() * 52.0 * (y * y).sum() * np.finfo(float).eps
    (Ax, Mx), (Ay, My) = (_applied(solver, v) for v in (x, y))
    solver.grids[0].residual(solver.r[0], problem.right_side, np.ones(problem.shape))
    return Tests(
        plain=plain,
        preconditioned=preconditioned,
        spmv=float(abs((x * Ay).sum() - (y * Ax).sum()) / bound),
        mg=float(abs((x * My).sum() - (y * Mx).sum()) / bound),
        error=float(np.abs(solver.r[0]).max()),
    )


def _applied(solver: Solver, x: Array) -> tuple[Array, Array]:
    """Return the products of the operator and of the V-cycle with an array."""
    solver.p[:], solver.r[0][:] = 0.0, x
    solver.grids[0].direction(solver.p, solver.q, x, 0.0)
    solver.precondition()
    return solver.q.copy(), solver.z[0].copy()


def _clocked(call: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds that a call takes, and its value."""
    clock = Clock()
    value = clock("", call)
    return clock.seconds[""], value
