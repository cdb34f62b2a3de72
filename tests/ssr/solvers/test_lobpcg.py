"""LOBPCG: eigenvalues in closed form, SciPy's, constraints, and problems that are refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

import boundary as bc
import ssr
from ssr import solvers
from ssr.errors import (
    ArgumentError,
    DtypeError,
    NonFiniteError,
    OutOfRangeError,
    ShapeError,
    SpaceError,
)
from ssr.solvers.eigen.dense_symmetric import eigh, orthonormal

n, ny, nx = ssr.sizes("n ny nx")
line, plane = ssr.Space(n), ssr.Space(ny, nx)
BEND = {-1: -1.0, 0: 2.0, 1: -1.0}
dirichlet = ssr.stencil(line, line, BEND, outside="zero")
mass = ssr.stencil(line, line, {-1: 1 / 6, 0: 2 / 3, 1: 1 / 6}, outside="zero")


def with_sides(*rules: Any) -> ssr.Matrix:
    bend = ssr.stencil(line, line.grow(1), BEND)
    return (bend @ bc.fill(line.grow(1), *rules)).linear


neumann, ring = with_sides(bc.symmetric()), with_sides(bc.periodic())


def closed(name: str, size: int) -> np.ndarray[Any, Any]:
    """Return all eigenvalues of the second difference without its sign, in ascending order."""
    k = np.arange(size)
    angle = {
        "dirichlet": (k + 1) * np.pi / (size + 1),
        "neumann": k * np.pi / size,
        "ring": (k + 1) // 2 * 2 * np.pi / size,
    }
    return 2.0 - 2.0 * np.cos(angle[name])


def guess(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape)


MATRICES = {"dirichlet": dirichlet, "neumann": neumann, "ring": ring}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize(("size", "count"), [(30, 1), (30, 3), (30, 5), (5, 5), (5, 2), (1, 1)])
def test_closed_form(name: str, size: int, count: int) -> None:
    X = guess(count, size)
    found = solvers.lobpcg(MATRICES[name], X, rtol=1e-8)
    assert found.converged
    np.testing.assert_allclose(found.eigenvalues, closed(name, size)[:count], atol=1e-12)
    v = found.eigenvectors
    np.testing.assert_allclose(v @ v.T, np.eye(count), atol=1e-12)
    for w, x, norm in zip(*found, found.residuals, strict=True):
        rest = np.linalg.norm(MATRICES[name] @ x - w * x)
        assert rest == pytest.approx(norm, abs=1e-14)
        assert rest <= max(1e-8 * found.eigenvalues.max(), 1e-13)
    np.testing.assert_array_equal(X, guess(count, size))


def test_the_largest() -> None:
    w, _ = solvers.lobpcg(dirichlet, guess(3, 30), largest=True, rtol=1e-7)
    np.testing.assert_allclose(w, closed("dirichlet", 30)[:-4:-1], 1e-12)


def test_a_mass_matrix_and_known_vectors() -> None:
    dense = [M.bind(n=30).to_scipy().toarray() for M in (dirichlet, mass)]
    exact = scipy.linalg.eigh(*dense, eigvals_only=True)
    first = solvers.lobpcg(dirichlet, guess(3, 30), mass, rtol=1e-9)
    np.testing.assert_allclose(first.eigenvalues, exact[:3], 1e-12)
    V = first.eigenvectors
    np.testing.assert_allclose(V @ dense[1] @ V.T, np.eye(3), atol=1e-12)
    more = solvers.lobpcg(dirichlet, list(guess(2, 30)), mass, Y=2.0 * V, rtol=1e-9)
    np.testing.assert_allclose(more.eigenvalues, exact[3:5], 1e-12)
    assert isinstance(more.eigenvectors, list)
    np.testing.assert_allclose(V @ dense[1] @ np.array(more.eigenvectors).T, 0.0, atol=1e-9)


STAR = {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.0, (1, 0): -1.0, (-1, 0): -1.0}


@pytest.mark.filterwarnings("ignore::UserWarning")  # SciPy does not converge
def test_the_iterates_of_scipy() -> None:
    """The same residuals, iteration by iteration, until the first pair is found."""
    X, A = guess(3, 40), dirichlet.bind(n=40)
    found = solvers.lobpcg(A, X, rtol=1e-3)
    *_, history = scipy.sparse.linalg.lobpcg(
        A.to_scipy(), X.T.copy(), tol=0.0, maxiter=found.iterations, largest=False,
        retResidualNormsHistory=True,
    )  # fmt: skip
    limit = 1e-3 * found.eigenvalues.max()
    count = int((found.residual_history > limit).all(axis=1).argmin())
    assert count > 10
    np.testing.assert_allclose(found.residual_history[:count], history[:count], 1e-6)


def test_preconditioners() -> None:
    """All give the values of SciPy's eigsh, double ones too, in fewer iterations."""
    grid = ssr.Space(31, 31)
    A = ssr.stencil(grid, grid, STAR, outside="zero")
    exact = scipy.sparse.linalg.eigsh(A.to_scipy(), 3, sigma=0.0, return_eigenvectors=False)

    row = ssr.stencil(grid, grid, {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.0}, outside="zero")

    @ssr.program(z=grid, r=grid)
    def rows(z: Any, r: Any) -> None:
        z[:] = row.solve(r)

    counts = []
    for M in None, solvers.Jacobi(), rows, solvers.IC():
        found = solvers.lobpcg(A, guess(3, 31, 31), M=M)
        assert found.converged
        np.testing.assert_allclose(found.eigenvalues, exact, 1e-8)
        counts.append(found.iterations)
    assert counts[0] > counts[2] > counts[3]


def test_many_kinds_of_matrices() -> None:
    """Stored ones, blocks, operators that are programs: the same values."""
    A = dirichlet.bind(n=12)
    exact = closed("dirichlet", 12)
    stored = ssr.from_scipy(A.to_scipy(), rows=line, cols=line)

    @ssr.program(y=line, x=line)
    def double(y: Any, x: Any) -> None:
        y[:] = dirichlet @ x + dirichlet @ x

    X = guess(3, 12)
    for matrix, factor in (stored, 1.0), (stored + A, 2.0), (double, 2.0):
        found = solvers.lobpcg(matrix, X, rtol=1e-7)
        np.testing.assert_allclose(found.eigenvalues, factor * exact[:3], 1e-12)
    pairs = ssr.kron(np.array([[2.0, 1.0], [1.0, 2.0]]), dirichlet)
    found = solvers.lobpcg(pairs, guess(3, 2, 12), rtol=1e-7)
    both = np.sort([*exact, *(3.0 * exact)])
    np.testing.assert_allclose(found.eigenvalues, both[:3], 1e-12)
    assert found.eigenvectors.shape == (3, 2, 12)


def test_single_precision() -> None:
    found = solvers.lobpcg(dirichlet, guess(2, 20).astype(np.float32))
    assert found.converged
    assert found.eigenvalues.dtype == found.eigenvectors.dtype == np.float32
    np.testing.assert_allclose(found.eigenvalues, closed("dirichlet", 20)[:2], atol=2e-6)


def test_numbers_of_any_size() -> None:
    for factor, size in (1e-120, 1e-200), (1e100, 1e200):
        found = solvers.lobpcg(factor * dirichlet, size * guess(2, 20))
        assert found.converged
        np.testing.assert_allclose(found.eigenvalues, factor * closed("dirichlet", 20)[:2], 1e-8)


def test_a_cluster() -> None:
    """Two eigenvalues that differ in the tenth digit, and their neighbours."""
    values = np.array([1.0, 1.0 + 1e-10, 1.1, *range(2, 20)], float)

    @ssr.matrix(rows=line, cols=line, d=line)
    def diagonal(i: Any, *, d: Any) -> Any:
        yield i, d[i]

    found = solvers.lobpcg(diagonal.bind(d=values), guess(3, len(values)), rtol=1e-9)
    assert found.converged
    np.testing.assert_allclose(found.eigenvalues, values[:3], 1e-14)


def test_the_guess_may_hold_eigenvectors() -> None:
    first = solvers.lobpcg(dirichlet, guess(3, 30), rtol=1e-8)
    again = solvers.lobpcg(dirichlet, first.eigenvectors, rtol=1e-8)
    assert (again.info, again.iterations) == (0, 0)
    mixed = np.concatenate([first.eigenvectors[:2], guess(1, 30)])
    part = solvers.lobpcg(dirichlet, mixed, rtol=1e-8)
    np.testing.assert_allclose(part.eigenvalues, first.eigenvalues, 1e-12)


def test_the_end() -> None:
    X = guess(2, 30)
    short = solvers.lobpcg(dirichlet, X, maxiter=3)
    assert (short.info, short.iterations, short.converged) == (3, 3, False)
    assert short.residual_history.shape == short.eigenvalue_history.shape == (4, 2)
    none = solvers.lobpcg(dirichlet, X, maxiter=0)
    assert (none.info, none.iterations) == (1, 0)
    exact = solvers.lobpcg(dirichlet, X, rtol=0.0)
    assert exact.info == 0
    np.testing.assert_allclose(exact.eigenvalues, closed("dirichlet", 30)[:2], 1e-13)

    def broken(z: Any, r: Any) -> None:
        z[:] = np.nan

    assert solvers.lobpcg(dirichlet, X, M=broken).info == -1
    again = solvers.lobpcg(dirichlet, X, maxiter=3)
    np.testing.assert_array_equal(again.eigenvectors, short.eigenvectors)
    for other in pickle.loads(pickle.dumps(short)), copy.deepcopy(short):
        assert (other.info, other.iterations) == (3, 3)
        np.testing.assert_array_equal(other.eigenvectors, short.eigenvectors)


upwind = ssr.stencil(line, line, {-1: -1.1, 0: 2.0, 1: -0.9}, outside="zero")
grown = ssr.stencil(line, line.grow(1), BEND)
apart = ssr.block([[ssr.identity(line), None], [None, ssr.identity(plane)]])


@ssr.program(y=line, x=line)
def reads(y: Any, x: Any) -> Any:
    return ssr.dot(y, x)


X = guess(2, 10)
REFUSED: list[tuple[type[Exception], str, Any]] = [
    (ArgumentError, "A is not symmetric", lambda: solvers.lobpcg(upwind, X)),
    (ArgumentError, "A is not symmetric", lambda: solvers.lobpcg(upwind, X[:1])),
    (ArgumentError, "B is not symmetric", lambda: solvers.lobpcg(dirichlet, X, upwind)),
    (ArgumentError, "not positive", lambda: solvers.lobpcg(dirichlet, X, -1.0 * mass)),
    (ArgumentError, "X depend on each other", lambda: solvers.lobpcg(dirichlet, X[[0, 0]])),
    (ArgumentError, "or on those of Y", lambda: solvers.lobpcg(dirichlet, X, Y=X[:1])),
    (ArgumentError, "as many", lambda: solvers.lobpcg(dirichlet, np.ones((3, 2)))),
    (ArgumentError, "no vectors", lambda: solvers.lobpcg(dirichlet, np.ones((0, 2)))),
    (ArgumentError, "not several vectors", lambda: solvers.lobpcg(dirichlet, X[0])),
    (ArgumentError, "affine", lambda: solvers.lobpcg(bc.fill(line.grow(1), bc.periodic()), X)),
    (ArgumentError, "from_scipy", lambda: solvers.lobpcg(np.eye(10), X)),
    (ArgumentError, "first parameter", lambda: solvers.lobpcg(reads, X)),
    (SpaceError, "not square", lambda: solvers.lobpcg(grown, X)),
    (SpaceError, "B acts on", lambda: solvers.lobpcg(dirichlet, X, ssr.identity(plane))),
    (SpaceError, "other spaces", lambda: solvers.lobpcg(dirichlet, X, M=ssr.identity(plane))),
    (SpaceError, "tuple of fields", lambda: solvers.lobpcg(apart, X)),
    (ShapeError, "axes", lambda: solvers.lobpcg(dirichlet, guess(2, 3, 3))),
    (ShapeError, "differ", lambda: solvers.lobpcg(dirichlet, [np.ones(3), np.ones(4)])),
    (DtypeError, "int64", lambda: solvers.lobpcg(dirichlet, np.eye(2, 10, dtype=int))),
    (NonFiniteError, "X is not finite", lambda: solvers.lobpcg(dirichlet, X / 0.0)),
    (OutOfRangeError, "rtol", lambda: solvers.lobpcg(dirichlet, X, rtol=-1.0)),
    (ArgumentError, "largest", lambda: solvers.lobpcg(dirichlet, X, largest="yes")),  # type: ignore[arg-type]
]


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("error", "text", "call"), REFUSED, ids=[r[1] for r in REFUSED])
def test_what_is_refused(error: type[Exception], text: str, call: Any) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("size", [1, 2, 3, 12, 31])
def test_dense_eigenvalues(size: int) -> None:
    a = guess(size, size)
    low = np.outer(a[0], a[0])
    for matrix in a + a.T, np.diag(np.arange(size) // 2.0), np.zeros((size, size)), low:
        w, v = eigh(matrix)
        np.testing.assert_allclose(w, np.linalg.eigvalsh(matrix), atol=1e-12)
        np.testing.assert_allclose(v.T @ v, np.eye(size), atol=1e-13)
        np.testing.assert_allclose(matrix @ v, v * w, atol=1e-12)


def test_dependent_vectors_are_dropped() -> None:
    s = guess(50, 6)
    s[:, 1], s[:, 3], s[:, 4] = 0.0, 2.0 * s[:, 0] - s[:, 2], s[:, 0] + 1e-6 * s[:, 4]
    basis, kept = orthonormal(s.T @ s, 1e-8)
    assert kept == [0, 2, 5]
    np.testing.assert_allclose((s @ basis).T @ (s @ basis), np.eye(3), atol=1e-13)
