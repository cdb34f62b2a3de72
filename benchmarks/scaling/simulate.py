"""Simulate problems on many ranks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from benchmarks import timing
from benchmarks.mpi import asleep, seconds
from benchmarks.scaling.model import NETWORKS, counts, replayed, spread, traced
from benchmarks.scaling.problems import PROBLEMS, Problem
from benchmarks.timing import Json

CALLS, PLACEMENTS = 20, 1
"""The timed calls of each shape, and how often its memory is made again."""


def shortest(problem: Problem, comm: Any) -> float:
    """Return the shortest seconds of the undistributed program, while all other ranks sleep."""
    found = 0.0
    if comm is None or comm.rank == 0:
        call = problem.undistributed()
        call()
        found = min(seconds(call) for _ in range(4))
    if comm is not None:
        asleep(comm)
    return found


def simulated(problem: Problem, ranks: Sequence[int], comm: Any) -> dict[str, Json]:
    """Return the simulation of a problem on each number of ranks."""
    alone = shortest(problem, comm) if problem.strong else 0.0
    beside = None if problem.strong else problem.undistributed()
    found: dict[str, Json] = {}
    for count in ranks:
        trace = traced(problem, count, comm, CALLS, PLACEMENTS, beside)
        if comm is not None and comm.rank:
            continue
        found[str(count)] = {
            "undistributed": alone if trace.beside is None else trace.beside,
            "share": problem.share(count),
            "work": spread(trace),
            "counts": counts(trace),
            "simulated": replayed(trace, NETWORKS),
        }
        print(f"{problem.unit}: {count} ranks simulated", file=sys.stderr, flush=True)
    return found


def simulate(comm: Any, names: Sequence[str], ranks: Sequence[int], tiny: bool) -> dict[str, Any]:
    """Return the simulation of all problems; the content of the file on the first rank."""
    return {
        "machine": timing.machine(),
        "date": datetime.now(UTC).date().isoformat(),
        "busy cores": 1 if comm is None else comm.size,
        "problems": {
            name: simulated(PROBLEMS[name].small() if tiny else PROBLEMS[name], ranks, comm)
            for name in names
        },
    }
