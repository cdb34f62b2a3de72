"""Measure solves along lines, and BT of the NAS Parallel Benchmarks, against Fortran.

``python -m benchmarks.npb [--json FILE] [--quick] [--only PART...]`` times solves with three and
five diagonals and with blocks of 5 x 5, at 64^3 along each axis. *tuned* works on eight lines side
by side, as ours do; *natural* is the usual form. ``bt`` is the time of a step of `apps.bt`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

import ssr
from apps import bt
from apps.npb.flow import KNOWN, changes
from apps.npb.run import begun
from benchmarks import fortran, report, timing
from benchmarks.cases import Candidate, Case, variants
from benchmarks.fortran import Version
from benchmarks.references import Shape, field
from benchmarks.timing import Json

box = ssr.Space(*ssr.sizes("nz ny nx"))
flow = box.vector(5)


def beside(row: tuple[Any, ...], axis: int, step: int) -> tuple[Any, ...]:
    """Return the point some steps further along an axis."""
    return (*row[:axis], row[axis] + step, *row[axis + 1 :])


def band(axis: int, reach: int) -> ssr.Program:
    """Return the solve with d on the diagonal, -1 beside it, and 1/10 beside these."""

    @ssr.matrix(rows=box, cols=box, d=box)
    def A(*row: Any, d: Any) -> Iterator[Any]:
        for step in range(-reach, reach + 1):
            c = beside(row, axis, step)
            if c in box:
                yield c, (d[row], -1.0, 0.1)[abs(step)]

    @ssr.program(x=box, b=box, d=box)
    def solve(x: Any, b: Any, d: Any) -> None:
        x[:] = A.bind(d=d).solve(b)

    return solve


def blocks(axis: int) -> ssr.Program:
    """Return the solve with 4 I + u u' on the diagonal, and -u u'/10 and u u'/10 beside it."""

    @ssr.matrix(rows=flow, cols=flow, u=flow)
    def A(*row: Any, u: Any) -> Iterator[Any]:
        for step in -1, 0, 1:
            c = beside(row, axis, step)
            if c in box:
                product = np.outer(u[:, *c], u[:, *c])
                yield c, 0.1 * step * product if step else 4.0 * np.eye(5) + product

    @ssr.program(x=flow, b=flow, u=flow)
    def solve(x: Any, b: Any, u: Any) -> None:
        x[:] = A.bind(u=u).solve(b)

    return solve


def solves(axis: int, reach: int, shape: Shape) -> dict[str, Candidate]:
    """Bind the solves with bands along an axis; reach 0 stands for blocks."""
    extent = shape if reach else (5, *shape)
    work, sizes = ("band", (3 - axis, reach)) if reach else ("block_band", (3 - axis,))
    data = field(extent) + (5.0 if reach else 0.0)
    x, b = np.empty(extent), field(extent, seed=2)
    ours = (band(axis, reach) if reach else blocks(axis)).bind(x, b, data)

    def reference(version: Version, build: str) -> Candidate:
        x, d = np.empty(extent), data.copy()
        numbers = *(int(n) for n in reversed(shape)), *sizes
        call = fortran.bind(work, version, build, *numbers, d, b.copy(), x)
        return Candidate(call, lambda: x)

    return {"ours": Candidate(ours, lambda: x), **variants(reference)}


KINDS = {1: ("three diagonals", 24), 2: ("five diagonals", 24), 0: ("5 x 5 blocks", 120)}
AXES = {0: "z", 1: "y", 2: "x"}

CASES: Mapping[str, Case] = MappingProxyType(
    {
        f"{'blocks' if not reach else f'band-{2 * reach + 1}'}-{axis_name}": Case(
            f"{title} along {axis_name}",
            *(partial(solves, axis, reach), (64, 64, 64), (8, 8, 8), moved),
            goals={"tuned": 1.05},
        )
        for reach, (title, moved) in KINDS.items()
        for axis, axis_name in AXES.items()
    }
)


def step(quick: bool) -> Json:
    """Print the time of a step of BT."""
    chosen = KNOWN["BT"]["S" if quick else "A"]
    U, _ = begun(chosen["size"])
    F = U.spread.empty(changes)
    F.set(0.0)
    advance = bt.step(U=U, F=F, dt=0.0, h=1.0 / (chosen["size"] - 1))
    (found,) = timing.measure({"bt": advance})
    nanoseconds = 1e9 * found.minimum / chosen["size"] ** 3
    print(f"BT, {chosen['size']}^3 points: {nanoseconds:.1f} ns for a point and step\n")
    return {"size": chosen["size"], "nanoseconds": nanoseconds}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for."""
    report.main(CASES, {"bt": step}, arguments)


if __name__ == "__main__":
    main()
