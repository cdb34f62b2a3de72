"""Measure our kernels against Fortran, SciPy, the memory, and kernels written by hand for Numba.

``python -m benchmarks.ssr [--json FILE] [--quick] [--only PART...]`` prints a table for each part:
the cases of `benchmarks.cases`, then ``startup``, ``overhead``, ``vectors`` and ``sizes``. All runs
on one thread. A ratio is the median of ours / other over pairs of the same round; lower is better.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import operators, overhead, startup, timing, vectors
from benchmarks.cases import CASES, Case, builds, disagreement, points, triad
from benchmarks.timing import Json, Timing, table

NOTE = """\
ours: compact NumPy arrays, no ghosts; Fortran: arrays padded with ghosts that hold zeros, which
save it all conditions. One thread. ours/other: median over pairs; of the builds O3 and Ofast the
better counts, others are there for information. over triad: the time over that of a triad on arrays
of the same shape, in the same rounds.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """The times of a case, the last that of a triad, and how far candidates are from ours."""

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
        """Bytes a second that the triad moves, the lines its stores fill included."""
        return 32 * points(self.shape) / self.triad.median

    @property
    def bound(self) -> float:
        """The seconds the memory needs for the bytes of the case."""
        return self.case.moved * points(self.shape) / self.bandwidth

    def against(self, goal: str) -> tuple[str, float]:
        """Return the name of the candidate that counts for a goal, and ours over it."""
        names = builds(goal)
        ratios = {t.name: self.ours.over(t).median for t in self.timings if t.name in names}
        worst = max(ratios, key=lambda name: ratios[name])
        return worst, ratios[worst]

    def json(self) -> Json:
        """Return all numbers, the samples too."""
        return {
            "title": self.case.title,
            "shape": self.shape,
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
    distances = disagreement(candidates)
    calls = {name: candidate.call for name, candidate in candidates.items()}
    timings = timing.measure({**calls, "triad": triad(shape)}, pairs)
    return Result(case, shape, timings, distances)


def show_case(name: str, result: Result) -> None:
    """Print all candidates of a case, its goals and its bound."""
    count = points(result.shape)
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
        count = points(result.shape)
        ours = f"{1e9 * result.ours.minimum / count:.3f} / {1e9 * result.ours.median / count:.3f}"
        for goal, limit in result.case.goals.items():
            other, ratio = result.against(goal)
            met = "met" if ratio <= limit else "MISSED"
            rows.append([name, ours, other, f"{ratio:.3f}", f"{limit:.2f}", met])
    header = ("case", "ours min / median", "other", "ratio", "goal", "")
    print(f"summary (ns/point)\n{table(header, rows)}\n")


def run_startup(quick: bool) -> Json:
    """Measure and print the times to a first result."""
    names = ["jacobi5"] if quick else list(operators.PROGRAMS)
    cold, warm = (1, 1) if quick else (3, 7)
    found: dict[str, dict[str, startup.Times]] = {}
    for name in names:
        kinds = ["ours", "hand"] if name in ("jacobi5", "spmv27") else ["ours"]
        found[name] = {"lower": startup.measure(["lower"], name, cold)["lower cold"]}
        found[name] |= startup.measure(kinds, name, cold, warm)
    rows = []
    for name, times in found.items():
        for state in "cold", "warm":
            ours, hand = times[f"ours {state}"], times.get(f"hand {state}")
            steps = [ours[k] for k in ("import", "declare", "build", "call", "total")]
            lower = times["lower"]["lower"] if state == "cold" else None
            cells = [f"{name} {state}", *(f"{1e3 * step:.1f}" for step in steps)]
            cells.append("" if lower is None else f"{1e3 * lower:.1f}")
            if hand is None:
                cells += ["", "", ""]
            else:
                more = (ours["total"] - ours["import"]) / hand["build"]
                cells += [f"{1e3 * hand['total']:.1f}", f"{ours['total'] / hand['total']:.2f}"]
                cells += [f"{more:.2f}"]
            rows.append(cells)
    header = ("ms", "import", "declare", "build", "call", "total", "of it lower", "hand total",
              "ours/hand", "less imports")  # fmt: skip
    print("startup: fresh processes, caches empty (cold) or filled (warm); least of some")
    print(f"{table(header, rows)}\n")
    return {name: dict(times) for name, times in found.items()}


def run_overhead(quick: bool) -> Json:
    """Measure and print the cost of a call."""
    seconds = overhead.seconds(2_000 if quick else 20_000)
    rows = [
        [name, f"{1e6 * value:.2f}", "met" if value <= overhead.GOAL else "MISSED"]
        for name, value in seconds.items()
    ]
    print(f"overhead: calls on 4 x 4 arrays, goal {1e6 * overhead.GOAL:.0f} microseconds")
    print(f"{table(('call', 'microseconds', ''), rows)}\n")
    return {"goal": overhead.GOAL, "seconds": dict(seconds)}


def run_vectors(quick: bool) -> Json:
    """Print, for each kernel, how many loops should be vectorised, and how many are."""
    rows: list[list[str]] = []
    found: dict[str, Json] = {}
    for name in ["jacobi5"] if quick else list(operators.PROGRAMS):
        kernel = operators.PROGRAMS[name]().kernel()
        loops = vectors.vector_loops(kernel.source, vectors.compiler_of(kernel.run))
        good = sum(loop.vectorised for loop in loops)
        bits = max((loop.bits for loop in loops), default=0)
        gathers = sum(loop.gathers for loop in loops)
        expected = int(kernel.meta["loops"])
        found[name] = {
            "expected": expected, "vectorised": good, "loops": len(loops), "bits": bits,
            "gathers": gathers, "scalar_lines": [x.line for x in loops if not x.vectorised],
        }  # fmt: skip
        word = "all" if good >= expected and not gathers else "MISSED"
        rows.append([name, *map(str, (len(loops), expected, good, bits, gathers)), word])
    header = ("kernel", "innermost loops", "to vectorise", "vectorised", "bits", "gathers", "")
    print(f"vectors: loops in the optimised machine code\n{table(header, rows)}\n")
    return found


def run_sizes(quick: bool) -> Json:
    """Check that one kernel serves all sizes; print what the first call at a size costs."""
    found = {}
    for name in ["jacobi5"] if quick else ["jacobi5", "spmv27"]:
        times = found[name] = startup.measure(["sizes"], name, 1)["sizes cold"]
        print(
            f"sizes: {name}: {times['kernels']:.0f} kernel for {times['sizes']:.0f} shapes; the "
            f"first call at a shape takes {1e6 * times['first']:.0f} microseconds"
        )
    print()
    return {name: dict(times) for name, times in found.items()}


PARTS: Mapping[str, Callable[[bool], Json]] = {
    "startup": run_startup, "overhead": run_overhead, "vectors": run_vectors, "sizes": run_sizes,
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure our kernels.")
    parser.add_argument("--json", type=Path, help="write everything to this file")
    parser.add_argument("--quick", action="store_true", help="small sizes, three pairs: a test")
    parser.add_argument("--pairs", type=int, default=15, help="rounds of each case")
    names = [*CASES, *PARTS]
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
    for name in filter(wanted.__contains__, CASES):
        results[name] = run(CASES[name], options.quick, 3 if options.quick else options.pairs)
        show_case(name, results[name])
    if results:
        show_summary(results)
    parts = {name: PARTS[name](options.quick) for name in PARTS if name in wanted}
    load.append(os.getloadavg()[0])
    print(f"load average of the machine: {load[0]:.1f} at the start, {load[1]:.1f} at the end")
    if options.json:
        cases = {name: result.json() for name, result in results.items()}
        timing.write_json(options.json, {"machine": facts, "load": load, "cases": cases, **parts})


if __name__ == "__main__":
    main()
