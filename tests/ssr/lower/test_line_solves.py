"""Solves along lines: any axis, bandwidth and block size, against dense elimination."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr import errors, ir

from ...random_examples import THOROUGH
from .. import plain
from ..interpret import eliminated, interpret_program
from ..strategies import examples

Array = np.ndarray[Any, Any]

NAMES = ("nk", "nj", "ni")
SIZES = {1: ((1,), (2,), (3,), (11,)), 2: ((1, 1), (3, 9), (9, 2)), 3: ((1, 2, 3), (3, 4, 9))}


@dataclass(frozen=True)
class Recipe:
    """A matrix that couples rows along an axis: where it has entries, and what they read.

    The ends of lines are cut off, have rows of their own that are those of the identity, or are
    joined to a circle.
    """

    ndim: int
    axis: int
    offsets: tuple[int, ...]
    size: int
    fixed_ends: bool
    at_column: bool
    cyclic: bool = False

    @property
    def space(self) -> ssr.Space:
        return ssr.Space(*(ssr.size(name) for name in NAMES[-self.ndim :]))

    @property
    def fields(self) -> Any:
        return self.space if self.size == 1 else self.space.vector(self.size)

    def sizes(self, extent: Sequence[int]) -> dict[str, int]:
        return dict(zip(NAMES[-self.ndim :], extent, strict=True))

    def shape(self, extent: tuple[int, ...]) -> tuple[int, ...]:
        return extent if self.size == 1 else (self.size, *extent)

    def matrix(self) -> Any:
        """Return the matrix, diagonally dominant for data between zero and one."""

        def rows(*row: Any, u: Any) -> Any:
            if self.fixed_ends and not self._inside(row):
                yield row if self.ndim > 1 else row[0], self._block(row, row, u, 0, 0.0)
                return
            for offset in self.offsets:
                there = self._wrapped(row[self.axis] + offset)
                column = (*row[: self.axis], there, *row[self.axis + 1 :])
                if column in self.space:
                    block = self._block(row, column, u, offset, 1.0)
                    yield column if self.ndim > 1 else column[0], block

        names = ", ".join("kji"[-self.ndim :])
        scope: dict[str, Any] = {"rows": rows}
        exec(f"def A({names}, *, u):\n    yield from rows({names}, u=u)", scope)
        return ssr.matrix(rows=self.fields, cols=self.fields, u=self.fields)(scope["A"])

    def _wrapped(self, place: Any) -> Any:
        """Return a place on a line, beyond its ends that from the other one if lines are closed."""
        extent = self.space.shape[self.axis]
        if not self.cyclic:
            return place
        return place + extent if place < 0 else place - extent if place >= extent else place

    def _inside(self, row: tuple[Any, ...]) -> bool:
        return all(row[a] > 0 and row[a] < self.space.shape[a] - 1 for a in range(self.ndim))

    def _block(self, row: Any, column: Any, u: Any, offset: int, scale: float) -> Any:
        place = column if self.at_column else row
        one = 1.0 if scale == 0.0 else 4.0
        if self.size == 1:
            return one * (offset == 0) + scale * (0.3 + 0.02 * offset) * u[place]
        return [
            [
                one * (offset == 0 and r == c)
                + (scale * 0.4 / self.size * u[(r + 2 * c) % self.size, *place])
                * int((r + c + offset) % 3 > 0)
                for c in range(self.size)
            ]
            for r in range(self.size)
        ]


@st.composite
def recipes(draw: Callable[..., Any]) -> Recipe:
    """Draw a recipe; blocks are small where bands are wide, but for thorough tests."""
    ndim = draw(st.integers(1, 3))
    size = draw(st.sampled_from([1, 1, 2, 3]))
    reach = st.integers(1, 3 if THOROUGH else 4 - size)
    low, high = draw(reach), draw(reach)
    between = draw(st.sets(st.integers(-low, high)))
    return Recipe(
        ndim,
        draw(st.integers(0, ndim - 1)),
        tuple(sorted({-low, 0, high, *between})),
        size,
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
    )


def programs(recipe: Recipe) -> tuple[ssr.Program, ssr.Program]:
    """Return the programs that solve into another field, and in place."""
    A, fields = recipe.matrix(), recipe.fields

    @ssr.program(x=fields, b=fields, u=fields)
    def solve(x: Any, b: Any, u: Any) -> None:
        x[:] = A.bind(u=u).solve(b)

    @ssr.program(x=fields, u=fields)
    def in_place(x: Any, u: Any) -> None:
        x[:] = A.bind(u=u).solve(x)

    return solve, in_place


def numbers(recipe: Recipe, extent: tuple[int, ...], dtype: Any = np.float64) -> tuple[Array, ...]:
    """Return a right side, data, and the solution by dense elimination."""
    made = np.random.default_rng(7).random((2, *recipe.shape(extent)))
    b, u = made.astype(dtype)
    A = recipe.matrix().bind(u=u, **recipe.sizes(extent)).to_scipy().toarray()
    return b, u, eliminated(A, b.astype(float).ravel()).reshape(b.shape)


def compare(recipe: Recipe, run: Callable[..., Any], dtype: Any, *extents: tuple[int, ...]) -> None:
    """Compare both programs with dense elimination."""
    solve, in_place = programs(recipe)
    for extent in extents:
        b, u, expected = numbers(recipe, extent, dtype)
        x, y = np.full_like(b, np.nan), b.copy()
        run(solve, x, b, u)
        run(in_place, y, u)
        error = 1e-12 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(x, expected, rtol=error, atol=error)
        assert plain.same(x, y)


def compiled(program: ssr.Program, *args: Any) -> None:
    program(*args)


@given(recipes())
@examples(30)
def test_checked_source(recipe: Recipe) -> None:
    compare(recipe, plain.run, np.float64, *SIZES[recipe.ndim])


@given(recipes())
@examples(8)
def test_interpreter(recipe: Recipe) -> None:
    program, _ = programs(recipe)
    extent = SIZES[recipe.ndim][-1]
    b, u, expected = numbers(recipe, extent)
    x = np.full_like(b, np.nan)
    arrays = {"x": x, "b": b, "u": u}
    if recipe.size > 1:
        arrays = {f"{n}[{c}]": a[c] for n, a in arrays.items() for c in range(recipe.size)}
    interpret_program(program.ir, arrays, {}, recipe.sizes(extent))
    np.testing.assert_allclose(x, expected, rtol=1e-12, atol=1e-12)


EXTENTS = {1: ((40,),), 2: ((5, 20), (17, 16), (8, 3)), 3: ((3, 9, 17), (8, 8, 8), (9, 2, 1))}


@pytest.mark.parametrize(("ndim", "axis"), [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernels_of_all_axes(ndim: int, axis: int, dtype: Any) -> None:
    recipe = Recipe(ndim, axis, (-1, 0, 1), 1, fixed_ends=ndim == 3, at_column=True)
    compare(recipe, compiled, dtype, *EXTENTS[ndim])


@pytest.mark.parametrize(
    ("size", "offsets"), [(2, (-1, 0, 1)), (5, (-1, 0, 1)), (2, (-2, -1, 0, 1, 2)), (8, (-1, 0, 1))]
)
def test_kernels_of_blocks(size: int, offsets: tuple[int, ...]) -> None:
    recipe = Recipe(2, 1, offsets, size, fixed_ends=False, at_column=True)
    compare(recipe, compiled, np.float64, (9, 6))


plane = ssr.Space(*ssr.sizes("nj ni"))
columns = ssr.stencil(plane, plane, {(-1, 0): -1.0, (0, 0): 3.0, (1, 0): -1.5}, outside="zero")
x, b = np.full((6, 11), np.nan), np.random.default_rng(1).random((6, 11))


def dense(A: ssr.Matrix, right: Array, **data: Any) -> Array:
    """Return a solution by dense elimination."""
    whole = A.bind(nj=right.shape[0], ni=right.shape[1], **data).to_scipy().toarray()
    return eliminated(whole, right.ravel()).reshape(right.shape)


def test_arrays() -> None:
    np.testing.assert_allclose(columns.solve(b), dense(columns, b), rtol=1e-13)
    assert columns.solve(b, out=x) is x


def test_several_right_sides() -> None:
    several = np.random.default_rng(2).random((3, 6, 11))
    expected = np.stack([dense(columns, part) for part in several])

    @ssr.program(v=plane.vector(3))
    def solve(v: Any) -> None:
        v[:] = columns.solve(v)

    v = several.copy()
    plain.run(solve, v)
    np.testing.assert_allclose(v, expected, rtol=1e-13)
    assert len(solve.ir.steps[0].entries) == 3
    assert plain.same(columns.solve(several), v)


def test_triangular_matrix_on_a_vector() -> None:
    several = np.random.default_rng(2).random((2, 6, 11))
    lower = columns.tril()

    @ssr.program(v=plane.vector(2))
    def solve(v: Any) -> None:
        v[:] = lower.solve(v)

    v = several.copy()
    plain.run(solve, v)
    np.testing.assert_allclose(v, np.stack([dense(lower, p) for p in several]), rtol=1e-13)


def test_right_side_of_the_nest_and_of_neighbours() -> None:
    rows = ssr.stencil(plane, plane, {(0, -1): 1.0, (0, 0): -2.0, (0, 1): 1.0}, outside="zero")

    @ssr.program(x=plane, b=plane, s=ssr.scalar)
    def alternate(x: Any, b: Any, s: Any) -> None:
        x[:] = columns.solve(b - s * x)
        x[:] = columns.solve(x + rows @ x)

    x = 0.5 * b
    plain.run(alternate, x, b, 2.0)
    half = dense(columns, b - 2.0 * (0.5 * b))
    R = rows.bind(nj=6, ni=11).to_scipy()
    expected = dense(columns, half + (R @ half.ravel()).reshape(half.shape))
    np.testing.assert_allclose(x, expected, rtol=1e-12)


def test_nests_beside_solves() -> None:
    rows = ssr.stencil(plane, plane, {(0, -1): 1.0, (0, 0): -2.0, (0, 1): 1.0}, outside="zero")

    @ssr.program(lines=plane, many=plane)
    def alternate(lines: Any, many: Any) -> None:
        lines[:] = columns.solve(rows @ lines)
        lines[:] = columns.T.solve(rows @ lines + many)

    x, y, z = b.copy(), b.copy(), np.random.default_rng(8).random(b.shape)
    plain.run(alternate, x, z)
    alternate(y, z)
    assert plain.same(x, y)


def test_part_of_a_field() -> None:
    inner = plane.grow(-1)

    @ssr.matrix(rows=inner, cols=inner, a=plane)
    def A(j: Any, i: Any, *, a: Any) -> Any:
        for step in -1, 0, 1:
            if (j, i + step) in inner:
                yield (j, i + step), a[j, i + step] + 3.0 * (step == 0)

    @ssr.program(x=plane, a=plane)
    def solve(x: Any, a: Any) -> None:
        x[inner] = A.bind(a=a).solve(x[inner])

    for extent in (3, 3), (3, 12), (7, 4):
        x, a = np.random.default_rng(3).random((2, *extent))
        expected, within = x.copy(), np.s_[1:-1, 1:-1]
        whole = A.bind(a=a).to_scipy().toarray()
        expected[within] = eliminated(whole, x[within].ravel()).reshape(expected[within].shape)
        plain.run(solve, x, a)
        np.testing.assert_allclose(x, expected, rtol=1e-13)


def test_data_are_computed_on_lines() -> None:
    """Sums and products of fields need no array; quotients are stored, as they are costly."""

    @ssr.program(x=plane, a=plane, c=plane, s=ssr.scalar)
    def solve(x: Any, a: Any, c: Any, s: Any) -> None:
        x[:] = (columns @ ssr.diagonal(plane, 2.0 + a * c - s * a)).solve(x)
        x[:] = (columns @ ssr.diagonal(plane, 1.0 + a / c)).solve(x)

    a, c = np.random.default_rng(5).random((2, *b.shape)) + 0.5
    x, expected = b.copy(), b
    plain.run(solve, x, a, c, 0.25)
    for scale in 2.0 + a * c - 0.25 * a, 1.0 + a / c:
        expected = dense(columns, expected) / scale
    np.testing.assert_allclose(x, expected, rtol=1e-12)
    assert len([s for s in solve.ir.steps if isinstance(s, ir.Assignment)]) == 3


@pytest.mark.parametrize(("axis", "line"), [(1, r"\(1, :\) at i = 3"), (0, r"\(:, 3\) at j = 1")])
def test_debug_build_names_the_line_and_the_point_where_a_pivot_vanishes(
    axis: int, line: str
) -> None:
    """That in row (1, 3): it is the entry on the diagonal less one over the pivot before."""
    rows = ssr.axis_stencil(plane, plane, axis, {-1: 1.0, 1: 1.0}, outside="zero")

    @ssr.program(x=plane, d=plane, options=ssr.Options(debug=True))
    def solve(x: Any, d: Any) -> None:
        x[:] = (rows + ssr.diagonal(plane, d)).solve(x)

    d, x = np.full((3, 5), 4.0), b[:3, :5].copy()
    solve(x, d)
    whole = (rows + ssr.diagonal(plane, d)).to_scipy().toarray()
    np.testing.assert_allclose(x.ravel(), np.linalg.solve(whole, b[:3, :5].ravel()), rtol=1e-12)
    d[1, :4] = 1.0, 2.0, 2.0, 1.0
    d[0, 3] = 1.0
    with pytest.raises(errors.SingularMatrixError, match=rf"that is zero, on the line {line}"):
        solve(np.ones((3, 5)), d)


def test_debug_build_names_the_place_of_a_vanishing_pivot_of_a_block() -> None:
    V = plane.vector(2)

    @ssr.matrix(rows=V, cols=V, d=plane)
    def A(j: Any, i: Any, *, d: Any) -> Any:
        yield (j, i), [[1.0, 2.0], [3.0, d[j, i]]]
        for c in (j, i - 1), (j, i + 1):
            if c in plane:
                yield c, [[0.0, 0.0], [0.0, 0.5 * d[c] - 3.0]]

    @ssr.program(x=V, d=plane, options=ssr.Options(debug=True))
    def solve(x: Any, d: Any) -> None:
        x[:] = A.bind(d=d).solve(x)

    d = np.full((3, 5), 8.0)
    d[2, 1:4] = 6.0
    with pytest.raises(errors.SingularMatrixError, match=r"on the line \(2, :\) at i = 1"):
        solve(np.ones((2, 3, 5)), d)


def test_values_that_are_stored_first() -> None:

    @ssr.matrix(rows=plane, cols=plane, a=plane)
    def A(j: Any, i: Any, *, a: Any) -> Any:
        for step in -1, 0, 1:
            if (j, i + step) in plane:
                far = a[j, 0] if step else 2.0
                yield (j, i + step), ssr.exp(0.1 * a[j, i]) * far + (5.0 + 0.1 * i) * int(step == 0)

    @ssr.program(x=plane, b=plane, a=plane)
    def solve(x: Any, b: Any, a: Any) -> None:
        x[:] = A.bind(a=a).solve(ssr.where(b > 0.5, b, ssr.sqrt(b)))

    a, x = np.random.default_rng(4).random((6, 11)), np.full((6, 11), np.nan)
    plain.run(solve, x, b, a)
    expected = dense(A, np.where(b > 0.5, b, np.sqrt(b)), a=a)
    np.testing.assert_allclose(x, expected, rtol=1e-12)


def test_numbers_that_are_the_same_for_all_rows() -> None:
    @ssr.matrix(rows=plane, cols=plane, s=ssr.scalar, q=ssr.scalar)
    def A(j: Any, i: Any, *, s: Any, q: Any) -> Any:
        yield (j, i), 1.0 + 2.0 * s / q**2
        for step in -1, 1:
            if (j, i + step) in plane:
                yield (j, i + step), -s / q**2

    @ssr.program(number=plane, s=ssr.scalar)
    def solve(number: Any, s: Any) -> None:
        q = ssr.max(number)
        number[:] = A.bind(s=s, q=q).solve(number)

    x = b.copy()
    plain.run(solve, x, 2.0)
    np.testing.assert_allclose(x, dense(A, b, s=2.0, q=float(b.max())), rtol=1e-13)


def test_rows_that_differ_between_neighbouring_lines() -> None:
    @ssr.matrix(rows=plane, cols=plane)
    def A(j: Any, i: Any) -> Any:
        yield (j, i), 4.0
        if j > 0 and i + j > 4:
            yield (j - 1, i), -1.0
        if (j + 1, i) in plane and (i + 2 * j) % 3 == 0:
            yield (j + 1, i), -1.0

    np.testing.assert_allclose(plain.solve(A, b), dense(A, b), rtol=1e-13)


def test_lines_of_several_kinds() -> None:
    @ssr.matrix(rows=plane, cols=plane)
    def A(j: Any, i: Any) -> Any:
        yield (j, i), 4.0
        if i % 2 == 0:
            for step in -1, 1:
                if (j + step, i) in plane:
                    yield (j + step, i), -1.0 if i > 3 else -1.5

    for extent in (6, 11), (1, 1), (9, 40):
        right = np.random.default_rng(5).random(extent)
        np.testing.assert_allclose(plain.solve(A, right), dense(A, right), rtol=1e-13)


def test_pivots_that_elimination_makes() -> None:
    V = plane.vector(2)

    @ssr.matrix(rows=V, cols=V)
    def X(j: Any, i: Any) -> Any:
        yield (j, i), [[2.0, 1.0], [1.0, 0]]
        for step in -1, 1:
            if (j, i + step) in plane:
                yield (j, i + step), [[0.1, 0], [0, 0.2]]

    right = np.random.default_rng(6).random((2, 3, 5))
    found = X.solve(right)
    np.testing.assert_allclose(X @ found, right, rtol=1e-12)


def test_boxes_do_not_change_bits() -> None:
    program = columns.program("solve")
    whole, cut = np.empty_like(b), np.empty_like(b)
    plain.run(program, whole, b)
    plain.run(program, cut, b, boxes=ssr.Space(6, 11).split(1, 3))
    assert plain.same(whole, cut)
    with pytest.raises(errors.BoxError, match="cannot be cut along axis 0"):
        program(cut, b, boxes=ssr.Space(6, 11).split(2, 1))


def test_debug_build() -> None:
    program = plain.variant(columns.program("solve"), debug=True)
    found = np.empty_like(b)
    program(found, b)
    assert plain.same(found, columns.solve(b))
    bad = b.copy()
    bad[2, 3] = np.inf
    with pytest.raises(errors.NonFiniteError, match=r"makes (nan|inf|-inf) in"):
        program(found, bad)


def test_columns_along_two_axes() -> None:
    A = ssr.stencil(plane, plane, {(-1, 0): 1, (0, 0): 4, (0, 1): 1}, outside="zero")
    with pytest.raises(errors.NotTriangularError, match=r"lie at \(-1, 0\) and at \(0, 1\)"):
        A.solve(b)
    B = ssr.kron(np.array([[1.0, 2.0], [3.0, 1.0]]), A)
    with pytest.raises(errors.NotTriangularError, match=r"lie at \(-1, 0\) and at \(0, 1\)"):
        B.solve(np.stack([b, b]))


def test_missing_diagonal() -> None:
    A = ssr.stencil(plane, plane, {(-1, 0): 1, (1, 0): 1}, outside="zero")
    with pytest.raises(errors.SingularMatrixError, match="has no diagonal entry in some rows"):
        A.solve(b)


def test_explain() -> None:
    text = columns.program("solve").explain()
    assert "x are found on lines along j, in place." in text
    assert "%c1_0_0[j] = " in text
    assert "lines_0, backward:" in text
    assert "gather(lines" in text


def test_pivots_are_needed_for_sizes_that_are_bound() -> None:
    """A pivot that lines of three points and fewer do not have is needed for no longer ones."""
    n = ssr.size("n")
    line = ssr.Space(n)

    @ssr.matrix(rows=line, cols=line)
    def A(i: Any) -> Any:
        if n > 3:
            yield i, 4.0
        for c in (i - 1), (i + 1):
            if c in line:
                yield c, -1.0

    with pytest.raises(errors.SingularMatrixError, match="no diagonal entry"):
        A.solve(np.ones(8))
    long, blocks = A.bind(n=8), ssr.kron(np.array([[2.0, 1.0], [1.0, 3.0]]), A.bind(n=8))
    np.testing.assert_allclose(long @ long.solve(np.ones(8)), 1.0, rtol=1e-14)
    np.testing.assert_allclose(blocks @ blocks.solve(np.ones((2, 8))), 1.0, rtol=1e-14)
    points = blocks.diagonal()
    np.testing.assert_allclose(points @ points.solve(np.ones((2, 8))), 1.0, rtol=1e-14)
