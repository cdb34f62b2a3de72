"""Products, transposes, parts and Kronecker products against the same built from SciPy."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr import ir
from ssr.algebra import operations
from ssr.errors import UnsupportedError

from .. import memory, plain
from .. import strategies as some
from ..registry import CASES, line, n, nx, ny, nz, plane
from .test_matrix_oracle import SQUARE, check_product, definition, other

Array = np.ndarray[Any, Any]
Sizes = dict[str, int]


def check(matrix: ssr.Matrix, meant: Any, size: Any, sizes: Sizes) -> None:
    """Compare a definition with SciPy's matrix to rounding, then the kernel's product."""
    made = definition(matrix, sizes)
    assert made.shape == meant.shape
    assert abs(made - meant).max() <= 1e-14 * abs(size).max()
    check_product(matrix, meant, 3 * size, sizes)


@pytest.mark.parametrize("name", CASES)
def test_transpose(name: str) -> None:
    case = CASES[name]
    for sizes in case.sizes:
        A = case.bound(sizes)
        meant = definition(A, sizes).T.tocsr()
        check(A.T, meant, abs(meant), sizes)
        assert A.T.T.equals(A)


@pytest.mark.parametrize("name", CASES)
def test_adjoint_is_exact_on_integers(name: str) -> None:
    """``<A x, y> = <x, A^T y>``: no term is lost, none is there twice."""
    case = CASES[name]
    if case.fields or case.scalars:
        pytest.skip("entries are no integers")
    for sizes in case.sizes:
        A = 20 * case.bound(sizes)
        rng = np.random.default_rng(7)
        x, y = (rng.integers(-9, 9, s.extent(sizes)).astype(float) for s in (A.cols, A.rows))
        left = np.vdot(plain.apply(A, x, y.shape), y)
        assert left == np.vdot(x, plain.apply(A.T, y, x.shape))


LARGE = ("hpcg", "poisson_4d")
"""Matrices whose squares are lowered in many seconds."""

NORMAL = [name for name, case in CASES.items() if not case.slow and name not in LARGE]


@pytest.mark.parametrize("name", NORMAL)
def test_normal_equations(name: str) -> None:
    case = CASES[name]
    for sizes in case.sizes:
        A = case.bound(sizes)
        S = definition(A, sizes)
        made = A.T @ A
        check(made, S.T @ S, abs(S.T) @ abs(S), sizes)
        assert made.T.equals(made)


@pytest.mark.parametrize("name", [name for name in SQUARE if name in NORMAL])
def test_products_and_powers(name: str) -> None:
    case = CASES[name]
    sizes = case.sizes[-1]
    A = case.bound(sizes)
    B = other(A)
    S, T = definition(A, sizes), definition(B, sizes)
    check(B @ A, T @ S, abs(T) @ abs(S), sizes)
    check(A @ B - 2 * A, S @ T - 2 * S, abs(S) @ abs(T) + 2 * abs(S), sizes)
    assert (A**2).equals(A @ A)
    assert (A**1).equals(A)
    assert (A**0).equals(ssr.identity(A.rows))
    assert ((A + B) @ A).equals(A @ A + B @ A)


def test_power_of_a_bound_matrix() -> None:
    A = CASES["poisson_1d"].make().bind(n=5)
    S = A.to_scipy().toarray()
    for k in range(5):
        np.testing.assert_allclose((A**k).to_scipy().toarray(), np.linalg.matrix_power(S, k), 1e-15)
        x = np.arange(5.0)
        np.testing.assert_allclose(plain.apply(A**k, x, (5,)), np.linalg.matrix_power(S, k) @ x)


def test_powers_of_small_grids_have_few_entries() -> None:
    """Bounds count the entries of a grid: high powers of small matrices are computed."""
    A = ssr.stencil(three := ssr.Space(3), three, {-1: 0.5, 1: 0.5}, outside="zero")
    dense = np.linalg.matrix_power(A.to_scipy().toarray(), 60)
    np.testing.assert_allclose((A**60).to_scipy().toarray(), dense, 1e-13)


def test_products_with_too_many_kinds_of_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "KINDS", 10)
    A = CASES["poisson_1d"].make()
    B = A @ A
    with pytest.raises(UnsupportedError, match=r"has 13 kinds of entries; 10 are supported") as e:
        A @ B
    assert "A @ (B @ x)" in str(e.value)


def test_a_product_is_associative() -> None:
    R, P = CASES["restriction"].make(), CASES["prolongation"].make()
    assert ((P @ R) @ P).equals(P @ (R @ P))
    assert (P @ R).T.equals(R.T @ P.T)


# -- multigrid -----------------------------------------------------------------------------------


def odd(extents: Any) -> ssr.Space:
    """Return the fine points between and at the coarse points."""
    return ssr.Space(*(2 * e - 1 for e in extents))


def even(extents: Any) -> ssr.Space:
    """Return two fine points for each coarse point."""
    return ssr.Space(*(2 * e for e in extents))


def prolongation(coarse: ssr.Space, fine: ssr.Space) -> ssr.Matrix:
    """Return linear interpolation from the even points, zero outside."""

    @ssr.matrix(rows=fine, cols=coarse)
    def P(*index: Any) -> Any:
        def entries(axis: int, column: tuple[Any, ...], weight: float) -> Any:
            if axis == fine.ndim:
                if column in coarse:
                    yield column, weight
            elif index[axis] % 2 == 0:
                yield from entries(axis + 1, (*column, index[axis] // 2), weight)
            else:
                yield from entries(axis + 1, (*column, index[axis] // 2), weight / 2)
                yield from entries(axis + 1, (*column, index[axis] // 2 + 1), weight / 2)

        yield from entries(0, (), 1.0)

    return P


def stencil(space: ssr.Space) -> ssr.Matrix:
    weights = {o: -1.0 if any(o) else 9.0 for o in product((-1, 0, 1), repeat=space.ndim)}
    return ssr.stencil(space, space, weights, outside="zero")


GALERKIN: dict[str, tuple[tuple[Any, ...], Callable[[Any], ssr.Space], tuple[Sizes, ...]]] = {
    "1d odd": ((n,), odd, ({"n": 1}, {"n": 2}, {"n": 3}, {"n": 8})),
    "1d even": ((n,), even, ({"n": 1}, {"n": 2}, {"n": 3}, {"n": 8})),
    "1d literal": ((4,), odd, ({},)),
    "2d odd": ((ny, nx), odd, ({"ny": 1, "nx": 2}, {"ny": 4, "nx": 3})),
    "2d even": ((ny, nx), even, ({"ny": 2, "nx": 1}, {"ny": 3, "nx": 4})),
    "2d mixed": ((3, nx), even, ({"nx": 1}, {"nx": 5})),
    "3d odd": ((nz, ny, nx), odd, ({"nz": 2, "ny": 1, "nx": 3}, {"nz": 3, "ny": 4, "nx": 3})),
}


@pytest.mark.parametrize("name", GALERKIN)
def test_galerkin(name: str) -> None:
    extents, kind, found = GALERKIN[name]
    fine = kind(extents)
    P, A = prolongation(ssr.Space(*extents), fine), stencil(fine)
    R = 0.5 * P.T
    coarse = R @ A @ P
    assert coarse.T.equals(coarse)
    for sizes in found:
        p, a = definition(P, sizes), definition(A, sizes)
        check(R, 0.5 * p.T, abs(p.T), sizes)
        check(P, p, abs(p), sizes)
        check(coarse, 0.5 * p.T @ a @ p, abs(p.T) @ abs(a) @ abs(p), sizes)


def test_galerkin_of_varying_coefficients() -> None:
    coarse, fine = ssr.Space(n), odd((n,))

    @ssr.matrix(rows=fine, cols=fine, k=fine.grow(0).faces(axis=0), s=ssr.scalar)
    def A(i: Any, *, k: Any, s: Any) -> Any:
        yield i, k[i] + k[i + 1] + s
        if i > 0:
            yield i - 1, -k[i]
        if i + 1 in fine:
            yield i + 1, -k[i + 1]

    P = prolongation(coarse, fine)
    for count in 1, 2, 5:
        sizes = {"n": count}
        k = np.random.default_rng(3).uniform(0.5, 1.5, 2 * count)
        bound = A.bind(k=k, s=0.125)
        p, a = definition(P, sizes), definition(bound, sizes)
        check(P.T @ bound @ P, p.T @ a @ p, abs(p.T) @ abs(a) @ abs(p), sizes)


def test_smoothing_with_a_product() -> None:
    """A product can be solved with where it is triangular."""
    A = CASES["poisson_1d"].make().bind(n=6)
    made = (A.tril() @ A.tril()).bind(n=6)
    b = np.arange(6.0)
    expected = np.linalg.solve(made.to_scipy().toarray(), b)
    plain.check_close(plain.solve(made, b), expected, 1.0, 1e-14)


def test_size_between_two_factors() -> None:
    """A size that is in neither space of the product is given by ``bind``."""
    m = ssr.size("m")
    long = ssr.Space(m)

    @ssr.matrix(rows=line, cols=long)
    def R(i: Any) -> Any:
        if i < m:
            yield i, 2.0

    made = (R @ R.T).bind(m=3)
    assert made.sizes == ("m", "n")
    np.testing.assert_array_equal(plain.apply(made, np.ones(5), (5,)), [4, 4, 4, 0, 0])
    np.testing.assert_array_equal(plain.apply(made, np.ones(2), (2,)), [4, 4])
    check(
        made,
        sparse.diags_array([4.0, 4, 4, 0, 0]).tocsr(),
        4 * sparse.csr_array(sparse.eye_array(5)),
        {"n": 5},
    )


# -- data ----------------------------------------------------------------------------------------


def test_data_of_both_factors() -> None:
    rng = np.random.default_rng(4)
    u, v = rng.uniform(-1, 1, (2, 3, 4))
    D, A = ssr.diagonal(plane), CASES["poisson_2d"].make()
    sizes = {"ny": 3, "nx": 4}
    made = D.bind(d=u) @ A @ D.bind(d=v)
    S = definition(A, sizes)
    check(made, sparse.diags(u.ravel()) @ S @ sparse.diags(v.ravel()), abs(S), sizes)
    assert set(made.definition.data) == {"d", "d_1"}
    assert made.T.T.equals(made)


def test_diagonal_of_an_array_and_of_a_programs_field() -> None:
    d = np.arange(1.0, 5.0)
    D = ssr.diagonal(ssr.Space(4), d)
    np.testing.assert_array_equal(D.to_scipy().toarray(), np.diag(d))
    A = CASES["poisson_1d"].make()

    @ssr.program(y=line, x=line, k=line)
    def scaled(y: Any, x: Any, k: Any) -> None:
        y[:] = (ssr.diagonal(line, k) @ A).T @ x

    y, x = np.zeros(4), np.arange(4.0)
    plain.run(scaled, y, x, d)
    meant = (np.diag(d) @ definition(A, {"n": 4}).toarray()).T @ x
    np.testing.assert_allclose(y, meant, 1e-14)


def test_multiples_by_scalars_are_collected() -> None:
    A = CASES["poisson_1d"].make()

    @ssr.program(y=line, x=line, a=ssr.scalar)
    def squared(y: Any, x: Any, a: Any) -> None:
        made = (a * A) @ (a * A)
        assert len(made.families) == len((A @ A).families)
        y[:] = made @ x

    y, x = np.zeros(4), np.arange(4.0)
    plain.run(squared, y, x, 0.5)
    np.testing.assert_allclose(y, 0.25 * definition(A @ A, {"n": 4}) @ x, 1e-14)


# -- parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["poisson_2d", "diffusion", "helpers"])
def test_part(name: str) -> None:
    case, inner = CASES[name], plane.grow(-1)
    sizes = {"ny": 4, "nx": 5}
    A = case.bound(sizes)
    S = definition(A, sizes)
    cells = np.arange(20).reshape(4, 5)
    inside = cells[1:-1, 1:-1].ravel()
    lower = cells[:-1].ravel()
    for made, meant in (
        (A[inner, inner], S[inside][:, inside]),
        (A[inner, :], S[inside]),
        (A[:, plane.grow((0, -1), 0)], S[:, lower]),
        (A[:, inner].T, S[:, inside].T.tocsr()),
        (A[:, inner] @ A[inner, :], S[:, inside] @ S[inside]),
    ):
        check(made, meant, abs(S).max() * abs(meant) + abs(meant), sizes)


def test_part_of_wide_columns() -> None:
    wide = line.grow(1)
    A = ssr.stencil(line, wide, {-1: -1, 0: 2, 1: -1})
    assert A[:, line].equals(CASES["poisson_1d"].make())
    ends = A[:, wide.grow((0, -1))]
    np.testing.assert_array_equal(
        definition(ends, {"n": 3}).toarray(), [[-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 2]]
    )


# -- Kronecker products --------------------------------------------------------------------------

FACTORS = ["poisson_1d", "restriction", "prolongation", "scalars", "repeated"]


@pytest.mark.parametrize(("left", "right"), [*product(FACTORS, FACTORS)])
def test_kron_of_lines(left: str, right: str) -> None:
    sizes = {"n": 3}
    A, B = CASES[left].bound(sizes), CASES[right].bound(sizes)
    S, T = definition(A, sizes), definition(B, sizes)
    check(ssr.kron(A, B), sparse.kron(S, T).tocsr(), sparse.kron(abs(S), abs(T)).tocsr(), sizes)


def test_kron_in_four_dimensions() -> None:
    sizes = {"ny": 2, "nx": 3}
    A, D = CASES["poisson_2d"].make(), CASES["diffusion"].bound(sizes)
    S, T = definition(A, sizes), definition(D, sizes)
    check(ssr.kron(A, D), sparse.kron(S, T).tocsr(), sparse.kron(abs(S), abs(T)).tocsr(), sizes)


def test_kron_makes_the_laplacian() -> None:
    y, x = ssr.Space(ny), ssr.Space(nx)

    def laplace(space: ssr.Space) -> ssr.Matrix:
        return ssr.stencil(space, space, {-1: -1, 0: 2, 1: -1}, outside="zero")

    A = ssr.kron(laplace(y), ssr.identity(x)) + ssr.kron(ssr.identity(y), laplace(x))
    assert A.equals(CASES["poisson_2d"].make())


def test_kron_keeps_locations() -> None:
    cells, faces = ssr.Space(ny), ssr.Space(nx).faces(axis=0)
    made = ssr.kron(ssr.identity(cells), ssr.identity(faces))
    assert made.rows == plane.faces(axis=1)


# -- random expressions --------------------------------------------------------------------------


@some.examples(60)
@given(some.made_matrices(), memory.seeds, st.booleans())
def test_expressions_equal_scipy(
    drawn: tuple[some.Made, some.Grid, some.Grid], seed: int, symbolic: bool
) -> None:
    recipe, rows, cols = drawn
    matrix, meant, size = some.realised(recipe, np.random.default_rng(seed), symbolic)
    matrix = matrix.bind(**{n: v for n, v in recipe.sizes.items() if n in matrix.sizes})
    assert abs(matrix.to_scipy() - meant).max() <= 1e-14 * max(size.max(), 1e-300)
    x = np.random.default_rng(seed + 1).uniform(-1, 1, cols.shape)
    y = plain.apply(matrix, x, rows.shape)
    plain.check_close(y, meant @ x.ravel(), 8 * (size @ abs(x.ravel())), 4e-15)
    x = plain.apply(matrix.T, y, cols.shape)
    plain.check_close(x, meant.T @ y.ravel(), 8 * (size.T @ abs(y.ravel())), 4e-15)
    if all(isinstance(f.value, ir.Const) for f in matrix.families):
        assert matrix.T.T.equals(matrix)


# -- what users see ------------------------------------------------------------------------------


def test_names() -> None:
    A = CASES["poisson_1d"].make()
    assert repr(A @ A) == "<Matrix (stencil @ stencil): Space(n) -> Space(n), 7 families>"
    assert A.T.name == "stencil.T"
    assert (A**3).name == "stencil ** 3"
    assert A[line.grow(-1), :].name == "stencil[Space(1:n - 1), :]"
    assert ssr.kron(A, A).name == "kron(stencil, stencil)"


def test_explain() -> None:
    R = CASES["restriction"].make()
    for made in R @ R.T, R.T, ssr.kron(R, R), R[line.grow((0, -1)), :]:
        text = made.explain()
        assert "== sets ==" in text
        assert "== trace ==" not in text
        assert "def kernel(" in text
        assert "<svg" in made._repr_html_()


def test_rmatvec() -> None:
    A = CASES["restriction"].make().bind(n=3)
    operator = A.aslinearoperator()
    y = np.arange(3.0)
    np.testing.assert_array_equal(operator.rmatvec(y), A.to_scipy().T @ y)
    np.testing.assert_array_equal(operator.T @ y, A.to_scipy().T @ y)
