"""Measured times of a job next to their simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.timing import table

PUBLISHED = 1344, 0.72, 0.88
"""Ranks and efficiencies in the abstract of Mat2Boundary (arXiv 2605.14780): two shallow-water
solvers and HPCG; it states neither the baseline nor the network."""

HEAD = "", "step, ms", "least", "5 %", "95 %", "efficiency"


def ordered(by_ranks: Mapping[str, Any]) -> dict[int, Any]:
    """Return results by their number of ranks, the smallest first."""
    return {ranks: by_ranks[str(ranks)] for ranks in sorted(map(int, by_ranks))}


def efficiencies(one: Mapping[str, Any], times: Sequence[float]) -> list[float]:
    """Return the efficiencies of simulated times."""
    apart = one["undistributed"] * one["share"]
    return [apart / seconds for seconds in times]


def steps(found: Mapping[str, Any]) -> Any:
    """Return the seconds of each step: those of its slowest rank."""
    return np.max(found["steps"], axis=0)


def ideal(found: Mapping[str, Any]) -> float:
    """Return the seconds of a measured step without any cost of distribution.

    They are those of the undistributed program: the share of a rank, on one core, where its size is
    that of all ranks together; on all cores at the same time where each rank has as much.
    """
    apart = found["undistributed"]
    times = np.max(apart["together"], axis=0) if "together" in apart else np.array(apart["alone"])
    return float(found["share"] * np.median(times))


def best(found: Mapping[str, Any]) -> float:
    """Return the same seconds for simulated times."""
    return float(found["beside"] or found["share"] * found["undistributed"]["processor"])


def rows(found: Mapping[str, Any]) -> list[list[str]]:
    """Return the rows of a problem: measured, and simulated on several networks."""
    made = [_row("measured", steps(found), ideal(found))]
    simulated = found["simulated"]
    own = best(found)
    for name, seconds in simulated["fastest"].items():
        made.append(_row(f"simulated, {name} network", np.array([seconds]), own))
        made.append(_row("  with drawn times", np.array(simulated["drawn"][name]), own))
    return made


def _row(name: str, times: Any, apart: float) -> list[str]:
    low, middle, high = (float(q) for q in np.percentile(times, (5, 50, 95)))
    shown = (f"{1e3 * t:.4g}" for t in (middle, float(times.min()), low, high))
    return [name, *shown, f"{apart / middle:.2f}"]


def text(found: Mapping[str, Any]) -> str:
    """Return the tables of a file of ``--measure``."""
    job, network = found["job"], found["network"]
    lines = [
        f"{job['machine']['processor']}, {job['ranks']} ranks, "
        f"hosts with {job['ranks of hosts']} of them, {job['MPI']}, {job['date']}",
        "measured network: " + ", ".join(f"{k} {v:.3g} s" for k, v in network.items()),
    ]
    for name, one in found["problems"].items():
        counts = one["counts"]
        lines += [
            "",
            f"{name}: {one['unit']}" + ("" if one["strong"] else f" ({one['size']}^3 points)"),
            f"messages of a rank {counts['messages']}, bytes {counts['bytes']}, reductions "
            f"{counts['reductions']}",
            table(HEAD, rows(one)),
        ]
    return "\n".join(lines)
