"""The simulation of a problem on many ranks: its counts, its networks, its bands.

The work of each shape of boxes is timed by all ranks of the job at hand at the same time, so that
they share caches and memory as the ranks of a node do.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, replace
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np

from benchmarks import performance_model, timing
from benchmarks.performance_model import Trace, smpi, trace
from benchmarks.scaling.problems import Problem
from benchmarks.timing import Call, Json

Network: TypeAlias = performance_model.LogGP

FAST = Network(latency=1.0e-6, overhead=0.2e-6, gap=0.04e-9)
MIDDLE = Network(latency=1.5e-6, overhead=0.4e-6, gap=0.08e-9)
SLOW = Network(latency=3.0e-6, overhead=0.8e-6, gap=0.2e-9)
NETWORKS: Mapping[str, Network] = {"fast": FAST, "middle": MIDDLE, "slow": SLOW}
PARAMETERS: Mapping[str, Network] = {
    f"{name}, {speed}": replace(MIDDLE, **{name: asdict(end)[name]})
    for name in asdict(MIDDLE)
    for speed, end in (("fast", FAST), ("slow", SLOW))
}
"""The middle network with one parameter of the fast or of the slow one."""

WAYS: Mapping[str, Mapping[str, bool]] = {
    "blocking": {"blocking": True},
    "unmerged": {"merged": False},
    "blocking, unmerged": {"blocking": True, "merged": False},
}
SEEDS = 5
"""The number of replays with drawn times."""

NODE, MOST_MESSAGES = 24, 200_000
"""The ranks of a node of the fat tree, and the most messages of a call in its replays."""


def processor_time(call: Call, calls: int = 4) -> float:
    """Return the shortest processor time of a call, which leaves out the time of other processes.

    Calls that take longer than the time slices of the system have no other time on a busy machine.
    """
    call()
    (found,) = timing.measure({"": call}, calls, sample=0.0)
    return found.minimum


def traced(
    problem: Problem, ranks: int, comm: Any, often: tuple[int, int], beside: Call | None
) -> Trace:
    """Return the work of all ranks of a simulated job, timed by the ranks of the job at hand.

    ``often`` has the timed calls of each shape, and how often its memory is made again.
    """
    calls, placements = often

    def make(world: Any) -> Call:
        call = problem.on(world)
        call()
        if comm is not None:
            comm.Barrier()
        return call

    own = trace(make, ranks, calls=calls, placements=placements, beside=beside)
    return own if comm is None else combined(own, comm)


def combined(own: Trace, comm: Any) -> Trace:
    """Return a trace with the timed calls of all ranks of a job."""
    calls = comm.allgather(own.samples)
    samples = tuple(np.concatenate(of_shape) for of_shape in zip(*calls, strict=True))
    if own.beside is None:
        work = np.array([each[each.sum(axis=1).argmin()] for each in samples])
        return replace(own, work=work, samples=samples)
    beside = float(np.median(comm.allgather(own.beside)))
    return replace(
        own,
        work=np.mean(comm.allgather(own.work), axis=0),
        samples=samples,
        beside=beside,
    )


def counts(found: Trace) -> Json:
    """Return the messages and bytes of a call, which follow from the schedule alone."""
    begun = _begun(found)
    merged = [one.merged() for one in begun]
    pairs = np.concatenate([np.zeros((0, 2), int), *(_pairs(one) for one in merged)])
    each, volume = np.zeros(found.ranks, int), np.zeros(found.ranks, int)
    for one in merged:
        each += np.bincount(one.sources, minlength=found.ranks)
        volume += np.bincount(one.sources, one.bytes, found.ranks).astype(int)
    neighbors = np.bincount(np.unique(pairs, axis=0)[:, 0], minlength=found.ranks)
    return {
        "exchanges": len(begun),
        "reductions": sum(e.what == "reduce" for e in found.events),
        "neighbors": int(neighbors.max()),
        "messages": int(each.max()),
        "messages of all": int(each.sum()),
        "unmerged messages of all": sum(len(one.sources) for one in begun),
        "bytes": int(volume.max()),
        "bytes of all": int(volume.sum()),
        "shapes": len(found.work),
    }


def _begun(found: Trace) -> list[Any]:
    return [found.messages[e.number] for e in found.events if e.what == "begin"]


def _pairs(messages: Any) -> Any:
    return np.stack([messages.sources, messages.targets], axis=1)


def replayed(found: Trace, networks: Mapping[str, Network]) -> dict[str, Json]:
    """Return the seconds of a call: for networks, for ways to exchange, and for drawn times."""
    middle = found.replay(MIDDLE)
    parameters = {name: found.replay(one).seconds for name, one in PARAMETERS.items()}
    return {
        "exposed": middle.exposed,
        "fastest": {
            name: middle.seconds if one is MIDDLE else found.replay(one).seconds
            for name, one in networks.items()
        },
        "parameters": parameters,
        "ways": {name: found.replay(MIDDLE, **how).seconds for name, how in WAYS.items()},
        "drawn": {name: _drawn(found, one) for name, one in networks.items()},
        "drawn, blocking, unmerged": _drawn(found, MIDDLE, blocking=True, merged=False),
    }


def fat_tree(found: Trace, calls: int = 5) -> float | None:
    """Return the seconds of a call by SMPI on a fat tree of nodes that share one link.

    They are None without SimGrid, and for more messages than it simulates within minutes.
    """
    messages = sum(len(one.merged().sources) for one in _begun(found))
    if shutil.which("smpirun") is None or messages > MOST_MESSAGES:
        return None
    with TemporaryDirectory() as folder:
        script = found.to_smpi(folder, MIDDLE, calls, ranks_per_node=NODE)
        return smpi.replayed(script) / calls


def _drawn(found: Trace, network: Network, **how: bool) -> list[float]:
    return [found.replay(network, sample=seed, **how).seconds for seed in range(SEEDS)]


def spread(found: Trace) -> Json:
    """Return quantiles of the timed work of a call: of all ranks, each with its shape."""
    often = np.bincount(found.shapes, minlength=len(found.work))
    totals = [calls.sum(axis=1) for calls in found.samples]
    values = np.concatenate(totals)
    weights = np.concatenate(
        [np.full(len(t), n / len(t)) for t, n in zip(totals, often, strict=True)]
    )
    order = np.argsort(values)
    place = np.cumsum(weights[order]) / weights.sum()
    return {
        f"{q:g}": float(values[order][np.searchsorted(place, q).clip(max=len(order) - 1)])
        for q in (0.05, 0.25, 0.5, 0.75, 0.95)
    }
