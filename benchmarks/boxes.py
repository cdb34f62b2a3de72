"""Measure programs on boxes with separate arrays against the same programs undistributed.

``python -m benchmarks.boxes [--json FILE] [--pairs N] [--only PART...]``. All boxes belong to one
rank of one process, so only the form and sizes of kernels and the copies between boxes are
measured; there are no messages. Times are per cell: that of a box of 48 x 48 inside a panel is
compared with that of a whole panel of this size.

The 96 boxes of 192 x 192 cells need sixteen times the memory of six panels of 48 x 48, which fit
into the second-level cache, and are limited by memory. The cost of boxes alone is seen where a rank
has as many cells as the panels: of 16 ranks each is run alone, with its packing and unpacking but
without the time of messages, and the slowest counts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import boundary as bc
import ssr
from apps import commands
from apps.swe import cases, geometry, volumes
from apps.swe.grid import grid
from benchmarks import performance_model, timing
from benchmarks.operators import Weights
from benchmarks.timing import Call, Timing

FLOW = cases.case("tc5")
LIMITS = {
    "panel 48": 1.05,
    "box 48 in 192": 1.15,
    "box 48, a rank of 16": 1.15,
    "panels 192, 4 x 4": 1.10,
    "panels 192, 4 x 1": 1.10,
    "panels 192, 1 x 4": 1.10,
    "27 points 64, 2 x 2 x 1": 1.05,
}
"""The largest ratio to the undistributed program that is good enough."""

SAMPLE = 0.05
"""Seconds of a sample: long compared with the time to refill the caches."""


@dataclass(frozen=True, slots=True)
class Found:
    """The least seconds of a call on boxes, and of the undistributed one; and their ratio."""

    boxes: float
    whole: float
    ratio: float


def stage(n: int, parts: tuple[int, int] | None, ranks: Any = None) -> Call:
    """Return a stage of the shallow-water solver on panels that are cut so; None for no boxes.

    All boxes belong to one rank unless ``ranks`` are given.
    """
    program = volumes.program(n, False, "linear")
    kinds: dict[str, Any] = dict(program.signature.kinds)
    state = FLOW.state(n)
    wider = np.zeros((3, 6, n + 2, n + 2))
    wider[..., 1:-1, 1:-1] = state
    arrays: Mapping[str, Any] = {
        "U": state,
        "V": wider,
        **{name: field.gather() for name, field in volumes.Volumes(n, FLOW).constants.items()},
    }
    if parts is not None:
        on = bc.distribute(grid, ranks or bc.simulated_ranks(1), more=n - 5, cut=parts)
        arrays = {name: on.scatter(kinds[name], array) for name, array in arrays.items()}
    run = program.bind(**arrays, per=n / (2 * geometry.EDGE))
    return lambda: run(0.0, 1.0)


def product27(n: int, parts: tuple[int, int, int] | None) -> Call:
    """Return a product with a 27-point matrix on a cube that is cut so; None for no boxes."""
    size = ssr.size("n")
    cube = ssr.Space(size, size, size)
    weights: Weights = {o: 26.0 if o == (0, 0, 0) else -1.0 for o in product((-1, 0, 1), repeat=3)}
    A = ssr.stencil(cube, cube, weights, outside="zero")

    @ssr.program(y=cube, x=cube)
    def multiply(y: Any, x: Any) -> None:
        y[:] = A @ x

    x = np.random.default_rng(1).random((n, n, n))
    if parts is None:
        bound: Callable[[], Any] = multiply.bind(np.zeros_like(x), x)
    else:
        on = bc.distribute(cube, bc.simulated_ranks(1), n=n, cut=parts)
        bound = multiply.bind(on.zeros(cube), on.scatter(cube, x))
    return lambda: bound()


def box_of_a_rank(rounds: int) -> Found:
    """Return the times of the slowest of 16 ranks, run alone, and of whole panels as large."""
    (whole,) = timing.measure({"whole": stage(48, None)}, 50 * rounds, sample=0.0)
    ranks = performance_model.trace(partial(stage, 192, (4, 4)), ranks=16, calls=50 * rounds)
    slowest = float(ranks.work.sum(axis=1).max())
    return Found(slowest, whole.minimum, slowest / whole.minimum)


def parts() -> Mapping[str, tuple[Callable[[], Call], Callable[[], Call], float]]:
    """Return for each part ours and the undistributed call, and how much more work ours is."""
    cut = "panels 192, {} x {}"
    return {
        "panel 48": (lambda: stage(48, (1, 1)), lambda: stage(48, None), 1.0),
        "box 48 in 192": (lambda: stage(192, (4, 4)), lambda: stage(48, None), 16.0),
        **{
            cut.format(*p): (partial(stage, 192, p), lambda: stage(192, None), 1.0)
            for p in ((4, 4), (4, 1), (1, 4))
        },
        "27 points 64, 2 x 2 x 1": (
            lambda: product27(64, (2, 2, 1)),
            lambda: product27(64, None),
            1.0,
        ),
    }


def compared(
    ours: Callable[[], Call], theirs: Callable[[], Call], work: float, rounds: int
) -> Found:
    """Return the times of two calls, of which the first does ``work`` times the work."""
    calls = {"boxes": ours(), "whole": theirs()}
    for _ in range(2):  # the tables of a second call differ: constants are not exchanged again
        calls["boxes"]()
    first, other = timing.measure(calls, rounds, sample=SAMPLE)
    scaled = Timing("whole", tuple(seconds * work for seconds in other.samples))
    return Found(first.minimum, other.minimum, first.over(scaled).median)


def main() -> None:
    """Measure, print a table, and write a file if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.boxes", description=__doc__)
    parser.add_argument("--json", type=Path, help="the file for the results")
    parser.add_argument("--pairs", type=int, default=25, help="the number of rounds")
    parser.add_argument("--only", nargs="*", help="names of parts")
    given = parser.parse_args()
    measured: dict[str, Callable[[], Found]] = {
        name: partial(compared, *calls, given.pairs) for name, calls in parts().items()
    }
    measured["box 48, a rank of 16"] = partial(box_of_a_rank, given.pairs)
    rows, found = [], {}
    for name, measure in measured.items():
        if given.only and name not in given.only:
            continue
        times = found[name] = measure()
        met = "yes" if times.ratio <= LIMITS[name] else "no"
        shown = f"{1e6 * times.boxes:.0f}", f"{1e6 * times.whole:.0f}", f"{times.ratio:.2f}"
        rows.append([name, *shown, f"{LIMITS[name]:.2f}", met])
    head = ["part", "boxes us", "whole us", "ratio", "limit", "met"]
    print(timing.table(head, rows))
    if given.json:
        parts_found = {name: asdict(times) for name, times in found.items()}
        timing.write_json(given.json, {"machine": timing.machine(), "parts": parts_found})


if __name__ == "__main__":
    commands.run(main)
