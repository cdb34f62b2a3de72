"""Run cases of `benchmarks.cases` and print the times, the goals, and the bound by memory."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import timing
from benchmarks.cases import Case, builds, disagreement, triad
from benchmarks.timing import Json, Timing, table

NOTE = """\
ours: compact NumPy arrays, without ghosts but those that are data; Fortran: arrays padded with
ghosts that hold zeros, so that it needs no conditions. One thread. ours/other: median over pairs;
of the builds O3 and Ofast the better one counts, others are there for information. over triad: the
time relative to that of a triad on arrays of the same shape, in the same rounds.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """The times of a case, the last that of a triad, and the distances of results from ours."""

    case: Case
    shape: tuple[int, ...]
    timings: tuple[Timing, ...]
    distances: Mapping[str, float]

    @property
    def ours(self) -> Timing:
        """Our times."""
        return self.timings[0]

    @property
    def triad(self) -> Timing:
        """The times of the triad."""
        return self.timings[-1]

    @property
    def bandwidth(self) -> float:
        """Bytes a second that the triad moves, including cache lines that its stores fill."""
        return 32 * self.points / self.triad.median

    @property
    def points(self) -> int:
        """The number of points that a call computes."""
        return self.case.count(self.shape)

    @property
    def bound(self) -> float:
        """The seconds that the memory needs for the bytes of the case."""
        return self.case.moved * self.points / self.bandwidth

    def against(self, goal: str) -> tuple[str, float]:
        """Return the name of the candidate that counts for a goal, and the ratio ours / it."""
        names = builds(goal)
        ratios = {t.name: self.ours.over(t).median for t in self.timings if t.name in names}
        worst = max(ratios, key=lambda name: ratios[name])
        return worst, ratios[worst]

    def json(self) -> Json:
        """Return all numbers, the samples too."""
        return {
            "title": self.case.title,
            "shape": self.shape,
            "points": self.points,
            "distances": self.distances,
            "bytes_per_point": self.case.moved,
            "triad_bytes_per_second": self.bandwidth,
            "bound_seconds": self.bound,
            "timings": timing.Comparison(self.ours, self.timings[1:]).json(),
            "goals": {
                goal: {
                    "limit": limit,
                    "against": self.against(goal)[0],
                    "ratio": self.against(goal)[1],
                    "met": self.against(goal)[1] <= limit,
                }
                for goal, limit in self.case.goals.items()
            },
        }


def run(case: Case, quick: bool, pairs: int) -> Result:
    """Check that all candidates agree, then time them in turn."""
    shape = case.sized(quick)
    candidates = case.bind(shape)
    distances = disagreement(candidates, case.tolerance)
    calls = {name: candidate.call for name, candidate in candidates.items()}
    timings = timing.measure({**calls, "triad": triad((case.count(shape),))}, pairs)
    return Result(case, shape, timings, distances)


def show_case(name: str, result: Result) -> None:
    """Print all candidates of a case, its goals and its bound."""
    count = result.points
    extents = " x ".join(map(str, result.shape))
    rows = []
    for one in result.timings:
        ratio = result.ours.over(one)
        low, high = ratio.quartiles
        rows.append([
            one.name,
            f"{1e9 * one.minimum / count:.3f}",
            f"{1e9 * one.median / count:.3f}",
            f"{one.over(result.triad).median:.2f}",
            *(["", ""] if one is result.ours else [f"{ratio.median:.3f}", f"{low:.3f}-{high:.3f}"]),
        ])  # fmt: skip
    header = ("candidate", "min ns/point", "median", "over triad", "ours/other", "quartiles")
    print(f"{name}: {result.case.title}, {extents}\n{table(header, rows)}")
    for goal, limit in result.case.goals.items():
        other, ratio_ = result.against(goal)
        word = "met" if ratio_ <= limit else "MISSED"
        print(f"goal: {ratio_:.3f} of {other}, limit {limit:.2f}: {word}")
    print(
        f"bound: {result.case.moved} bytes a point at the triad's {result.bandwidth / 1e9:.1f} GB/s"
        f" are {1e9 * result.bound / count:.3f} ns; ours takes "
        f"{result.ours.median / result.bound:.2f} times that\n"
    )


def show_summary(results: Mapping[str, Result]) -> None:
    """Print a line for each goal."""
    rows = []
    for name, result in results.items():
        count = result.points
        ours = f"{1e9 * result.ours.minimum / count:.3f} / {1e9 * result.ours.median / count:.3f}"
        for goal, limit in result.case.goals.items():
            other, ratio = result.against(goal)
            met = "met" if ratio <= limit else "MISSED"
            rows.append([name, ours, other, f"{ratio:.3f}", f"{limit:.2f}", met])
    header = ("case", "ours min / median", "other", "ratio", "goal", "")
    print(f"summary (ns/point)\n{table(header, rows)}\n")


def main(
    cases: Mapping[str, Case],
    parts: Mapping[str, Callable[[bool], Json]],
    arguments: Sequence[str] | None = None,
) -> None:
    """Run the cases and parts selected on the command line."""
    parser = argparse.ArgumentParser(description="Measure our kernels.")
    parser.add_argument("--json", type=Path, help="write everything to this file")
    parser.add_argument("--quick", action="store_true", help="small sizes, three pairs: a test")
    parser.add_argument("--pairs", type=int, default=15, help="rounds of each case")
    names = [*cases, *parts]
    parser.add_argument("--only", nargs="+", metavar="PART", help=f"of {', '.join(names)}")
    options = parser.parse_args(arguments)
    if unknown := set(options.only or ()) - set(names):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    wanted = options.only or names
    facts, load = timing.machine(), [os.getloadavg()[0]]
    print(f"{facts['processor']}, {facts['gfortran']}, Numba {facts['numba']}\n\n{NOTE}")
    if options.quick:
        print("quick: everything is too small for the goals to mean anything\n")
    results = {}
    for name in filter(wanted.__contains__, cases):
        results[name] = run(cases[name], options.quick, 3 if options.quick else options.pairs)
        show_case(name, results[name])
    if results:
        show_summary(results)
    found = {name: parts[name](options.quick) for name in parts if name in wanted}
    load.append(os.getloadavg()[0])
    print(f"load average of the machine: {load[0]:.1f} at the start, {load[1]:.1f} at the end")
    if options.json:
        made = {name: result.json() for name, result in results.items()}
        timing.write_json(options.json, {"machine": facts, "load": load, "cases": made, **found})
