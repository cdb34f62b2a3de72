"""Simulate problems on many ranks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from benchmarks import timing
from benchmarks.mpi import asleep
from benchmarks.scaling.model import (
    NETWORKS,
    counts,
    fat_tree,
    processor_time,
    replayed,
    spread,
    traced,
)
from benchmarks.scaling.problems import Problem
from benchmarks.timing import Json


def shortest(problem: Problem, comm: Any) -> float:
    """Return the shortest processor time of the undistributed program, while other ranks sleep."""
    found = 0.0
    if comm is None or comm.rank == 0:
        found = processor_time(problem.undistributed())
    if comm is not None:
        asleep(comm)
    return found


def simulated(
    problem: Problem, ranks: Sequence[int], comm: Any, often: tuple[int, int]
) -> Iterator[tuple[str, Json]]:
    """Yield, on the first rank, each number of ranks with the simulation of a problem on them."""
    alone = shortest(problem, comm) if problem.strong else 0.0
    beside = None if problem.strong else problem.undistributed()
    for count in ranks:
        trace = traced(problem, count, comm, often, beside)
        if comm is not None and comm.rank:
            continue
        found: Json = {
            "undistributed": alone if trace.beside is None else trace.beside,
            "share": problem.share(count),
            "work": spread(trace),
            "counts": counts(trace),
            "simulated": {**replayed(trace, NETWORKS), "fat tree": fat_tree(trace)},
        }
        print(f"{problem.unit}: {count} ranks simulated", file=sys.stderr, flush=True)
        yield str(count), found


def simulate(
    comm: Any, problems: Mapping[str, Problem], ranks: Sequence[int], often: tuple[int, int]
) -> Iterator[dict[str, Any]]:
    """Yield, on the first rank, the content of the file whenever a simulation is done.

    ``often`` has the timed calls of each shape, and how often its memory is made again.
    """
    content: dict[str, Any] = {
        "machine": timing.machine(),
        "date": datetime.now(UTC).date().isoformat(),
        "busy cores": 1 if comm is None else comm.size,
        "load": os.getloadavg()[0],
        "problems": {name: {} for name in problems},
    }
    for name, problem in problems.items():
        for count, found in simulated(problem, ranks, comm, often):
            content["problems"][name][count] = found
            yield content
