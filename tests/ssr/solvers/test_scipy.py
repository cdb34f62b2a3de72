"""Matrices and solvers in SciPy's functions, stored matrices in ours, pickles and copies."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg as scipy_solvers

import ssr
from ssr import solvers
from ssr.errors import ArgumentError, ShapeError, SpaceError, UnboundError, UnsupportedError

from . import test_krylov as test_solvers

plain_kernels = test_solvers.plain_kernels

n = ssr.size("n")
s = ssr.Space(n)
A = ssr.stencil(s, s, {-1: -1.5, 0: 4.0, 1: -1.0}, outside="zero")
B = ssr.stencil(s, s, {-1: -1.0, 0: 2.0, 1: -1.0}, outside="zero")
b = np.arange(15.0)


def stored(matrix: ssr.Matrix, size: int = 15) -> Any:
    return ssr.from_scipy(matrix.bind(n=size).to_scipy(), rows=s, cols=s)


OPERATORS = {
    "matrix": A.bind(n=15),
    "stored": stored(A),
    "both": stored(A) + B,
    "blocks": ssr.block([[A.bind(n=15), B.bind(n=15)], [None, A.bind(n=15)]]),
    "rectangular": A.bind(n=15)[s.grow(-1), s],
}


@pytest.mark.parametrize("name", OPERATORS)
def test_complex_vectors(name: str) -> None:
    matrix = OPERATORS[name]
    dense, operator = matrix.to_scipy().toarray(), matrix.aslinearoperator()
    rows, cols = dense.shape
    draw = np.random.default_rng(0).standard_normal
    z, w = draw(cols) + 1j * draw(cols), draw((rows, 3)) + 1j * draw((rows, 3))
    np.testing.assert_allclose(operator @ z, dense @ z, 1e-13)
    np.testing.assert_allclose(operator.H @ w, dense.T @ w, 1e-12)
    np.testing.assert_allclose(matrix.matvec(z), dense @ z, 1e-13)
    np.testing.assert_allclose(operator @ z[:, None], dense @ z[:, None], 1e-13)
    assert (operator @ np.empty((cols, 0))).shape == (rows, 0)
    assert (operator.rmatmat(np.empty((rows, 0), complex))).dtype == complex


def test_functions_of_matrices() -> None:
    z, matrix = b + 1j, A.bind(n=15)
    found = scipy_solvers.expm_multiply(matrix.aslinearoperator(), z, traceA=60.0)
    np.testing.assert_allclose(found, scipy_solvers.expm_multiply(matrix.to_scipy(), z), 1e-10)


def test_operators_of_single_precision() -> None:
    operator = A.bind(n=15).aslinearoperator(np.float32)
    assert (operator @ b.astype("f4")).dtype == np.float32
    assert (operator @ (b + 1j)).dtype == np.complex64


INVERSES: dict[str, Any] = {
    "solver": lambda: solvers.CG(B.bind(n=15)),
    "hierarchy": lambda: solvers.Multigrid.galerkin(B.bind(n=15), 3, smoother=solvers.Jacobi(0.6)),
}


@pytest.mark.parametrize("name", INVERSES)
def test_solvers_precondition_those_of_scipy(name: str) -> None:
    M, matrix = INVERSES[name](), B.bind(n=15)
    for given in M, M.aslinearoperator():
        x, info = scipy_solvers.cg(matrix.aslinearoperator(), b, M=given, rtol=1e-8, maxiter=15)
        assert info == 0
        np.testing.assert_allclose(B @ x, b, 0, 1e-5)
    operator = M.aslinearoperator()
    assert operator.shape == (15, 15)
    z = operator @ (b + 2j * b)
    np.testing.assert_allclose(z.imag, 2.0 * z.real, 1e-12)
    with pytest.raises(UnsupportedError, match="no transpose"):
        operator.rmatvec(b)


@pytest.mark.parametrize("name", INVERSES)
def test_solvers_precondition_solvers(name: str) -> None:
    found = solvers.cg(B, b, M=INVERSES[name](), rtol=1e-8)
    assert found.info == 0
    assert found.iterations < 10


def test_hierarchies_of_any_size() -> None:
    fine = ssr.Space(2 * n + 1)
    second = ssr.stencil(fine, fine, {-1: -1, 0: 2, 1: -1}, outside="zero")
    P = solvers.interpolation(fine, s)
    multigrid = solvers.Multigrid(second, P, 2.0 * P.T, smoother=solvers.Jacobi(0.6), coarsest=7)
    with pytest.raises(UnboundError):
        multigrid.aslinearoperator()
    with pytest.raises(ShapeError):
        multigrid.aslinearoperator((14,))
    operator = multigrid.aslinearoperator((15,))
    z = np.empty(15)
    multigrid(z, b)
    np.testing.assert_array_equal(operator @ b, z)


# -- stored matrices -----------------------------------------------------------------------------

METHODS = ["cg", "gmres"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("M", [None, solvers.GaussSeidel()], ids=repr)
def test_solvers_of_stored_matrices(method: str, M: Any) -> None:
    C = ssr.stencil(s, s, {-1: -0.25, 0: 1.0, 1: -0.25}, outside="zero")
    for matrix in stored(C), 0.1 * C + stored(C):
        found = getattr(solvers, method)(matrix, b, M=M, rtol=1e-9)
        assert found.info == 0
        np.testing.assert_allclose(matrix @ found.x, b, 0, 1e-6)
    both = getattr(solvers, method)(C, b, M=stored(C), rtol=1e-9)
    assert both.info in (0, -2)


def test_solvers_in_two_dimensions() -> None:
    plane = ssr.Space(*ssr.sizes("ny nx"))
    five = {(-1, 0): -1, (0, -1): -1, (0, 0): 4.5, (0, 1): -1, (1, 0): -1}
    matrix = ssr.stencil(plane, plane, five, outside="zero")
    given = ssr.from_scipy(matrix.bind(ny=5, nx=6).to_scipy(), rows=plane, cols=plane)
    ones = np.ones((5, 6))
    np.testing.assert_allclose(solvers.cg(given, ones)[0], solvers.cg(matrix, ones)[0], 1e-10)
    with pytest.raises(ShapeError):
        solvers.cg(given, np.ones((5, 5)))
    with pytest.raises(ShapeError):
        solvers.cg(given, np.ones(30))


def test_mistakes_with_stored_matrices() -> None:
    with pytest.raises(ArgumentError, match=r"ILU.*read one by one"):
        solvers.cg(stored(B), b, M=solvers.ILU())
    with pytest.raises(SpaceError, match="other spaces"):
        solvers.cg(B, b, M=ssr.from_scipy(sparse.eye_array(15), rows=s.grow(1), cols=s.grow(1)))
    with pytest.raises(SpaceError, match="not square"):
        solvers.cg(ssr.from_scipy(sparse.eye_array(15), rows=s, cols=s.grow(1)), b)


# -- pickles and copies --------------------------------------------------------------------------


def test_solutions_are_pickled_and_copied() -> None:
    found = solvers.cg(B, b)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.x, found.x)
    assert (again.info, again.history) == (found.info, found.history)


@ssr.program(x=s)
def double(x: Any) -> None:
    x[:] = 2.0 * x


@pytest.mark.parametrize(
    "made",
    [
        lambda: 2.0 * A,
        lambda: A.bind(n=15).aslinearoperator(),
        lambda: stored(A),
        lambda: double.bind(np.ones(3)),
        *INVERSES.values(),
    ],
)
def test_what_is_made_of_functions_is_not_pickled(made: Any) -> None:
    with pytest.raises(UnsupportedError, match="cannot be pickled"):
        pickle.dumps(made())
