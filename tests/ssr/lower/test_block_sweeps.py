"""Sweeps with dense diagonal blocks: any stencil and block size, against block substitution."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import ssr
from ssr import errors, ir
from ssr.compiler.pipeline import direct, fused_nests

from .. import plain
from ..interpret import interpret_nest, interpret_program
from ..strategies import directions, examples

Array = np.ndarray[Any, Any]

NAMES = ("nk", "nj", "ni")
EXTENTS = {2: ((1, 1), (1, 4), (4, 5)), 3: ((1, 2, 3), (3, 3, 4))}


@dataclass(frozen=True)
class Recipe:
    """A matrix of blocks: where a row has entries beside its own, and which numbers they hold.

    Blocks have entries with ``(r + 2 c + offset) % period > 0`` and a full diagonal, or they are
    lower triangular at the row's own point. Rows on the boundary may be those of the identity.
    """

    ndim: int
    offsets: tuple[tuple[int, ...], ...]
    size: int
    period: int
    triangular: bool
    fixed: bool
    at_column: bool
    order: str

    @property
    def space(self) -> ssr.Space:
        return ssr.Space(*(ssr.size(name) for name in NAMES[-self.ndim :]))

    @property
    def fields(self) -> Any:
        return self.space.vector(self.size)

    def matrix(self) -> ssr.BlockMatrix:
        """Return the matrix, diagonally dominant for data between zero and one."""

        def A(*row: Any, u: Any, s: Any) -> Any:
            if self.fixed and not all(
                (n > 0) & (n < e - 1) for n, e in zip(row, self.space.shape, strict=True)
            ):
                yield row, np.eye(self.size)
                return
            yield row, 4.0 * np.eye(self.size) + self._block(u[:, *row], s, 0)
            for offset in self.offsets:
                column = tuple(n + o for n, o in zip(row, offset, strict=True))
                if column in self.space:
                    place = column if self.at_column else row
                    kind = sum(offset) + 5
                    yield column, self._block(u[:, *place], s, kind)

        names = ", ".join("kji"[-self.ndim :])
        scope: dict[str, Any] = {"A": A}
        exec(f"def B({names}, *, u, s):\n    yield from A({names}, u=u, s=s)", scope)
        data = {"u": self.fields, "s": ssr.scalar}
        return ssr.matrix(rows=self.fields, cols=self.fields, **data)(scope["B"])

    def _block(self, u: Any, s: Any, kind: int) -> Any:
        scale = 0.5 / (self.size * (len(self.offsets) + 1))
        return [
            [
                scale * s * u[r] * u[c] * int((r + 2 * c + kind) % self.period > 0)
                if kind or not self.triangular or c <= r
                else 0.0
                for c in range(self.size)
            ]
            for r in range(self.size)
        ]

    def triangle(self, A: Any, k: int = 0) -> Any:
        """Return the triangle that is solved with, or what is beside it."""
        return A.tril(-k) if self.order == "forward" else A.triu(k)

    def rest(self, A: Any) -> Any:
        return A.triu(1) if self.order == "forward" else A.tril(-1)


@st.composite
def recipes(draw: Callable[..., Any]) -> Recipe:
    ndim = draw(st.sampled_from([2, 2, 3]))
    near = [o for o in product(*[(-1, 0, 1)] * ndim) if any(o)]
    far = [tuple(2 * n for n in o) for o in near[:2]]
    return Recipe(
        ndim,
        tuple(sorted(draw(st.sets(st.sampled_from([*near, *far]), min_size=1, max_size=4)))),
        draw(st.integers(2, 3)),
        draw(st.sampled_from([2, 3, 9])),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(directions),
    )


def substituted(recipe: Recipe, extent: tuple[int, ...], u: Array, b: Array) -> Array:
    """Return the solution with the triangle of a matrix, point by point."""
    sizes = dict(zip(NAMES[-recipe.ndim :], extent, strict=True))
    whole = recipe.matrix().bind(u=u, s=0.7, **sizes).to_scipy().toarray()
    count = int(np.prod(extent))
    A = whole.reshape(recipe.size, count, recipe.size, count)
    right, x = b.reshape(recipe.size, count).astype(float), np.zeros((recipe.size, count))
    points = range(count) if recipe.order == "forward" else range(count)[::-1]
    done: list[int] = []
    for p in points:
        rest = right[:, p] - np.einsum("rcq,cq->r", A[:, p][:, :, done], x[:, done])
        x[:, p] = np.linalg.solve(A[:, p, :, p], rest)
        done.append(p)
    return x.reshape(b.shape)


def programs(recipe: Recipe) -> tuple[ssr.Program, ssr.Program]:
    """Return a solve into another field, and a sweep in place."""
    A, fields = recipe.matrix(), recipe.fields

    @ssr.program(x=fields, b=fields, u=fields, s=ssr.scalar)
    def solve(x: Any, b: Any, u: Any, s: Any) -> None:
        x[:] = recipe.triangle(A.bind(u=u, s=s)).solve(b)

    @ssr.program(x=fields, b=fields, u=fields, s=ssr.scalar)
    def sweep(x: Any, b: Any, u: Any, s: Any) -> None:
        M = A.bind(u=u, s=s)
        x[:] = recipe.triangle(M).solve(b + 0.5 * x - recipe.rest(M) @ x)

    return solve, sweep


def numbers(recipe: Recipe, extent: tuple[int, ...], dtype: Any = np.float64) -> Any:
    return np.random.default_rng(3).random((3, recipe.size, *extent)).astype(dtype)


def check(
    recipe: Recipe,
    run: Callable[..., Any],
    dtype: Any,
    *extents: tuple[int, ...],
    both: bool = True,
) -> None:
    """Compare one or both programs with block substitution."""
    solve, sweep = programs(recipe)
    error = 1e-12 if dtype == np.float64 else 1e-5
    for extent in extents:
        b, u, y = numbers(recipe, extent, dtype)
        x = np.full_like(b, np.nan)
        run(solve, x, b, u, 0.7)
        np.testing.assert_allclose(x, substituted(recipe, extent, u, b), rtol=error, atol=error)
        if not both:
            continue
        sizes = dict(zip(NAMES[-recipe.ndim :], extent, strict=True))
        rest = recipe.rest(recipe.matrix().bind(u=u, s=0.7, **sizes)).to_scipy()
        right = b + 0.5 * y - (rest @ y.ravel()).reshape(b.shape)
        run(sweep, y, b, u, 0.7)
        np.testing.assert_allclose(y, substituted(recipe, extent, u, right), rtol=error, atol=error)


def in_place(program: ssr.Program) -> bool:
    """Whether a program makes its last step in the field x itself."""
    made = direct(program.ir, program.options)
    return "x[0]" in [a.target for a in getattr(made.steps[-1], "assignments", ())]


@given(recipes())
@examples(4)
def test_checked_source(recipe: Recipe) -> None:
    check(recipe, plain.run, np.float64, *EXTENTS[recipe.ndim])


@given(recipes())
@examples(3)
def test_passes_keep_bits(recipe: Recipe) -> None:
    """Nests that are valid, with and without lines ahead, and sources have the same bits."""
    solve, _ = programs(recipe)
    extent = EXTENTS[recipe.ndim][-1]
    b, u, x = numbers(recipe, extent)
    x[:] = np.nan
    sizes = dict(zip(NAMES[-recipe.ndim :], extent, strict=True))
    given = {"x": x, "b": b, "u": u}
    results = []
    for recurrence in True, False:
        options = ssr.Options(recurrence=recurrence, exact=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSR_VERIFY", "1")
            state = fused_nests(direct(solve.ir, options), options, "float64")
        arrays = {f"{n}[{c}]": a[c].copy() for n, a in given.items() for c in range(recipe.size)}
        results.append(arrays)
        for field in state.program.temporaries:
            arrays[field.name] = np.full(extent, np.nan)
        for nest in state.nests:
            assume(isinstance(nest, ir.Nest))  # else its blocks lie along one axis
            interpret_nest(nest, state.fields, arrays, {"s": 0.7}, sizes)
    y = x.copy()
    plain.run(plain.variant(solve, exact=True), y, b, u, 0.7)
    for c in range(recipe.size):
        assert plain.same(results[0][f"x[{c}]"], results[1][f"x[{c}]"])
        assert plain.same(results[0][f"x[{c}]"], y[c])


@given(recipes())
@examples(2)
def test_interpreter(recipe: Recipe) -> None:
    _, sweep = programs(recipe)
    extent = EXTENTS[recipe.ndim][-1]
    b, u, x = numbers(recipe, extent)
    y, sizes = x.copy(), dict(zip(NAMES[-recipe.ndim :], extent, strict=True))
    given = {"x": x, "b": b, "u": u}
    arrays = {f"{n}[{c}]": a[c] for n, a in given.items() for c in range(recipe.size)}
    interpret_program(sweep.ir, arrays, {"s": 0.7}, sizes)
    plain.run(sweep, y, b, u, 0.7)
    np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


FIVE_POINTS = ((-1, 0), (0, -1), (0, 1), (1, 0))
SEVEN_POINTS = ((-1, 0, 0), (0, -1, 0), (0, 0, -1), (0, 0, 1), (0, 1, 0), (1, 0, 0))


def recipe_of(offsets: Any, size: int, order: str, **more: Any) -> Recipe:
    given = {"period": 9, "triangular": False, "fixed": False, "at_column": True} | more
    return Recipe(len(offsets[0]), offsets, size, order=order, **given)


def compiled(program: ssr.Program, *args: Any) -> None:
    program(*args)


@pytest.mark.parametrize(
    ("offsets", "size", "order", "dtype"),
    [
        (FIVE_POINTS, 2, "forward", np.float64),
        (FIVE_POINTS, 3, "backward", np.float32),
        (SEVEN_POINTS, 2, "backward", np.float64),
    ],
)
def test_kernels(offsets: Any, size: int, order: str, dtype: Any) -> None:
    extents = ((1, 1), (4, 19)) if len(offsets[0]) == 2 else ((2, 1, 3), (4, 5, 18))
    check(recipe_of(offsets, size, order), compiled, dtype, *extents, both=order == "forward")


def test_blocks_of_eight() -> None:
    recipe = recipe_of(((-1, 0), (0, -1)), 8, "forward", period=3)
    check(recipe, plain.run, np.float64, (2, 3), both=False)


def test_gauss_seidel_runs_in_place() -> None:
    for order in "forward", "backward":
        solve, sweep = programs(recipe_of(FIVE_POINTS, 2, order))
        assert in_place(solve)
        assert in_place(sweep)


def test_old_values_that_would_be_overwritten() -> None:
    recipe = recipe_of(FIVE_POINTS, 2, "forward")
    A, fields = recipe.matrix(), recipe.fields

    @ssr.program(x=fields, u=fields)
    def crossed(x: Any, u: Any) -> None:
        M = A.bind(u=u, s=0.7)
        x[:] = M.tril().solve(x - M.tril(-1) @ x)

    assert not in_place(crossed)
    _, u, x = numbers(recipe, (4, 5))
    lower = A.bind(u=u, s=0.7).tril(-1).to_scipy()
    right = x - (lower @ x.ravel()).reshape(x.shape)
    plain.run(crossed, x, u)
    np.testing.assert_allclose(x, substituted(recipe, (4, 5), u, right), rtol=1e-12)


def test_solution_that_is_read_again() -> None:
    recipe = recipe_of(FIVE_POINTS, 2, "forward")
    A, fields = recipe.matrix(), recipe.fields

    @ssr.program(x=fields, y=fields, u=fields)
    def ssor(x: Any, y: Any, u: Any) -> None:
        M = A.bind(u=u, s=0.7)
        x[:] = M.tril().solve(x)
        y[:] = M.triu().solve(M.diagonal() @ x)

    y, u, x = numbers(recipe, (4, 5))
    half = substituted(recipe, (4, 5), u, x)
    M = A.bind(u=u, s=0.7)
    right = (M.diagonal().to_scipy() @ half.ravel()).reshape(x.shape)
    backward = recipe_of(FIVE_POINTS, 2, "backward")
    plain.run(ssor, x, y, u)
    np.testing.assert_allclose(x, half, rtol=1e-12)
    np.testing.assert_allclose(y, substituted(backward, (4, 5), u, right), rtol=1e-12)


def test_part_of_a_field() -> None:
    recipe = recipe_of(FIVE_POINTS, 2, "forward")
    cells = recipe.space
    inner, wide = cells.grow(-1), cells.vector(2)

    @ssr.matrix(rows=inner.vector(2), cols=inner.vector(2), u=wide)
    def A(j: Any, i: Any, *, u: Any) -> Any:
        yield (j, i), np.array([[4.0, u[0, j, i]], [u[1, j, i], 3.0]])
        for column in (j - 1, i), (j, i - 1):
            if column in inner:
                yield column, np.array([[u[0, *column], 0.0], [0.0, u[1, *column]]])

    @ssr.program(x=wide, u=wide)
    def solve(x: Any, u: Any) -> None:
        x[inner] = A.bind(u=u).solve(x[inner])

    assert in_place(solve)
    for extent in (3, 3), (5, 7):
        u, x, _ = numbers(recipe, extent)
        y, within = x.copy(), np.s_[:, 1:-1, 1:-1]
        plain.run(solve, x, u)
        whole = A.bind(u=u).to_scipy().toarray()
        y[within] = np.linalg.solve(whole, y[within].ravel()).reshape(y[within].shape)
        np.testing.assert_allclose(x, y, rtol=1e-12)


def test_boxes_keep_bits() -> None:
    recipe = recipe_of(FIVE_POINTS, 2, "backward")
    solve, _ = programs(recipe)
    b, u, x = numbers(recipe, (6, 9))
    y = x.copy()
    plain.run(solve, x, b, u, 0.7)
    plain.run(solve, y, b, u, 0.7, boxes=ssr.Space(6, 9).split(2, 3))
    assert plain.same(x, y)


def test_debug_build() -> None:
    recipe = recipe_of(FIVE_POINTS, 2, "forward")
    solve, _ = programs(recipe)
    b, u, x = numbers(recipe, (3, 4))
    debug = plain.variant(solve, debug=True)
    debug(x, b, u, 0.7)
    np.testing.assert_allclose(x, substituted(recipe, (3, 4), u, b), rtol=1e-12)
    b[1, 2, 3] = np.inf
    with pytest.raises(errors.NonFiniteError, match="solve"):
        debug(x, b, u, 0.7)


def test_arrays() -> None:
    recipe = recipe_of(FIVE_POINTS, 2, "forward")
    b, u, x = numbers(recipe, (4, 5))
    L = recipe.matrix().bind(u=u, s=0.7).tril()
    assert L.solve(b, out=x) is x
    np.testing.assert_allclose(x, substituted(recipe, (4, 5), u, b), rtol=1e-12)


def test_pivot_that_is_missing() -> None:
    plane = ssr.Space(*ssr.sizes("ny nx"))
    A = ssr.stencil(plane, plane, {(-1, 0): -1, (0, -1): 4}, outside="zero")
    B = ssr.kron(np.array([[1.0, 2.0], [2.0, 1.0]]), A)
    with pytest.raises(errors.SingularMatrixError, match="no pivot in component 0"):
        B.solve(np.ones((2, 3, 4)))
    A = A + ssr.identity(plane)
    B = ssr.kron(np.array([[1.0, 2.0], [2.0, 4.0]]), A)
    with pytest.raises(errors.SingularMatrixError, match="The number there is zero"):
        B.solve(np.ones((2, 3, 4)))
