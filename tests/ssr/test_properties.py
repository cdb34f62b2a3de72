"""What must hold for every matrix: kernels equal SciPy, and choices of the compiler keep bits.

Kernels run as plain Python here; `test_compiled` compares that with machine code.
"""

from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import ssr
from ssr.errors import BoxError

from . import plain
from . import strategies as some

Array = np.ndarray[Any, Any]
ROUNDING = {"float64": 2e-15, "float32": 1e-6}


def examples(count: int) -> settings:
    """Return settings without shrinking: isl takes a second for some of the shrunk matrices."""
    return settings(
        max_examples=count,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def sweep(matrix: ssr.Matrix, direction: str) -> ssr.Program:
    """Return a Gauss-Seidel sweep in place."""
    space = matrix.rows

    def forward(x: Any, b: Any) -> None:
        x[:] = matrix.tril().solve(b - matrix.triu(1) @ x)

    def backward(x: Any, b: Any) -> None:
        x[:] = matrix.triu().solve(b - matrix.tril(-1) @ x)

    body = forward if direction == "forward" else backward
    return ssr.program(x=space, b=space)(body)


directions = st.sampled_from(["forward", "backward"])


def swept(program: ssr.Program, x: Array, b: Array, **more: Any) -> Array:
    """Return what a sweep makes of ``x``, which is left alone."""
    result = x.copy()
    plain.run(program, result, b, **more)
    return result


# -- kernels equal SciPy -------------------------------------------------------------------------


@examples(60)
@given(some.recipes(), some.seeds, some.dtypes, some.layouts, st.booleans())
def test_apply_equals_scipy(
    recipe: some.Recipe, seed: int, dtype: str, layout: str, exact: bool
) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, dtype, layout))
    x = some.array(rng, recipe.cols.shape, dtype, layout)
    y = some.room(recipe.rows.shape, dtype, layout)
    plain.run(plain.eager(A, "apply", exact=exact), y, x)
    definition = A.bind(**recipe.sizes).to_scipy()
    wide = x.ravel().astype(float)
    scale = 4 * (abs(definition) @ abs(wide))
    plain.check_close(y, definition @ wide, scale, ROUNDING[dtype])
    assert some.untouched(x)
    assert some.untouched(y)


@examples(30)
@given(some.square(), some.seeds, some.dtypes, some.layouts, st.booleans(), st.booleans())
def test_solve_equals_scipy(
    recipe: some.Recipe, seed: int, dtype: str, layout: str, exact: bool, lower: bool
) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, dtype, layout))
    A = A.tril() if lower else A.triu()
    b = some.array(rng, recipe.rows.shape, dtype, layout)
    x = some.room(recipe.rows.shape, dtype, layout)
    plain.run(plain.eager(A, "solve", exact=exact), x, b)
    definition = A.bind(**recipe.sizes).to_scipy()
    expected = scipy.sparse.linalg.spsolve_triangular(definition, b.ravel().astype(float), lower)
    scale = 8 * np.max(np.abs(expected))
    plain.check_close(x, expected, scale, ROUNDING[dtype])
    assert some.untouched(x)


# -- choices of the compiler ---------------------------------------------------------------------


@examples(25)
@given(some.square(), some.seeds, directions)
def test_exact_and_default_agree(recipe: some.Recipe, seed: int, direction: str) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, "float64"))
    x, b = (some.array(rng, recipe.rows.shape, "float64") for _ in "xb")
    program = sweep(A, direction)
    made = swept(program, x, b)
    exact = swept(plain.variant(program, exact=True), x, b)
    plain.check_close(made, exact, np.max(np.abs(exact)), 1e-14)


@examples(25)
@given(st.data(), some.seeds, directions)
def test_shared_partial_sums_agree(data: st.DataObject, seed: int, direction: str) -> None:
    grid = data.draw(some.grids(data.draw(st.integers(2, 3)), plain=True))
    found = data.draw(some.stencils(grid.ndim))
    space = grid.space()
    A = ssr.stencil(space, space, some.dominant(found), outside="drop")
    rng = np.random.default_rng(seed)
    x, b = (some.array(rng, grid.shape, "float64") for _ in "xb")
    program = sweep(A, direction)
    made = swept(program, x, b)
    for options in ({"partial_sums": False}, {"recurrence": False}, {"exact": True}):
        other = swept(plain.variant(program, **options), x, b)
        plain.check_close(made, other, np.max(np.abs(other)), 1e-14)


@examples(20)
@given(some.square(), some.seeds, directions, st.booleans())
def test_passes_keep_bits(recipe: some.Recipe, seed: int, direction: str, exact: bool) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, "float64"))
    x, b = (some.array(rng, recipe.rows.shape, "float64") for _ in "xb")
    program = sweep(A, direction)
    made = swept(plain.variant(program, exact=exact), x, b)
    for name in ("split", "prefetch", "recurrence")[: 3 if exact else 2]:
        other = swept(plain.variant(program, exact=exact, **{name: False}), x, b)
        plain.check_same(made, other)


@examples(15)
@given(some.recipes(), some.seeds, st.booleans())
def test_split_of_a_product_keeps_bits(recipe: some.Recipe, seed: int, exact: bool) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, "float64"))
    x = some.array(rng, recipe.cols.shape, "float64")
    results = []
    for split in (True, False):
        y = np.full(recipe.rows.shape, np.nan)
        plain.run(plain.eager(A, "apply", exact=exact, split=split), y, x)
        results.append(y)
    plain.check_same(*results)


# -- boxes ---------------------------------------------------------------------------------------


@examples(40)
@given(st.data(), some.seeds, directions, st.booleans())
def test_boxes_keep_bits_or_are_refused(
    data: st.DataObject, seed: int, direction: str, exact: bool
) -> None:
    grid = data.draw(some.grids(data.draw(st.integers(1, 3)), plain=True))
    found = some.dominant(data.draw(some.stencils(grid.ndim)))
    space = grid.space()
    A = ssr.stencil(space, space, found, outside="drop")
    boxes = data.draw(some.cuts(grid.box))
    rng = np.random.default_rng(seed)
    x, b = (some.array(rng, grid.shape, "float64") for _ in "xb")
    program = plain.variant(sweep(A, direction), exact=exact)
    if some.legal(boxes, some.earlier(found, direction)):
        plain.check_same(swept(program, x, b, boxes=boxes), swept(program, x, b))
    else:
        with pytest.raises(BoxError, match="wait for each other"):
            swept(program, x, b, boxes=boxes)


HARD = {
    # One constant coefficient along the line: the chain is doubled.
    "nine points": (some.dense(2, -1.0, 26.0), 1),
    # Sums of lines are shared although one weight is missing in one of them.
    "corrected": (
        {(0, 0): 9.0, (0, -1): 1.0}
        | {(-1, o): 1.0 for o in (-2, -1, 0)}
        | {(line, o): 1.0 for o in (-2, -1, 0, 1) for line in (-3, -2)},
        2,
    ),
}


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("options", [{}, {"recurrence": False}, {"exact": True}], ids=str)
def test_lines_cut_in_spite_of_dependences(
    name: str, direction: str, options: dict[str, bool]
) -> None:
    weights, height = HARD[name]
    if direction == "backward":
        weights = {some.negative(o): w for o, w in weights.items()}
    space = ssr.Space(6, 9)
    program = sweep(ssr.stencil(space, space, weights, outside="drop"), direction)
    lines = [(n, n + height) for n in range(0, 6, height)]
    boxes = tuple((line, half) for line in lines for half in ((0, 4), (4, 9)))
    assert some.legal(boxes, some.earlier(weights, direction))
    rng = np.random.default_rng(0)
    x, b = (some.array(rng, (6, 9), "float64") for _ in "xb")
    program = plain.variant(program, **options)
    plain.check_same(swept(program, x, b, boxes=boxes), swept(program, x, b))


@examples(20)
@given(some.square(), some.seeds, directions, st.data())
def test_boxes_with_guards(
    recipe: some.Recipe, seed: int, direction: str, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, "float64"))
    x, b = (some.array(rng, recipe.rows.shape, "float64") for _ in "xb")
    program = sweep(A, direction)
    boxes = data.draw(some.cuts(recipe.rows.box))
    try:
        made = swept(program, x, b, boxes=boxes)
    except BoxError:
        rows = [*range(*recipe.rows.box[0])]
        rest = recipe.rows.box[1:]
        boxes = tuple(((r, r + 1), *rest) for r in rows)  # always legal
        made = swept(program, x, b, boxes=boxes)
    plain.check_same(made, swept(program, x, b))


@examples(15)
@given(some.recipes(), some.seeds, st.data(), st.booleans())
def test_boxes_of_a_product(
    recipe: some.Recipe, seed: int, data: st.DataObject, exact: bool
) -> None:
    rng = np.random.default_rng(seed)
    A = recipe.matrix().bind(**recipe.data(rng, "float64"))
    x = some.array(rng, recipe.cols.shape, "float64")
    program = plain.eager(A, "apply", exact=exact)
    whole, cut = (np.full(recipe.rows.shape, np.nan) for _ in range(2))
    plain.run(program, whole, x)
    plain.run(program, cut, x, boxes=data.draw(some.cuts(recipe.rows.box)))
    plain.check_same(whole, cut)


# -- in place ------------------------------------------------------------------------------------


class Dense:
    """A matrix with the operations of `ssr.Matrix`, in NumPy."""

    def __init__(self, whole: Array) -> None:
        self.whole = whole

    def tril(self, k: int = 0) -> "Dense":
        return Dense(np.tril(self.whole, k))

    def triu(self, k: int = 0) -> "Dense":
        return Dense(np.triu(self.whole, k))

    def __matmul__(self, x: Array) -> Array:
        return (self.whole @ x.ravel()).reshape(x.shape)

    def solve(self, b: Array) -> Array:
        return np.linalg.solve(self.whole, b.ravel()).reshape(b.shape)


def body(kind: str, S: Any, T: Any, x: Any, y: Any) -> None:
    """Assign fields in one of some ways: for symbols and for NumPy arrays alike."""
    match kind:
        case "product":
            x[:] = S @ x
        case "relaxed":
            x[:] = x + 0.5 * (y - S @ x) - x * y
        case "upper":
            x[:] = S.triu(1) @ x + 0.25 * y
        case "lower":
            x[:] = 2.0 - S.tril() @ x / 3.0
        case "solve itself":
            x[:] = T.tril().solve(x)
        case "solve, all old":
            x[:] = T.tril().solve(y - S @ x)
        case "backward, all old":
            x[:] = T.triu().solve(S @ x)
        case "factors":
            x[:] = T.triu().solve(T.tril().solve(y - T @ x)) + x
        case "two":
            x[:] = S @ y
            y[:] = x * y - S @ (x - y)
        case "symmetric":
            x[:] = T.tril().solve(y - T.triu(1) @ x)
            x[:] = T.triu().solve(y - T.tril(-1) @ x)
        case _:
            raise AssertionError(kind)


KINDS = [
    "product", "relaxed", "upper", "lower", "solve itself", "solve, all old",
    "backward, all old", "factors", "two", "symmetric",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@examples(6)
@given(data=st.data(), seed=some.seeds, exact=st.booleans())
def test_assignment_has_numpy_meaning(
    kind: str, data: st.DataObject, seed: int, exact: bool
) -> None:
    grid = data.draw(some.grids(data.draw(st.integers(1, 3))))
    space = grid.space()
    S, T = (
        ssr.stencil(space, space, weights, outside="drop")
        for weights in (
            data.draw(some.stencils(grid.ndim)),
            some.dominant(data.draw(some.stencils(grid.ndim))),
        )
    )
    options = ssr.Options(exact=exact)

    def assign(x: Any, y: Any) -> None:
        body(kind, S, T, x, y)

    program = ssr.program(x=space, y=space, options=options)(assign)
    rng = np.random.default_rng(seed)
    x, y = (some.array(rng, grid.shape, "float64", data.draw(some.layouts)) for _ in "xy")
    expected = x.copy(), y.copy()
    dense = [Dense(M.bind(**grid.sizes).to_scipy().toarray()) for M in (S, T)]
    body(kind, *dense, *expected)
    plain.run(program, x, y)
    for made, meant in zip((x, y), expected, strict=True):
        plain.check_close(made, meant, 100 + np.max(np.abs(meant)), 4e-15)
    assert some.untouched(x)
    assert some.untouched(y)


# -- sizes and algebra ---------------------------------------------------------------------------


@examples(25)
@given(some.square(), some.seeds, directions, some.dtypes)
def test_symbolic_sizes_keep_bits(
    recipe: some.Recipe, seed: int, direction: str, dtype: str
) -> None:
    rng = np.random.default_rng(seed)
    data = recipe.data(rng, dtype)
    x, b = (some.array(rng, recipe.rows.shape, dtype) for _ in "xb")
    results = []
    for symbolic in (True, False):
        program = sweep(recipe.matrix(symbolic).bind(**data), direction)
        results.append(swept(plain.variant(program, exact=True), x, b))
    plain.check_same(*results)


@examples(25)
@given(some.recipes(), some.seeds)
def test_symbolic_sizes_keep_bits_of_a_product(recipe: some.Recipe, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = recipe.data(rng, "float64")
    x = some.array(rng, recipe.cols.shape, "float64")
    results = [
        plain.apply(recipe.matrix(symbolic).bind(**data), x, recipe.rows.shape)
        for symbolic in (True, False)
    ]
    plain.check_same(*results)


@examples(40)
@given(some.recipes(), some.seeds)
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
