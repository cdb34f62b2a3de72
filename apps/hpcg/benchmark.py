"""The phases of the benchmark: setup, reference, validation, convergence, timed sets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import ssr

from .clock import Clock, T
from .problem import SMALLEST, Problem
from .validation import ITERATIONS, Tests, validate

WRITTEN = ssr.Options(exact=True, split=False, partial_sums=False, recurrence=False, fuse=False)
"""The options of the reference, whose kernels execute the programs without optimization."""


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
        """Operations by timed part: those of a dot product count for the part that computes it."""
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
class Result:
    """The measurements of a run; seconds are those of all timed sets."""

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
    small = Problem(SMALLEST, SMALLEST, SMALLEST, problem.matrix, problem.world)
    compilation, _ = _clocked(lambda: small.solver().solve(small.right_side, 1))
    setup, solver = _clocked(problem.solver)
    b = problem.right_side
    optimisation, _ = _clocked(lambda: solver.solve(b, 1))
    reference = problem.solver(WRITTEN)
    *_, tolerance = reference.solve(b, ITERATIONS)
    tests = validate(problem, solver)
    worst, history = _clocked(lambda: solver.solve(b, 10 * ITERATIONS, tolerance * (1.0 + 1e-6)))
    sets = problem.on.broadcast(int(seconds / worst) + 1)
    counts = Counts(problem, sets, max(ITERATIONS, len(history)))
    solver.clock.seconds.clear()
    total, histories = _clocked(
        lambda: [solver.solve(b, counts.iterations) for _ in range(counts.sets)]
    )
    kept = [A.to_scipy() for A in problem.operators] if problem.matrix == "csr" else []
    fields = b, solver.x, solver.p, solver.q, *solver.r, *solver.z
    arrays = [part for A in kept for part in (A.data, A.indices, A.indptr)]
    held = sum(f.size * f.dtype.itemsize for f in fields) + sum(a.nbytes for a in arrays)
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
        bytes_per_row=held / problem.rows[0],
    )


def _clocked(call: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds that a call takes, and its value."""
    clock = Clock()
    value = clock("", call)
    return clock.seconds[""], value
