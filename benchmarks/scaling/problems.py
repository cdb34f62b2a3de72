"""The problems whose scaling is simulated and measured: a shallow-water step, HPCG iterations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from apps.hpcg.problem import Problem as Benchmark
from apps.swe import cases
from apps.swe.volumes import Volumes
from benchmarks.timing import Call

FLOW = cases.case("tc5")
ITERATIONS = 5
"""Iterations of HPCG in a call, as they are in the middle of one of its sets of 50. The residual
and the zero fields at the start of a set are left out."""


@dataclass(frozen=True)
class Problem:
    """A program on ranks, and the undistributed program that it is compared with.

    Attributes
    ----------
    make
        Returns a call for a size on ranks; undistributed where the ranks are None.
    size
        The cells along a panel of all ranks together, or the points along the box of each rank.
    tiny
        The size of a test.
    strong
        Whether the size is that of all ranks together.
    unit
        The work of a call.
    largest
        The largest size with which the undistributed program is run.
    """

    make: Callable[[int, Any], Call]
    size: int
    tiny: int
    strong: bool
    unit: str
    largest: int

    def on(self, ranks: Any) -> Call:
        """Return the call on ranks."""
        return self.make(self.size, ranks)

    def undistributed(self) -> Call:
        """Return the call of the undistributed program."""
        return self.make(min(self.size, self.largest), None)

    def share(self, ranks: int) -> float:
        """Return the work of a rank, as a multiple of that of the undistributed program."""
        return (self.size / min(self.size, self.largest)) ** 2 / ranks if self.strong else 1.0

    def small(self) -> Problem:
        """Return the same problem with the size of a test."""
        return replace(self, size=self.tiny)


def flow(n: int, ranks: Any) -> Call:
    """Return a step of the shallow-water solver."""
    solver = Volumes(n, FLOW, ranks=ranks)
    return lambda: solver.step(FLOW.dt(n))


def conjugate_gradients(n: int, ranks: Any) -> Call:
    """Return some iterations of HPCG's solver, with n^3 points on each rank.

    HPCG's own right side is zero on boxes that do not lie at a side of the whole. Coefficients are
    zero, so that fields keep their values from call to call; the last product is returned.
    """
    problem = Benchmark(n, n, n, world=ranks)
    solver, b = problem.solver(), problem.field(lambda k, j, i: 1.0 + (k + j + i) % 3)
    solver.solve(b, 1)

    def iterate() -> float:
        for _ in range(ITERATIONS):
            solver.precondition()
            solver.direction(0.0)
            product = solver.advance(0.0)
        return float(product)

    return iterate


PROBLEMS: Mapping[str, Problem] = {
    "shallow water": Problem(flow, 1024, 12, True, "a step on 6 x 1024^2 cells", 1024),
    "shallow water, large": Problem(flow, 4096, 12, True, "a step on 6 x 4096^2 cells", 1024),
    "HPCG": Problem(conjugate_gradients, 104, 16, False, "five iterations, 104^3 a rank", 104),
}
DEFAULT = "shallow water", "HPCG"
"""The problems that run unless others are named."""
