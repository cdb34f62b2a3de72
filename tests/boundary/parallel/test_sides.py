"""Sides of fields on ranks and threads: the bits of one array."""

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr

from ...ssr.spaces.test_sides import A, around, cells, data, east, nx, west
from . import ranks
from .ranks import Parts

WAYS = [
    Parts(1),
    Parts(4, cut=(1, 4)),
    Parts(3, cut=(3, 1)),
    Parts(6),
    Parts(2, boxes=((0, 0, ((0, 5), (0, 6))), (1, 0, ((0, 5), (6, 7))))),
]


@pytest.mark.parametrize("parts", WAYS)
def test_assignments(parts: Parts) -> None:
    sizes = {"ny": 5, "nx": 7}
    ranks.check(around, [data(5, 7), np.zeros((5, 7))], cells, sizes, parts, compiled=True)


@ssr.matrix(rows=west, cols=east)
def across(j: Any, i: Any) -> Any:
    yield (j, i + nx - 1), 2.0


@ssr.program(u=cells, v=cells, b=east, c=west)
def mixed(u: Any, v: Any, b: Any, c: Any) -> Any:
    """Fields on sides, matrices between opposite sides, sweeps along a side."""
    T = ssr.stencil(east, east, {(0, 0): 4.0, (-1, 0): -1.0}, outside="zero")
    v[:] = A @ u
    b[:] = v[east] + b
    c[:] = across @ b
    u[west] = c - u[west]
    u[east] = T.solve(b)
    v[:] = v + A @ u
    return ssr.dot(b, u[east]), ssr.sum(c)


@pytest.mark.parametrize("parts", WAYS)
def test_fields_on_sides(parts: Parts) -> None:
    sizes = {"ny": 5, "nx": 7}
    arrays = [data(5, 7), np.zeros((5, 7)), data(5, 1), np.zeros((5, 1))]
    ranks.check(mixed, arrays, cells, sizes, parts, compiled=True)


@pytest.mark.parametrize("count", [2, 3])
def test_threads(count: int) -> None:
    u, v = data(20, 30), np.zeros((20, 30))
    wanted = around(u, v)
    on = bc.distribute(cells, bc.threads(count), ny=20, nx=30)
    fields = on.scatter(cells, u), on.zeros(cells)
    assert around(*fields) == wanted
    assert np.array_equal(fields[1].gather(), v)


def test_a_side_is_owned_where_its_points_are() -> None:
    on = bc.distribute(cells, bc.simulated_ranks(2), cut=(1, 2), ny=4, nx=40)
    owned = on.partition.owned(east)
    assert owned[1].tolist() == [[0, 4], [39, 40]]
    assert not (owned[0, :, 1] > owned[0, :, 0]).all()
    assert np.array_equal(on.scatter(east, data(4, 1)).gather(), data(4, 1))


def test_blocks_of_a_grid() -> None:
    grid = bc.Grid(3 * [(4, 5)], links=bc.topologies.bricks(1, 3))
    wide = grid.cells.grow(1)
    fill = bc.fill(wide, bc.linked(), bc.zero())
    star = ssr.stencil(grid.cells, wide, {(0, 0, 0): -4.0, (0, 0, 1): 1.0, (0, 1, 0): 2.0})
    side = grid.cells.side(1, "high", 2)

    @ssr.program(u=grid.cells, v=grid.cells)
    def step(u: Any, v: Any) -> Any:
        v[:] = star @ fill @ u
        v[side] = v[side] - 2.0 * u[side]
        return ssr.sum(v[side])

    for parts in Parts(2), Parts(4), Parts(5, cut=(2, 2)):
        ranks.check(step, [data(3, 4, 5), np.zeros((3, 4, 5))], grid, {}, parts, compiled=True)
