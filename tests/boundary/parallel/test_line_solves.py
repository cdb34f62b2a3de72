"""Solves along lines on several ranks: whole lines keep their bits, cut ones are refused."""

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr import errors

box = ssr.Space(*ssr.sizes("nz ny nx"))
flow = box.vector(2)
EXTENT = {"nz": 6, "ny": 9, "nx": 10}


def factor(axis: int) -> ssr.BlockMatrix:
    """Return blocks of two rows on three diagonals along an axis."""

    @ssr.matrix(rows=flow, cols=flow, u=flow)
    def A(*row: Any, u: Any) -> Any:
        for step in -1, 0, 1:
            c = (*row[:axis], row[axis] + step, *row[axis + 1 :])
            if c in box:
                yield c, (step == 0) * 4.0 * np.eye(2) + 0.3 * np.outer(u[:, *c], u[:, *row])

    return A


def program(*axes: int) -> ssr.Program:
    """Return a program that solves along some axes in turn."""
    factors = [factor(axis) for axis in axes]

    @ssr.program(x=flow, u=flow)
    def solve(x: Any, u: Any) -> None:
        for A in factors:
            x[:] = A.bind(u=u).solve(x)
        x[:] = x + u

    return solve


def numbers() -> tuple[np.ndarray, np.ndarray]:
    x, u = np.random.default_rng(1).random((2, 2, *EXTENT.values()))
    return x, u


@pytest.mark.parametrize(
    ("axes", "cut"), [((0,), (1, 2, 2)), ((2, 1), (3, 1, 1)), ((2, 0), (1, 3, 1))]
)
def test_whole_lines_keep_their_bits(axes: tuple[int, ...], cut: tuple[int, ...]) -> None:
    solve = program(*axes)
    expected, u = numbers()
    x = expected.copy()
    solve(expected, u)
    on = bc.distribute(box, bc.simulated_ranks(int(np.prod(cut))), cut=cut, **EXTENT)
    fields = [on.scatter(flow, values) for values in (x, u)]
    solve(*fields)
    np.testing.assert_array_equal(fields[0].gather(), expected)


def test_cut_lines_are_refused() -> None:
    on = bc.distribute(box, bc.simulated_ranks(2), cut=(2, 1, 1), **EXTENT)
    x, u = (on.zeros(flow) for _ in range(2))
    with pytest.raises(errors.UnsupportedError, match=r"(?s)crosses a cut between boxes.*moved"):
        program(0).bind(x, u)()
