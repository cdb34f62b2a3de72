"""Measure programs on two ranks of MPI: their exchanges, the gain by two cores, and the start.

``python -m benchmarks.mpi [--json FILE] [--rounds N] [--only PART...]`` starts the ranks itself, by
``mpiexec -n 2``. It needs two idle cores: a rank waits for the other, so any other process delays
both. Candidates take turns, and the shortest times are compared; the median ratio of all rounds is
also given, with quartiles.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import boundary as bc
import ssr
from apps import commands
from apps.swe import cases
from apps.swe.volumes import Volumes
from benchmarks import mpi_by_hand as by_hand
from benchmarks import mpi_cubed, timing
from benchmarks.boundary import WIDTH, cubed_program
from benchmarks.mpi_by_hand import Halo
from benchmarks.operators import Weights
from benchmarks.timing import Call, Json

FLOW = cases.case("tc5")
RUNS = 100
"""Runs of a program that is little more than an exchange, for one sample."""

STEADY = 8
"""Runs of a program on one core or two, for one sample."""

BUDGET = 60.0
"""Seconds after which no round begins."""

EXCHANGES = {"rows": Halo(512, 1, "rows"), "columns": Halo(512, 1, "columns")}
"""Strips of one line, which no rank can begin before the other's has come."""
PANELS = "exchange of panels"
"""The ghosts of a scalar and of a vector on the cubed sphere, as the shallow-water solver has."""
CELLS = 96
"""The cells of a panel along each axis."""

BY_HAND, NUMPY = 1.05, 0.5
"""Goals for the ratio of our time to that of exchanges by hand: to the better compiled one, and to
that of slices."""

EFFICIENCY, START = 0.95, 1.3
"""The least efficiency, relative to that of the triad where this is less than one, and the largest
ratio of the time to the first step on two ranks to that on one."""

Samples = dict[str, list[float]]


# -- exchanges -----------------------------------------------------------------------------------


def ours(halo: Halo, ranks: Any, whole: Any) -> tuple[Callable[[int], object], bc.Field]:
    """Return a function that computes products on one or two ranks, and the field of the result."""
    ny, nx = ssr.sizes("ny nx")
    plane = ssr.Space(ny, nx)
    weights: Weights = {(0, 0): 0.5, (-1, 0): 0.125, (0, -1): 0.125, (0, 1): 0.125, (1, 0): 0.125}
    A = ssr.stencil(plane, plane, weights, outside="zero")

    @ssr.program(u=plane)
    def step(u: Any) -> None:
        u[:] = A @ u

    (rows, columns), one = whole.shape, whole.shape == halo.shape
    cut = (1, 1) if one else (2, 1) if halo.way == "rows" else (1, 2)
    on = bc.distribute(plane, ranks, cut=cut, ny=rows, nx=columns)
    u = on.scatter(plane, whole)
    run = step.bind(u)
    run()
    u.set(whole)
    return lambda count: run.repeat(np.zeros((count, 0))), u


def exchange(comm: Any, rounds: int, name: str) -> Samples:
    """Time runs of a program that is little more than an exchange, and the rest of it alone."""
    halo = EXCHANGES[name]
    half = np.random.default_rng(1).random(halo.shape)
    whole = np.concatenate([half, half[::-1, ::-1]], 0 if halo.way == "rows" else 1)
    calls: dict[str, Callable[[int], object]] = {}
    calls["ours"], field = ours(halo, comm, whole)
    calls["ours, product"], _ = ours(halo, bc.simulated_ranks(1), half)
    calls["by hand, product"] = by_hand.products(half)
    for other, make in (
        ("by hand", by_hand.compiled),
        ("by hand, testing", partial(by_hand.compiled, tests=True)),
        ("NumPy", by_hand.pythonic),
    ):
        calls[other], array = make(halo, comm, whole)
        calls["ours"](2)
        calls[other](2)
        ((_, values),) = field.parts()
        assert np.allclose(values, array[1:-1, 1:-1], rtol=1e-13), "the exchanges differ"
        field.set(whole)
    return timed(comm, {n: partial(call, RUNS) for n, call in calls.items()}, rounds, RUNS)


def panels(comm: Any, rounds: int) -> Samples:
    """Time the ghosts of panels, three on each rank, with the exchange that they need."""
    program = cubed_program(CELLS)
    kinds: dict[str, Any] = dict(program.signature.kinds)
    on = bc.distribute(kinds["h"].grid, comm, n=CELLS)
    values = np.random.default_rng(1).random((3, 6, *2 * [CELLS + 2 * WIDTH]))
    fields = [on.scatter(kinds["h"], values[0]), on.scatter(kinds["u"], values[1:])]
    run = program.bind(*fields)
    calls: dict[str, Callable[[int], object]] = {}
    calls["ours"] = lambda count: run.repeat(np.zeros((count, 0)))
    for other, make in (
        ("by hand", mpi_cubed.compiled),
        ("by hand, testing", partial(mpi_cubed.compiled, tests=True)),
        ("NumPy", mpi_cubed.pythonic),
    ):
        parts = slice(mpi_cubed.PANELS * comm.rank, mpi_cubed.PANELS * (comm.rank + 1))
        arrays = np.ascontiguousarray(values[:, parts])
        calls[other] = make(comm, arrays[0], arrays[1:], WIDTH)
        calls["ours"](1)
        calls[other](1)
        for field, array in zip(fields, (arrays[0], arrays[1:]), strict=True):
            for box, view in field.parts():
                ours = array[..., box[0][0] - parts.start : box[0][1] - parts.start, :, :]
                assert _agree(view, ours), "the ghosts differ"
    return timed(comm, {n: partial(call, RUNS) for n, call in calls.items()}, rounds, RUNS)


def _agree(a: Any, b: Any) -> bool:
    """Whether panels agree, but for their corners."""
    middle = slice(WIDTH, -WIDTH)
    across = (middle, slice(None)), (slice(None), middle)
    return all(np.allclose(a[(..., *of)], b[(..., *of)], rtol=1e-13) for of in across)


def timed(comm: Any, calls: Mapping[str, Call], rounds: int, runs: int = 1) -> Samples:
    """Time calls of all ranks together; a sample is the time of the slowest rank.

    On a machine that is busy a wait may take as long as others have the core: there are fewer
    rounds then.
    """
    found: Samples = {name: [] for name in calls}
    names, end = list(calls), time.perf_counter() + BUDGET
    for turn in range(rounds):
        if comm.bcast(time.perf_counter() > end and turn > 0):
            break
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            comm.Barrier()
            start = time.perf_counter()
            calls[name]()
            found[name].append((time.perf_counter() - start) / runs)
    return slowest(comm, found)


def slowest(comm: Any, found: Samples) -> Samples:
    from mpi4py import MPI

    slowest = {name: np.array(samples) for name, samples in found.items()}
    for samples in slowest.values():
        comm.Allreduce(MPI.IN_PLACE, samples, MPI.MAX)
    return {name: samples.tolist() for name, samples in slowest.items()}


# -- two cores -----------------------------------------------------------------------------------


def flow(n: int, comm: Any) -> Call:
    """Return a step of the shallow-water solver, on ranks or undistributed."""
    solver = Volumes(n, FLOW, ranks=comm)
    return lambda: solver.step(FLOW.dt(n))


def product27(n: int, comm: Any) -> Call:
    """Return two products with a 27-point matrix on a cube, on ranks or undistributed."""
    size = ssr.size("n")
    cube = ssr.Space(size, size, size)
    weights: Weights = {o: 26.0 if o == (0, 0, 0) else -1.0 for o in product((-1, 0, 1), repeat=3)}
    A = ssr.stencil(cube, cube, weights, outside="zero") * (1.0 / 52.0)

    @ssr.program(y=cube, x=cube, options=ssr.Options(fuse=False))
    def twice(y: Any, x: Any) -> None:
        y[:] = A @ x
        x[:] = A @ y

    x = np.random.default_rng(1).random((n, n, n))
    if comm is None:
        bound: Callable[[], Any] = twice.bind(np.zeros_like(x), x)
    else:
        on = bc.distribute(cube, comm, n=n, cut=(2, 1, 1))
        bound = twice.bind(on.zeros(cube), on.scatter(cube, x))
    return lambda: bound()


def sweeps(n: int, comm: Any) -> Call:
    """Return a sweep of Gauss-Seidel on a square forwards and one backwards, in natural order."""
    size = ssr.size("n")
    plane = ssr.Space(size, size)
    near: Weights = {(-1, 0): -1.0, (0, -1): -1.0, (0, 1): -1.0, (1, 0): -1.0}
    A = ssr.stencil(plane, plane, {(0, 0): 4.0, **near}, outside="zero")

    @ssr.program(x=plane, b=plane)
    def smooth(x: Any, b: Any) -> None:
        x[:] = A.tril().solve(b - A.triu(1) @ x)
        x[:] = A.triu().solve(b - A.tril(-1) @ x)

    if comm is None:
        bound: Callable[[], Any] = smooth.bind(np.zeros((n, n)), np.ones((n, n)))
    else:
        on = bc.distribute(plane, comm, n=n, cut=(1, 2))
        bound = smooth.bind(on.zeros(plane), on.scatter(plane, np.ones((n, n))))
    return lambda: bound()


def relaxations(n: int, comm: Any) -> Call:
    """Return a step of NPB LU from the exact solution."""
    from apps import lu  # its derivatives are worked out on import, for no other part
    from apps.npb.flow import changes
    from apps.npb.run import begun

    _, U = begun(n, comm)
    R, S = U.distribution.zeros(changes), U.distribution.zeros(changes)
    bound = lu.step.bind(R=R, U=U, S=S, dt=1e-3, h=1.0 / (n - 1))
    return lambda: bound()


def triad(n: int, comm: Any) -> Call:
    """Return ``a = b + s c`` on cubes, of which each rank has its part."""
    from numba import njit

    @njit()
    def run(a: Any, b: Any, c: Any) -> None:
        for i in range(len(a)):
            a[i] = b[i] + 3.0 * c[i]

    count = n**3 // (1 if comm is None else comm.size)
    arrays = np.zeros(count), np.ones(count), np.ones(count)
    run(*arrays)
    return lambda: run(*arrays)


CORES: Mapping[str, Callable[[Any], Call]] = {
    "triad 192": lambda comm: triad(192, comm),
    "shallow water 96": lambda comm: flow(96, comm),
    "shallow water 192": lambda comm: flow(192, comm),
    "27 points 192": lambda comm: product27(192, comm),
    "sweeps 1024": lambda comm: sweeps(1024, comm),
    "LU 64": lambda comm: relaxations(64, comm),
}


def cores(comm: Any, rounds: int, name: str) -> Samples:
    """Time a program on all ranks and, while the others sleep, undistributed and on threads."""
    alone, together = CORES[name](None), CORES[name](comm)
    apart = {"one core": alone}
    if not name.startswith("triad"):
        apart["two threads"] = CORES[name](bc.threads(comm.size))
    found: Samples = {"one core": [], "two cores": [], **{what: [] for what in apart}}
    for _ in range(rounds):
        for what, call in apart.items():
            found[what].append(steady(call) if comm.rank == 0 else 0.0)
            asleep(comm)
        comm.Barrier()
        found["two cores"].append(steady(together))
        asleep(comm)
    return slowest(comm, found)


def steady(call: Call) -> float:
    """Return the mean time of a call among many, with warm caches, as for a step among steps."""
    call()
    start = time.perf_counter()
    for _ in range(STEADY):
        call()
    return (time.perf_counter() - start) / STEADY


def seconds(call: Call) -> float:
    """Return the time of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def asleep(comm: Any) -> None:
    """Wait for all ranks without using the processor."""
    barrier = comm.Ibarrier()
    while not barrier.Test():
        time.sleep(2e-3)


# -- the start -----------------------------------------------------------------------------------


def first_step(ranks: int) -> float:
    """Return the seconds from the start of processes to the end of the first step."""
    launch = ["mpiexec", "-n", str(ranks)] if ranks > 1 else []
    start = time.perf_counter()
    subprocess.run(
        [*launch, sys.executable, "-m", "benchmarks.mpi", "--part", "first step"],
        check=True,
        env=timing.environment(),
    )
    return time.perf_counter() - start


def starts(rounds: int) -> Samples:
    """Time warm starts on two ranks and on one."""
    for ranks in 1, 2:
        first_step(ranks)
    found: Samples = {"one process": [], "two ranks": []}
    for _ in range(rounds):
        found["one process"].append(first_step(1))
        found["two ranks"].append(first_step(2))
    return found


# -- reports -------------------------------------------------------------------------------------

PARTS = (*(f"exchange of {name}" for name in EXCHANGES), PANELS, *CORES, "start")


def on_ranks(name: str, rounds: int) -> None:
    """Measure a part on the ranks of this job; the first one prints the samples."""
    comm = bc.world()
    if name == "first step":
        Volumes(24, FLOW, ranks=comm).step(FLOW.dt(24))
        return
    if name == PANELS:
        found = panels(comm, 10 * rounds)
    elif name in CORES:
        found = cores(comm, rounds, name)
    else:
        found = exchange(comm, 10 * rounds, name.removeprefix("exchange of "))
    if comm.rank == 0:
        print(json.dumps(found))


def measured(name: str, rounds: int) -> Samples:
    """Return the samples of a part, taken by ranks that are started for it."""
    if name == "start":
        return starts(max(3, rounds // 5))
    return launched(2, "benchmarks.mpi", "--part", name, "--rounds", str(rounds))


def launched(ranks: int, module: str, *arguments: str) -> Samples:
    """Return the samples that a module prints as JSON, on ranks that are started for it."""
    command = ["mpiexec", "-n", str(ranks), sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: Samples = json.loads(done.stdout)
    return found


@dataclass(frozen=True)
class Times:
    """The times of a candidate, and optionally those of a part that is subtracted."""

    all: Sequence[float]
    without: Sequence[float] = ()

    @property
    def least(self) -> float:
        """The shortest time."""
        return min(self.all) - (min(self.without) if self.without else 0.0)

    @property
    def each(self) -> Any:
        """The time of each round."""
        return np.array(self.all) - (np.array(self.without) if self.without else 0.0)


@dataclass(frozen=True)
class Goal:
    """Two times whose ratio is compared with a limit, from above or from below."""

    what: str
    ours: Times
    other: Times
    limit: float
    factor: float = 1.0
    above: bool = False

    @property
    def least(self) -> float:
        """The ratio of the shortest times."""
        return self.factor * self.ours.least / self.other.least

    @property
    def met(self) -> bool:
        """Whether it is good enough."""
        return self.least >= self.limit if self.above else self.least <= self.limit

    @property
    def quartiles(self) -> list[float]:
        """The quartiles of the ratios of all rounds."""
        ratios = self.factor * self.ours.each / self.other.each
        return [float(q) for q in np.percentile(ratios, (25, 50, 75))]

    def row(self) -> list[str]:
        """Return the cells of a table."""
        times = (f"{1e6 * each.least:.1f}" for each in (self.ours, self.other))
        low, median, high = self.quartiles
        met = "yes" if self.met else "no"
        spread = f"{median:.2f}", f"{low:.2f} - {high:.2f}"
        return [self.what, *times, f"{self.least:.2f}", *spread, f"{self.limit:.2f}", met]

    def json(self) -> Json:
        """Return the numbers."""
        return {
            "ratio of minima": self.least, "quartiles": self.quartiles, "limit": self.limit,
            "met": self.met,
        }  # fmt: skip


def goals(name: str, found: Samples, triads: float) -> list[Goal]:
    """Return the goals of a part; times of products are subtracted for rows and columns."""
    if name.startswith("exchange"):
        ours = Times(found["ours"], found.get("ours, product", ()))
        rest = found.get("by hand, product", ())
        best = min("by hand", "by hand, testing", key=lambda other: min(found[other]))
        return [
            Goal(f"over {other}", ours, Times(found[other], rest), limit)
            for other, limit in ((best, BY_HAND), ("NumPy", NUMPY))
        ]
    one, two, *threads = (Times(samples) for samples in found.values())
    if name == "start":
        return [Goal("two ranks over one process", two, one, START)]
    limit = 0.0 if name.startswith("triad") else EFFICIENCY * triads
    goals = [Goal("efficiency", one, two, limit, factor=0.5, above=True)]
    return goals + [Goal("on threads", one, t, limit, factor=0.5, above=True) for t in threads]


def main() -> None:
    """Measure, print a table, and write a file if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mpi", description=__doc__)
    parser.add_argument("--json", type=Path, help="the file for the results")
    parser.add_argument("--rounds", type=int, default=40, help="the number of rounds")
    parser.add_argument("--only", nargs="*", choices=PARTS, help="names of parts")
    parser.add_argument("--part", help="what this rank of a job measures")
    given = parser.parse_args()
    if given.part:
        on_ranks(given.part, given.rounds)
        return
    rows: list[Sequence[str]] = []
    results: dict[str, Json] = {}
    triads = 1.0
    for name in PARTS:
        if given.only and name not in given.only:
            continue
        found = measured(name, given.rounds)
        results[f"{name}, samples"] = {n: tuple(samples) for n, samples in found.items()}
        for goal in goals(name, found, triads):
            rows.append([name, *goal.row()])
            results[f"{name}, {goal.what}"] = goal.json()
            triads = min(1.0, goal.least) if name.startswith("triad") else triads
    head = ["part", "what", "us", "other us", "of minima", "median", "quartiles", "limit", "met"]
    print(timing.table(head, rows))
    if given.json:
        timing.write_json(given.json, {"machine": timing.machine(), "parts": results})


if __name__ == "__main__":
    commands.run(main)
