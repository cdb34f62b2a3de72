"""The debug build on ranks: the same bits, and the errors of the program itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import Error, NonFiniteError, SingularMatrixError

Array = np.ndarray[Any, Any]
m, n = ssr.sizes("m n")
cells = ssr.Space(m, n)
wide = cells.grow(1)
DEBUG = ssr.Options(debug=True)
A = ssr.stencil(cells, wide, {(-1, 0): -1, (0, -1): -1, (0, 0): 4, (0, 1): -1})
fill = bc.fill(wide, bc.periodic(0), bc.symmetric(1))
CUTS = pytest.mark.parametrize(("count", "cut"), [(1, (3, 2)), (3, None), (4, (2, 3))])


@ssr.program(u=cells, v=wide, options=DEBUG)
def step(u: Any, v: Any) -> Any:
    u[:] = u + 0.125 * (A @ (fill @ u))
    v[cells] = 1 / u
    return ssr.max(u), ssr.dot(u, u)


@ssr.matrix(rows=cells, cols=cells, d=cells)
def upright(j: Any, i: Any, *, d: Any) -> Any:
    yield (j, i), d[j, i]
    for c in (j - 1, i), (j + 1, i):
        if c in cells:
            yield c, -1.0


@ssr.program(x=cells, d=cells, options=DEBUG)
def columns(x: Any, d: Any) -> None:
    x[:] = upright.bind(d=d).solve(x)


def drawn() -> tuple[Array, Array]:
    return np.random.default_rng(1).uniform(1, 2, (9, 14)), np.zeros((11, 16))


def spread(count: int, cut: Any) -> bc.Distribution:
    return bc.distribute(cells, bc.simulated_ranks(count), m=9, n=14, cut=cut)


def label(call: Any) -> str:
    """Return the error of a call."""
    with pytest.raises(Error) as caught:
        call()
    assert type(caught.value) in (NonFiniteError, SingularMatrixError)
    return str(caught.value)


@CUTS
def test_the_same_bits(count: int, cut: Any) -> None:
    u, v = drawn()
    on = spread(count, cut)
    here, there = on.scatter(cells, u), on.scatter(wide, v)
    assert step(here, there) == step.with_options(ssr.Options())(u, v)
    np.testing.assert_array_equal(here.gather(), u)
    np.testing.assert_array_equal(there.gather(), v)


@CUTS
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_the_same_error(count: int, cut: Any, value: float) -> None:
    """It names the first element of the whole, and what a field held before; or a reduction."""
    u, v = drawn()
    u[4, 7] = value
    on = spread(count, cut)
    here, there = on.scatter(cells, u), on.scatter(wide, v)
    text = label(lambda: step(here, there))
    assert text == label(lambda: step(u, v))
    assert ("dot" in text) == (value == 1e200)


@pytest.mark.parametrize("count", [1, 3])
def test_a_pivot_that_vanishes(count: int) -> None:
    x, d = drawn()[0], np.full((9, 14), 3.0)
    d[0, 9] = 0.0
    on = spread(count, (1, 6))
    given = on.scatter(cells, x), on.scatter(cells, d)
    text = label(lambda: columns(*given))
    assert text == label(lambda: columns(x, d))
    assert "on the line (:, 9) at j = 0" in text


def test_what_is_examined_is_shown() -> None:
    on = spread(2, None)
    run = step.bind(on.zeros(cells), on.zeros(wide))
    assert "examine v" in run.schedule.explain(rank=0)
    run = step.with_options(ssr.Options()).bind(on.zeros(cells), on.zeros(wide))
    assert "examine" not in run.schedule.explain(rank=0)
