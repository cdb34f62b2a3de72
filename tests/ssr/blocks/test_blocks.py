"""Block matrices against dense matrices built point by point, without staging."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.blocks.component_spaces import parts, spaces
from ssr.symbols.symbolic import jacobian

from .. import plain
from ..errors.mistakes import Mistakes, T, cells, check, five, line, ones
from ..strategies import examples

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
n = ssr.size("n")
pair, triple = line.vector(2), line.vector(3)
mistake = Mistakes()


def flux(q: Any, g: float = 10.0) -> Any:
    h, hu = q
    return hu, hu**2 / h + g * h**2 / 2


F = jacobian(flux)


@ssr.matrix(rows=pair, cols=pair, u=pair, dt=ssr.scalar)
def X(i: Any, *, u: Any, dt: Any) -> Any:
    yield i, np.eye(2) + 2 * dt * np.outer(u[:, i], u[:, i]) + np.diag([u[0, i], 0])
    if i > 0:
        yield i - 1, -dt * F(u[:, i - 1])
    if i < n - 1:
        yield i + 1, dt * F(u[:, i + 1])


def slow(u: Array, dt: float) -> Array:
    """Return X as a dense matrix, from its blocks at each point."""
    count = u.shape[1]
    found = np.zeros((2, count, 2, count))
    for i in range(count):
        outer = np.outer(u[:, i], u[:, i])
        found[:, i, :, i] = np.eye(2) + 2 * dt * outer + np.diag([u[0, i], 0])
        for k, sign in (i - 1, -1), (i + 1, 1):
            if 0 <= k < count:
                (h, q) = u[:, k]
                jac = np.array([[0, 1], [10 * h - (q / h) ** 2, 2 * q / h]])
                found[:, i, :, k] = sign * dt * jac
    return found.reshape(2 * count, 2 * count)


u = rng.random((2, 4)) + 1
B, S = X.bind(u=u, dt=0.1), slow(u, 0.1)


def run(matrix: ssr.BlockMatrix, x: Any, what: Any = "apply") -> Any:
    """Return ``X @ x`` or ``X.solve(x)`` as one flat array, by plain Python."""
    source, target = (matrix.cols, matrix.rows) if what == "apply" else (matrix.rows, matrix.cols)
    sizes = dict.fromkeys(matrix.sizes, 4)
    made = [np.full(space.extent(sizes), np.nan) for space in spaces(target)]
    plain.run(matrix.program(what), *made, *parts(source, x, "test"))
    return np.concatenate([y.ravel() for y in made])


def test_entries_are_those_of_the_definition() -> None:
    np.testing.assert_allclose(B.to_scipy().toarray(), S, 1e-15)
    x = rng.standard_normal((2, 4))
    np.testing.assert_allclose(run(B, x), S @ x.ravel(), 1e-14, 1e-14)
    assert B.shape == (8, 8)


def test_zeros_of_a_jacobian_are_no_entries() -> None:
    assert len(X[0, 0].families) == 1
    assert [str(f.column[0]) for f in X[0, 1].families] == ["-1 + i", "i", "1 + i"] or len(
        X[0, 1].families
    ) == 3


def test_compiled_and_as_an_operator() -> None:
    x, y = rng.standard_normal((2, 2, 4))
    np.testing.assert_allclose((B @ x).ravel(), S @ x.ravel(), 1e-14, 1e-14)
    first, second = B @ (x[0], x[1])
    np.testing.assert_array_equal(np.array([first, second]), B @ x)
    operator = B.aslinearoperator()
    np.testing.assert_allclose(operator.matvec(x.ravel()), S @ x.ravel(), 1e-14, 1e-14)
    forth, back = y.ravel() @ operator.matvec(x.ravel()), operator.rmatvec(y.ravel()) @ x.ravel()
    np.testing.assert_allclose(forth, back, 1e-13)


@pytest.mark.parametrize(
    ("made", "dense"),
    [
        (B + 2.0 * B, 3 * S),
        (B - B.T, S - S.T),
        (-B / 4.0, -S / 4),
        (B @ B, S @ S),
        (B**3, S @ S @ S),
        ((B.bind(n=4)) ** 0, np.eye(8)),
        (T.bind(n=4) @ B, np.kron(np.eye(2), T.bind(n=4).to_scipy().toarray()) @ S),
        (B @ T.bind(n=4), S @ np.kron(np.eye(2), T.bind(n=4).to_scipy().toarray())),
        (B[0, :], S[:4]),
        (B[:, 1], S[:, 4:]),
        (B[::-1, 1:], np.roll(S, 4, 0)[:, 4:]),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
def test_algebra(made: ssr.BlockMatrix, dense: Array) -> None:
    np.testing.assert_allclose(made.to_scipy().toarray(), dense, 1e-14, 1e-14)
    x = rng.standard_normal(dense.shape[1])
    given = x if isinstance(made.cols, ssr.Space) else x.reshape(-1, 4)
    np.testing.assert_allclose(run(made, given), dense @ x, 1e-13, 1e-13)


def test_triangles_are_of_points() -> None:
    places = np.tile(np.arange(4), 2)
    below, at = places[:, None] > places, places[:, None] == places
    for made, mask in (
        (B.tril(), below | at),
        (B.tril(-1), below),
        (B.diagonal(), at),
        (B.triu(1), ~below & ~at),
        (B.triu(), ~below),
    ):
        np.testing.assert_allclose(made.to_scipy().toarray(), np.where(mask, S, 0), 1e-15)
    assert X.equals(X.tril(-1) + X.diagonal() + X.triu(1))
    assert not X.equals(X.T)
    assert not X.equals(X[0, 0])


def test_kronecker_product_with_an_array() -> None:
    M = np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 3.0]])
    K = ssr.kron(M, T)
    assert K.rows == pair
    assert K.cols == triple
    assert not K[0, 1].families
    dense = np.kron(M, T.bind(n=4).to_scipy().toarray())
    np.testing.assert_array_equal(K.bind(n=4).to_scipy().toarray(), dense)
    x = rng.standard_normal((3, 4))
    np.testing.assert_allclose(run(K, x), dense @ x.ravel(), 1e-14, 1e-14)


def test_functions_of_arrays_of_values() -> None:
    @ssr.matrix(rows=pair, cols=pair, u=pair)
    def A(i: Any, *, u: Any) -> Any:
        roots = np.sqrt(u[:, i]) + ssr.maximum(u[:, i], 1.5)
        yield (
            i,
            np.outer(roots, np.exp(-u[:, i])) + i * np.eye(2) + np.array([[u[0, i], 1], [0, 2]]),
        )

    roots = np.sqrt(u) + np.maximum(u, 1.5)
    blocks = np.einsum("ci,di->cdi", roots, np.exp(-u)) + np.arange(4) * np.eye(2)[..., None]
    blocks += np.array([[u[0], np.ones(4)], [np.zeros(4), np.full(4, 2.0)]])
    x = rng.standard_normal((2, 4))
    expected = np.einsum("cdi,di->ci", blocks, x)
    np.testing.assert_allclose(run(A.bind(u=u), x), expected.ravel(), 1e-13)


def test_rows_or_columns_without_components() -> None:
    @ssr.matrix(rows=pair, cols=line, u=pair)
    def up(i: Any, *, u: Any) -> Any:
        yield i, u[:, i]

    @ssr.matrix(rows=line, cols=pair)
    def down(i: Any) -> Any:
        yield i, [[1.0, i]]

    @ssr.matrix(rows=line, cols=line, u=pair)
    def scalar(i: Any, *, u: Any) -> Any:
        yield i, u[1, i] - u[-2, i]

    x = rng.standard_normal(4)
    np.testing.assert_allclose(run(up.bind(u=u), x).reshape(2, 4), u * x, 1e-15)
    np.testing.assert_allclose(run(down, u), u[0] + np.arange(4) * u[1], 1e-15)
    both = (down @ up).bind(u=u)
    np.testing.assert_allclose(run(both, x), (u[0] + np.arange(4) * u[1]) * x, 1e-15)
    operator = down.bind(n=4).aslinearoperator()
    np.testing.assert_allclose(operator.matvec(u.ravel()), u[0] + np.arange(4) * u[1], 1e-15)
    np.testing.assert_allclose(operator.rmatvec(x).reshape(2, 4), [x, np.arange(4) * x], 1e-15)
    assert isinstance(scalar, ssr.Matrix)
    dense = scalar.bind(u=u).to_scipy().toarray()
    np.testing.assert_array_equal(dense, np.diag(u[1] - u[0]))


def saddle() -> tuple[ssr.BlockMatrix, Array]:
    """Return a saddle point over faces and cells, and the same as a dense matrix."""
    faces = line.faces(axis=0)

    @ssr.matrix(rows=faces, cols=line)
    def gradient(i: Any) -> Any:
        if i > 0:
            yield i - 1, -1.0
        if i < n:
            yield i, 1.0

    K = ssr.block([[2.0 * ssr.identity(faces), gradient], [gradient.T, None]])
    G = np.zeros((5, 4))
    for i in range(4):
        G[i, i], G[i + 1, i] = 1, -1
    return K, np.block([[2 * np.eye(5), G], [G.T, np.zeros((4, 4))]])


def test_blocks_on_several_spaces() -> None:
    K, dense = saddle()
    np.testing.assert_array_equal(K.bind(n=4).to_scipy().toarray(), dense)
    w, p = rng.standard_normal(5), rng.standard_normal(4)
    found = K @ (w, p)
    np.testing.assert_allclose(np.concatenate(found), dense @ np.concatenate([w, p]), 1e-14, 1e-14)
    assert K.bind(n=4).T.equals(K.T.bind(n=4))
    np.testing.assert_allclose((K @ K).bind(n=4).to_scipy().toarray(), dense @ dense, 1e-14, 1e-14)
    nested = ssr.block([[K, None], [None, T]], cols=None)
    assert nested.bind(n=4).shape == (13, 13)
    empty = ssr.block([[None, None]], rows=[line], cols=[line, five])
    assert not any(m.families for m in empty.blocks[0])


def test_a_block_at_each_point() -> None:
    """From arrays and numbers, and in a program from a Jacobian, with products and solves."""
    u = np.array([[2.0, 3.0, 5.0], [1.0, -1.0, 4.0]])
    x = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]])
    rows = [[u[0], 0.0], [u[1], 2]]
    B = ssr.diagonal(pair, rows)
    dense = np.array([[u[0], 0 * u[0]], [u[1], 2 + 0 * u[0]]])
    np.testing.assert_allclose(B @ x, np.einsum("rcn,cn->rn", dense, x))
    np.testing.assert_allclose(B.to_scipy() @ x.ravel(), (B @ x).ravel())
    assert [len(m.families) for m in B.definition.every] == [1, 0, 1, 1]

    @ssr.program(y=pair, z=pair, u=pair)
    def apply(y: Any, z: Any, u: Any) -> None:
        J = ssr.diagonal(pair, ssr.jacobian(lambda q: (q[0] ** 2, q[0] * q[1]))(u))
        y[:] = J @ z
        z[:] = J.solve(z)

    y, z = np.empty_like(x), x.copy()
    plain.run(apply, y, z, u)
    jacobian = np.array([[2 * u[0], 0 * u[0]], [u[1], u[0]]]).transpose(2, 0, 1)
    np.testing.assert_allclose(y, np.einsum("nrc,cn->rn", jacobian, x))
    np.testing.assert_allclose(z, np.linalg.solve(jacobian, x.T[..., None])[..., 0].T)


def test_products_in_programs() -> None:
    K, dense = saddle()
    faces = line.faces(axis=0)

    @ssr.program(v=pair, r=pair, w=faces, p=line)
    def step(v: Any, r: Any, w: Any, p: Any) -> None:
        r[:] = v - B @ (v + r)
        w[:], p[:] = K @ (w, p)

    v, r = rng.standard_normal((2, 2, 4))
    w, p = rng.standard_normal(5), rng.standard_normal(4)
    expected = v.ravel() - S @ (v + r).ravel(), dense @ np.concatenate([w, p])
    plain.run(step, v, r, w, p)
    np.testing.assert_allclose(r.ravel(), expected[0], 1e-14, 1e-14)
    np.testing.assert_allclose(np.concatenate([w, p]), expected[1], 1e-14, 1e-14)


def test_data_of_a_program() -> None:
    @ssr.program(v=pair, q=pair, dt=ssr.scalar)
    def step(v: Any, q: Any, dt: Any) -> None:
        v[:] = X.bind(u=q, dt=dt) @ v

    v = rng.standard_normal((2, 4))
    expected = S @ v.ravel()
    plain.run(step, v, u, 0.1)
    np.testing.assert_allclose(v.ravel(), expected, 1e-14, 1e-14)


def test_names_of_data_are_kept_apart() -> None:
    q = rng.random((2, 4)) + 1
    both = X.bind(u=u, dt=0.1) @ X.bind(u=q, dt=0.2)
    dense = S @ slow(q, 0.2)
    np.testing.assert_allclose(both.to_scipy().toarray(), dense, 1e-14, 1e-14)
    assert X.bind(u=u).unbound == ("dt",)
    later = X.bind(u=u, dt=0.1) - X
    assert later.unbound == ("u_1", "dt_1")
    again = later.bind(u_1=q, dt_1=0.2)
    np.testing.assert_allclose(again.to_scipy().toarray(), S - slow(q, 0.2), 1e-14, 1e-14)
    assert B.equals(X.bind(u=u, dt=0.1))


def test_solve_at_each_point() -> None:
    b = rng.standard_normal((2, 4))
    D = B.diagonal()
    dense = D.to_scipy().toarray()
    np.testing.assert_allclose(run(D, b, "solve"), np.linalg.solve(dense, b.ravel()), 1e-13)

    @ssr.program(b=pair)
    def jacobi(b: Any) -> None:
        b[:] = D.solve(2.0 * b)

    expected = 2 * np.linalg.solve(dense, b.ravel())
    plain.run(jacobi, b)
    np.testing.assert_allclose(b.ravel(), expected, 1e-13)


def test_solve_compiled_in_two_dimensions() -> None:
    V = cells.vector(3)

    @ssr.matrix(rows=V, cols=V, a=V)
    def D(j: Any, i: Any, *, a: Any) -> Any:
        yield (j, i), np.outer(a[:, j, i], a[::-1, j, i]) + 4 * np.eye(3)

    a, b = rng.random((2, 3, 4, 5))
    blocks = np.einsum("cji,dji->jicd", a, a[::-1]) + 4 * np.eye(3)
    expected = np.linalg.solve(blocks, np.moveaxis(b, 0, -1)[..., None])[..., 0]
    np.testing.assert_allclose(D.bind(a=a).solve(b), np.moveaxis(expected, -1, 0), 1e-13)


def test_entries_that_are_the_same_number_everywhere() -> None:
    M = np.array([[2.0, 1.0, 0.0], [4.0, 3.0, 0.0], [0.0, 1.0, 1.0]])
    D = ssr.kron(M, ssr.identity(line))
    b = rng.standard_normal((3, 4))
    np.testing.assert_allclose(
        run(D, b, "solve").reshape(3, 4), np.linalg.solve(M, b), 1e-14, 1e-14
    )


def test_a_pivot_may_be_filled_in() -> None:
    @ssr.matrix(rows=pair, cols=pair)
    def D(i: Any) -> Any:
        yield i, [[1, 2], [3, 0]]
        if i > 0:
            yield i, [[0, 0], [0, 1]]

    b = rng.standard_normal((2, 4))
    dense = D.bind(n=4).to_scipy().toarray()
    np.testing.assert_allclose(run(D, b, "solve"), np.linalg.solve(dense, b.ravel()), 1e-13)


@pytest.mark.parametrize("upper", [False, True])
def test_substitution_by_components(upper: bool) -> None:
    L, C = T.tril(), T + ssr.identity(line)
    K = ssr.block([[L, C], [None, T.triu()]]) if upper else ssr.block([[L, None], [C, T.triu()]])
    b = rng.standard_normal((2, 4))
    dense = K.bind(n=4).to_scipy().toarray()
    np.testing.assert_allclose(run(K, b, "solve"), np.linalg.solve(dense, b.ravel()), 1e-13)


@st.composite
def block_stencils(draw: st.DrawFn) -> tuple[int, int, dict[int, Array]]:
    """Draw numbers of components and integer blocks by offset, some of them zero."""
    rows, cols = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    numbers = st.lists(st.integers(-2, 2), min_size=rows * cols, max_size=rows * cols)
    made = draw(st.dictionaries(st.integers(-2, 2), numbers, min_size=1, max_size=3))
    return rows, cols, {o: np.reshape(w, (rows, cols)).astype(float) for o, w in made.items()}


def staged(rows: int, cols: int, taps: dict[int, Array]) -> ssr.BlockMatrix:
    @ssr.matrix(rows=line.vector(rows), cols=line.vector(cols), w=line)
    def made(i: Any, *, w: Any) -> Any:
        for offset, block in taps.items():
            if i + offset in line:
                yield i + offset, block * (w[i] if offset > 0 else 1.0)

    return made


def direct(rows: int, cols: int, taps: dict[int, Array], w: Array) -> Array:
    found = np.zeros((rows, len(w), cols, len(w)))
    for i in range(len(w)):
        for offset, block in taps.items():
            if 0 <= i + offset < len(w):
                found[:, i, :, i + offset] += block * (w[i] if offset > 0 else 1.0)
    return found.reshape(rows * len(w), cols * len(w))


@given(block_stencils(), block_stencils(), st.integers(1, 5))
@examples(15)
def test_random_blocks(left: Any, right: Any, count: int) -> None:
    w = rng.standard_normal(count)
    right = (left[1], right[1], {o: np.resize(t, (left[1], right[1])) for o, t in right[2].items()})
    a, b = (staged(*made).bind(w=w) for made in (left, right))
    p, q = (direct(*made, w) for made in (left, right))
    np.testing.assert_array_equal(a.to_scipy().toarray(), p)
    places = [np.tile(np.arange(count), k) for k in left[:2]]
    mask = places[0][:, None] >= places[1]
    for made, dense in (a @ b, p @ q), (a.T, p.T), (a.tril() - a, np.where(mask, p, 0) - p):
        np.testing.assert_allclose(made.to_scipy().toarray(), dense, 1e-13, 1e-13)
        x = rng.standard_normal((dense.shape[1] // count, count))
        y = [np.full(count, np.nan) for _ in range(dense.shape[0] // count)]
        plain.run(made.program("apply"), *y, *x)
        np.testing.assert_allclose(np.concatenate(y), dense @ x.ravel(), 1e-12, 1e-12)


def test_what_is_shown() -> None:
    assert repr(X) == (
        "<BlockMatrix X: Space(n).vector(2) -> Space(n).vector(2), 10 families, "
        "u=Space(n).vector(2), dt=ssr.scalar>"
    )
    assert "<Matrix X[1, 0]: Space(n) -> Space(n), 3 families" in X.explain("sets")
    assert "y[1][i] = " in X.explain("program")
    assert "x[1], u[0], u[1], dt" in X.explain("program").replace("[0:n]", "") or True


def square(value: Any) -> ssr.BlockMatrix:
    @ssr.matrix(rows=pair, cols=pair)
    def A(i: Any) -> Iterator[Any]:
        yield i, value

    return A


@mistake("""
    ArgumentError: ssr.diagonal on Space(n).vector(2) takes 2 rows of 2 values.
    | ssr.diagonal(pair, [1.0, 2.0])
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: They are the block at each point: fields, or numbers.
""")
def row_for_a_block() -> None:
    ssr.diagonal(pair, [1.0, 2.0])


@mistake("""
    ArgumentError: 2.0 is yielded where a 2 x 2 block is needed.
    | yield i, value
    |          ^^^^^
    Hint: Write value * np.eye(2).
""")
def number_for_a_block() -> None:
    square(2.0)


@mistake("""
    ArgumentError: A 3 x 2 block is yielded where 2 x 2 is needed.
    | yield i, value
    |          ^^^^^
""")
def block_of_another_shape() -> None:
    square(ones(3, 2))


@mistake("""
    ArgumentError: A ragged block is yielded where 2 x 2 is needed.
    | yield i, value
    |          ^^^^^
""")
def ragged_block() -> None:
    square([[1.0, 2.0], [3.0]])


@mistake("""
    DtypeError: 'one' is not a real number.
    | yield i, value
    |          ^^^^^
    Hint: Matrix entries are numbers, scalars, fields and arithmetic of these.
""")
def block_of_something_else() -> None:
    square([[1.0, 2.0], [3.0, "one"]])


@mistake("""
    ArgumentError: Vector field 'u' of 2 components has no component 2.
    | yield i, u[2, i] * np.eye(2)
    |          ^^^^^^^
    Hint: Read u[component, ...] or u[:, ...] at a point.
""")
def component_that_does_not_exist() -> None:
    @ssr.matrix(rows=pair, cols=pair, u=pair)
    def A(i: Any, *, u: Any) -> Any:
        yield i, u[2, i] * np.eye(2)


@mistake("""
    DtypeError: Field 'u' is used as a number.
    | yield i, u * np.eye(2)
    |          ^^^^^^^^^^^^^
    Hint: Read it at a point: u[...].
""")
def vector_field_without_a_point() -> None:
    @ssr.matrix(rows=pair, cols=pair, u=pair)
    def A(i: Any, *, u: Any) -> Any:
        yield i, u * np.eye(2)


@mistake("""
    SpaceError: The blocks of row 0 have rows on other spaces.
    | ssr.block([[T, ssr.identity(five)]])
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: Space(n) and Space(5)
""")
def blocks_with_other_rows() -> None:
    ssr.block([[T, ssr.identity(five)]])


@mistake("""
    ArgumentError: Row 1 of the blocks has only None.
    | ssr.block([[T], [None]])
    | ^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Give the spaces of all: ssr.block(..., rows=[...], cols=[...]).
""")
def row_of_nothing() -> None:
    ssr.block([[T], [None]])


@mistake("""
    ArgumentError: ssr.block takes rows of equally many matrices.
    | ssr.block([[T, T], [T]])
    | ^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Write ssr.block([[A, B], [C, None]]).
""")
def ragged_assembly() -> None:
    ssr.block([[T, T], [T]])


@mistake("""
    ArgumentError: ssr.block takes matrices and None, not float.
    | ssr.block([[T, 1.0]])
    | ^^^^^^^^^^^^^^^^^^^^^
    Hint: A number in every diagonal entry is number * ssr.identity(space).
""")
def number_for_a_matrix() -> None:
    ssr.block([[T, 1.0]])


@mistake("""
    ArgumentError: X + stencil: expected two block matrices.
    | T + X
    | ^^^^^
    Hint: The same matrix for every component is ssr.kron(np.eye(n), A).
""")
def sum_with_a_matrix() -> None:
    T + X


@mistake("""
    SpaceError: X @ kron(array, stencil): the columns of the first are not the rows of the second.
    | X @ ssr.kron(ones(3, 2), T)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: Space(n).vector(2) and Space(n).vector(3)
""")
def product_of_other_components() -> None:
    X @ ssr.kron(ones(3, 2), T)


@mistake("""
    ArgumentError: X is multiplied or divided by ndarray, not by a number.
    | X * ones(2)
    | ^^^^^^^^^^^
    Hint: The matrix product is written `@`; the same array at every point is ssr.kron(array, \
ssr.identity(space)).
""")
def multiplied_by_an_array() -> None:
    X * ones(2)


@mistake("""
    ArgumentError: X of 2 x 2 blocks has no part [0, 2].
    | X[0, 2]
    | ^^^^^^^
    Hint: X[r, c] is the matrix between two components; slices choose several.
""")
def block_that_does_not_exist() -> None:
    X[0, 2]


@mistake("""
    SpaceError: [[stencil, None], [None, identity]].tril needs one space for all components.
    | K.tril()
    | ^^^^^^^^
    Note: rows (Space(n), Space(5)), columns (Space(n), Space(5))
    Hint: Points are compared; a part of the blocks is X[r, c] or X[1:, :].
""")
def triangle_over_several_spaces() -> None:
    K = ssr.block([[T, None], [None, ssr.identity(five)]])
    K.tril()


@mistake("""
    ShapeError: Array 'x' has shape (3, 4).
    | X @ ones(3, 4)
    | ^^^^^^^^^^^^^^
    Note: its space is Space(n).vector(2)
    Hint: The first axis has length 2: one array for each component.
""")
def operand_of_other_components() -> None:
    X @ ones(3, 4)


@mistake("""
    UnboundError: Matrix X needs a value for 'u'.
    | X @ ones(2, 4)
    | ^^^^^^^^^^^^^^
    Hint: Bind it: X.bind(u=...).
""")
def product_without_data() -> None:
    X @ ones(2, 4)


@mistake("""
    ArgumentError: X has no data named 'v'.
    | X.bind(v=1.0)
    | ^^^^^^^^^^^^^
    Hint: It has dt, n, u, u[0], u[1].
""")
def data_that_is_not_declared() -> None:
    X.bind(v=1.0)


@mistake("""
    NotTriangularError: kron(array, stencil).solve needs a triangular matrix, or one with columns \
along one axis only; kron(array, stencil) is neither.
    | B.solve(ones(2, 3, 4))
    | ^^^^^^^^^^^^^^^^^^^^^^
    Note: (j - 1, i) comes before the row for 0 < j < ny and 0 <= i < nx; (j, i + 1) after it for \
0 <= j < ny and 0 <= i <= -2 + nx; columns lie at (-1, 0) and at (0, 1) from the row
    Hint: Solve with kron(array, stencil).tril() or kron(array, stencil).triu(), or use an \
iterative solver.
""")
def solve_that_couples_points() -> None:
    plane = ssr.Space(*ssr.sizes("ny nx"))
    A = ssr.stencil(plane, plane, {(-1, 0): -1, (0, 0): 4, (0, 1): -1}, outside="zero")
    B = ssr.kron(np.array([[2.0, 1.0], [1.0, 2.0]]), A)
    B.solve(ones(2, 3, 4))


@mistake("""
    SingularMatrixError: kron(array, identity) has no pivot in component 1, so it cannot be solved.
    | D.solve(ones(2, 4))
    | ^^^^^^^^^^^^^^^^^^^
    Note: The number there is zero.
    Hint: Elimination is without pivoting; put the components into another order.
""")
def solve_with_a_singular_block() -> None:
    D = ssr.kron(ones(2, 2), ssr.identity(line))
    D.solve(ones(2, 4))


@mistake("""
    SingularMatrixError: D has no pivot in component 0, so it cannot be solved.
    | D.solve(ones(2, 4))
    | ^^^^^^^^^^^^^^^^^^^
    Note: It is missing for i = 0 and n > 0.
    Hint: Elimination is without pivoting; put the components into another order.
""")
def solve_without_a_pivot() -> None:
    @ssr.matrix(rows=pair, cols=pair)
    def D(i: Any) -> Any:
        yield i, [[0, 1], [1, 0]]
        if i > 0:
            yield i, np.eye(2)

    D.solve(ones(2, 4))


@pytest.mark.parametrize(("function", "text"), mistake.cases)
def test_message(function: Any, text: str) -> None:
    check(function, text)
