"""Products with stored matrices on ranks have the bits of the program on one array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from ssr.errors import UnsupportedError

from ...ssr import strategies as some
from . import ranks


@pytest.fixture(autouse=True)
def plain_kernels() -> Iterator[None]:
    with ranks.plain_kernels():
        yield


cells, other = ssr.Space(6, 8), ssr.Space((1, 6), 5)
cross = ssr.stencil(cells, cells, {(0, 0): 2.0, (0, 1): -1.0, (1, 0): -0.5}, outside="zero")


def drawn(rows: int, columns: int, density: float, seed: int) -> Any:
    return scipy.sparse.random_array((rows, columns), density=density, rng=seed).tocsr()


def band(seed: int) -> Any:
    near = np.random.default_rng(seed).random((4, 48))
    return scipy.sparse.dia_array((near, [-8, 0, 1, 9]), shape=(48, 48)).tocsr()


@some.examples(10)
@given(st.integers(0, 99), st.data())
def test_products_with_stored_matrices(seed: int, data: Any) -> None:
    S = ssr.from_scipy(drawn(48, 48, 0.1, seed), rows=cells, cols=cells)
    B = ssr.from_scipy(band(seed), rows=cells, cols=cells)
    R = ssr.from_scipy(drawn(25, 48, 0.2, seed), rows=other, cols=cells)

    @ssr.program(y=cells, x=cells, z=other)
    def program(y: Any, x: Any, z: Any) -> Any:
        y[:] = S @ x + (B + cross) @ x
        x[:] = x + 0.25 * (B.tril() @ (cross @ y)) - B.triu(1) @ x
        z[:] = R @ (x - y)
        return ssr.dot(x, y)

    rng = np.random.default_rng(seed)
    arrays = rng.random((6, 8)), rng.random((6, 8)), rng.random((5, 5))
    ranks.check(program, [*arrays], cells, {}, data.draw(ranks.parts(cells, {})))


def test_what_a_box_reads_lies_around_its_columns() -> None:
    S = ssr.from_scipy(scipy.sparse.eye_array(48, k=8).tocsr(), rows=cells, cols=cells)

    @ssr.program(y=cells, x=cells)
    def shift(y: Any, x: Any) -> None:
        y[:] = S @ x

    on = bc.distribute(cells, bc.simulated_ranks(3), cut=(3, 1))
    run = shift.bind(on.zeros(cells), on.zeros(cells))
    assert [run.schedule.bytes(rank) for rank in range(3)] == [64, 64, 0]


def test_a_row_is_multiplied_in_one_box() -> None:
    S = ssr.from_scipy(band(1), rows=cells, cols=cells)
    below = ssr.stencil(cells, cells, {(0, 1): 1.0}, outside="zero")

    @ssr.program(y=cells, z=cells, x=cells)
    def twice(y: Any, z: Any, x: Any) -> None:
        y[:] = S @ x
        z[:] = below @ (S @ x)

    on = bc.distribute(cells, bc.simulated_ranks(1), cut=(1, 2))
    with pytest.raises(UnsupportedError, match="a row of a stored matrix in several boxes"):
        twice(on.zeros(cells), on.zeros(cells), on.zeros(cells))


def test_solves_across_cuts_are_refused() -> None:
    B = ssr.from_scipy(band(1), rows=cells, cols=cells)

    @ssr.program(x=cells, b=cells)
    def sweep(x: Any, b: Any) -> None:
        x[:] = B.tril().solve(b - B.triu(1) @ x)

    x, b = np.random.default_rng(1).random((2, 6, 8))
    on = bc.distribute(cells, bc.simulated_ranks(2))
    with pytest.raises(UnsupportedError, match="The solve for 'x' in sweep crosses a cut"):
        sweep(on.scatter(cells, x), on.scatter(cells, b))
    on = bc.distribute(cells, bc.simulated_ranks(2), cut=(1, 1))
    here = on.scatter(cells, x)
    sweep(here, on.scatter(cells, b))
    sweep(x, b)
    np.testing.assert_array_equal(here.gather(), x)
