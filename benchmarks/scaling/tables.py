"""The tables of the page on scaling, from files of ``--simulate`` and ``--measure``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.scaling.compare import PUBLISHED, best, efficiencies, ideal, ordered, steps

Found = Mapping[str, Any]
Row = dict[str, str]

COUNTS = {
    "problem": "problem",
    "ranks": "ranks",
    "exchanges": "exchanges",
    "reductions": "reductions",
    "neighbors": "neighbors of a rank",
    "messages": "messages of a rank",
    "kilobytes": "KB of a rank",
    "all": "messages of all ranks",
    "unmerged": "without merging",
    "megabytes": "MB of all ranks",
}
EACH = "exchanges", "reductions", "neighbors", "messages"
EFFICIENCIES = {
    "problem": "problem",
    "ranks": "ranks",
    "step": "step, ms",
    "exposed": "exposed, ms",
    "fast": "fast network",
    "middle": "middle",
    "slow": "slow",
    "tree": "middle, fat tree",
    "drawn": "drawn times, middle",
    "decides": "parameter that decides",
}
CHECKS = {
    "case": "case",
    "reference": "reference",
    "fastest": "simulated, fixed times",
    "drawn": "simulated, drawn times",
    "plain": "drawn, blocking and unmerged",
}


def counts(simulated: Found) -> list[Row]:
    """Return messages and bytes of a call."""
    made = []
    for name, by_ranks in simulated["problems"].items():
        for ranks, one in ordered(by_ranks).items():
            found = one["counts"]
            made.append({
                "problem": name,
                "ranks": f"{ranks:,}",
                **{key: str(found[key]) for key in EACH},
                "kilobytes": f"{found['bytes'] / 1e3:,.0f}",
                "all": f"{found['messages of all']:,}",
                "unmerged": f"{found['unmerged messages of all']:,}",
                "megabytes": f"{found['bytes of all'] / 1e6:,.1f}",
            })  # fmt: skip
    return made


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def simulations(simulated: Found) -> list[Row]:
    """Return simulated efficiencies with their bands."""
    made = []
    for name, by_ranks in simulated["problems"].items():
        for ranks, one in ordered(by_ranks).items():
            found = one["simulated"]
            fastest = {n: efficiencies(one, [t])[0] for n, t in found["fastest"].items()}
            made.append({
                "problem": name,
                "ranks": f"{ranks:,}",
                "step": f"{1e3 * found['fastest']['middle']:,.3f}",
                "exposed": f"{1e3 * found['exposed']:,.3f}",
                **{n: f"{e:.2f}" for n, e in fastest.items()},
                "tree": _range(efficiencies(one, [found["fat tree"]])) if found["fat tree"] else "",
                "drawn": _range(efficiencies(one, found["drawn"]["middle"])),
                "decides": decisive(found["parameters"]),
            })  # fmt: skip
    return made


def decisive(parameters: Mapping[str, float]) -> str:
    """Return the parameter of the network that changes the time most, and by how much."""
    names = sorted({name.partition(",")[0] for name in parameters})
    change = {n: parameters[f"{n}, slow"] / parameters[f"{n}, fast"] - 1 for n in names}
    most = max(names, key=lambda name: change[name])
    return f"{most}, {100 * change[most]:.0f} %"


def checks(simulated: Found, measured: Sequence[Found]) -> list[Row]:
    """Return simulated efficiencies next to a published and to measured ones."""
    made = []
    ranks, low, high = PUBLISHED
    for name, by_ranks in simulated["problems"].items():
        if one := by_ranks.get(str(ranks)):
            found = one["simulated"]
            made.append({
                "case": f"{name}, {ranks:,} ranks",
                "reference": f"{low} to {high}, published",
                "fastest": _range(efficiencies(one, list(found["fastest"].values()))),
                "drawn": _range(efficiencies(one, _all(found["drawn"]))),
                "plain": _range(efficiencies(one, found["drawn, blocking, unmerged"])),
            })  # fmt: skip
    for job in measured:
        for name, one in job["problems"].items():
            found, apart = one["simulated"], best(one)
            measured_one = ideal(one) / float(median(steps(one)))
            made.append({
                "case": f"{name}, {job['job']['ranks']} ranks",
                "reference": f"{measured_one:.2f}, measured",
                "fastest": _range([apart / found["fastest"]["measured"]]),
                "drawn": _range([apart / t for t in found["drawn"]["measured"]]),
                "plain": _range([apart / t for t in found["drawn, blocking, unmerged"]]),
            })  # fmt: skip
    return made


def _all(drawn: Mapping[str, Sequence[float]]) -> list[float]:
    return [seconds for times in drawn.values() for seconds in times]


def write(folder: Path, simulated: Found, measured: Sequence[Found]) -> None:
    """Write the files of the tables."""
    cores = simulated["busy cores"]
    machine = (
        f"{simulated['machine']['processor']}, {cores} busy cores, load {simulated['load']:.0f}"
    )
    for name, columns, found in (
        ("scaling-counts", COUNTS, counts(simulated)),
        ("scaling", EFFICIENCIES, simulations(simulated)),
        ("scaling-checks", CHECKS, checks(simulated, measured)),
    ):
        content = {
            "machine": machine,
            "date": simulated["date"],
            "command": "python -m benchmarks.scaling --simulate FILE",
            "columns": columns,
            "rows": found,
        }
        text = json.dumps(content, indent=1) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
