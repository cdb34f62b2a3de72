"""The picture of simulated efficiencies, with bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.scaling.compare import PUBLISHED, efficiencies, ideal, ordered, steps

Found = Mapping[str, Any]


def draw(path: Path, simulated: Found, measured: Sequence[Found]) -> None:
    """Draw the efficiency of each problem over the number of ranks."""
    import matplotlib.pyplot as plt

    problems = simulated["problems"]
    figure, _ = plt.subplots(
        1, len(problems), figsize=(4.6 * len(problems), 4.0), sharey=True, layout="constrained"
    )
    for axis, (name, by_ranks) in zip(figure.axes, problems.items(), strict=True):
        found = ordered(by_ranks)
        ranks = list(found)
        _bands(axis, ranks, list(found.values()))
        axis.plot(
            [PUBLISHED[0]] * 2, PUBLISHED[1:], color="tab:red", lw=5, alpha=0.7,
            solid_capstyle="butt", label="published, 1,344 cores",
        )  # fmt: skip
        own = [(job, job["problems"][name]) for job in measured if name in job["problems"]]
        if own:
            axis.plot(
                [job["job"]["ranks"] for job, _ in own],
                [ideal(one) / float(median(steps(one))) for _, one in own],
                "k*", ms=10, label="measured",
            )  # fmt: skip
        axis.set(xscale="log", xlabel="ranks", title=name)
        ticks = sorted({*ranks, *(job["job"]["ranks"] for job, _ in own)})
        axis.set_xticks(ticks, [f"{count:,}" for count in ticks], rotation=45)
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    figure.axes[0].set(ylabel="simulated efficiency", ylim=(0.0, None))
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=1 + len(problems), fontsize=8)
    figure.savefig(path, dpi=150)


def _bands(axis: Any, ranks: Sequence[int], found: Sequence[Found]) -> None:
    """Draw the bands over networks and drawn times, and lines for the middle network."""
    replays = [one["simulated"] for one in found]
    drawn = [
        efficiencies(one, [t for times in replay["drawn"].values() for t in times])
        for one, replay in zip(found, replays, strict=True)
    ]
    fastest = [
        efficiencies(one, list(replay["fastest"].values()))
        for one, replay in zip(found, replays, strict=True)
    ]
    for values, color, label in (
        (drawn, "tab:orange", "drawn times of work, three networks"),
        (fastest, "tab:blue", "fixed times of work, three networks"),
    ):
        axis.fill_between(
            ranks, [min(v) for v in values], [max(v) for v in values],
            alpha=0.3, color=color, label=label,
        )  # fmt: skip
    for name, style, label in (
        ("", "o-", "middle network"),
        ("blocking, unmerged", "v:", "the same, blocking and unmerged"),
    ):
        times = [
            replay["ways"][name] if name else replay["fastest"]["middle"] for replay in replays
        ]
        pairs = zip(found, times, strict=True)
        axis.plot(ranks, [efficiencies(one, [t])[0] for one, t in pairs], style, ms=4, lw=1.2,
                  color="tab:blue", label=label)  # fmt: skip
