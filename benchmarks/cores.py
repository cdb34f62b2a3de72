"""Measure programs on many cores of one machine, on ranks of MPI and on threads.

``python -m benchmarks.cores [--json FILE] [--cores N...] [--rounds N] [--only PART...] [--quick]``
starts the ranks itself, by ``mpiexec``. Candidates take turns while all other ranks sleep; medians
count.

*weak*: HPCG with a box of 104^3 points on each rank, compared with as many undistributed programs
at once. These share the memory of the machine as ranks do, but send nothing: the ratio of the two
times is the cost of distribution, which is also simulated, as by `benchmarks.scaling`. *strong*:
programs on ranks and on threads, compared with the undistributed one on one core, and a triad,
which is limited by memory.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import boundary as bc
from apps import commands
from benchmarks import performance_model, timing
from benchmarks.hpcg_ranks import BYTES
from benchmarks.mpi import Samples, asleep, flow, launched, relaxations, seconds, slowest, triad
from benchmarks.scaling.model import MIDDLE
from benchmarks.scaling.problems import conjugate_gradients
from benchmarks.timing import Call, Json

CORES = 2, 4, 8, 16
"""Numbers of cores other than one; those that the machine has are measured."""

STRONG: Mapping[str, Callable[[int, Any], Call]] = {
    "triad": triad,
    "shallow water": flow,
    "LU": relaxations,
}
SIZES: Mapping[str, tuple[int, int]] = {
    "HPCG": (104, 16),
    "triad": (256, 32),
    "shallow water": (256, 12),
    "LU": (64, 12),
}
"""Points along an axis, and those of a quick run."""


class Job:
    """The ranks of this job, of which the first ones measure while the others sleep.

    Attributes
    ----------
    first
        Whether this is the first rank.
    """

    def __init__(self) -> None:
        self._comm: Any = bc.world()
        self.first = self._comm.rank == 0
        self._samples: Samples = {}

    def members(self, count: int) -> Any:
        """Return the communicator of the first ``count`` ranks; None on the other ranks."""
        here = self._comm.rank < count
        split = self._comm.Split(0 if here else 1, self._comm.rank)
        return split if here else None

    def rest(self) -> None:
        """Wait for all ranks."""
        asleep(self._comm)

    def note(self, name: str, time: float) -> None:
        """Record seconds; zero on ranks that have not measured."""
        self._samples.setdefault(name, []).append(time)

    def time(self, name: str, members: Any, call: Call | None) -> None:
        """Time a call of some ranks, after one that is not timed."""
        time = 0.0
        if call is not None:
            call()
            members.Barrier()
            time = seconds(call)
        self.rest()
        self.note(name, time)

    def samples(self) -> Samples:
        """Return the seconds of each call on its slowest rank, by name."""
        return slowest(self._comm, self._samples)


def weak(job: Job, counts: Sequence[int], rounds: int, quick: bool) -> None:
    """Time HPCG with a box on each rank; the simulated time is recorded like a measured one."""
    n = SIZES["HPCG"][quick]
    alone, copying = conjugate_gradients(n, None), triad(round(n * (BYTES / 24) ** (1 / 3)), None)
    single = job.members(1)
    for _ in range(rounds):
        job.time("1 triads", single, copying if job.first else None)
        job.time("1 apart", single, alone if job.first else None)
    for count in counts:
        members = job.members(count)
        here = members is not None
        ranks = conjugate_gradients(n, members) if here else None
        threads = conjugate_gradients(n, bc.threads(count)) if job.first else None
        _agree(job, ranks, threads)
        for _ in range(rounds):
            job.time(f"{count} triads", members, copying if here else None)
            job.time(f"{count} apart", members, alone if here else None)
            job.time(f"{count} ranks", members, ranks)
            job.time(f"{count} threads", single, threads)
        beside, simulated = _simulated(n, count, alone) if job.first else (0.0, 0.0)
        job.rest()
        job.note(f"{count} alone", beside)
        job.note(f"{count} simulated", simulated)


def _simulated(n: int, count: int, alone: Call) -> tuple[float, float]:
    """Return the seconds of the undistributed program and, simulated, those on ranks."""
    make = partial(conjugate_gradients, n)
    trace = performance_model.trace(make, count, calls=4, placements=3, beside=alone)
    assert trace.beside is not None
    return trace.beside, trace.replay(MIDDLE).seconds


def _agree(job: Job, ranks: Call | None, threads: Call | None) -> None:
    """Raise an error unless the results of ranks and of threads are bitwise identical."""
    found = ranks() if ranks is not None else None
    job.rest()
    if threads is not None and threads() != found:
        raise ArithmeticError("Threads return another value than ranks.")
    job.rest()


def strong(job: Job, counts: Sequence[int], rounds: int, quick: bool) -> None:
    """Time programs on ranks and on threads, and the undistributed ones on one core."""
    single = job.members(1)
    for name, make in STRONG.items():
        n, on_threads = SIZES[name][quick], name != "triad"
        alone = make(n, None) if job.first else None
        for count in counts:
            members = job.members(count)
            ranks = make(n, members) if members is not None else None
            threads = make(n, bc.threads(count)) if job.first and on_threads else None
            for _ in range(rounds):
                job.time(f"{name}, {count}: one core", single, alone)
                job.time(f"{name}, {count}: ranks", members, ranks)
                if on_threads:
                    job.time(f"{name}, {count}: threads", single, threads)


PARTS = {"weak": weak, "strong": strong}


def weak_rows(times: Mapping[str, float], counts: Sequence[int]) -> list[list[str]]:
    """Return the rows of a table of weak scaling."""
    triad, one = times["1 triads"], times["1 apart"]
    rows = [["1", "1.00", f"{1e3 * one:.1f}", *[""] * (len(HEAD_WEAK) - 3)]]
    for count in counts:
        apart, ranks, threads = (times[f"{count} {w}"] for w in ("apart", "ranks", "threads"))
        simulated = times[f"{count} alone"] / times[f"{count} simulated"]
        found = [f"{1e3 * t:.1f}" for t in (apart, ranks, threads)]
        found += [f"{e:.3f}" for e in (apart / ranks, apart / threads, simulated, one / ranks)]
        rows.append([str(count), f"{triad / times[f'{count} triads']:.2f}", *found])
    return rows


def strong_rows(times: Mapping[str, float], counts: Sequence[int]) -> list[list[str]]:
    """Return the rows of a table of strong scaling."""
    rows = []
    for name, count in product(STRONG, counts):
        one, ranks = (times[f"{name}, {count}: {what}"] for what in ("one core", "ranks"))
        threads = times.get(f"{name}, {count}: threads")
        took = ["", ""] if threads is None else [f"{1e3 * threads:.1f}", f"{one / threads:.2f}"]
        row = [name, str(count), f"{1e3 * one:.1f}", f"{1e3 * ranks:.1f}", took[0]]
        rows.append([*row, f"{one / ranks:.2f}", took[1]])
    return rows


HEAD_WEAK = (
    *("cores", "triad", "apart, ms", "ranks", "threads"),
    *("apart/ranks", "apart/threads", "simulated", "one/ranks"),
)
HEAD_STRONG = "program", "cores", "one core, ms", "ranks", "threads", "one/ranks", "one/threads"
TABLES = {"weak": (HEAD_WEAK, weak_rows), "strong": (HEAD_STRONG, strong_rows)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print tables, and write a file if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores", description=__doc__)
    parser.add_argument("--json", type=Path, help="the file for the results")
    parser.add_argument("--cores", nargs="*", type=int, default=CORES, help="numbers of cores")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="small grids, to see that it works")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.part:
        job = Job()
        PARTS[given.part](job, given.cores, given.rounds, given.quick)
        found = job.samples()
        if job.first:
            print(json.dumps(found))
        return
    counts = [n for n in given.cores if 1 < n <= (os.cpu_count() or 1)]
    if not counts:
        parser.error("there are not so many cores here")
    rest = ["--rounds", str(given.rounds), *(["--quick"] if given.quick else [])]
    rest += ["--cores", *map(str, counts)]
    parts: dict[str, Json] = {}
    for part in given.only:
        found = launched(max(counts), "benchmarks.cores", "--part", part, *rest)
        times = {name: median(samples) for name, samples in found.items()}
        head, rows = TABLES[part]
        print(f"{part}\n{timing.table(head, rows(times, counts))}\n", flush=True)
        parts[part] = {name: tuple(samples) for name, samples in found.items()}
    if given.json:
        timing.write_json(given.json, {"machine": timing.machine(), "samples": parts})


if __name__ == "__main__":
    commands.run(main)
