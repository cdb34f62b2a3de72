"""Partitions: every point of every space is owned by one box, however cells are cut."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.parallel.partition.boxes import as_box, disjoint, joined, meet, volume, without
from boundary.parallel.partition.cuts import chosen, cut
from boundary.parallel.partition.partition import partition
from ssr.errors import ArgumentError

from ...random_examples import examples

ny, nx = ssr.sizes("ny nx")


def points(box: object) -> set[tuple[int, ...]]:
    return set(product(*(range(low, high) for low, high in box)))  # type: ignore[attr-defined]


boxes = st.lists(
    st.tuples(st.integers(-3, 5), st.integers(0, 5)).map(lambda e: (e[0], e[0] + e[1])),
    min_size=2,
    max_size=2,
).map(tuple)


@given(boxes, boxes)
def test_boxes_are_taken_apart(one: object, other: object) -> None:
    left = list(without(one, other))  # type: ignore[arg-type]
    assert set().union(*map(points, left)) == points(one) - points(other)
    assert sum(map(volume, left)) == len(points(one) - points(other))
    both = meet(one, other)  # type: ignore[arg-type]
    assert (points(both) if both else set()) == points(one) & points(other)


@given(st.lists(boxes, max_size=5))
def test_disjoint_boxes_hold_the_same_points(given: list[object]) -> None:
    found = disjoint(given)  # type: ignore[arg-type]
    every = set().union(*map(points, given))
    assert set().union(*map(points, found)) == every
    assert sum(map(volume, found)) == len(every)
    filled = [b for b in given if volume(b)]  # type: ignore[arg-type]
    assert set().union(*map(points, joined(filled))) >= every  # type: ignore[arg-type]


@examples(60)
@given(
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    parts=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    ranks=st.integers(1, 7),
    blocks=st.integers(0, 3),
)
def test_every_point_has_one_owner(
    shape: tuple[int, int], parts: tuple[int, int], ranks: int, blocks: int
) -> None:
    sizes = dict(zip(("ny", "nx"), shape, strict=True))
    cells = bc.Grid(blocks * [(ny, nx)]).cells if blocks else ssr.Space(ny, nx)
    for made in cut([cells], sizes, parts, ranks), chosen([cells], sizes, ranks):
        assert sorted(n for r in range(ranks) for n in made.of_rank(r)) == list(range(len(made)))
        spaces = [cells, cells.grow(2), cells.grow((0, 1)), cells.faces(axis=0), cells.nodes()]
        spaces += [ssr.Space(ny, nx), ssr.Space(nx), ssr.Space(ny + 3, 2 * nx), ssr.Space(5, 1)]
        for space in spaces:
            owned = [points(as_box(row)) for row in made.owned(space)]
            assert sum(map(len, owned)) == len(set().union(*owned))
            assert set().union(*owned) == points(space.box(sizes))


def test_a_coarse_point_is_where_its_fine_one_is() -> None:
    fine, coarse = ssr.Space(16), ssr.Space(8)
    made = cut([fine], {}, [3], 3)
    cells = [as_box(row) for row in made.owned(fine)]
    assert cells == [((0, 5),), ((5, 10),), ((10, 16),)]
    assert [as_box(row) for row in made.owned(coarse)] == [((0, 3),), ((3, 5),), ((5, 8),)]


def test_kinds_of_blocks_are_cut_each() -> None:
    grid = bc.Grid([(4, 8), (4, 2), (4, 8)], links=bc.topologies.bricks(1, 3))
    made = chosen(grid.kinds, {}, 5)
    for cells in grid.kinds:
        owned = [points(as_box(row)) for row in made.owned(cells.grow(1))]
        assert set().union(*owned) == points(cells.grow(1).box({}))


def test_more_ranks_than_points() -> None:
    made = chosen([ssr.Space(2, 2)], {}, 9)
    assert [len(made.of_rank(r)) for r in range(9)] == [1, 1, 1, 1, 0, 0, 0, 0, 0]


def test_six_panels_on_ranks() -> None:
    cells = bc.Grid(6 * [(48, 48)], links=bc.cubed_sphere()).cells
    for ranks, loads in (4, {3456}), (6, {2304}), (24, {576}), (96, {144}):
        made = chosen([cells], {}, ranks)
        each = [sum(volume(as_box(made.boxes[b])) for b in made.of_rank(r)) for r in range(ranks)]
        assert set(each) == loads


def test_boxes_of_a_user_are_checked() -> None:
    cells = ssr.Space(4)
    with pytest.raises(ArgumentError, match="hold 3 of the 4 cells"):
        partition([cells], {}, [(0, 0, [(0, 3)])], 1)
    with pytest.raises(ArgumentError, match="overlap"):
        partition([cells], {}, [(0, 0, [(0, 3)]), (1, 0, [(2, 4)])], 2)
    with pytest.raises(ArgumentError, match="there are 2"):
        partition([cells], {}, [(2, 0, [(0, 4)])], 2)
    with pytest.raises(ArgumentError, match="not within"):
        partition([cells], {}, [(0, 0, [(0, 5)])], 2)
    made = partition([cells], {}, [(1, 0, [(0, 1)]), (1, 0, [(1, 4)])], 3)
    assert np.array_equal(made.owners, [1, 1])


@pytest.mark.parametrize("ranks", [4, 5, 7, 13, 24])
def test_blocks_are_cut_no_finer_than_loads_ask_for(ranks: int) -> None:
    """Numbers of ranks that do not divide those of panels and cells among them."""
    panels = bc.Grid(6 * [(nx, nx)], links=bc.cubed_sphere())
    for size in 8, 24, 48:
        made = chosen(panels.kinds, {"nx": size}, ranks)
        cells = (made.boxes[..., 1] - made.boxes[..., 0]).prod(axis=1)
        assert len(made) <= 6 * ranks
        assert np.bincount(made.owners, cells).max() <= 1.7 * 6 * size**2 / ranks
