"""Boxes of a rank share memory where they meet, unless a program needs them apart."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr

from . import ranks


@pytest.fixture(autouse=True)
def plain_kernels() -> Iterator[None]:
    with ranks.plain_kernels():
        yield


cells = ssr.Space(12, 10)
CROSS = {(0, 0): -3.0, (0, 1): 1.0, (0, -1): 1.1, (1, 0): 0.9, (-1, 0): 1.3}
A = ssr.stencil(cells, cells, CROSS, outside="zero")


@ssr.program(u=cells, v=cells)
def apply(u: Any, v: Any) -> None:
    v[:] = A @ u


@ssr.program(u=cells, v=cells)
def relax(u: Any, v: Any) -> None:
    u[:] = u + 0.125 * (v - A @ u)


@ssr.program(u=cells, v=cells)
def add(u: Any, v: Any) -> None:
    u[:] = u + 0.25 * v


def storages(field: Any) -> list[int]:
    """Return how many storages each rank has around its boxes."""
    return [len({*memory.near.values()}) for memory in field.values.memories.values()]


@pytest.mark.parametrize(("cut", "one", "two"), [((4, 1), 1, 1), ((1, 2), 2, 1), ((4, 2), 2, 2)])
def test_boxes_above_each_other_share_a_storage(cut: tuple[int, int], one: int, two: int) -> None:
    for count, expected in (1, one), (2, two):
        on = bc.distribute(cells, bc.simulated_ranks(count), cut=cut)
        u, v = on.zeros(cells), on.zeros(cells)
        run = apply.bind(u, v)
        run()
        assert max(storages(u)) == max(storages(v)) == expected


def test_boxes_that_overwrite_what_others_read_are_apart() -> None:
    on = bc.distribute(cells, bc.simulated_ranks(1), cut=(4, 1))
    u, v = on.zeros(cells), on.zeros(cells)
    add.bind(u, v)
    apply.bind(u, v)
    assert storages(u) == storages(v) == [1]
    relax.bind(u, v)
    assert storages(u) == [4]
    assert storages(v) == [1]


@pytest.mark.parametrize("cut", [(4, 1), (1, 3), (3, 2)])
@pytest.mark.parametrize("order", [*permutations((apply, relax, add))], ids=str)
def test_any_order_of_programs_has_the_bits_of_one_box(
    cut: tuple[int, int], order: tuple[ssr.Program, ...]
) -> None:
    """A program that needs boxes apart may be bound after others have run, or before."""
    u, v = np.random.default_rng(3).random((2, 12, 10))
    for count in 1, 2:
        on = bc.distribute(cells, bc.simulated_ranks(count), cut=cut)
        here, there = on.scatter(cells, u), on.scatter(cells, v)
        expected = u.copy(), v.copy()
        for program in (*order, *order):
            program(*expected)
            program(here, there)
        np.testing.assert_array_equal(here.gather(), expected[0])
        np.testing.assert_array_equal(there.gather(), expected[1])


def test_boxes_that_read_the_same_of_a_field_run_one_after_the_other() -> None:
    layers, plane = ssr.Space(3, 8, 4), ssr.Space(8, 4)

    @ssr.matrix(rows=layers, cols=layers, m=plane)
    def scaled(k: Any, j: Any, i: Any, *, m: Any) -> Any:
        yield (k, j, i), m[j, i]

    @ssr.program(x=layers, m=plane)
    def scale(x: Any, m: Any) -> None:
        x[:] = scaled.bind(m=m) @ x

    on = bc.distribute(layers, bc.simulated_ranks(1), cut=(3, 2, 2))
    x, m = on.zeros(layers), on.zeros(plane)
    run = scale.bind(x, m)
    boxes = [on.partition.boxes[b].tolist() for b in run._ranks[0].tables.boxes]
    assert boxes == sorted(boxes, key=lambda box: (box[1:], box[0]))
    assert len(boxes) == 12


@pytest.mark.parametrize("ghosts", [0, 3])
@pytest.mark.parametrize("world", [None, bc.simulated_ranks(1), bc.simulated_ranks(2)], ids=repr)
def test_long_rows_begin_with_cache_lines(world: Any, ghosts: int) -> None:
    """Their own points do, in one process and on ranks."""
    cells = ssr.Space(6, 25)
    u = bc.distribute(cells, world, cut=(2, 1)).zeros(cells.grow(ghosts).vector(2))
    for _, part in u.parts():
        own = part[..., ghosts:]
        assert {own[c, j].ctypes.data % 64 for c in range(2) for j in range(3)} == {0}


def test_short_rows_of_one_process_have_nothing_between_them() -> None:
    cells = ssr.Space(6, 9)
    ((_, values),) = bc.distribute(cells).zeros(cells).parts()
    assert values.flags.c_contiguous
