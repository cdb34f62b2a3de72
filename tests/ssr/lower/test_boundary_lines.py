"""Lines that lack terms run in one loop, whose terms have tests."""

import itertools
from typing import Any

import numpy as np
import pytest

import ssr

from .. import plain

nz, ny, nx = ssr.sizes("nz ny nx")
PLANE, BLOCK = ssr.Space(ny, nx), ssr.Space(nz, ny, nx)
PLACES = list(itertools.product((-1, 0, 1), repeat=3))

ALL = ssr.stencil(BLOCK, BLOCK, {o: 1 / (3.1 + n) for n, o in enumerate(PLACES)}, outside="zero")
EQUAL = ssr.stencil(
    BLOCK, BLOCK, {o: 27.0 * (o == (0, 0, 0)) - 1.0 for o in PLACES}, outside="zero"
)
FAR = ssr.stencil(PLANE, PLANE, {(-3, 1): 0.3, (2, -2): 0.7, (3, 0): 0.1}, outside="zero")

SHAPES = [(1, 1, 1), (2, 1, 3), (1, 2, 17), (3, 3, 3), (4, 2, 33)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("matrix", [ALL, EQUAL], ids=["all", "equal"])
def test_products_have_the_bits_of_their_definition(
    matrix: ssr.Matrix, shape: tuple[int, ...]
) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, shape)
    y, split = np.full((2, *shape), np.nan)
    plain.run(plain.eager(matrix, "apply", partial_sums=False), y, x)
    plain.run(plain.eager(matrix, "apply", partial_sums=False, split=False), split, x)
    assert np.array_equal(y, split)
    data = matrix.bind(**dict(zip(("nz", "ny", "nx"), shape, strict=True))).to_scipy()
    np.testing.assert_allclose(y.ravel(), data @ x.ravel(), rtol=1e-12, atol=1e-13)
    compiled = matrix @ x
    np.testing.assert_allclose(compiled, y, rtol=1e-12, atol=1e-13)


def test_lines_at_boundaries_are_one_loop() -> None:
    source = ALL.program("apply").explain("source")
    assert source.count("for i in ") == len(("interior", "boundary"))
    assert "if i >= 1 else" in source
    assert "if i <= nx - 2 else" in source


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (3, 1), (4, 9), (9, 4), (7, 2)])
def test_rows_without_terms_are_positive_zeros(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, shape)
    y = np.full(shape, np.nan)
    plain.run(FAR.program("apply"), y, x)
    data = FAR.bind(ny=shape[0], nx=shape[1]).to_scipy()
    np.testing.assert_allclose(y.ravel(), data @ x.ravel(), rtol=1e-13)
    nothing = y.ravel()[np.diff(data.indptr) == 0]
    assert nothing.size
    assert not np.signbit(nothing).any()
    assert np.array_equal(FAR @ x, y)


def test_terms_of_other_rows_leave_no_trace() -> None:
    """What a row does not have may be NaN, or infinite."""
    x = np.ones((4, 6, 21))
    x[1:-1, 1:-1, 2:-2] = np.nan
    data = ALL.bind(nz=4, ny=6, nx=21).to_scipy()
    clean = np.ones(x.size)
    reached = np.isnan(x).ravel()
    touched = (abs(data) @ reached.astype(float)).reshape(x.shape) > 0
    y = ALL @ x
    assert np.array_equal(np.isnan(y), touched)
    np.testing.assert_allclose(y[~touched], (data @ clean).reshape(x.shape)[~touched], rtol=1e-13)


def test_signs_of_zeros() -> None:
    """The sum of zeros of one sign has this sign, wherever it begins."""
    x = np.full((3, 4, 5), -0.0)
    assert np.signbit(ALL @ x).all()
    assert not np.signbit(ALL @ -x).any()


def test_statements_that_run_together_have_tests_each(monkeypatch: Any) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")

    @ssr.program(u=BLOCK, v=BLOCK, w=BLOCK)
    def both(u: Any, v: Any, w: Any) -> None:
        v[:] = ALL @ u
        w[:] = v * (EQUAL @ u) + ssr.sqrt(abs(v))

    u, v, w = np.random.default_rng(3).uniform(-1, 1, (3, 3, 4, 19))
    both(u, v, w)
    product = np.asarray(ALL @ u)
    np.testing.assert_array_equal(v, product)
    wanted = product * np.asarray(EQUAL @ u) + np.sqrt(abs(product))
    np.testing.assert_allclose(w, wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("parts", [(2, 1, 1), (1, 3, 2), (3, 2, 4)])
def test_boxes_change_no_bit(parts: tuple[int, ...]) -> None:
    x = np.random.default_rng(4).uniform(-1, 1, (3, 5, 8))
    whole, boxed = np.full((2, *x.shape), np.nan)
    product = ALL.program("apply")
    product(whole, x)
    product(boxed, x, boxes=ssr.Space(*x.shape).split(*parts))
    assert np.array_equal(whole, boxed)
