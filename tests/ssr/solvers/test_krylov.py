"""Solvers against SciPy: solutions, numbers of iterations, what becomes of hopeless systems.

Most kernels run as plain Python here, which gives the same bits as their compiled form and needs no
compiler; `test_solvers_multigrid` and the examples of the documentation compile.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg as scipy_solvers

import ssr
from ssr import solvers
from ssr.errors import (
    ArgumentError,
    DtypeError,
    NonFiniteError,
    OutOfRangeError,
    ShapeError,
    SpaceError,
    UnboundError,
)

Array = np.ndarray[Any, Any]
Solve = Callable[..., tuple[Array, int]]


@pytest.fixture(autouse=True)
def plain_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let programs that are called with arrays run as plain Python."""
    call = ssr.Program.__call__

    def run(program: ssr.Program, *args: Any) -> Any:
        inside = any(isinstance(a, ssr.Value | ssr.Field) for a in args)
        return call(program, *args) if inside else program.run_plain(*args)

    monkeypatch.setattr(ssr.Program, "__call__", run)
    monkeypatch.setattr("ssr.compiler.kernel.begin", lambda *_: None)  # no kernel is compiled


n, nz, ny, nx = ssr.sizes("n nz ny nx")
line, plane, box = ssr.Space(n), ssr.Space(ny, nx), ssr.Space(nz, ny, nx)


@ssr.matrix(rows=line, cols=line, low=line, mid=line, up=line)
def tridiagonal(i: Any, *, low: Any, mid: Any, up: Any) -> Any:
    yield i, mid[i]
    if i > 0:
        yield i - 1, low[i]
    if i + 1 < n:
        yield i + 1, up[i]


def poisson(size: int, dtype: str = "float64") -> ssr.Matrix:
    """Return a symmetric positive definite matrix with coefficients that vary."""
    k = np.random.default_rng(size).uniform(0.5, 2.0, size + 1).astype(dtype)
    return tridiagonal.bind(low=-k[:-1], mid=k[:-1] + k[1:], up=-k[1:])


def convection(size: int, dtype: str = "float64") -> ssr.Matrix:
    """Return a matrix that is not symmetric: the flow adds to the neighbour it comes from."""
    v = np.random.default_rng(size).uniform(0.5, 2.0, size).astype(dtype)
    one = np.ones(size, dtype)
    return tridiagonal.bind(low=-one - v, mid=2 * one + v, up=-one)


def right_side(shape: Any, dtype: str = "float64") -> Array:
    return np.random.default_rng(1).standard_normal(shape).astype(dtype)


def inverse_diagonal(A: ssr.Matrix) -> ssr.Matrix:
    values = A.to_scipy().diagonal()
    return ssr.diagonal(line, 1.0 / values).bind(n=values.size)


def as_program(A: ssr.Matrix) -> ssr.Program:
    @ssr.program(z=A.rows, r=A.rows)
    def precondition(z: Any, r: Any) -> None:
        z[:] = A.diagonal().solve(r)

    return precondition


def as_function(A: ssr.Matrix) -> Callable[[Array, Array], None]:
    values = A.to_scipy().diagonal()

    def precondition(z: Array, r: Array) -> None:
        z[...] = r / values.reshape(r.shape)

    return precondition


PRECONDITIONERS: dict[str, Callable[[ssr.Matrix], Any]] = {
    "none": lambda A: None,
    "Jacobi": lambda A: solvers.Jacobi(),
    "Gauss-Seidel": lambda A: solvers.GaussSeidel(),
    "matrix": inverse_diagonal,
    "program": as_program,
    "function": as_function,
    "SciPy's": lambda A: inverse_diagonal(A).aslinearoperator(),
}


def check(solve: Solve, A: ssr.Matrix, shape: Any, tolerance: float = 1e-7, **named: Any) -> int:
    """Compare a solution with SciPy's direct one; return the number of iterations."""
    dtype = named.pop("dtype", "float64")
    b = right_side(shape, dtype)
    before = b.copy()
    found = solve(A, b, **named)
    x = found.x
    assert found.info == 0
    assert x.shape == b.shape
    assert x.dtype == b.dtype
    expected = scipy_solvers.spsolve(A.to_scipy().astype(float).tocsc(), b.ravel().astype(float))
    np.testing.assert_allclose(x.ravel(), expected, 0, tolerance * np.abs(expected).max())
    again, _ = solve(A, b, **named)
    np.testing.assert_array_equal(x, again)
    np.testing.assert_array_equal(b, before)
    return found.iterations


# -- solutions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 7, 20])
@pytest.mark.parametrize("M", PRECONDITIONERS)
def test_cg(size: int, M: str) -> None:
    A = poisson(size).bind(n=size)
    count = check(solvers.cg, A, size, rtol=1e-12, M=PRECONDITIONERS[M](A))
    assert count <= 2 * size


@pytest.mark.parametrize("size", [1, 2, 7, 16])
@pytest.mark.parametrize("M", ["none", "Gauss-Seidel", "function"])
def test_bicgstab(size: int, M: str) -> None:
    A = convection(size).bind(n=size)
    check(solvers.bicgstab, A, size, rtol=1e-11, M=PRECONDITIONERS[M](A))


@pytest.mark.parametrize("size", [1, 2, 7, 16])
@pytest.mark.parametrize("M", ["none", "Gauss-Seidel", "function"])
def test_gmres(size: int, M: str) -> None:
    A = convection(size).bind(n=size)
    check(solvers.gmres, A, size, rtol=1e-11, M=PRECONDITIONERS[M](A), restart=30)


@pytest.mark.parametrize("size", [1, 2, 11])
@pytest.mark.parametrize("M", ["none", "Jacobi"])
def test_chebyshev(size: int, M: str) -> None:
    A = poisson(size).bind(n=size)
    dense = A.to_scipy().toarray()
    if M == "Jacobi":
        dense = dense / np.diag(dense)[:, None]
    eigenvalues = np.linalg.eigvals(dense).real
    bounds = float(eigenvalues.min()), float(eigenvalues.max())

    def solve(A: ssr.Matrix, b: Array, **named: Any) -> tuple[Array, int]:
        return solvers.chebyshev(A, b, bounds=bounds, **named)

    ratio = np.sqrt(bounds[1] / bounds[0])
    count = check(solve, A, size, rtol=1e-10, M=PRECONDITIONERS[M](A))
    assert count <= 2 + 13 * ratio


def test_richardson() -> None:
    A = poisson(7).bind(n=7)
    named = {"rtol": 1e-9, "maxiter": 1000}
    one = check(solvers.richardson, A, 7, M=solvers.GaussSeidel(), **named)
    assert one < check(solvers.richardson, A, 7, M=lambda z, r: np.multiply(0.2, r, z), **named)


@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres"])
def test_float32(method: str) -> None:
    A = (poisson if method == "cg" else convection)(9, "float32").bind(n=9)
    check(getattr(solvers, method), A, 9, 1e-4, rtol=1e-5, dtype="float32")


CROSS = {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.0, (1, 0): -1.0, (-1, 0): -1.0}
FLOW = {(0, 0): 5.0, (0, 1): -0.5, (0, -1): -1.5, (1, 0): -1.2, (-1, 0): -0.8}


def test_planes() -> None:
    A = ssr.stencil(plane, plane, CROSS, outside="zero")
    for shape in (1, 1), (1, 6), (5, 8):
        check(solvers.cg, A.bind(ny=shape[0], nx=shape[1]), shape, rtol=1e-12)
    B = ssr.stencil(plane, plane, FLOW, outside="zero")
    check(solvers.bicgstab, B.bind(ny=5, nx=8), (5, 8), rtol=1e-11)


def test_boxes() -> None:
    weights = {(0, 0, 0): 7.0}
    for axis in range(3):
        for side, weight in (-1, -1.25), (1, -0.75):
            weights[tuple(side * (a == axis) for a in range(3))] = weight  # type: ignore[index]
    A = ssr.stencil(box, box, weights, outside="zero")
    for shape in (1, 1, 1), (2, 3, 4):
        sizes = dict(zip(("nz", "ny", "nx"), shape, strict=True))
        check(solvers.gmres, A.bind(**sizes), shape, rtol=1e-11)


# -- numbers of iterations -----------------------------------------------------------------------


def scipys(method: str, A: ssr.Matrix, b: Array, M: Any = None, **named: Any) -> int:
    """Return the number of SciPy's iterations; of vectors for GMRES."""
    count = 0

    def callback(_: Any) -> None:
        nonlocal count
        count += 1

    if method == "gmres":
        named["callback_type"] = "pr_norm"
    solve = getattr(scipy_solvers, method)
    _, info = solve(A.to_scipy(), b, M=M, callback=callback, **named)
    assert info == 0
    return count


@pytest.mark.parametrize("M", ["none", "Gauss-Seidel"])
@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres"])
def test_as_many_iterations_as_scipy(method: str, M: str) -> None:
    size = 24
    A = (poisson if method == "cg" else convection)(size).bind(n=size)
    b = right_side(size)
    named: dict[str, Any] = {"rtol": 1e-8} | ({"restart": 50} if method == "gmres" else {})
    history = getattr(solvers, method)(A, b, M=PRECONDITIONERS[M](A), **named).history
    operator = None
    if M == "Gauss-Seidel":
        S = A.to_scipy().toarray()
        symmetric = np.tril(S) @ np.diag(1.0 / np.diag(S)) @ np.triu(S)
        operator = np.linalg.inv(symmetric)
    expected = scipys(method, A, b, operator, **named)
    assert abs(len(history) - 1 - expected) <= max(2, expected // 10)


def test_preconditioners_save_iterations() -> None:
    A, b = poisson(40), right_side(40)
    counts = {}
    for M in "none", "Gauss-Seidel":
        counts[M] = len(solvers.cg(A, b, M=PRECONDITIONERS[M](A), rtol=1e-8).history)
    assert counts["Gauss-Seidel"] < 0.8 * counts["none"]


def test_cg_is_exact_after_as_many_steps_as_there_are_eigenvalues() -> None:
    one = np.ones(40)
    A = tridiagonal.bind(low=0 * one, mid=np.repeat([1.0, 2.0, 3.0, 5.0], 10), up=0 * one)
    assert len(solvers.cg(A, right_side(40), rtol=1e-12).history) == 5


# -- the call ------------------------------------------------------------------------------------


METHODS: dict[str, Solve] = {
    "cg": solvers.cg,
    "bicgstab": solvers.bicgstab,
    "gmres": solvers.gmres,
    "chebyshev": lambda A, b, *args, **named: solvers.chebyshev(
        A, b, *args, bounds=(0.01, 8.0), **named
    ),
    "richardson": solvers.richardson,
}


@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_do(method: str) -> None:
    A = poisson(7)
    nothing = METHODS[method](A, np.zeros(7))
    assert (nothing.x == 0.0).all()
    assert (nothing.info, nothing.history) == (0, (0.0,))
    b = right_side(7)
    found, _ = solvers.cg(A, b, rtol=1e-13)
    called: list[int] = []
    x, info = METHODS[method](A, b, found, callback=lambda _: called.append(1))
    assert info == 0
    assert not called
    assert x is not found
    np.testing.assert_array_equal(x, found)


@pytest.mark.parametrize("method", METHODS)
def test_too_few_iterations(method: str) -> None:
    A, b, seen = poisson(40), right_side(40), list[Any]()
    named: dict[str, Any] = {"restart": 5} if method == "gmres" else {}
    if method == "richardson":
        named["M"] = solvers.GaussSeidel()
    found = METHODS[method](A, b, maxiter=3, callback=lambda x: seen.append(x.copy()), **named)
    history = found.history
    assert found.info == 3
    assert len(seen) == 3
    np.testing.assert_array_equal(seen[-1], found.x)
    assert len(history) == 1 + 3 * (5 if method == "gmres" else 1)
    residuals = [np.linalg.norm(b - A @ v) for v in (np.zeros(40), *seen)]
    every = 5 if method == "gmres" else 1
    np.testing.assert_allclose(history[::every], residuals, 1e-10)


def test_tolerances() -> None:
    A, b = poisson(40), right_side(40)
    for named in {"rtol": 1e-3}, {"rtol": 0.0, "atol": 1e-3}, {"rtol": 1e-9, "atol": 1e-2}:
        x, info = solvers.cg(A, b, **named)
        assert info == 0
        goal = max(named.get("rtol", 1e-5) * np.linalg.norm(b), named.get("atol", 0.0))
        assert 0.01 * goal < np.linalg.norm(b - A @ x) <= goal * (1 + 1e-12)


def test_start() -> None:
    A, b, x0 = poisson(40), right_side(40), right_side(41)[1:]
    kept = x0.copy()
    x, info = solvers.cg(A, b, x0, rtol=1e-12)
    assert info == 0
    np.testing.assert_array_equal(x0, kept)
    np.testing.assert_allclose(x, solvers.cg(A, b, rtol=1e-12)[0], 1e-8, 1e-8)


def test_arrays_of_a_matrix_may_change() -> None:
    mid, one = np.full(7, 3.0), np.ones(7)
    A = tridiagonal.bind(low=-one, mid=mid, up=-one)
    solver = solvers.CG(A)
    first, _ = solver(one)
    mid[:] = 4.0
    second, _ = solver(one, rtol=1e-12)
    assert not np.allclose(first, second)
    np.testing.assert_allclose(A @ second, one, 1e-10)


def test_programs_are_kept() -> None:
    A = poisson(7)
    solvers.cg(A, np.ones(7))
    held = vars(A)["solvers"][solvers.CG][1]
    solvers.cg(A, np.ones(7))
    assert vars(A)["solvers"][solvers.CG][1] is held
    solvers.cg(A, np.ones(7), M=solvers.Jacobi())
    other = vars(A)["solvers"][solvers.CG][1]
    assert other is not held
    solvers.cg(A, np.ones(7), M=solvers.Jacobi())
    assert vars(A)["solvers"][solvers.CG][1] is other


# -- breakdown and errors ------------------------------------------------------------------------


def exchange() -> ssr.Matrix:
    """Return ((0, 1), (1, 0))."""
    one = np.ones(2)
    return tridiagonal.bind(low=one, mid=0 * one, up=one)


def test_breakdown() -> None:
    A, b = exchange(), np.array([1.0, 0.0])
    assert solvers.cg(A, b)[1] == -11
    assert solvers.bicgstab(A, b)[1] == -11
    x, info = solvers.gmres(A, b)
    assert info == 0
    np.testing.assert_allclose(x, [0.0, 1.0], 0, 1e-15)
    assert solvers.gmres(A, b, restart=1)[1] == -3

    def zero(z: Array, r: Array) -> None:
        z[...] = 0.0

    assert solvers.cg(A, b, M=zero)[1] == -10
    singular = tridiagonal.bind(low=0 * b, mid=b, up=0 * b)
    for method in "cg", "bicgstab", "gmres":
        x, info = getattr(solvers, method)(singular, np.ones(2), maxiter=10)
        assert info != 0
        assert np.isfinite(x).all()


def test_divergence() -> None:
    A, b = poisson(7), right_side(7)
    found = solvers.chebyshev(A, b, bounds=(1e-3, 2e-3))
    assert found.info == -2
    assert found.iterations < 5
    found = solvers.richardson(A, b)
    assert found.info == -2
    assert found.history[-1] < 1e9 * found.history[0]


@ssr.matrix(rows=line, cols=line.grow(1))
def wide(i: Any) -> Any:
    yield i + 1, 1.0


ONES = np.ones(7)
poisson_7 = poisson(7)


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (SpaceError, "not square", lambda: solvers.cg(wide, ONES)),
        (ArgumentError, "not a matrix", lambda: solvers.gmres(np.eye(7), ONES)),  # type: ignore[arg-type]
        (UnboundError, "needs a value", lambda: solvers.cg(tridiagonal, ONES)),
        (ArgumentError, "The right side is list", lambda: solvers.cg(poisson(7), [1.0])),  # type: ignore[arg-type]
        (ShapeError, "'b' has 2 axes", lambda: solvers.cg(poisson(7), np.ones((7, 1)))),
        (ShapeError, "'b' has length 6", lambda: solvers.cg(poisson_7.bind(n=7), np.ones(6))),
        (ShapeError, "'b' has length 6", lambda: solvers.cg(poisson_7.bind(n=7), np.zeros(6))),
        (ShapeError, "length 7", lambda: solvers.bicgstab(poisson(7), np.ones(6))),
        (ShapeError, "'x' has length 6", lambda: solvers.cg(poisson(7), ONES, np.ones(6))),
        (DtypeError, "int64", lambda: solvers.cg(poisson(7), np.ones(7, int))),
        (DtypeError, "float32", lambda: solvers.cg(poisson(7), ONES.astype("f4"))),
        (DtypeError, "float32", lambda: solvers.cg(poisson(7), ONES, ONES.astype("f4"))),
        (NonFiniteError, "not finite", lambda: solvers.cg(poisson(7), np.nan * ONES)),
        (NonFiniteError, "not finite", lambda: solvers.gmres(poisson(7), np.inf * ONES)),
        (NonFiniteError, "x0 is not", lambda: solvers.cg(poisson(7), ONES, np.nan * ONES)),
        (NonFiniteError, "x0 is not", lambda: solvers.cg(poisson(7), 0 * ONES, np.inf * ONES)),
        (OutOfRangeError, "x0 is 'MB'", lambda: solvers.cg(poisson(7), ONES, "MB")),  # type: ignore[call-overload]
        (OutOfRangeError, "rtol is -1", lambda: solvers.cg(poisson(7), ONES, rtol=-1)),
        (OutOfRangeError, "atol is None", lambda: solvers.cg(poisson(7), ONES, atol=None)),  # type: ignore[arg-type]
        (OutOfRangeError, "maxiter is -3", lambda: solvers.cg(poisson(7), ONES, maxiter=-3)),
        (ShapeError, "'x' has length 6", lambda: solvers.cg(poisson(7), 0 * ONES, np.ones(6))),
        (
            SpaceError,
            "other spaces",
            lambda: solvers.cg(poisson(7), ONES, M=ssr.identity(plane)),
        ),
        (
            ArgumentError,
            "is ndarray",
            lambda: [solvers.cg(poisson_7, ONES, M=M) for M in (None, np.eye(7))],
        ),  # type: ignore[arg-type]
        (ArgumentError, "is str", lambda: solvers.cg(poisson(7), ONES, M="jacobi")),  # type: ignore[arg-type]
        (ArgumentError, "bounds", lambda: solvers.Chebyshev(poisson(7), (0.0, 1.0))),
        (ArgumentError, "bounds", lambda: solvers.chebyshev(poisson(7), ONES, bounds=(2.0, 1.0))),
        (ArgumentError, "restart is 0", lambda: solvers.gmres(poisson(7), ONES, restart=0)),
    ],
)
def test_mistakes(error: type[Exception], match: str, call: Callable[[], object]) -> None:
    with pytest.raises(error, match=match) as caught:
        call()
    assert isinstance(caught.value, ssr.Error)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


# -- incomplete factorizations -------------------------------------------------------------------


@pytest.mark.parametrize("M", [solvers.ILU(), solvers.IC()], ids=repr)
def test_factorizations(M: solvers.Factorization) -> None:
    """Iterations are those of the dense factors, also after the data have changed."""
    mid = np.linspace(2.5, 4.0, 40)
    A = tridiagonal.bind(low=-np.ones(40), mid=mid, up=-np.ones(40))
    for _ in range(2):
        found = solvers.cg(A, right_side(40), rtol=1e-10, M=M)
        assert found.info == 0
        assert len(found.history) <= 3  # the factors of a tridiagonal matrix are exact
        mid += 1.0


def test_a_factorization_without_numbers() -> None:
    A = ssr.stencil(ssr.Space(n), ssr.Space(n), {0: 2.0})
    assert solvers.cg(A, np.ones(5), M=solvers.ILU()).history[1:] == (0.0,)


def test_factorizations_of_other_types_and_sizes() -> None:
    A = ssr.stencil(line, line, {-1: -1.0, 0: 2.5, 1: -1.0}, outside="zero")
    for size, dtype in (7, "float64"), (7, "float32"), (12, "float64"):
        found = solvers.cg(A, right_side(size, dtype), rtol=1e-4, M=solvers.ILU())
        assert found.info == 0
        assert found.x.dtype == dtype


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("scale", [1.0, 1e-20, 3e17])
def test_the_first_norm_is_that_of_the_right_side(dtype: str, scale: float) -> None:
    """Conjugate gradients take it from another program, if that is compiled by itself."""
    A = poisson(60, dtype)
    b = (scale * right_side(60, dtype)).astype(dtype)
    b[0] = np.finfo(dtype).tiny
    first = [
        solvers.cg(A, b, M=M, maxiter=0).history[0]
        for M in (None, solvers.IC(), as_function(A), as_program(A))
    ]
    assert first == first[:1] * 4


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_a_right_side_without_a_norm_is_refused_whatever_computes_it(wrong: float) -> None:
    b = right_side(20, "float32")
    b[7] = wrong
    for M in None, solvers.IC():
        with pytest.raises(NonFiniteError):
            solvers.cg(poisson(20, "float32"), b, M=M)


# -- right sides and guesses of any size ---------------------------------------------------------

KRYLOV = ["cg", "bicgstab", "gmres"]


@pytest.mark.parametrize(("dtype", "scales"), [
    ("float64", [2.0**-1040, 2.0**-900, 2.0**-540, 2.0**540, 2.0**1000]),
    ("float32", [2.0**-140, 2.0**-100, 2.0**-30, 2.0**30, 2.0**110]),
])  # fmt: skip
@pytest.mark.parametrize("method", KRYLOV)
def test_right_sides_of_any_size(method: str, dtype: str, scales: list[float]) -> None:
    """Multiples by powers of two have the same iterations, and solutions but for rounding."""
    A = poisson(9, dtype)
    b = np.round(8.0 * right_side(9, dtype))
    x0 = np.round(8.0 * right_side(10, dtype)[1:])
    for guess in None, x0:
        wanted = METHODS[method](A, b, guess, rtol=1e-3)
        for scale in scales:
            seen = list[Any]()
            start = None if guess is None else (scale * guess).astype(dtype)
            found = METHODS[method](
                A, (scale * b).astype(dtype), start, rtol=1e-3, callback=seen.append
            )
            assert found.info == wanted.info == 0
            assert found.iterations == wanted.iterations
            if scale > (2.0**-130 if dtype == "float32" else 2.0**-1000):
                np.testing.assert_allclose(found.x, scale * wanted.x, np.finfo(dtype).eps ** 0.5)
            np.testing.assert_array_equal(seen[-1], found.x)


def test_solutions_out_of_range() -> None:
    A = tridiagonal.bind(low=np.zeros(2), mid=np.full(2, 1e-200), up=np.zeros(2))
    assert solvers.cg(A, np.full(2, 1e200)).info == -1
    assert solvers.cg(poisson(7), ONES, x0=np.full(7, 1e308)).info == -1


@pytest.mark.parametrize("method", KRYLOV)
def test_a_guess_is_improved_where_the_right_side_is_zero(method: str) -> None:
    A, x0 = poisson(9), right_side(9)
    found = METHODS[method](A, np.zeros(9), x0, rtol=1e-3)
    assert found.info == 0
    assert np.linalg.norm(A @ found.x) <= 1e-3 * np.linalg.norm(A @ x0)
    assert found.history[0] == pytest.approx(np.linalg.norm(A @ x0))


# -- the end of iterations -----------------------------------------------------------------------


@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres"])
@pytest.mark.parametrize("rtol", [1e-5, 1e-7])
def test_success_means_a_small_residual(method: str, rtol: float) -> None:
    s = ssr.Space(40)
    A = ssr.stencil(s, s, {-1: -1, 0: 2, 1: -1}, outside="zero")
    b = np.arange(40.0, dtype=np.float32)
    found = getattr(solvers, method)(A, b, rtol=rtol)
    residual = np.linalg.norm(A @ found.x.astype(float) - b) / np.linalg.norm(b)
    assert (found.info == 0 and residual < 1.1 * rtol) or (found.info != 0 and residual > rtol / 2)
    assert found.info in (0, -3)
    assert found.iterations < 10 * 40  # it ends before the most iterations


def periodic(size: int) -> ssr.Matrix:
    """Return the second difference on a circle, whose null space are constants."""
    s = ssr.Space(n)

    @ssr.matrix(rows=s, cols=s)
    def circle(i: Any) -> Any:
        yield i, 2.0
        if i == 0:
            yield n - 1, -1.0
        if i > 0:
            yield i - 1, -1.0
        if i + 1 < n:
            yield i + 1, -1.0
        if i == n - 1:
            yield 0, -1.0

    return circle.bind(n=size)


@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres"])
@pytest.mark.parametrize("M", ["none", "Jacobi"])
def test_singular_matrices(method: str, M: str) -> None:
    A, b = periodic(12), right_side(12)
    given = PRECONDITIONERS[M](A)
    hopeless = getattr(solvers, method)(A, b, M=given)
    assert hopeless.info < 0
    assert hopeless.iterations < 10 * 12
    b -= b.mean()
    found = getattr(solvers, method)(A, b, M=given)
    assert found.info == 0
    assert np.linalg.norm(A @ found.x - b) <= 1e-5 * np.linalg.norm(b)


def test_the_preconditioned_right_side_is_a_guess() -> None:
    A, b = poisson(7), right_side(7)
    for M in None, solvers.Jacobi(), solvers.ILU(), as_function(A):
        wanted = solvers.cg(A, b, M=M, x0=b / A.to_scipy().diagonal() if M else b)
        found = solvers.cg(A, b, "Mb", M=M)
        assert found.info == 0
        if not isinstance(M, solvers.ILU):
            np.testing.assert_allclose(found.history, wanted.history, 1e-9, 1e-14)
