"""Layouts and schedules for any number of ranks, in one process and without MPI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.ranks.layout import Layout, spans
from boundary.ranks.local import LocalVector
from boundary.ranks.plan import Message, halo_plan, halo_plans
from ssr.errors import ArgumentError

# -- layouts -------------------------------------------------------------------------------------


@given(st.integers(1, 60), st.data())
def test_even_ranges_cover_the_rows_once(rows: int, data: st.DataObject) -> None:
    ranks = data.draw(st.integers(1, rows))
    layout = Layout.even(rows, ranks)
    owned = [row for rank in range(ranks) for row in layout.rows(rank)]
    assert owned == list(range(rows))
    lengths = [len(layout.rows(rank)) for rank in range(ranks)]
    assert max(lengths) - min(lengths) <= 1
    assert all(row in layout.rows(layout.owner(row)) for row in range(rows))


@pytest.mark.parametrize("cuts", [(), (0,), (1, 3), (0, 3, 3), (0, 4, 2)])
def test_cuts_rise_from_zero(cuts: tuple[int, ...]) -> None:
    with pytest.raises(ArgumentError, match=r"(?s)do not rise from 0.*owns one row at least"):
        Layout(cuts)


def test_more_ranks_than_rows() -> None:
    with pytest.raises(ArgumentError, match="3 rows cannot be shared by 4 ranks"):
        Layout.even(3, 4)


@given(st.sets(st.integers(-20, 20)))
def test_spans(rows: set[int]) -> None:
    found = spans(sorted(rows))
    assert [row for part in found for row in part] == sorted(rows)
    assert all(a.stop < b.start for a, b in pairwise(found))


# -- plans ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A periodic stencil, some of whose entries are in even rows only, and a layout."""

    shape: tuple[int, ...]
    width: tuple[tuple[int, int], ...]
    weights: Mapping[tuple[int, ...], float]
    even: tuple[int, ...]
    cuts: tuple[int, ...]

    def matrix(self) -> ssr.Matrix:
        rows = ssr.Space(*self.shape)
        cols = rows.grow(*self.width)
        A = ssr.stencil(rows, cols, self.weights)

        @ssr.matrix(rows=rows, cols=cols)
        def B(*index):  # type: ignore[no-untyped-def]
            if index[0] % 2 == 0:
                yield tuple(here + o for here, o in zip(index, self.even, strict=True)), 3.0

        return A + B


@st.composite
def cases(draw: st.DrawFn) -> Case:
    dims = draw(st.integers(1, 3))
    shape = draw(st.integers(1, 9)), *(draw(st.integers(1, 3)) for _ in range(dims - 1))
    widths = st.tuples(st.integers(0, 3), st.integers(0, 3))
    width = tuple(draw(widths) for _ in shape)
    offsets = st.tuples(*(st.integers(-low, high) for low, high in width))
    weights = {
        offset: 1.0 + n for n, offset in enumerate(draw(st.sets(offsets, min_size=1, max_size=4)))
    }
    inner = draw(st.sets(st.integers(1, shape[0]), max_size=5)) - {shape[0]}
    return Case(shape, width, weights, draw(offsets), (0, *sorted(inner), shape[0]))


def rows_read(A: ssr.Matrix) -> list[set[int]]:
    """Return for each row along axis 0 the rows of its columns, by the matrix on integers."""
    found: list[set[int]] = [set() for _ in range(A.rows.extent({})[0])]
    entries = A.to_scipy().tocoo()
    row = np.unravel_index(entries.row, A.rows.extent({}))[0]
    column = np.unravel_index(entries.col, A.cols.extent({}))[0] + A.cols.lower[0]
    for j, c in zip(row.tolist(), column.tolist(), strict=True):
        found[j].add(c)
    return found


@settings(max_examples=60, deadline=None)
@given(cases())
def test_receive_is_what_is_read_less_what_is_owned(case: Case) -> None:
    A, layout = case.matrix(), Layout(case.cuts)
    read, n = rows_read(A), layout.count
    plans = halo_plans(A, layout)
    for rank, plan in enumerate(plans):
        own = layout.rows(rank)
        beyond = sorted({c for j in own for c in read[j]} - set(own))
        assert plan.ghosts == tuple((c, c % n) for c in beyond)
        received = {c % n for c in beyond} - set(own)
        assert sorted(row for m in plan.receives for row in m.rows) == sorted(received)
        assert all(layout.owner(row) == m.peer for m in plan.receives for row in m.rows)
        peers = [m.peer for m in plan.receives]
        assert peers == sorted(set(peers) - {rank})  # one message for each peer
        waiting = [j for j in own if any((c % n) in received and c not in own for c in read[j])]
        assert [j for part in plan.outer for j in part] == waiting
        assert sorted(j for part in (*plan.inner, *plan.outer) for j in part) == list(own)
        assert plan == halo_plan(A, layout, rank)
        assert str(plan).startswith(f"rank {rank} of {layout.ranks} owns rows ")
    sends = {(plan.rank, m.peer): m.rows for plan in plans for m in plan.sends}
    receives = {(m.peer, plan.rank): m.rows for plan in plans for m in plan.receives}
    assert sends == receives


@settings(max_examples=60, deadline=None)
@given(cases())
def test_after_the_exchange_all_that_is_read_is_right(case: Case) -> None:
    A, layout = case.matrix(), Layout(case.cuts)
    x = np.random.default_rng(0).random(case.shape)
    wide = np.pad(x, case.width, mode="wrap")
    entries = A.to_scipy().tocoo()
    row = np.unravel_index(entries.row, case.shape)[0]
    column = np.array(np.unravel_index(entries.col, wide.shape))
    plans = halo_plans(A, layout)
    vectors = [LocalVector(p, A.rows.box({}), A.cols.box({}), x.dtype) for p in plans]
    mail = {}
    for vector in vectors:
        own = vector.plan.rows
        vector.load(x[own.start : own.stop])
        for m in vector.plan.sends:
            vector.pack(m.rows, mail.setdefault((vector.plan.rank, m.peer), vector.message(m.rows)))
    for vector in vectors:
        for m in vector.plan.receives:
            vector.unpack(m.rows, mail.pop((m.peer, vector.plan.rank)))
        mine = column[:, np.isin(row, vector.plan.rows)]
        shift = np.array(vector.first) - np.array(A.cols.lower)
        assert np.array_equal(vector.wide[tuple(mine - shift[:, None])], wide[tuple(mine)])
    assert not mail


def test_a_plan_is_a_value() -> None:
    cells = ssr.Space(12, 4)
    A = ssr.stencil(cells, cells.grow(1), {(0, 0): -2.0, (1, 0): 1.0, (0, 1): 1.0})
    layout = Layout.even(12, 3)
    plan = halo_plan(A, layout, 1)
    assert plan == halo_plan(2.0 * A, layout, 1)
    assert plan != halo_plan(A, Layout((0, 4, 9, 12)), 1)
    assert hash(plan) == hash(halo_plans(A, layout)[1])
    assert plan.receives == (Message(2, (8,)),)  # upwind: from one side only
    assert plan.sends == (Message(0, (4,)),)
    assert str(plan) == (
        "rank 1 of 3 owns rows 4:8 of 12\n"
        "  receives  8 from rank 2\n"
        "  sends     4 to rank 0\n"
        "  ghosts    8\n"
        "  inner     4:7\n"
        "  outer     7"
    )


def test_a_row_is_sent_once_to_a_peer() -> None:
    """Two ranks of one row each: both neighbours of a row are the same row of the other."""
    cells = ssr.Space(2, 3)
    A = ssr.stencil(cells, cells.grow(1, 0), {(-1, 0): 1.0, (1, 0): 1.0})
    plan = halo_plan(A, Layout.even(2, 2), 0)
    assert plan.ghosts == ((-1, 1), (1, 1))
    assert plan.receives == (Message(1, (1,)),)
    assert plan.received == 1


def test_many_ranks() -> None:
    cells = ssr.Space(5376, 104, 104)
    cross = {(0, 0, 0): 6.0, (1, 0, 0): -1.0, (-1, 0, 0): -1.0, (0, 1, 0): -1.0, (0, 0, -1): -1.0}
    A = ssr.stencil(cells, cells.grow(1), cross)
    plan = halo_plan(A, Layout.even(5376, 1344), 1343)
    assert plan.receives == (Message(0, (0,)), Message(1342, (5371,)))
    assert plan.sends == (Message(0, (5375,)), Message(1342, (5372,)))
    assert (plan.inner, plan.outer) == (
        (range(5373, 5375),),
        (range(5372, 5373), range(5375, 5376)),
    )


def test_a_layout_of_other_rows() -> None:
    cells = ssr.Space(6)
    A = ssr.stencil(cells, cells.grow(1), {-1: 1.0})
    with pytest.raises(ArgumentError, match="The layout has 5 rows; stencil has 6 along axis 0"):
        bc.halo_plan(A, Layout.even(5, 2), 0)
