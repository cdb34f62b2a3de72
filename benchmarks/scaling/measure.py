"""The job that measures a problem on the ranks of a cluster, and simulates it there.

All ranks time their steps; the work of their boxes is timed on all cores at the same time and
replayed on the network that a ping-pong has found, so that one file holds both.
"""

from __future__ import annotations

import os
import socket
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks import timing
from benchmarks.mpi import asleep, seconds
from benchmarks.scaling.model import (
    NETWORKS,
    Network,
    counts,
    processor_time,
    replayed,
    spread,
    traced,
)
from benchmarks.scaling.problems import Problem
from benchmarks.timing import Call, Json


def job(comm: Any) -> Json:
    """Return the machine, MPI, and the places of the ranks; hosts have no names."""
    import mpi4py
    from mpi4py import MPI

    hosts = Counter(comm.allgather(socket.gethostname()))
    cores = comm.allgather(len(os.sched_getaffinity(0)))
    return {
        "machine": timing.machine(),
        "date": datetime.now(UTC).date().isoformat(),
        "package": version("staged-sparse-row"),
        "target": os.environ.get("SSR_CPU") or "native",
        "MPI": " ".join(MPI.Get_library_version().splitlines()[0].split()),
        "mpi4py": mpi4py.__version__,
        "ranks": comm.size,
        "ranks of hosts": sorted(hosts.values()),
        "cores of a rank": sorted(set(cores)),
        "load": os.getloadavg()[0],
    }


def network(comm: Any, rounds: int = 2000) -> Network:
    """Return the network between the first and the last rank, by a ping-pong through mpi4py."""
    large = 1 << 20
    short, long = (_half(comm, size, rounds if size < large else 40) for size in (8, large))
    overhead = comm.bcast(_sending(comm, rounds), root=0)
    return Network(
        latency=max(short - 2 * overhead, 0.0),
        overhead=overhead,
        gap=max(long - short, 0.0) / large,
    )


def _half(comm: Any, size: int, rounds: int) -> float:
    """Return half the shortest time of a message and its answer."""
    values, last = np.zeros(size, np.int8), comm.size - 1
    times = []
    comm.Barrier()
    for _ in range(rounds):
        if comm.rank == 0:
            start = time.perf_counter()
            comm.Send(values, last)
            comm.Recv(values, last)
            times.append(time.perf_counter() - start)
        elif comm.rank == last:
            comm.Recv(values, 0)
            comm.Send(values, 0)
    asleep(comm)
    return float(comm.bcast(min(times, default=0.0) / 2, root=0))


def _sending(comm: Any, rounds: int) -> float:
    """Return the shortest time in which the first rank starts a short message."""
    values, last, times = np.zeros(8, np.int8), comm.size - 1, []
    for _ in range(rounds):
        if comm.rank == 0:
            start = time.perf_counter()
            request = comm.Isend(values, last)
            times.append(time.perf_counter() - start)
            request.Wait()
        elif comm.rank == last:
            comm.Recv(values, 0)
    asleep(comm)
    return min(times, default=0.0)


def measured(
    problem: Problem, comm: Any, between: Network, often: tuple[int, int]
) -> dict[str, Json]:
    """Return the times of a problem on all ranks, and their simulation."""
    rounds, _ = often
    undistributed = _undistributed(problem, comm, rounds)
    call = problem.on(comm)
    steps = comm.gather(_each(call, comm, rounds), root=0)
    del call
    beside = None if problem.strong else problem.undistributed()
    found = traced(problem, comm.size, comm, often, beside)
    if comm.rank:
        return {}
    return {
        "unit": problem.unit,
        "size": problem.size,
        "strong": problem.strong,
        "share": problem.share(comm.size),
        "undistributed": undistributed,
        "steps": steps,
        "work": spread(found),
        "counts": counts(found),
        "beside": found.beside,
        "simulated": replayed(found, {**NETWORKS, "measured": between}),
    }


def _undistributed(problem: Problem, comm: Any, rounds: int) -> dict[str, Json]:
    """Return seconds of the undistributed program: on one core and, if it is small, on all."""
    call = problem.undistributed() if comm.rank == 0 or not problem.strong else None
    found: dict[str, Json] = {}
    if call is not None and comm.rank == 0:
        found = {"processor": processor_time(call), "alone": _times(call, rounds)}
    asleep(comm)
    if not problem.strong:
        assert call is not None
        found["together"] = comm.gather(_each(call, comm, rounds), root=0)
    return found


def _each(call: Call, comm: Any, rounds: int) -> list[float]:
    """Return the seconds of calls one after the other, which all ranks begin together."""
    call()
    comm.Barrier()
    return _times(call, rounds)


def _times(call: Call, rounds: int) -> list[float]:
    call()
    return [float(f"{seconds(call):.4g}") for _ in range(rounds)]


def measure(
    comm: Any, problems: Mapping[str, Problem], often: tuple[int, int]
) -> Iterator[dict[str, Any]]:
    """Yield, on the first rank, the content of the file whenever a problem is measured."""
    content: dict[str, Any] = {"job": job(comm), "network": asdict(network(comm)), "problems": {}}
    for name, problem in problems.items():
        found = measured(problem, comm, Network(**content["network"]), often)
        if comm.rank == 0:
            content["problems"][name] = found
            yield content
