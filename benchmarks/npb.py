"""Measure solves along lines, and BT, SP and LU of the NAS Parallel Benchmarks, against Fortran.

``python -m benchmarks.npb [--json FILE] [--quick] [--only PART...]`` times solves with three and
five diagonals and with blocks of 5 x 5, at 64^3 along each axis, and steps of `apps.bt`, `apps.sp`
and `apps.lu`. *tuned* works on eight lines side by side, as ours do; *natural* is the usual form,
which for the steps has components innermost and stores the matrices of a line, or of a plane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

import ssr
from apps import bt, commands, lu, sp
from apps.npb.flow import changes
from apps.npb.run import KNOWN, begun, residual
from benchmarks import fortran, report
from benchmarks.cases import COUNTED, Candidate, Case, variants
from benchmarks.fortran import Version
from benchmarks.references import Shape, field
from boundary import Field

box = ssr.Space(*ssr.sizes("nz ny nx"))
flow = box.vector(5)


def beside(row: tuple[Any, ...], axis: int, step: int) -> tuple[Any, ...]:
    """Return the point some steps further along an axis."""
    return (*row[:axis], row[axis] + step, *row[axis + 1 :])


def band(axis: int, reach: int) -> ssr.Program:
    """Return the solve of a band matrix: d on the diagonal, then -1 and 1/10 on both sides."""

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
    """Return the solve with 4 I + u u' on the diagonal, -u u'/10 below it and u u'/10 above it."""

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
    x, b = fortran.aligned(np.empty(extent)), field(extent, seed=2)
    ours = (band(axis, reach) if reach else blocks(axis)).bind(x, b, data)

    def reference(version: Version, build: str) -> Candidate:
        x, d, c = (fortran.aligned(a) for a in (np.empty(extent), data, b))
        numbers = *(int(n) for n in reversed(shape)), *sizes
        call = fortran.bind(work, version, build, *numbers, d, c, x)
        return Candidate(call, lambda: x)

    return {"ours": Candidate(ours, lambda: x), **variants(reference)}


KINDS = {1: ("three diagonals", 24), 2: ("five diagonals", 24), 0: ("5 x 5 blocks", 120)}
AXES = {0: "z", 1: "y", 2: "x"}

VERSIONS: tuple[Version, ...] = ("natural", "tuned")
STEPS = {"BT": bt.step, "SP": sp.step, "LU": lu.step}


def by_hand(name: str, dt: float, state: Field, steady: Field) -> dict[str, Candidate]:
    """Bind our Fortran of steps of BT or SP to copies of a state; a field makes U* steady."""
    U, S = np.asarray(state.gather()), np.asarray(steady.gather())
    F = np.pad(-S, [(0, 0), *3 * [(1, 1)]])

    def reference(version: Version, build: str) -> Candidate:
        natural, shape = version == "natural", U.shape[1:]
        u, f = (fortran.aligned(np.moveaxis(a, 0, -1) if natural else a) for a in (U, F))
        extents = u.shape, (*shape, 7) if natural else (7, *shape)
        rooms = [fortran.aligned(np.zeros(extent)) for extent in extents]
        work, flags = f"{name.lower()}_{version}", () if natural else fortran.LANES
        call = fortran.bind("npb", work, build, shape[0], dt, u, f, *rooms, flags=flags)
        return Candidate(call, lambda: np.moveaxis(u, -1, 0) if natural else u)

    return {f"{v} {build}": reference(v, build) for v in VERSIONS for build in COUNTED}


def relaxed_by_hand(dt: float, state: Field, steady: Field) -> dict[str, Candidate]:
    """Bind our Fortran of a step of LU to copies of a state; a field makes U* steady."""
    U, S = (np.moveaxis(np.asarray(f.gather()), 0, -1) for f in (state, steady))
    S = np.pad(S, [*3 * [(1, 1)], (0, 0)])

    def reference(build: str) -> Candidate:
        (u, s, room), size = map(fortran.aligned, (U, S, np.zeros(U.shape))), U.shape[0]
        given = size, dt, 1.0 / (size - 1), u, s, room
        call = fortran.bind("lu", "natural", build, *given)
        return Candidate(call, lambda: np.moveaxis(u, -1, 0))

    return {f"natural {build}": reference(build) for build in COUNTED}


BY_HAND: Mapping[str, Callable[[float, Field, Field], dict[str, Candidate]]] = MappingProxyType(
    {"BT": partial(by_hand, "BT"), "SP": partial(by_hand, "SP"), "LU": relaxed_by_hand}
)


def stepping(name: str, letter: str, shape: Shape) -> dict[str, Candidate]:
    """Bind steps of BT, SP or LU from the start of a run."""
    dt, h = KNOWN[name][letter]["dt"], 1.0 / (shape[0] - 1)
    U, solution = begun(shape[0])
    R, S = U.distribution.zeros(changes), U.distribution.zeros(changes)
    residual(S, solution, R, U, h)
    references = BY_HAND[name](dt, U, S)
    ours = STEPS[name].bind(R=R, U=U, S=S, dt=dt, h=h)
    return {"ours": Candidate(ours, lambda: np.asarray(U.gather())), **references}


STEP_CASES = {
    f"{name.lower()}-{letter}": Case(
        f"a step of {name}, class {letter}",
        *(partial(stepping, name, letter), (size, size, size), (12, 12, 12), 120),
        goals=goals,
    )
    for name, letter, size, goals in (
        ("BT", "W", 24, {"natural": 0.33, "tuned": 1.0}),
        ("BT", "A", 64, {"natural": 0.33, "tuned": 1.0}),
        ("SP", "W", 36, {"natural": 0.70, "tuned": 1.0}),
        ("SP", "A", 64, {"natural": 0.70, "tuned": 1.0}),
        ("LU", "W", 33, {"natural": 0.85}),
        ("LU", "A", 64, {"natural": 0.85}),
    )
}

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
    | STEP_CASES
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements selected on the command line."""
    report.main(CASES, {}, arguments)


if __name__ == "__main__":
    commands.run(main)
