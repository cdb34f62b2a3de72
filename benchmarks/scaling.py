"""Simulate programs on many ranks: what a step would take on a machine that is not there.

``python -m benchmarks.scaling [--json FILE] [--plot FILE] [--only NAME...] [--ranks P...]``. For
each distinct shape of boxes one rank is run alone on this machine, through its own tables and
kernels (`benchmarks.performance_model`); its messages are replayed on a network after the LogGP
model. There is no noise, no contention, no topology: times are simulated, not measured.

``strong`` efficiency is the time of the undistributed program on this machine over P times the time
of a step; boxes that fit into caches may exceed one. ``weak`` is that of one rank's problem alone,
which takes turns with each shape of boxes: medians of the ratios of their times count.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from apps import commands
from apps.hpcg.problem import Problem
from apps.swe import cases
from apps.swe.volumes import Volumes
from benchmarks import performance_model, timing
from benchmarks.timing import Call

FLOW = cases.case("tc5")
RANKS = 6, 24, 96, 384, 1344, 10752
MIDDLE = performance_model.LogGP(latency=1.5e-6, overhead=0.4e-6, gap=0.08e-9)
NETWORKS: Mapping[str, performance_model.LogGP] = {
    "middle": MIDDLE,
    **{
        f"{name} {sign} 4": replace(MIDDLE, **{name: value * factor})
        for name, value in asdict(MIDDLE).items()
        for sign, factor in (("x", 4.0), ("/", 0.25))
    },
}
"""The network in the middle, and others that have one number four times as large or as small."""

WAYS: Mapping[str, Mapping[str, bool]] = {
    "as is": {},
    "blocking": {"blocking": True},
    "unmerged": {"merged": False},
    "blocking, unmerged": {"blocking": True, "merged": False},
}

LARGEST = 1024
"""The most cells along a panel with which the undistributed program is run."""


@dataclass(frozen=True)
class Part:
    """What is simulated.

    Attributes
    ----------
    call
        Makes the call from ranks, as on each of them; None for the undistributed program.
    alone
        Makes the call of the undistributed program, for the same work or for that of a rank.
    strong
        Whether that is the work of all ranks together.
    goal
        For numbers of ranks the least efficiency that is wanted.
    times
        How often the work of that call is in the whole, where one process cannot hold all of it.
    """

    call: Callable[[Any], Call]
    alone: Callable[[], Call]
    strong: bool
    goal: Mapping[int, float]
    times: float = 1.0


def flow(n: int, ranks: Any) -> Call:
    """Return a step of the shallow-water solver."""
    solver = Volumes(n, FLOW, ranks=ranks)
    return lambda: solver.step(FLOW.dt(n))


ITERATIONS = 5
"""Iterations of HPCG that are replayed, as they are in the middle of one of its sets of 50. What a
set begins with, fields that are set to zero and a residual, is left out."""


def conjugate_gradients(n: int, ranks: Any) -> Call:
    """Return some iterations of HPCG's solver, with n^3 points on each rank.

    HPCG's own right side is zero on boxes that do not lie at a side of the whole. Coefficients are
    zero, so that fields keep their values from call to call; the last product is returned.
    """
    problem = Problem(n, n, n, world=ranks)
    solver, b = problem.solver(), problem.field(lambda k, j, i: 1.0 + (k + j + i) % 3)
    solver.solve(b, 1)

    def iterate() -> float:
        for _ in range(ITERATIONS):
            solver.precondition()
            solver.direction(0.0)
            product = solver.advance(0.0)
        return float(product)

    return iterate


def fastest(call: Call, calls: int = 4) -> float:
    """Return the seconds of the fastest call."""
    call()
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


PARTS: Mapping[str, Part] = {
    "shallow water 1024": Part(
        lambda ranks: flow(1024, ranks), lambda: flow(1024, None), True, {1344: 0.88}
    ),
    "shallow water 4096": Part(
        lambda ranks: flow(4096, ranks),
        lambda: flow(LARGEST, None),
        True,
        {},
        (4096 / LARGEST) ** 2,
    ),
    "HPCG 104^3 a rank": Part(
        lambda ranks: conjugate_gradients(104, ranks),
        lambda: conjugate_gradients(104, None),
        False,
        dict.fromkeys(RANKS, 0.97),
    ),
}


def traced(part: Part, ranks: int, beside: Call | None) -> tuple[performance_model.Trace, float]:
    """Return what all ranks do, and the bytes of the memory of one of them."""
    used: list[int] = []

    def make(world: Any) -> Call:
        if used:
            return part.call(world)
        tracemalloc.start()
        call = part.call(world)
        call()
        used.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        return call

    often = {"calls": 10} if beside is None else {"calls": 4, "placements": 3}
    return performance_model.trace(make, ranks, beside=beside, **often), float(used[0])


def simulated(part: Part, alone: Call, strong: float, ranks: int) -> dict[str, Any]:
    """Return the numbers of a part on some ranks.

    Parameters
    ----------
    alone
        The undistributed program.
    strong
        For the same work its seconds. For that of a rank they are found in turns with each shape.
    """
    trace, memory = traced(part, ranks, None if part.strong else alone)
    ideal = strong / ranks if trace.beside is None else trace.beside
    ways = {name: trace.replay(MIDDLE, **how) for name, how in WAYS.items()}
    networks = {name: trace.replay(network) for name, network in NETWORKS.items()}
    found = ways["as is"]
    return {
        "seconds": found.seconds,
        "undistributed": ideal * (ranks if part.strong else 1),
        "efficiency": ideal / found.seconds,
        "exposed": found.exposed,
        "messages": found.messages,
        "bytes": found.bytes,
        "memory": memory,
        "shapes": len(trace.work),
        "ways": {name: ideal / one.seconds for name, one in ways.items()},
        "networks": {name: ideal / one.seconds for name, one in networks.items()},
    }


HEAD = (
    "ranks",
    "alone us",
    "step us",
    "efficiency",
    "exposed us",
    "messages",
    "KB",
    "memory MB",
    "shapes",
)


def row(ranks: int, found: Mapping[str, Any]) -> list[str]:
    """Return the cells of a table."""
    return [
        str(ranks),
        f"{1e6 * found['undistributed']:.0f}",
        f"{1e6 * found['seconds']:.0f}",
        f"{found['efficiency']:.3f}",
        f"{1e6 * found['exposed']:.0f}",
        str(found["messages"]),
        f"{found['bytes'] / 1e3:.1f}",
        f"{found['memory'] / 1e6:.1f}",
        str(found["shapes"]),
    ]


def plot(path: Path, results: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> None:
    """Write a picture of efficiencies: the middle network, and the spread of all others."""
    import matplotlib.pyplot as plt

    figure, _ = plt.subplots(
        1, len(results), figsize=(4.2 * len(results), 3.6), sharey=True, layout="constrained"
    )
    for axis, (name, rows) in zip(figure.axes, results.items(), strict=True):
        ranks = list(rows)
        low = [min(found["networks"].values()) for found in rows.values()]
        high = [max(found["networks"].values()) for found in rows.values()]
        axis.fill_between(ranks, low, high, alpha=0.2, label="L, o or G 4 times as large or small")
        for way, style in zip(WAYS, ("o-", "s--", "^--", "v:"), strict=True):
            axis.plot(ranks, [found["ways"][way] for found in rows.values()], style, label=way)
        axis.set(xscale="log", xlabel="ranks", title=name)
        axis.set_xticks(ranks, map(str, ranks), rotation=45)
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    first = figure.axes[0]
    first.set(ylabel="simulated efficiency", ylim=(0.0, None))  # when all are drawn: it is shared
    first.legend(fontsize=8, loc="lower left")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Simulate, print tables, and write files if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--json", type=Path, help="the file for the results")
    parser.add_argument("--plot", type=Path, help="the file for a picture")
    parser.add_argument("--only", nargs="*", choices=PARTS, help="names of parts")
    parser.add_argument("--ranks", nargs="*", type=int, default=RANKS, help="numbers of ranks")
    given = parser.parse_args()
    results: dict[str, dict[int, Mapping[str, Any]]] = {}
    for name, part in PARTS.items():
        if given.only and name not in given.only:
            continue
        alone = part.alone()
        strong = part.times * fastest(alone) if part.strong else 0.0
        rows: list[Sequence[str]] = []
        for ranks in given.ranks:
            found = simulated(part, alone, strong, ranks)
            results.setdefault(name, {})[ranks] = found
            goal = part.goal.get(ranks)
            met = "" if goal is None else "yes" if found["efficiency"] >= goal else "no"
            rows.append([*row(ranks, found), "" if goal is None else f"{goal:.2f}", met])
            print(f"{name}: {ranks} ranks simulated", file=sys.stderr, flush=True)
        kind = "strong" if part.strong else "weak"
        print(f"{name}: {kind}")
        print(timing.table([*HEAD, "goal", "met"], rows))
        print()
    if given.json:
        flat: Any = {
            name: {str(p): dict(f) for p, f in rows.items()} for name, rows in results.items()
        }
        timing.write_json(given.json, {"machine": timing.machine(), "parts": flat})
    if given.plot:
        plot(given.plot, results)


if __name__ == "__main__":
    commands.run(main)
