"""Stored matrices between vector fields and tuples of fields."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import boundary as bc
import ssr

points, others = ssr.Space(3), ssr.Space(2, 2)
pair, triple = points.vector(2), points.vector(3)


def data(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def stored(rows: int, cols: int) -> Any:
    found = data(rows, cols)
    return scipy.sparse.csr_array(np.where(np.abs(found) < 0.3, 0.0, found))


S, T = stored(9, 6), stored(6, 9)
M, N = (
    ssr.from_scipy(S, rows=triple, cols=pair),
    ssr.from_scipy(T, rows=pair, cols=triple),
)
mixed = ssr.from_scipy(stored(7, 4), rows=(points, others), cols=(others,))
A = ssr.stencil(points, points, {-1: -1.0, 0: 2.0, 1: -1.0}, outside="zero")


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


def test_application() -> None:
    x = data(2, 3)
    assert isinstance(M, ssr.StoredBlockMatrix)
    close(M @ x, (S @ x.ravel()).reshape(3, 3))
    close(M @ tuple(x), (S @ x.ravel()).reshape(3, 3))
    close(M.T @ (M @ x), (S.T @ (S @ x.ravel())).reshape(2, 3))
    out = np.zeros((3, 3))
    assert M.apply(x, out) is out
    close(M.aslinearoperator() @ x.ravel(), S @ x.ravel())


def test_tuples() -> None:
    x = data(2, 2)
    made = mixed @ (x,)
    close(np.concatenate([a.ravel() for a in made]), mixed.to_scipy() @ x.ravel())
    (back,) = mixed.T @ made
    close(back.ravel(), mixed.to_scipy().T @ (mixed.to_scipy() @ x.ravel()))


def test_algebra() -> None:
    K = ssr.kron(np.array([[1.0, 2.0], [0.0, 3.0]]), A)
    k = K.to_scipy().toarray()
    s, t, a = S.toarray(), T.toarray(), A.to_scipy().toarray()
    close((M @ N).to_scipy().toarray(), s @ t)
    close((N @ M + K).to_scipy().toarray(), t @ s + k)
    close((K - N @ M).to_scipy().toarray(), k - t @ s)
    close((N @ M - 2.0 * K).to_scipy().toarray(), t @ s - 2.0 * k)
    close((M @ K).to_scipy().toarray(), s @ k)
    close((K @ N).to_scipy().toarray(), k @ t)
    close((A @ N).to_scipy().toarray(), np.kron(np.eye(2), a) @ t)
    close((N @ A).to_scipy().toarray(), t @ np.kron(np.eye(3), a))
    close((-M / 2.0).to_scipy().toarray(), -s / 2.0)
    assert (M.T.T).equals(M)
    assert not M.equals(N)


@ssr.program(x=pair, y=triple)
def apply(x: Any, y: Any) -> Any:
    y[:] = M @ (2.0 * x)
    x[:] = x - M.T @ y
    return ssr.sum(x[0])


def test_programs_on_ranks() -> None:
    x, y = data(2, 3), np.zeros((3, 3))
    given = x.copy()
    number = apply(x, y)
    close(y.ravel(), S @ (2.0 * given.ravel()))
    close(x.ravel(), given.ravel() - S.T @ y.ravel())
    for count in 1, 2, 3:
        on = bc.distribute(points, bc.simulated_ranks(count))
        fields = on.scatter(pair, given), on.zeros(triple)
        assert apply(*fields) == number
        assert np.array_equal(fields[0].gather(), x)
        assert np.array_equal(fields[1].gather(), y)
        assert np.array_equal((M @ on.scatter(pair, given)).gather(), M @ given)


def test_symbolic_sizes_of_one_space() -> None:
    line = ssr.Space(ssr.size("n"))
    R = ssr.from_scipy(S, rows=line.vector(3), cols=line.vector(2))
    x = data(2, 3)
    close((R @ x).ravel(), S @ x.ravel())
    with pytest.raises(ssr.Error, match=r"\(9, 6\)|shape|points"):
        R @ data(2, 4)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: ssr.from_scipy(S, rows=pair, cols=pair), ssr.errors.ShapeError),
        (lambda: ssr.from_scipy(S, rows=triple, cols=5), ssr.errors.ArgumentError),  # type: ignore[call-overload]
        (lambda: ssr.from_scipy(S.toarray(), rows=triple, cols=pair), ssr.errors.ArgumentError),
        (
            lambda: ssr.from_scipy(S, rows=triple, cols=(points, ssr.Space(ssr.size("n")))),
            ssr.errors.UnboundError,
        ),
        (lambda: M @ M, ssr.errors.SpaceError),
        (lambda: M + N, ssr.errors.SpaceError),
        (lambda: M + A, ssr.errors.ArgumentError),
        (lambda: M + 1.0, ssr.errors.ArgumentError),
        (lambda: M * A, ssr.errors.UnsupportedError),
        (lambda: M / 0.0, ssr.errors.ArgumentError),
        (lambda: M.tril(), ssr.errors.UnsupportedError),
        (lambda: M @ data(3, 3), ssr.errors.ShapeError),
        (lambda: np.asarray(M), ssr.errors.UnsupportedError),
    ],
)
def test_mistakes(make: Any, error: type[ssr.Error]) -> None:
    with pytest.raises(error):
        make()


# -- blocks of vector spaces ---------------------------------------------------------------------


def test_blocks_on_vector_spaces() -> None:
    B = ssr.block([[A, None], [None, 2.0 * A]], rows=pair, cols=pair)
    a = A.to_scipy().toarray()
    wanted = np.kron(np.diag([1.0, 2.0]), a)
    assert B.rows == pair
    close(B.to_scipy().toarray(), wanted)
    C = ssr.block([[B, None], [None, B.T]], rows=points.vector(4), cols=points.vector(4))
    close(C.to_scipy().toarray(), np.kron(np.diag([1.0, 2.0, 1.0, 2.0]), a))
    D = ssr.block([[B, None], [None, None]], rows=points.vector(4), cols=points.vector(4))
    close(D.to_scipy().toarray()[:6, :6], wanted)
    assert D.shape == (12, 12)
    E = ssr.block([[B], [None]], rows=[pair, points])
    assert E.rows == triple
    close(E @ data(2, 3), np.vstack([B @ data(2, 3), np.zeros((1, 3))]))


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: ssr.block([[A, None]], rows=pair), ssr.errors.SpaceError, "components"),
        (
            lambda: ssr.block([[A, None]], rows=points, cols=5),
            ssr.errors.ArgumentError,
            "not a space",
        ),  # type: ignore[arg-type]
        (lambda: ssr.block([[A]], rows=[5]), ssr.errors.ArgumentError, "not a space"),  # type: ignore[list-item]
        (lambda: ssr.block([[A, None]], cols=[points]), ssr.errors.ArgumentError, "1 spaces"),
        (lambda: ssr.block([[A, None]], cols=others.vector(2)), ssr.errors.SpaceError, "other"),
    ],
)
def test_blocks_on_other_spaces(make: Any, error: type[ssr.Error], match: str) -> None:
    with pytest.raises(error) as found:
        make()
    assert match in found.value.message
