"""Measure `apps.hpcg` against Fortran: on stored matrices, and tuned by hand without matrices.

``python -m benchmarks.hpcg [--json FILE] [--quick] [--only PART...]`` times iterations of conjugate
gradients; *CSR* is the algorithm of the reference on matrices with 32-bit indices, *tuned* the one
without matrices, fused by hand. ``kinds`` shows the time of each kind of kernel and the time to
move its bytes at the speed of a triad on arrays of this size, the memory that is used, and the
differences between the residuals. ``ranks`` compares two ranks with one, see `hpcg_ranks`.
"""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from types import MappingProxyType

import numpy as np
from scipy import sparse

from apps import commands
from apps.hpcg.operators import shapes
from apps.hpcg.problem import Problem
from apps.hpcg.solver import Solver
from benchmarks import fortran, report, timing
from benchmarks.cases import COUNTED, Candidate, Case, triad
from benchmarks.fortran import Array
from benchmarks.hpcg_ranks import ranks
from benchmarks.references import Shape, operator27
from benchmarks.timing import Json
from boundary import Field

ITERATIONS = 20
"""The number of iterations of one call."""

ROUNDS = 5
"""How often each kind of kernel is timed, in turn with the others."""

KNOWN = {1: 1.856333938904e-01, 10: 1.990693264140e-02, 50: 4.999634892397e-08}
"""Residuals of HPCG 3.1 after some iterations at 104^3 in one process."""

MOVED = {"mg": 131, "spmv": 40, "waxpby": 48}
"""Bytes that must be moved for a point and iteration, including cache lines that stores fill.

Sweeps read x and r and write x, but the first one only writes it; the residual reads x and r; the
coarser grids add a seventh. A new p reads z and p, and the product writes q; the updates read four
fields and write two.
"""


def tuned(shape: Shape, build: str, residuals: Array, seconds: Array) -> Candidate:
    """Bind iterations of the tuned algorithm."""
    grids = shapes(shape)
    points, wide = [sum(math.prod(n + w for n in grid) for grid in grids) for w in (0, 2)]
    extents = shape, shape, points, [n + 2 for n in shape], wide
    b, (x, q, r, p, z) = right_side(shape), (fortran.aligned(np.zeros(e)) for e in extents)
    call = fortran.hpcg(b, x, r, z, p, q, residuals, seconds, build=build)
    return Candidate(call, lambda: x)


def stored(shape: Shape) -> Callable[[str, Array, Array], Candidate]:
    """Return a function that binds iterations to stored matrices, which all builds share."""
    grids = shapes(shape)
    first = np.array([0, *accumulate(map(math.prod, grids))], np.int32)
    blocks = sparse.block_diag([operator27(grid) for grid in grids], format="csr")
    numbers = [
        start + np.arange(math.prod(g)).reshape(g)
        for start, g in zip(first[:-1], grids, strict=True)
    ]
    origin = np.concatenate(
        [numbers[0].ravel(), *(finer[::2, ::2, ::2].ravel() for finer in numbers[:-1])]
    )
    indptr, indices, origin = (a.astype(np.int32) for a in (blocks.indptr, blocks.indices, origin))
    matrix = first, origin, indptr, indices, blocks.data, blocks.diagonal()

    def bind(build: str, residuals: Array, seconds: Array) -> Candidate:
        b, x, p = right_side(shape).ravel(), *np.empty((2, math.prod(shape)))
        r, z, q = np.empty((3, first[-1]))
        call = fortran.hpcg_csr(*matrix, b, x, r, z, p, q, residuals, seconds, build=build)
        return Candidate(call, lambda: x.reshape(shape))

    return bind


def problem(shape: Shape) -> Problem:
    """Return the problem on a box."""
    nz, ny, nx = shape
    return Problem(nx, ny, nz)


def whole(field: Field) -> Array:
    """Return a field of one process as an array."""
    found = field.gather()
    assert found is not None
    return found


def right_side(shape: Shape) -> Array:
    """Return the right side as an array."""
    return whole(problem(shape).right_side)


def hpcg(shape: Shape) -> dict[str, Candidate]:
    """Bind some iterations that start at zero."""
    b, solver, csr = problem(shape).right_side, problem(shape).solver(), stored(shape)
    scratch = np.empty(ITERATIONS + 1), np.empty(3)
    return {
        "ours": Candidate(lambda: solver.solve(b, ITERATIONS), lambda: whole(solver.x)),
        **{f"tuned {build}": tuned(shape, build, *scratch) for build in fortran.BUILDS},
        **{f"CSR {build}": csr(build, *scratch) for build in COUNTED},
    }


CASES: Mapping[str, Case] = MappingProxyType(
    {
        "hpcg-104": Case(
            f"{ITERATIONS} iterations of HPCG, natural order",
            *(hpcg, (104, 104, 104), (16, 16, 16), ITERATIONS * sum(MOVED.values())),
            goals={"CSR": 1 / 9, "tuned": 1.10},
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Run:
    """Residuals relative to the first one, and seconds of each kind of kernel."""

    residuals: Array
    seconds: Array

    def apart(self, other: Run) -> float:
        """Return the largest relative distance between residuals."""
        return float(np.abs(self.residuals / other.residuals - 1.0).max())


def our_run(solver: Solver, b: Field, iterations: int) -> Run:
    """Solve once."""
    solver.clock.seconds.clear()
    residuals = solver.solve(b, iterations)
    return Run(np.array(residuals), np.array([solver.clock.seconds[kind] for kind in MOVED]))


def other_run(call: Callable[[], object], residuals: Array, seconds: Array) -> Run:
    """Call Fortran once, so that it fills the arrays."""
    call()
    return Run(residuals[1:] / residuals[0], seconds.copy())


def kinds(quick: bool) -> Json:
    """Print the time of each kind of kernel, the memory, and differences of residuals."""
    shape, iterations = ((16, 16, 16), 10) if quick else ((104, 104, 104), 50)
    b = problem(shape).right_side
    problem(shape).solver().solve(b, 1)
    tracemalloc.start()
    solver = problem(shape).solver()
    solver.solve(b.copy(), 1)
    memory = tracemalloc.get_traced_memory()[1] / b.size
    tracemalloc.stop()
    calls = {"ours": partial(our_run, solver, b, iterations)}
    for name, bind in ("tuned", partial(tuned, shape)), ("CSR", stored(shape)):
        residuals, seconds = np.empty(iterations + 1), np.empty(len(MOVED))
        call = bind("Ofast", residuals, seconds).call
        calls[name] = partial(other_run, call, residuals, seconds)
    rounds = [{name: call() for name, call in calls.items()} for _ in range(ROUNDS)]
    runs = {name: [one[name] for one in rounds] for name in calls}
    (copying,) = timing.measure({"triad": triad(shape)})
    times = {name: np.median([run.seconds for run in runs[name]], axis=0) for name in runs}
    unit = 1e9 / (iterations * b.size)
    rows = []
    for n, (kind, moved) in enumerate(MOVED.items()):
        ours, others = times["ours"][n], [times[name][n] for name in ("tuned", "CSR")]
        bound = moved * copying.median * iterations / 32
        cells = [f"{unit * t:.2f}" for t in (bound, ours, *others)]
        rows.append([kind, *cells, *(f"{ours / t:.3f}" for t in (bound, *others))])
    header = "kind", "bound", "ours", "tuned", "CSR", "ours/bound", "ours/tuned", "ours/CSR"
    print(f"kinds of kernels, ns for a point and iteration\n{timing.table(header, rows)}")
    distances = {name: runs[name][0].apart(runs["ours"][0]) for name in ("tuned", "CSR")}
    if not quick:
        found = runs["ours"][0].residuals[[k - 1 for k in KNOWN]]
        distances["HPCG 3.1"] = float(np.abs(found / list(KNOWN.values()) - 1.0).max())
    for name, distance in distances.items():
        print(f"residuals of {iterations} iterations differ by {distance:.1e} from {name}")
        if not distance < 1e-9:
            raise ArithmeticError(f"The residuals of {name} differ from ours.")
    print(f"memory: {memory:.1f} bytes for a row of the finest grid\n")
    return {
        "seconds": {name: list(map(float, found)) for name, found in times.items()},
        "iterations": iterations,
        "bytes_per_row": memory,
        "distances": distances,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements selected on the command line."""
    report.main(CASES, {"kinds": kinds, "ranks": ranks}, arguments)


if __name__ == "__main__":
    commands.run(main)
