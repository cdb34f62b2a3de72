"""Solves that cross cuts: random dependences, programs and partitions, against arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st

import boundary as bc
import ssr
from ssr import errors

from . import ranks


@pytest.fixture(autouse=True)
def plain_kernels() -> Iterator[None]:
    with ranks.plain_kernels():
        yield


SIZES = tuple(ssr.size(name) for name in ("nz", "ny", "nx"))
SPACES = {axes: ssr.Space(*SIZES[3 - axes :]) for axes in (1, 2, 3)}


@st.composite
def stencils(draw: st.DrawFn, axes: int) -> ssr.Matrix:
    """Draw a stencil with a large diagonal: a cross, any offsets, or lines of equal weights."""
    reach = st.integers(-2, 2) if draw(st.booleans()) else st.integers(-1, 1)
    if draw(st.booleans()):  # a cross
        offsets = draw(st.lists(st.tuples(st.integers(0, axes - 1), reach), max_size=5))
        places = [tuple(n * (a == axis) for a in range(axes)) for axis, n in offsets]
    else:
        places = draw(st.lists(st.tuples(*(reach for _ in range(axes))), max_size=4))
    weights = {place: 0.5 + 0.125 * n for n, place in enumerate(dict.fromkeys(places))}
    if draw(st.booleans()):  # sums along lines are shared between rows then
        outer = st.tuples(*(st.integers(-1, 1) for _ in range(axes - 1)))
        profile = {-1: 0.25, 0: 0.5, 1: draw(st.sampled_from([0.25, 0.125]))}
        for line in draw(st.lists(outer, max_size=6, unique=True)):
            weights |= {(*line, along): weight for along, weight in profile.items()}
    weights[(0,) * axes] = draw(st.sampled_from([8.0, -9.0, 3.0]))
    note(f"{weights}")
    return ssr.stencil(SPACES[axes], SPACES[axes], weights, outside="zero")


@st.composite
def programs(draw: st.DrawFn, axes: int) -> ssr.Program:
    """Draw a program with one solve or several, and with steps before and behind them."""
    cells = SPACES[axes]
    A, B = draw(stencils(axes)), draw(stencils(axes))
    steps = draw(st.lists(st.sampled_from(range(9)), min_size=1, max_size=5))
    upper = [draw(st.booleans()) for _ in steps]
    note(f"steps {steps}, backward {upper}, A {A!r}, B {B!r}")

    @ssr.program(x=cells, y=cells, b=cells)
    def solved(x: Any, y: Any, b: Any) -> Any:
        for step, back in zip(steps, upper, strict=True):
            near, rest = (A.triu(), A.tril(-1)) if back else (A.tril(), A.triu(1))
            match step:
                case 0 | 1:
                    x[:] = near.solve(b - rest @ x)
                case 2:
                    y[:] = near.solve(x + 0.5 * b)
                case 3:
                    y[:] = near.solve(y)
                case 4:
                    y[:] = 0.25 * (B @ x)
                case 5:
                    x[:] = near.solve(ssr.materialize(B @ y))
                case 6:
                    x[:] = A.tril().solve(A.diagonal() @ A.triu().solve(b - A @ x))
                case 7:
                    x[:] = 0.5 * x + y
                case 8:
                    y[:] = B.tril().solve(near.solve(b) - 0.5 * (B @ y))
        return ssr.dot(x, y), ssr.max(x)

    return solved


@given(data=st.data())
def test_bits_do_not_depend_on_cuts(data: st.DataObject) -> None:
    axes = data.draw(st.integers(1, 3), "axes")
    most = {1: 12, 2: 9, 3: 6}[axes]
    shape = data.draw(st.tuples(*(st.integers(1, most) for _ in range(axes))), "shape")
    sizes = dict(zip(("nz", "ny", "nx")[3 - axes :], shape, strict=True))
    parts = data.draw(ranks.parts(SPACES[axes], sizes), "parts")
    program = data.draw(programs(axes), "program")
    arrays = np.random.default_rng(0).uniform(-1, 1, (3, *shape))
    passed = data.draw(st.sampled_from([0, 10, 3000]), "passed")
    with patch("boundary.parallel.schedules.wavefronts.PASSED", passed):
        found = ranks.check(program, [*arrays], SPACES[axes], sizes, parts)
    fronts = found._plan.fronts.values()
    event(f"{max((min(front.count, 6) for front in fronts), default=0)} wavefronts")


def test_sweeps_share_sums_of_rows_before_and_after() -> None:
    """Rows sum new values of the line behind theirs, and old ones of that before.

    Across a cut these are two exchanges.
    """
    near = {(j, i): 0.25 * (2 - abs(i)) for j in (-1, 1) for i in (-1, 0, 1)}
    A = ssr.stencil(plane, plane, near | {(0, 0): 8.0, (0, 1): 0.5, (0, -1): 0.5}, outside="zero")
    B = ssr.stencil(SPACES[3], SPACES[3], cube(), outside="zero")

    @ssr.program(x=plane, b=plane)
    def planes(x: Any, b: Any) -> None:
        x[:] = A.tril().solve(b - A.triu(1) @ x)
        x[:] = A.triu().solve(b - A.tril(-1) @ x)

    @ssr.program(x=SPACES[3], b=SPACES[3])
    def cubes(x: Any, b: Any) -> None:
        x[:] = B.tril().solve(b - B.triu(1) @ x)
        x[:] = B.triu().solve(b - B.tril(-1) @ x)

    for program, axes, shape, cuts in (
        (planes, 2, (4, 5), [(2, 1), (4, 1), (1, 2), (2, 2)]),
        (cubes, 3, (4, 4, 5), [(2, 1, 1), (1, 2, 1), (2, 2, 1), (1, 1, 2), (2, 2, 2)]),
    ):
        sizes = dict(zip(("nz", "ny", "nx")[3 - axes :], shape, strict=True))
        for cut in cuts:
            arrays = [*np.random.default_rng(0).uniform(-1, 1, (2, *shape))]
            parts = ranks.Parts(2, cut=cut)
            ranks.check(program, arrays, SPACES[axes], sizes, parts)


def cube() -> dict[tuple[int, ...], float]:
    """Return a stencil of 27 points, the same on all sides."""
    near = {
        (k, j, i): 0.25 ** (abs(k) + abs(j) + abs(i))
        for k in (-1, 0, 1)
        for j in (-1, 0, 1)
        for i in (-1, 0, 1)
    }
    return near | {(0, 0, 0): 16.0}


# -- how parts are chosen ------------------------------------------------------------------------

plane = SPACES[2]
CROSS = {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.1, (1, 0): -0.9, (-1, 0): -1.0}
SQUARE = CROSS | {(1, 1): -0.1, (1, -1): -0.2, (-1, 1): -0.1, (-1, -1): -0.2}


def sweep(weights: Any) -> ssr.Program:
    A = ssr.stencil(plane, plane, weights, outside="zero")

    @ssr.program(x=plane, b=plane)
    def sweep(x: Any, b: Any) -> None:
        x[:] = A.tril().solve(b - A.triu(1) @ x)

    return sweep


def bound(weights: Any, shape: tuple[int, int], cut: tuple[int, int]) -> Any:
    on = bc.distribute(
        plane, bc.simulated_ranks(cut[0] * cut[1]), cut=cut, ny=shape[0], nx=shape[1]
    )
    return sweep(weights).bind(on.zeros(plane), on.zeros(plane))


def test_ranks_begin_before_those_ahead_of_them_have_finished() -> None:
    """Short solves wait for whole boxes; long ones for parts, of which the slowest rank has all."""
    (short,) = bound(CROSS, (12, 12), (1, 3))._plan.fronts.values()
    assert short.count == 3
    (long,) = bound(CROSS, (960, 960), (1, 3))._plan.fronts.values()
    parts = int((long.boxes == 0).sum())
    assert parts > 8
    assert long.count == parts + 2
    assert sorted(long.exchanges) == list(range(parts + 1))


def test_boxes_that_wait_for_each_other_go_row_by_row() -> None:
    """The rows of a square read rows before them at both sides of a cut across the last axis."""
    arrays = [*np.random.default_rng(0).uniform(-1, 1, (2, 5, 6))]
    sizes = {"ny": 5, "nx": 6}
    exact = sweep(SQUARE).with_options(ssr.Options(exact=True))  # lines may be cut
    found = ranks.check(exact, arrays, plane, sizes, ranks.Parts(2, cut=(1, 2)))
    (fronts,) = found._plan.fronts.values()
    assert fronts.count == 10
    assert "run x[:] = ..., wavefront 10 of 10" in str(found.schedule)


def test_lines_run_in_turn_where_planes_cannot() -> None:
    """A cut across the last axis of a cube, with dependences at both of its sides, in two planes.

    No order of planes, nor of lines with the same second index, satisfies them.
    """
    cube = SPACES[3]
    before = {(-1, 0, 1): 1.0, (0, -1, 1): 1.0, (0, 0, -1): 1.0}
    A = ssr.stencil(cube, cube, {(0, 0, 0): 8.0, **before}, outside="zero")

    @ssr.program(x=cube, y=cube, b=cube, options=ssr.Options(exact=True))
    def solve(x: Any, y: Any, b: Any) -> None:
        x[:] = A.solve(x)

    sizes = {"nz": 3, "ny": 4, "nx": 4}
    arrays = [*np.random.default_rng(0).uniform(-1, 1, (3, 3, 4, 4))]
    found = ranks.check(solve, arrays, cube, sizes, ranks.Parts(2, cut=(1, 1, 2)))
    (fronts,) = found._plan.fronts.values()
    assert len(fronts.rows) == 24
    with patch("boundary.parallel.schedules.wavefronts.LINES", 23):
        on = bc.distribute(cube, bc.simulated_ranks(2), cut=(1, 1, 2), **sizes)
        with pytest.raises(errors.UnsupportedError, match="crosses a cut between boxes") as caught:
            solve(*(on.zeros(cube) for _ in range(3)))
    assert "wait for each other" in str(caught.value)
    assert "ssr.solvers.GaussSeidel(rank_local=True)" in str(caught.value)
