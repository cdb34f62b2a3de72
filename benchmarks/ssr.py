"""Measure our kernels against Fortran, SciPy, the memory, and kernels written by hand for Numba.

``python -m benchmarks.ssr [--json FILE] [--quick] [--only PART...]`` prints a table for each part:
the cases of `benchmarks.cases`, then ``startup``, ``overhead`` and ``sizes``. All of
them run on one thread. A ratio is the median of ours / other over pairs of the same round; lower is
better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from apps import commands
from benchmarks import operators, overhead, report, startup
from benchmarks.cases import CASES
from benchmarks.timing import Json, table


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


def run_sizes(quick: bool) -> Json:
    """Check that one kernel serves all sizes; print the cost of the first call at a size."""
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
    "startup": run_startup, "overhead": run_overhead, "sizes": run_sizes,
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements selected on the command line."""
    report.main(CASES, PARTS, arguments)


if __name__ == "__main__":
    commands.run(main)
