"""Stencils of many points that are cut off at the boundary: as many kinds of rows as places."""

import itertools
from typing import Any

import numpy as np
import pytest

import ssr

from .. import plain

nz, ny, nx = ssr.sizes("nz ny nx")
PLANE, BLOCK = ssr.Space(ny, nx), ssr.Space(nz, ny, nx)


def star(ndim: int, radius: int) -> dict[tuple[int, ...], float]:
    """Return weights that are all different, on the axes of a cross."""
    weights = {(0,) * ndim: -7.3}
    for axis, step in itertools.product(range(ndim), (*range(-radius, 0), *range(1, radius + 1))):
        weights[tuple(step * (a == axis) for a in range(ndim))] = 1.0 / (3.1 + len(weights))
    return weights


CROSS = ssr.stencil(BLOCK, BLOCK, star(3, 4), outside="zero")
SMALL = ssr.stencil(PLANE, PLANE, star(2, 3), outside="zero")


@ssr.program(new=BLOCK, u=BLOCK, m=BLOCK)
def wave(new: Any, u: Any, m: Any) -> None:
    new[:] = 2.0 * u - new + m * (CROSS @ u)


def test_table_of_offsets_needs_no_paths() -> None:
    table = {o: 1.0 + sum(o) for o in itertools.product(range(-2, 3), repeat=3)}
    matrix = ssr.stencil(BLOCK, BLOCK, table, outside="zero")
    dense = matrix.bind(nz=4, ny=1, nx=5).to_scipy().toarray()
    assert np.array_equal(
        dense[0].reshape(4, 1, 5),
        [[[1, 2, 3, 0, 0]], [[2, 3, 4, 0, 0]], [[3, 4, 5, 0, 0]], [[0] * 5]],
    )


@pytest.mark.parametrize("shape", [(1, 1, 1), (9, 9, 9), (2, 10, 5), (9, 4, 11), (10, 9, 3)])
def test_product_equals_the_definition(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    new, u, m = (rng.uniform(-1, 1, shape) for _ in range(3))
    matrix = CROSS.bind(**dict(zip(("nz", "ny", "nx"), shape, strict=True))).to_scipy()
    wanted = 2.0 * u - new + m * (matrix @ u.ravel()).reshape(shape)
    whole = new.copy()
    plain.run(wave, whole, u, m)
    assert np.allclose(whole, wanted, rtol=1e-13, atol=1e-13)
    if min(shape) > 1:
        boxed = new.copy()
        plain.run(wave, boxed, u, m, boxes=ssr.Space(*shape).split(2, 2, 2))
        assert np.array_equal(boxed, whole)


def test_a_long_sum() -> None:
    places = enumerate(itertools.product((-1, 0, 1), repeat=3))
    box = ssr.stencil(BLOCK, BLOCK, {o: 1.0 / (2 + n) for n, o in places}, outside="zero")

    @ssr.program(y=BLOCK, x=BLOCK)
    def multiply(y: Any, x: Any) -> None:
        y[:] = box @ x

    x = np.random.default_rng(0).uniform(-1, 1, (3, 4, 50))
    compiled, interpreted = np.empty_like(x), np.empty_like(x)
    multiply(compiled, x)
    plain.run(multiply, interpreted, x)
    assert np.array_equal(compiled, interpreted)


def test_all_forms_have_the_same_bits() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (8, 9))
    results = []
    for split in (True, False):
        y = np.full_like(x, np.nan)
        plain.run(plain.eager(SMALL, "apply", split=split), y, x)
        results.append(y)
    assert np.array_equal(*results)
    assert np.allclose(results[0].ravel(), SMALL.bind(ny=8, nx=9).to_scipy() @ x.ravel())


FOUR = ssr.stencil(
    BLOCK,
    BLOCK,
    {
        o: (26.0, -1.0, -0.5, -0.25)[sum(map(abs, o))]
        for o in itertools.product((-1, 0, 1), repeat=3)
    },
    outside="zero",
)


@ssr.program(y=BLOCK, x=BLOCK, b=BLOCK)
def smooth(y: Any, x: Any, b: Any) -> None:
    y[:] = FOUR @ b
    x[:] = FOUR.tril().solve(b - FOUR.triu(1) @ x)


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 5), (4, 1, 6), (3, 4, 2)])
def test_four_weights_share_two_sums(shape: tuple[int, ...], monkeypatch: Any) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    text = FOUR.program("apply").explain("nests")
    assert "%c0[i - 1]" in text
    assert "%c1[i - 1]" in text
    rng = np.random.default_rng(2)
    y, x, b = (rng.uniform(-1, 1, shape) for _ in range(3))
    matrix = FOUR.bind(**dict(zip(("nz", "ny", "nx"), shape, strict=True))).to_scipy().toarray()
    product = (matrix @ b.ravel()).reshape(shape)
    wanted = np.linalg.solve(np.tril(matrix), b.ravel() - np.triu(matrix, 1) @ x.ravel())
    plain.run(smooth, y, x, b)
    assert np.allclose(y, product, rtol=1e-13, atol=1e-13)
    assert np.allclose(x.ravel(), wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("width", [176, 179])
def test_where_an_array_begins_changes_no_bit(dtype: str, width: int) -> None:
    """Long lines are cut where a cache line begins, if all begin alike; the number is the same."""
    rng = np.random.default_rng(2)
    shape = 10, 10, width
    size = int(np.prod(shape))
    new, u, m = (rng.uniform(-1, 1, shape).astype(dtype) for _ in range(3))
    whole = new.copy()
    wave(whole, u, m)
    for first in range(1, 64 // u.itemsize):
        moved = np.empty(size + 64, dtype)[first : first + size].reshape(shape)
        moved[:], result = u, new.copy()
        wave(result, moved, m)
        assert np.array_equal(result, whole)
    boxed = new.copy()
    wave(boxed, u, m, boxes=ssr.Space(*shape).split(1, 2, 1))
    assert np.array_equal(boxed, whole)


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 4, 1), (5, 3, 2), (4, 4, 3)])
def test_lines_of_few_points_whose_number_is_known(shape: tuple[int, ...]) -> None:
    """Then the loop along a line is gone, and the one inside all others runs over lines."""
    block = ssr.Space(*shape)
    weights = {o: 1.0 / (4.0 + n) for n, o in enumerate(itertools.product((-1, 0, 1), repeat=3))}
    A = ssr.stencil(block, block, weights, outside="zero")
    x = np.random.default_rng(3).random(shape)
    product = A.program("apply")
    made = np.empty(shape)
    product.run_plain(made, x)
    assert np.array_equal(made, A @ x)
    np.testing.assert_allclose(made.ravel(), A.to_scipy() @ x.ravel(), rtol=1e-13)
