"""Every matrix of the registry, every operation on it, against SciPy."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg

import ssr
from ssr.errors import ArgumentError, NotTriangularError, SingularMatrixError, SpaceError

from .. import plain
from ..registry import CASES, Case

Array = np.ndarray[Any, Any]
SQUARE = [name for name, case in CASES.items() if case.make().rows == case.make().cols]
SOLVABLE = [name for name in SQUARE if CASES[name].solvable]

ANY: dict[str, Callable[[Any, Any], Any]] = {
    "A": lambda A, B: A,
    "A + B": lambda A, B: A + B,
    "A - B": lambda A, B: A - B,
    "a A": lambda A, B: 2.5 * A,
    "A a": lambda A, B: A * -3,
    "-A": lambda A, B: -A,
    "A / a": lambda A, B: A / 3,
    "A - A": lambda A, B: A - A,
}
FEW = ("A", "A - B", "a A")
"""The operations on matrices whose loops take isl seconds."""

PARTS: dict[str, tuple[Literal["tril", "triu"], int]] = {
    "lower": ("tril", 0),
    "strictly lower": ("tril", -1),
    "upper": ("triu", 0),
    "strictly upper": ("triu", 1),
}


def definition(matrix: ssr.Matrix, sizes: dict[str, int]) -> Any:
    """Return the SciPy matrix, its sizes bound as far as it has them."""
    return matrix.bind(**{n: v for n, v in sizes.items() if n in matrix.sizes}).to_scipy()


def other(matrix: ssr.Matrix) -> ssr.Matrix:
    """Return another matrix between the same spaces: a diagonal, and one full column."""
    rows, cols = matrix.rows, matrix.cols
    corner = cols.lower

    @ssr.matrix(rows=rows, cols=cols)
    def other(*index: Any) -> Any:
        yield corner, 0.5
        if index in cols:
            yield index, -1.25

    return other


def check_product(matrix: ssr.Matrix, meant: Any, size: Any, sizes: dict[str, int]) -> None:
    """Compare a kernel's product with SciPy's; ``size`` bounds the entries that are added."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, matrix.cols.extent(sizes))
    y = plain.apply(matrix, x, matrix.rows.extent(sizes))
    plain.check_close(y, meant @ x.ravel(), size @ abs(x.ravel()), 4e-15)


@pytest.mark.parametrize(
    ("name", "operation"),
    [(name, o) for name, case in CASES.items() for o in ANY if o in FEW or not case.slow],
)
def test_combination(name: str, operation: str) -> None:
    case = CASES[name]
    for sizes in case.sizes:
        A = case.bound(sizes)
        made = ANY[operation](A, other(A))
        left, right = definition(A, sizes), definition(other(A), sizes)
        meant = ANY[operation](left, right)
        np.testing.assert_allclose(definition(made, sizes).toarray(), meant.toarray(), 1e-15)
        check_product(made, meant, 3 * abs(left) + abs(right), sizes)


@pytest.mark.parametrize("operation", PARTS)
@pytest.mark.parametrize("name", SQUARE)
def test_part(name: str, operation: str) -> None:
    which, k = PARTS[operation]
    case = CASES[name]
    for sizes in case.sizes:
        A = case.bound(sizes)
        made = getattr(A, which)(k)
        meant = getattr(sparse, which)(definition(A, sizes), k)
        np.testing.assert_array_equal(definition(made, sizes).toarray(), meant.toarray())
        check_product(made, sparse.csr_array(meant), abs(definition(A, sizes)), sizes)


@pytest.mark.parametrize("name", SQUARE)
def test_diagonal(name: str) -> None:
    case = CASES[name]
    for sizes in case.sizes:
        A = case.bound(sizes)
        meant = sparse.diags_array(definition(A, sizes).diagonal())
        np.testing.assert_array_equal(definition(A.diagonal(), sizes).toarray(), meant.toarray())
        check_product(A.diagonal(), sparse.csr_array(meant), abs(meant), sizes)


@pytest.mark.parametrize("which", ["tril", "triu", "diagonal"])
@pytest.mark.parametrize("name", SOLVABLE)
def test_solve(name: str, which: str) -> None:
    case = CASES[name]
    for sizes in case.sizes:
        A = getattr(case.bound(sizes), which)()
        b = np.random.default_rng(2).uniform(-1, 1, A.rows.extent(sizes))
        x = plain.solve(A, b)
        meant = np.linalg.solve(definition(A, sizes).toarray(), b.ravel())
        plain.check_close(x, meant, np.max(np.abs(meant)), 2e-14)


@pytest.mark.parametrize("name", SQUARE)
def test_equals(name: str) -> None:
    case = CASES[name]
    A = case.bound(case.sizes[-1])
    change = 0.5 * ssr.identity(A.rows)
    assert A.equals(A)
    assert A.equals(A.tril(-1) + A.diagonal() + A.triu(1))
    assert A.equals(A.tril() + A.triu(1))
    assert not A.equals(A + change)
    assert not A.equals(A.tril())
    assert not (A.rows.ndim > 1 and A.equals(other(A)))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_split_keeps_bits(name: str, exact: bool) -> None:
    """Rows with conditions are cut into classes, or summed term by term: the same sums."""
    case = CASES[name]
    A = case.bound(case.sizes[-1])
    x = np.random.default_rng(4).uniform(-1, 1, A.cols.extent(case.sizes[-1]))
    results = []
    for split in (True, False):
        y = np.full(A.rows.extent(case.sizes[-1]), np.nan)
        plain.run(plain.eager(A, "apply", exact=exact, split=split), y, x)
        results.append(y)
    plain.check_same(*results)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.fields])
def test_data_may_have_other_numbers_later(name: str) -> None:
    """Data bound to a matrix are read when it is applied, not when it is declared."""
    case = CASES[name]
    sizes = case.sizes[-1]
    matrix = case.bound(sizes)
    x = np.ones(matrix.cols.extent(sizes))
    first = plain.apply(matrix, x, x.shape)
    matrix.definition.bound[case.fields[0]][...] += 1.0
    second = plain.apply(matrix, x, x.shape)
    plain.check_close(second, definition(matrix, sizes) @ x.ravel(), 10.0, 1e-14)
    assert not np.array_equal(first, second)


# -- the oracle itself, against matrices put together without it ---------------------------------


def tridiagonal(n: int, low: float, middle: float, high: float) -> Array:
    return np.diag([middle] * n) + np.diag([low] * (n - 1), -1) + np.diag([high] * (n - 1), 1)


def kronecker_sum(*factors: Array) -> Array:
    total = np.zeros((1, 1))
    for factor in factors:
        total = np.kron(total, np.eye(len(factor))) + np.kron(np.eye(len(total)), factor)
    return total


def dense_restriction(n: int) -> Array:
    made = np.zeros((n, 2 * n))
    for row in range(n):
        for column, weight in (2 * row - 1, 0.25), (2 * row, 0.5), (2 * row + 1, 0.25):
            if column >= 0:
                made[row, column] += weight
    return made


def dense_gradient(ny: int, nx: int) -> Array:
    padded = np.pad(np.eye(nx), ((1, 1), (0, 0)))
    return np.kron(np.eye(ny), padded[1:] - padded[:-1])


def dense_periodic(nx: int) -> Array:
    def shifted(n: int, by: int) -> Array:
        return np.roll(np.eye(n), by, axis=1)

    first = 5.0 * np.eye(4) - shifted(4, 1) - 2.0 * shifted(4, -1)
    last = -0.5 * shifted(nx, -1) - 0.25 * shifted(nx, 1)
    return np.kron(first, np.eye(nx)) + np.kron(np.eye(4), last)


def dense_red_black(ny: int, nx: int) -> Array:
    made = 3.0 * np.eye(ny * nx)
    for j in range(ny):
        for i in range(j % 2, nx, 2):
            for y, x in (j - 1, i), (j + 1, i), (j, i - 1), (j, i + 1):
                if 0 <= y < ny and 0 <= x < nx:
                    made[j * nx + i, y * nx + x] = 0.5
    return made


def dense_hpcg(nz: int, ny: int, nx: int) -> Array:
    around = [tridiagonal(extent, 1, 1, 1) for extent in (nz, ny, nx)]
    return 27.0 * np.eye(nz * ny * nx) - np.kron(np.kron(*around[:2]), around[2])


DENSE: dict[str, Callable[[dict[str, int]], Array]] = {
    "poisson_1d": lambda s: tridiagonal(s["n"], -1, 2, -1),
    "poisson_2d": lambda s: kronecker_sum(*(tridiagonal(s[a], -1, 2, -1) for a in ("ny", "nx"))),
    "poisson_3d": lambda s: kronecker_sum(
        *(tridiagonal(s[a], -1, 2, -1) for a in ("nz", "ny", "nx"))
    ),
    "poisson_4d": lambda s: kronecker_sum(
        *(tridiagonal(extent, -1, 2, -1) for extent in (2, s["nz"], s["ny"], s["nx"]))
    ),
    "hpcg": lambda s: dense_hpcg(s["nz"], s["ny"], s["nx"]),
    "red_black": lambda s: dense_red_black(s["ny"], s["nx"]),
    "restriction": lambda s: dense_restriction(s["n"]),
    "gradient": lambda s: dense_gradient(s["ny"], s["nx"]),
    "periodic": lambda s: dense_periodic(s["nx"]),
}


@pytest.mark.parametrize("name", DENSE)
def test_definition_is_the_matrix_meant(name: str) -> None:
    for sizes in CASES[name].sizes:
        made = definition(CASES[name].bound(sizes), sizes).toarray()
        np.testing.assert_array_equal(made, DENSE[name](sizes))


def test_definition_with_data() -> None:
    case: Case = CASES["upwind"]
    sizes = {"ny": 4, "nx": 3}
    A = case.bound(sizes)
    u, v = (A.definition.bound[name] for name in "uv")
    made = definition(A, sizes).toarray().reshape(4, 3, 4, 3)
    for j, i in np.ndindex(4, 3):
        meant = np.zeros((4, 3))
        meant[j, i] = 2.0 + abs(u[j, i]) + abs(v[j, i])
        if i > 0:
            meant[j, i - 1] = -max(u[j, i], 0.0)
        if i < 2:
            meant[j, i + 1] = min(u[j, i], 0.0)
        if j > 0:
            meant[j - 1, i] = -max(v[j, i], 0.0)
        np.testing.assert_allclose(made[j, i], meant, 1e-15)


# -- what is refused -----------------------------------------------------------------------------


def test_solve_needs_a_triangle() -> None:
    A = CASES["poisson_2d"].make()
    with pytest.raises(NotTriangularError):
        A.solve(np.ones((3, 3)))
    for part in A.tril(-1), A.triu(1):
        with pytest.raises(SingularMatrixError):
            part.solve(np.ones((3, 3)))


@pytest.mark.parametrize("part", ["tril", "triu", "diagonal", "all"])
def test_solve_with_data_whose_sizes_rows_do_not_have(part: str) -> None:
    n, layers = ssr.sizes("n layers")
    line, table = ssr.Space(n), ssr.Space(n, layers)

    @ssr.matrix(rows=line, cols=line, c=table)
    def A(i: Any, *, c: Any) -> Any:
        yield i, 2.0 + c[i, 0]
        if i > 0:
            yield i - 1, -c[i, 0]
        if i < n - 1:
            yield i + 1, c[i + 1, 0] - 1.0

    given = A.bind(c=np.random.default_rng(1).random((6, 3)))
    matrix = given if part == "all" else getattr(given, part)()
    found = matrix.solve(np.ones(6))
    np.testing.assert_allclose(matrix.to_scipy() @ found, np.ones(6), 1e-12)


@pytest.mark.parametrize(("which", "k"), [("tril", 1), ("tril", -2), ("triu", -1), ("triu", 2)])
def test_far_diagonals_are_refused(which: str, k: int) -> None:
    with pytest.raises(ArgumentError, match="is not defined on a grid"):
        getattr(CASES["poisson_1d"].make(), which)(k)


def test_spaces_must_fit() -> None:
    gradient, divergence = CASES["gradient"].make(), CASES["divergence"].make()
    with pytest.raises(SpaceError):
        gradient + divergence
    with pytest.raises(SpaceError):
        gradient.tril()
    assert not gradient.equals(divergence)


def test_transposed_substitution_is_the_adjoint() -> None:
    """``(L^-1 b, y) = (b, U^-1 y)`` with ``U`` the transpose of ``L``."""
    A = CASES["poisson_3d"].make()
    rng = np.random.default_rng(3)
    b, y = rng.uniform(-1, 1, (2, 3, 4, 5))
    left = np.vdot(plain.solve(A.tril(), b), y)
    right = np.vdot(b, plain.solve(A.triu(), y))
    assert left == pytest.approx(right, rel=1e-13)


def test_linear_operator() -> None:
    A = CASES["poisson_2d"].make().bind(ny=3, nx=4)
    x = np.arange(12.0)
    operator = A.aslinearoperator()
    assert operator.shape == A.shape == (12, 12)
    np.testing.assert_array_equal(operator @ x, A.to_scipy() @ x)
    solution, failed = scipy.sparse.linalg.cg(operator, x, rtol=1e-12)
    assert failed == 0
    np.testing.assert_allclose(A.to_scipy() @ solution, x, atol=1e-9)
