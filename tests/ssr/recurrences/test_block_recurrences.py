"""Recurrences whose entries are dense blocks, against loops over points written by hand."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr import errors

from .. import plain
from ..interpret import interpret_program
from ..strategies import examples

Array = np.ndarray[Any, Any]

n = ssr.size("n")
line, plane = ssr.Space(n), ssr.Space(*ssr.sizes("nj ni"))
V, W = line.vector(2), plane.vector(2)


def inverse(B: Any) -> Any:
    """Return the inverse of a block of 2 x 2 values."""
    over = 1.0 / (B[0][0] * B[1][1] - B[0][1] * B[1][0])
    return np.array([[B[1][1] * over, -B[0][1] * over], [-B[1][0] * over, B[0][0] * over]])


def lower(u: Any, i: Any) -> Any:
    return -0.5 * np.outer(u[:, i - 1], u[:, i])


def diagonal(u: Any, i: Any) -> Any:
    return 4.0 * np.eye(2) + np.outer(u[:, i], u[:, i])


def upper(u: Any, i: Any) -> Any:
    return np.array([[u[0, i], 0.0], [1.0, u[1, i + 1]]])


@ssr.recurrence(rows=V, cols=V, u=V)
def LU(i: Any, done: Any, *, u: Any) -> Any:
    """Factorize a matrix of three diagonals of blocks."""
    D = diagonal(u, i)
    if i > 0:
        L = lower(u, i) @ inverse(done[i - 1, i - 1])
        yield i - 1, L
        D = D - L @ done[i - 1, i]
    yield i, D
    if i < n - 1:
        yield i + 1, upper(u, i)


def computed(recurrence: ssr.BlockRecurrence, **sizes: int) -> ssr.BlockRecurrence:
    """Return a recurrence with its numbers made by plain Python."""
    kind = recurrence.entries
    out = np.full((kind.components, *kind.space.extent(sizes)), np.nan)
    plain.run(recurrence.numbers.program("compute"), out)
    return recurrence.bind(**{recurrence.name: out})


@pytest.mark.parametrize("count", [1, 2, 7])
def test_factors_of_a_tridiagonal_matrix(count: int) -> None:
    u = np.random.default_rng(count).random((2, count))
    A = np.zeros((count, 2, count, 2))
    for i in range(count):
        A[i, :, i] = diagonal(u, i)
        if i > 0:
            A[i, :, i - 1] = lower(u, i)
        if i < count - 1:
            A[i, :, i + 1] = upper(u, i)
    F = computed(LU.bind(u=u), n=count)
    identity = ssr.kron(np.eye(2), ssr.identity(line))
    product = ((F.tril(-1) + identity) @ F.triu()).to_scipy().toarray()
    whole = A.transpose(1, 0, 3, 2).reshape(2 * count, 2 * count)  # component by component
    np.testing.assert_allclose(product, whole, rtol=1e-13, atol=1e-14)
    definition = LU.bind(u=u).to_scipy().toarray()
    np.testing.assert_allclose(F.to_scipy().toarray(), definition, rtol=1e-13)
    b = np.random.default_rng(0).random((2, count))
    solution = np.linalg.solve(whole, b.ravel()).reshape(2, count)
    x = plain.variant((F.tril(-1) + identity).program("solve"))
    y = np.empty_like(b)
    plain.run(x, *y, *b)
    z = np.empty_like(b)
    plain.run(F.triu().program("solve"), *z, *y)
    np.testing.assert_allclose(z, solution, rtol=1e-12)


def test_compiled_in_a_program_and_interpreted() -> None:
    u, x = np.random.default_rng(5).random((2, 2, 6))
    expected = (LU.bind(u=u).to_scipy() @ x.ravel()).reshape(2, 6)

    @ssr.program(y=V, x=V, u=V)
    def apply(y: Any, x: Any, u: Any) -> None:
        y[:] = LU.bind(u=u).compute() @ x

    y, slow = np.empty_like(x), np.empty_like(x)
    apply(y, x, u)
    np.testing.assert_allclose(y, expected, rtol=1e-13)
    arrays = {f"{name}[{c}]": a[c] for name, a in (("y", slow), ("x", x), ("u", u)) for c in (0, 1)}
    interpret_program(apply.ir, arrays, {}, {"n": 6})
    np.testing.assert_allclose(slow, expected, rtol=1e-13)
    found = LU.bind(u=u).compute()
    np.testing.assert_allclose(found @ x, expected, rtol=1e-13)
    out = np.empty((LU.entries.components, 6))
    LU.bind(u=u).compute(out)
    np.testing.assert_allclose(LU.bind(u=u, LU=out) @ x, expected, rtol=1e-13)


@st.composite
def recipes(draw: Any) -> tuple[tuple[tuple[int, int], ...], tuple[Any, ...]]:
    """Return earlier columns of a row, and how blocks there are made of earlier ones."""
    before = st.sampled_from([(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, -2)])
    columns = tuple(sorted(draw(st.sets(before, min_size=1, max_size=3))))
    made = st.tuples(before, st.sampled_from([(0, 0), *columns]), st.booleans())
    return columns, tuple(draw(st.lists(made, min_size=1, max_size=2)))


def rows(recipe: Any, here: Any, done: Any, u: Any, there: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a row, in loops by hand and in the generator; they differ in what is ``done``."""
    columns, made = recipe
    for offset in (*columns, (0, 0)):
        column = (here[0] + offset[0], here[1] + offset[1])
        if not there(column):
            continue
        block = 0.5 * np.outer(u[(slice(None), *here)], u[(slice(None), *column)]) + np.eye(2)
        for back, to, transposed in made:
            row = (here[0] + back[0], here[1] + back[1])
            far = (row[0] + to[0], row[1] + to[1])
            if there(row) and there(far):
                earlier = done[row, far]
                block = block + 0.25 * (earlier.T if transposed else earlier @ block)
        yield column, block


@given(recipes(), st.integers(1, 3), st.integers(1, 4))
@examples(10)
def test_drawn_recurrences(recipe: Any, nj: int, ni: int) -> None:
    @ssr.recurrence(rows=W, cols=W, u=W)
    def R(j: Any, i: Any, done: Any, *, u: Any) -> Any:
        yield from rows(recipe, (j, i), done, u, lambda c: c in plane)

    u = np.random.default_rng(nj + 5 * ni).random((2, nj, ni))
    made: dict[Any, Any] = {}

    class Earlier:
        def __getitem__(self, place: Any) -> Array:
            return made.get(place, np.zeros((2, 2)))

    whole = np.zeros((2, nj, ni, 2, nj, ni))
    for here in np.ndindex(nj, ni):
        inside = lambda c: 0 <= c[0] < nj and 0 <= c[1] < ni  # noqa: E731
        for column, block in rows(recipe, here, Earlier(), u, inside):
            made[here, column] = block
            whole[(slice(None), *here, slice(None), *column)] = block
    expected = whole.reshape(2 * nj * ni, 2 * nj * ni)
    bound = R.bind(u=u)
    np.testing.assert_allclose(bound.to_scipy().toarray(), expected, rtol=1e-12)
    F = computed(bound, nj=nj, ni=ni) if bound.numbers.made else bound
    x = np.random.default_rng(1).random((2, nj, ni))
    y = np.empty_like(x)
    plain.run(F.program("apply"), *y, *x)
    np.testing.assert_allclose(y.ravel(), expected @ x.ravel(), rtol=1e-12)


def test_rows_that_are_not_made() -> None:
    with pytest.raises(errors.UnmadeRowError, match=r"row \(i\), which has not been computed yet"):

        @ssr.recurrence(rows=V, cols=V)
        def R(i: Any, done: Any) -> Any:
            yield i, done[i, i]


def test_a_pivot_that_is_zero() -> None:
    with pytest.raises(errors.SingularMatrixError, match="divides by its entry"):

        @ssr.recurrence(rows=V, cols=V)
        def R(i: Any, done: Any) -> Any:
            yield i, np.array([[1.0, 2.0], [0.0, 0.0]])
            if i > 0:
                yield i - 1, np.array([[1.0 / done[i - 1, i - 1][1, 1], 0.0], [0.0, 0.0]])


def test_what_is_shown() -> None:
    assert repr(LU).startswith("<BlockMatrix LU: Space(n).vector(2) -> Space(n).vector(2), ")
    assert LU.entries == line.vector(10)


def test_rows_of_other_matrices_in_the_definition() -> None:
    """Rows of a scalar matrix are read in blocks too, on symbols and on integers."""
    line = ssr.Space(4)
    pair = line.vector(2)
    A = ssr.stencil(line, line, {-1: -1.0, 0: 4.0, 1: -1.0}, outside="zero")

    @ssr.recurrence(rows=pair, cols=pair)
    def lower(i: Any, done: Any) -> Any:
        row = A.row(i)
        for c in row:
            if c < i:
                yield c, row[c] * done[c, c] + np.ones((2, 2))
            elif c == i:
                yield i, row[c] * np.eye(2)

    x = np.arange(8.0).reshape(2, 4)
    np.testing.assert_array_equal(
        lower.compute() @ x, (lower.to_scipy(definition=True) @ x.ravel()).reshape(2, 4)
    )
