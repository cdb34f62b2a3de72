"""What must hold for every matrix: kernels equal SciPy, and choices of the compiler keep bits.

Kernels run as plain Python here; `test_compiled` compares that with machine code.
"""

from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg
from hypothesis import given
from hypothesis import strategies as st

import ssr

from . import memory, plain
from . import strategies as some

Array = np.ndarray[Any, Any]
ROUNDING = {"float64": 2e-15, "float32": 1e-6}


# -- kernels equal SciPy -------------------------------------------------------------------------


@some.examples(60)
@given(some.recipes(), memory.seeds, memory.dtypes, memory.layouts, st.booleans())
def test_apply_equals_scipy(
    recipe: some.Recipe, seed: int, dtype: str, layout: str, exact: bool
) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, dtype, layout))
    x = memory.array(rng, recipe.cols.shape, dtype, layout)
    y = memory.room(recipe.rows.shape, dtype, layout)
    plain.run(plain.eager(A, "apply", exact=exact), y, x)
    definition = A.bind(**recipe.sizes).to_scipy()
    wide = x.ravel().astype(float)
    scale = 4 * (abs(definition) @ abs(wide))
    plain.check_close(y, definition @ wide, scale, ROUNDING[dtype])
    assert memory.untouched(x)
    assert memory.untouched(y)


@some.examples(30)
@given(some.square(), memory.seeds, memory.dtypes, memory.layouts, st.booleans(), st.booleans())
def test_solve_equals_scipy(
    recipe: some.Recipe, seed: int, dtype: str, layout: str, exact: bool, lower: bool
) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, dtype, layout))
    A = A.tril() if lower else A.triu()
    b = memory.array(rng, recipe.rows.shape, dtype, layout)
    x = memory.room(recipe.rows.shape, dtype, layout)
    plain.run(plain.eager(A, "solve", exact=exact), x, b)
    definition = A.bind(**recipe.sizes).to_scipy()
    expected = scipy.sparse.linalg.spsolve_triangular(definition, b.ravel().astype(float), lower)
    scale = 8 * np.max(np.abs(expected))
    plain.check_close(x, expected, scale, ROUNDING[dtype])
    assert memory.untouched(x)


# -- choices of the compiler ---------------------------------------------------------------------


@some.examples(25)
@given(some.square(), memory.seeds, some.directions)
def test_exact_and_default_agree(recipe: some.Recipe, seed: int, direction: str) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, "float64"))
    x, b = (memory.array(rng, recipe.rows.shape, "float64") for _ in "xb")
    program = plain.sweep(A, direction)
    made = plain.swept(program, x, b)
    exact = plain.swept(plain.variant(program, exact=True), x, b)
    plain.check_close(made, exact, np.max(np.abs(exact)), 1e-14)


@some.examples(25)
@given(st.data(), memory.seeds, some.directions)
def test_shared_partial_sums_agree(data: st.DataObject, seed: int, direction: str) -> None:
    grid = data.draw(some.grids(data.draw(st.integers(2, 3)), plain=True))
    found = data.draw(some.stencils(grid.ndim))
    space = grid.space()
    A = ssr.stencil(space, space, some.dominant(found), outside="zero")
    rng = np.random.default_rng(seed)
    x, b = (memory.array(rng, grid.shape, "float64") for _ in "xb")
    program = plain.sweep(A, direction)
    made = plain.swept(program, x, b)
    for options in ({"partial_sums": False}, {"recurrence": False}, {"exact": True}):
        other = plain.swept(plain.variant(program, **options), x, b)
        plain.check_close(made, other, np.max(np.abs(other)), 1e-14)


@some.examples(20)
@given(some.square(), memory.seeds, some.directions, st.booleans())
def test_passes_keep_bits(recipe: some.Recipe, seed: int, direction: str, exact: bool) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, "float64"))
    x, b = (memory.array(rng, recipe.rows.shape, "float64") for _ in "xb")
    program = plain.sweep(A, direction)
    made = plain.swept(plain.variant(program, exact=exact), x, b)
    for name in ("split", "recurrence")[: 2 if exact else 1]:
        other = plain.swept(plain.variant(program, exact=exact, **{name: False}), x, b)
        plain.check_same(made, other)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("coefficient", [0.29, 0.1, 1e-3, 0.6])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_long_recurrences_agree(coefficient: float, direction: str, dtype: str) -> None:
    """On lines longer than what a doubled chain looks back, in one box: like substitution."""
    plane = ssr.Space(3, 70)
    weights = some.dense(2, -1.0, 1.0 / coefficient) if coefficient < 0.5 else {(0, 0): 1.0}
    weights |= {(0, -1): -0.6, (0, 1): -0.6} if coefficient > 0.5 else {}
    A = ssr.stencil(plane, plane, weights, outside="zero")
    rng = np.random.default_rng(5)
    x, b = (memory.array(rng, (3, 70), dtype) for _ in "xb")
    program = plain.sweep(A, direction)
    made = plain.swept(program, x, b)
    dense = A.to_scipy().toarray()
    lower, upper = np.tril(dense), np.triu(dense)
    left, right = (lower, dense - lower) if direction == "forward" else (upper, dense - upper)
    meant = np.linalg.solve(left, b.ravel() - right @ x.ravel())
    scale = 10 * np.max(np.abs(meant))
    plain.check_close(made, meant, scale, 3e-16 if dtype == "float64" else 2e-7)


@some.examples(20)
@given(st.one_of(some.recipes(), some.square()), memory.seeds, st.booleans())
def test_split_of_a_product_keeps_bits(recipe: some.Recipe, seed: int, exact: bool) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, "float64"))
    x = memory.array(rng, recipe.cols.shape, "float64")
    results = []
    for split in (True, False):
        y = np.full(recipe.rows.shape, np.nan)
        plain.run(plain.eager(A, "apply", exact=exact, split=split), y, x)
        results.append(y)
    plain.check_same(*results)


# -- sizes and algebra ---------------------------------------------------------------------------


@some.examples(25)
@given(some.square(), memory.seeds, some.directions, memory.dtypes)
def test_symbolic_sizes_keep_bits(
    recipe: some.Recipe, seed: int, direction: str, dtype: str
) -> None:
    rng = np.random.default_rng(seed)
    data = recipe.data(rng, dtype)
    x, b = (memory.array(rng, recipe.rows.shape, dtype) for _ in "xb")
    results = []
    for symbolic in (True, False):
        program = plain.sweep(recipe.matrix(symbolic).bind(**data), direction)
        results.append(plain.swept(plain.variant(program, exact=True), x, b))
    plain.check_same(*results)


@some.examples(25)
@given(some.recipes(), memory.seeds)
def test_symbolic_sizes_keep_bits_of_a_product(recipe: some.Recipe, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = recipe.data(rng, "float64")
    x = memory.array(rng, recipe.cols.shape, "float64")
    results = [
        plain.apply(recipe.matrix(symbolic).bind(**data), x, recipe.rows.shape)
        for symbolic in (True, False)
    ]
    plain.check_same(*results)


@some.examples(40)
@given(some.recipes(), memory.seeds)
def test_parts_add_up(recipe: some.Recipe, seed: int) -> None:
    recipe = some.Recipe(recipe.rows, recipe.rows, recipe.entries, recipe.early)
    A = recipe.matrix().bind(**recipe.data(np.random.default_rng(seed), "float64"))
    parts = A.tril(-1) + A.diagonal() + A.triu(1)
    assert parts.equals(A)
    assert A.equals(A.tril() + A.triu(1))
    more = A + 0.5 * ssr.identity(A.rows)
    assert not more.equals(A)
    if all(e.weight[0] == "number" for e in recipe.entries):
        assert (2 * A).equals(A + A)
        assert (A - A).equals(0 * A)
        assert (more - A).equals(0.5 * ssr.identity(A.rows))
    sized = parts.bind(**recipe.sizes).to_scipy().toarray()
    np.testing.assert_array_equal(sized, A.bind(**recipe.sizes).to_scipy().toarray())
