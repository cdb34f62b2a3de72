"""What a launch owns, packed into few arrays, and the parts that kernels take out of them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

import boundary as bc
import ssr
from ssr.run.packs import packed
from ssr.runtime.constants import PLACES
from tests.ssr import plain

Array = np.ndarray[Any, Any]

n = ssr.size("n")
cells = ssr.Space(n, n)
wide = cells.grow(1)
fill = bc.fill(wide, bc.periodic(axis=0), bc.symmetric(axis=1))
mean = ssr.stencil(cells, wide, {(0, 1): 0.25, (0, -1): 0.25, (1, 0): 0.25, (-1, 0): 0.25})
inner = ssr.stencil(cells, cells, {(0, 0): 0.5, (1, 0): 0.25, (0, -1): 0.25}, outside="zero")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_parts_lie_where_the_places_say(dtype: Any) -> None:
    tables = [np.arange(6).reshape(2, 3), np.arange(100, 111).reshape(1, 11)]
    calls = [
        (np.arange(7), np.linspace(0, 1, 5).astype(dtype)),
        (np.arange(0), np.arange(3.0).astype(dtype)),
    ]
    made = packed([5, 0, 17], tables, calls, np.dtype(dtype))
    (memory,), (integers,), (weights,) = made.memory, made.tables, made.weights
    places = integers[: PLACES * 9].reshape(9, PLACES)
    scratch = [(start, stop) for start, stop, _ in places[:3]]
    assert [stop - start for start, stop in scratch] == [5, 0, 17]
    assert all(a[1] <= b[0] for a, b in pairwise(scratch))
    assert scratch[-1][1] == memory
    of_tables = [integers[start:stop].reshape(-1, width) for start, stop, width in places[3:5]]
    assert all(np.array_equal(a, b) for a, b in zip(of_tables, tables, strict=True))
    for (links, of_links), (link, weight) in zip(calls, places[5:].reshape(2, 2, 3), strict=True):
        assert np.array_equal(integers[link[0] : link[1]], links)
        assert np.array_equal(weights[weight[0] : weight[1]], of_links)
    near = 64 // np.dtype(dtype).itemsize
    assert all(start % near == 0 for start, _ in scratch)
    assert integers.ctypes.data % 64 == weights.ctypes.data % 64 == 0


def test_without_parts_there_are_no_packs() -> None:
    made = packed([], [], [], np.dtype(np.float64))
    assert (made.memory, made.tables, made.weights) == ([], [], [])


STORED = ssr.from_scipy(
    sparse.random_array((81, 81), density=0.1, rng=np.random.default_rng(3)).tocsr(),
    rows=cells,
    cols=cells,
)


@ssr.program(U=cells.vector(2), V=cells.vector(2), a=ssr.scalar)
def stages(U: Any, V: Any, a: Any) -> Any:
    """Run a program with temporaries, line buffers, calls, a stored matrix and reductions."""
    first = mean @ (fill @ U[0]), mean @ (fill @ (U[1] * U[0]))
    V[:] = ssr.vector(inner @ (inner @ first[0]), inner @ (first[1] + a * U[0]))
    U[:] = U + a * ssr.vector(mean @ (fill @ V[1]) + STORED @ V[0], inner @ V[0])
    return ssr.sum(U[0] * V[1]), ssr.max(U[1])


def given(dtype: str) -> list[Array]:
    rng = np.random.default_rng(5)
    return [rng.random((2, 9, 9)).astype(dtype) for _ in range(2)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("fuse", [True, False])
def test_programs_that_take_packs_compute_what_others_do(dtype: str, fuse: bool) -> None:
    program = plain.variant(stages, fuse=fuse)
    compiled, checked, bound = given(dtype), given(dtype), given(dtype)
    numbers = program(*compiled, 0.25)
    assert numbers == plain.run(program, *checked, 0.25)
    assert program.bind(*bound, 0.25)() == numbers
    for others in zip(compiled, checked, bound, strict=True):
        plain.check_same(others[0], others[1])
        plain.check_same(others[0], others[2])


def test_a_launch_hands_over_few_arrays() -> None:
    stages(*given("float64"), 0.25)
    (launch,) = stages._launcher.launches.values()
    temporaries = launch.scratch[0][:-1]
    assert all(len(shape) == 2 for shape, _ in temporaries)
    stored = 3
    tables, weights = 1, 1
    assert len(launch.tables) == tables + stored + weights
    assert launch.held >= launch.tables[0].nbytes + launch.tables[-1].nbytes


def test_boxes_are_packed_too() -> None:
    @ssr.program(U=cells.vector(2), V=cells.vector(2))
    def smooth(U: Any, V: Any) -> None:
        V[:] = ssr.vector(inner @ (inner @ U[0]), inner @ U[1])

    whole, cut = given("float64"), given("float64")
    smooth(*whole)
    smooth(*cut, boxes=[[(0, 4), (0, 9)], [(4, 9), (0, 9)]])
    plain.check_same(whole[1], cut[1])
