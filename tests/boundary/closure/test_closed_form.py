"""Rows of ghosts for all sizes, as closed forms and as a generator, are the same."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from boundary.closure.closed_form import closed_rows
from boundary.fills.fill import Fill
from ssr.extension import ir, row_domain

ny, nx = ssr.sizes("ny nx")
CELLS = ssr.Space(ny, nx)
FILLS = {
    "periodic": (1, [bc.periodic()]),
    "mirrors": (2, [bc.symmetric(axis=0, sign=-0.5), bc.symmetric(axis=1, about="point")]),
    "mixed": (
        2,
        [
            bc.periodic(axis=1),
            bc.dirichlet(2.0, axis=0, side="low"),
            bc.neumann(axis=0, side="high"),
        ],
    ),
    "constants": (1, [bc.zero(axis=0), bc.ghost_value(3.0, axis=1)]),
}


def in_closed_form(fill: Fill, sizes: dict[str, int]) -> dict[tuple[int, ...], Any]:
    """Return the entries of the ghosts that have a row in closed form."""
    (wide,), (owned,) = fill.data.wide, fill.data.owned
    closed = closed_rows(fill.data.ruled, [row_domain(wide, (owned,))])
    assert closed is not None
    rows: dict[tuple[int, ...], Any] = {}
    for one in closed:
        for point in one.points.fixed(sizes).points():
            assert point not in rows
            names = {**sizes, **dict(zip("ji", point, strict=True))}
            rows[point] = [
                (tuple(a.evaluate(names) for a in entry.index), entry.weight.value)
                for entry in one.row.entries
                if isinstance(entry.weight, ir.Const)
            ]
    return rows


@pytest.mark.parametrize("name", FILLS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (2, 3), (5, 4)])
def test_the_same_rows(name: str, shape: tuple[int, int]) -> None:
    width, rules = FILLS[name]
    fill = bc.fill(CELLS.grow(width), *rules)
    closed = in_closed_form(fill, dict(zip(("ny", "nx"), shape, strict=True)))
    at = fill.bind(ny=shape[0], nx=shape[1])
    matrix = at.to_scipy().toarray().reshape(*(n + 2 * width for n in shape), *shape)
    for point in product(*(range(-width, n + width) for n in shape)):
        if any(not 0 <= x < n for x, n in zip(point, shape, strict=True)):
            expected = np.zeros(shape)
            for column, weight in closed.get(point, ()):
                expected[column] += weight
            np.testing.assert_array_equal(matrix[tuple(x + width for x in point)], expected)
    bound = at.linear.bind(ny=shape[0], nx=shape[1]).to_scipy().toarray()
    np.testing.assert_array_equal(bound, matrix.reshape(bound.shape))
