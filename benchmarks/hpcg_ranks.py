"""Measure `apps.hpcg` on two ranks against one, and against the algorithm by hand in C with MPI.

``python -m benchmarks.hpcg --only ranks`` starts the ranks itself, by ``mpiexec -n 2``. All of them
have boxes of the same size. Candidates take turns: on one core while the other rank sleeps, and on
both. A triad on as much memory measures the gain in bandwidth by the second core; the efficiency is
the time on one core over that on two, by medians.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import boundary as bc
from apps.hpcg.problem import Problem
from benchmarks.mpi import Samples, asleep, launched, seconds, slowest, triad
from benchmarks.processor import march
from benchmarks.timing import Json, table

ITERATIONS = 4
"""Iterations of a sample."""

BYTES = 50
"""Bytes of our fields for a row of the finest grid; the arrays of the triad take as many."""

GOAL = 0.9
"""The least efficiency, relative to that of the triad."""

SOURCE = Path(__file__).parent / "c" / "hpcg.c"
FLAGS = "-O3", march(), "-ffast-math", "-fPIC", "-shared"

Solve = Callable[[], list[float]]


def ours(n: int, comm: Any) -> Solve:
    """Return some of our iterations, on ranks or undistributed."""
    problem = Problem(n, n, n, world=comm)
    solver, b = problem.solver(), problem.right_side
    return lambda: solver.solve(b, ITERATIONS)


def by_hand(n: int, comm: Any, library: Path) -> Solve:
    """Return the same iterations in C."""
    found = ctypes.CDLL(str(library))
    found.hpcg_new.restype = ctypes.c_void_p
    solver = ctypes.c_void_p(found.hpcg_new(comm.py2f(), n))
    norms = (ctypes.c_double * ITERATIONS)()

    def solve() -> list[float]:
        found.hpcg_solve(solver, ITERATIONS, norms)
        return list(norms)

    return solve


def compiled(folder: Path) -> Path | None:
    """Return the library of the code in C; None if there is no compiler for MPI."""
    if shutil.which("mpicc") is None:
        return None
    library = folder / "libhpcg.so"
    command = ["mpicc", *FLAGS, "-o", str(library), str(SOURCE), "-lm"]
    done = subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
    return library if done.returncode == 0 else None


def on_ranks(n: int, rounds: int, library: Path | None) -> None:
    """Take samples on the two ranks of this job; the first one prints them."""
    comm = bc.world()
    alone, large = comm.Split(comm.rank), round(n * (BYTES / 24) ** (1 / 3))
    calls = {
        "triad": (triad(large, None), triad(large, None)),
        "ours": (ours(n, None), ours(n, comm)),
    }
    if library is not None:
        calls["by hand"] = by_hand(n, alone, library), by_hand(n, comm, library)
        for one, other in zip(*(calls[name] for name in ("ours", "by hand")), strict=True):
            np.testing.assert_allclose(one(), other(), rtol=1e-9)
    found: Samples = {f"{name}, {cores} core": [] for name in calls for cores in ("one", "two")}
    for _ in range(rounds):
        for name, (single, both) in calls.items():
            found[f"{name}, one core"].append(seconds(single) if comm.rank == 0 else 0.0)
            asleep(comm)
            comm.Barrier()
            found[f"{name}, two core"].append(seconds(both))
            asleep(comm)
    found = slowest(comm, found)
    if comm.rank == 0:
        print(json.dumps(found))


def ranks(quick: bool) -> Json:
    """Print times on one core and on two, efficiencies, and our time over that by hand."""
    n, rounds = (16, 3) if quick else (104, 11)
    if shutil.which("mpiexec") is None:
        print("ranks: there is no mpiexec, nothing is measured\n")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(Path(folder))
        given = [str(n), str(rounds), *([str(library)] if library else [])]
        found = launched(2, "benchmarks.hpcg_ranks", *given)
    if library is None:
        print("ranks: there is no mpicc, the algorithm by hand is not measured")
    names = [name.partition(",")[0] for name in list(found)[::2]]
    times, least = (
        {name: [float(take(found[f"{name}, {c} core"])) for c in ("one", "two")] for name in names}
        for take in (np.median, np.min)
    )
    gains = {name: one / two for name, (one, two) in times.items()}
    rows = [
        [name, *(f"{1e3 * t:.1f}" for t in times[name]), f"{gain:.2f}",
         f"{least[name][0] / least[name][1]:.2f}"]
        for name, gain in gains.items()
    ]  # fmt: skip
    head = "candidate", "one core, ms", "two cores", "efficiency", "of minima"
    print(f"ranks: {n}^3 points a rank, {ITERATIONS} iterations\n{table(head, rows)}")
    relative = gains["ours"] / min(1.0, gains["triad"])
    word = "met" if relative >= GOAL else "MISSED"
    print(f"goal: {relative:.2f} of the triad's efficiency, at least {GOAL:.2f}: {word}")
    if "by hand" in times:
        over = [a / b for a, b in zip(times["ours"], times["by hand"], strict=True)]
        print(f"ours over by hand: {over[0]:.3f} on one core, {over[1]:.3f} on two")
    print()
    return {"samples": {name: tuple(each) for name, each in found.items()}, "efficiency": gains}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("points", type=int)
    parser.add_argument("rounds", type=int)
    parser.add_argument("library", type=Path, nargs="?")
    given = parser.parse_args()
    on_ranks(given.points, given.rounds, given.library)
