"""What users of NumPy and SciPy try first is explained, or works."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import gmres

import boundary as bc
import ssr
from ssr.errors import (
    ArgumentError,
    DtypeError,
    MissingNameError,
    NotAffineError,
    RuntimeConditionError,
    ShapeError,
    SingularMatrixError,
    SpaceError,
    TooLargeError,
    UnsupportedError,
)

n = ssr.size("n")
line = ssr.Space(n)
A = ssr.stencil(line, line, {0: 2.5, 1: -1.0, -1: -1.0}, outside="zero")
second = ssr.stencil(line, line.grow(1), {-1: 1.0, 0: -2.0, 1: 1.0})
H = second @ bc.fill(line.grow(1), bc.zero())


def assigns(value: Callable[[Any, Any], Any]) -> Callable[[], object]:
    """Return what declares a program that assigns a value of its field and number."""

    def declare() -> object:
        @ssr.program(x=line, t=ssr.scalar)
        def body(x: Any, t: Any) -> None:
            x[:] = value(x, t)

        return body

    return declare


def forever(x: Any) -> Any:
    return forever(x + 1.0)


def sets_a_number(x: Any, t: Any) -> Any:
    t[:] = x
    return x


def bare() -> object:
    @ssr.program  # type: ignore[call-arg]
    def body(x: Any) -> None:
        x[:] = 0.0

    return body


def misnamed() -> object:
    @ssr.matrix(row=line, cols=line)  # type: ignore[call-overload]
    def M(i: Any) -> Any:
        yield i, 1.0

    return M


CASES: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    ("x @ x", assigns(lambda x, t: x @ x), ArgumentError, "ssr.dot"),
    ("x.sum", assigns(lambda x, t: x.sum()), MissingNameError, "ssr.sum"),
    ("x.mean", assigns(lambda x, t: x.mean()), MissingNameError, "number of points"),
    ("x.other", assigns(lambda x, t: x.other), MissingNameError, "values of all points"),
    ("len", assigns(lambda x, t: len(x) * x), ArgumentError, "space.shape"),
    ("format", assigns(lambda x, t: f"{ssr.sum(x):.3f}"), RuntimeConditionError, "return it"),
    ("t[:]", assigns(sets_a_number), ArgumentError, "Fields are assigned"),
    ("recursion", assigns(lambda x, t: forever(x)), ArgumentError, "without end"),
    ("np.sum", assigns(lambda x, t: np.sum(x)), UnsupportedError, "ssr.sum"),
    ("np.max", assigns(lambda x, t: np.max(x)), UnsupportedError, "ssr.max"),
    ("ghosts", assigns(lambda x, t: second @ x), SpaceError, "fill"),
    ("max of two", assigns(lambda x, t: ssr.max(x, 0.0)), ArgumentError, "too many"),
    ("minimum", assigns(lambda x, t: ssr.minimum(x, 1, 2)), ArgumentError, "a, b"),
    ("where", assigns(lambda x, t: ssr.where(x > 0, x)), ArgumentError, "condition, a, b"),
    ("bare", bare, ArgumentError, "@ssr.program"),
    ("row", misnamed, ArgumentError, "Did you mean 'rows'"),
    ("tol", lambda: ssr.solvers.cg(A, np.ones(4), tol=1e-3), ArgumentError, "Did you mean 'rtol'"),
    (
        "class",
        lambda: ssr.solvers.cg(A, np.ones(4), M=ssr.solvers.Jacobi),
        ArgumentError,
        "Jacobi()",
    ),
    ("fastmath", lambda: ssr.Options(fastmath=True), ArgumentError, "partial_sums"),
    ("side", lambda: bc.periodic(axis=0, side="low"), ArgumentError, "no argument 'side'"),
    ("large", lambda: ssr.stencil(line, line, {0: 10**400}), DtypeError, "too large"),
    ("pickle", lambda: pickle.dumps(2.0 * A), UnsupportedError, "in each process"),
    ("pickle of a program", lambda: pickle.dumps(assigns(lambda x, t: x)()), UnsupportedError, ""),
]


@pytest.mark.parametrize(
    ("call", "error", "text"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_what_is_said(call: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as found:
        call()
    assert text in str(found.value)


def test_public_functions_keep_their_signatures() -> None:
    assert list(inspect.signature(ssr.stencil).parameters) == ["rows", "cols", "weights", "outside"]
    assert "Examples" in (bc.fill.__doc__ or "")


def test_errors_inside_are_not_errors_of_arguments() -> None:
    def made(*index: int) -> float:
        raise TypeError("from inside")

    with pytest.raises(TypeError, match="from inside"):
        bc.distribute(line, None, n=4).zeros(line).fill(made)


def test_scipy_takes_matrices() -> None:
    bound = A.bind(n=6)
    b = np.arange(6.0)
    x, info = gmres(bound, b, rtol=1e-12)
    assert info == 0
    assert np.allclose(bound @ x, b)
    assert np.allclose(bound.rmatvec(b), bound.T @ b)
    assert copy.copy(A) is copy.deepcopy(A) is A
    assert copy.deepcopy([H])[0] is H


# -- sizes that are known to be larger -----------------------------------------------------------

some = ssr.size("n", at_least=3)


def test_sizes_are_at_least_what_they_are_declared_as() -> None:
    space = ssr.Space(some, 2 * some + 1).faces(0).grow(1)
    assert repr(ssr.Space(some)) == "Space(n, n >= 3)"
    assert ssr.Space(some) != line
    assert space == ssr.Space(some, 2 * some + 1).faces(0).grow(1)
    assert [extent.least for extent in space.shape if isinstance(extent, ssr.Index)] == [
        (("n", 3),),
        (("n", 3),),
    ]
    slope = ssr.difference(ssr.Space(some), ssr.Space(some), 0, outside="one-sided")
    np.testing.assert_allclose(slope @ np.arange(3.0) ** 2, [0.0, 2.0, 4.0])
    with pytest.raises(ShapeError, match="size n is 2, and it is declared as at least 3"):
        slope @ np.ones(2)
    with pytest.raises(ArgumentError, match="at least 0"):
        ssr.size("n", at_least=0)


@pytest.mark.parametrize("bound", [True, False])
def test_the_laplacian_of_a_closed_box_is_swept(bound: bool) -> None:
    space = line if bound else ssr.Space(some)
    G = ssr.difference(space.faces(0).grow(-1), space, 0)
    B = (G.T @ G).bind(n=6) if bound else G.T @ G
    b = np.arange(6.0)
    np.testing.assert_allclose(B.tril() @ B.tril().solve(b), b, atol=1e-14)
    if bound:
        with pytest.raises(SingularMatrixError, match="no diagonal entry"):
            (G.T @ G).tril().solve(b)


# -- arithmetic ----------------------------------------------------------------------------------


def test_products_of_indices_and_conditions_are_numbers() -> None:
    plane = ssr.Space(*ssr.sizes("ny nx"))

    @ssr.matrix(rows=plane, cols=plane, u=plane)
    def B(j: Any, i: Any, *, u: Any) -> Any:
        yield (j, i), 2.0 * (i * j - 1.0) + (i == j) - 3 * (i < j) + j**2
        yield (j, i), u[j, i] * (j > 0) - (i == 0) + (-(j == i))

    B = B.bind(u=np.arange(12.0).reshape(3, 4))
    j, i = np.indices((3, 4))
    expected = 2.0 * (i * j - 1.0) + (i == j) - 3 * (i < j) + j**2
    expected += np.arange(12.0).reshape(3, 4) * (j > 0) - (i == 0) - (j == i)
    np.testing.assert_array_equal(B @ np.ones((3, 4)), expected)
    np.testing.assert_array_equal(B.to_scipy().diagonal(), expected.ravel())


def test_rows_are_points_of_vector_fields() -> None:
    plane = ssr.Space(*ssr.sizes("ny nx"))
    V = plane.vector(2)

    @ssr.matrix(rows=V, cols=V, q=V)
    def B(j: Any, i: Any, *, q: Any) -> Any:
        row = j, i
        yield row, np.outer(q[:, row], q[row]) + q[1, row] * np.eye(2) + q[0, j, i]

    q, x = np.random.default_rng(0).standard_normal((2, 2, 3, 4))
    expected = np.einsum("aji,bji,bji->aji", q, q, x) + q[1] * x + q[0] * x.sum(axis=0)
    np.testing.assert_allclose(B.bind(q=q) @ x, expected, 1e-13)
    np.testing.assert_allclose(B.bind(q=q).to_scipy() @ x.ravel(), expected.ravel(), 1e-13)


def test_python_sums_matrices() -> None:
    assert sum([A, A]).equals(2.0 * A)
    assert sum([H]) is H
    np.testing.assert_array_equal(sum([H, H]) @ np.ones(3), 2.0 * (H @ np.ones(3)))


# -- what is not there ---------------------------------------------------------------------------


def test_arrays_that_do_not_fit_memory() -> None:
    with pytest.raises(TooLargeError, match="0 numbers does not fit memory"):
        bc.distribute(line, None, n=10**16).zeros(line)
    with pytest.raises(MemoryError):
        _ = H.bind(n=10**16).offset


def test_unknown_attributes_of_numbers() -> None:
    with pytest.raises(MissingNameError, match="has no 'real'"):
        assigns(lambda x, t: x * t.real)()


@pytest.mark.parametrize(
    ("made", "name", "hint"),
    [
        (A, "toarray", "to_scipy"),
        (A, "explian", "'explain'"),
        (H, "solve", "H.linear"),
        (H, "ofset", "'offset'"),
        (ssr.program(x=line)(lambda x: ssr.sum(x)), "bnid", "'bind'"),
    ],
)
def test_unknown_attributes_of_what_never_changes(made: object, name: str, hint: str) -> None:
    with pytest.raises(MissingNameError, match=f"has no {name!r}") as caught:
        getattr(made, name)
    assert hint in str(caught.value)
    assert getattr(made, name, None) is None


# -- declarations that cannot be meant -----------------------------------------------------------


def test_data_are_not_named_like_sizes() -> None:
    with pytest.raises(ArgumentError, match="The name n is both a size and a field or scalar"):

        @ssr.matrix(rows=line, cols=line, n=ssr.scalar)
        def heat(i: Any, *, n: Any) -> Any:
            yield i, n


def test_generators_that_call_themselves_without_an_end() -> None:
    def again(value: float) -> float:
        return again(value)

    with pytest.raises(ArgumentError, match="without end"):

        @ssr.matrix(rows=line, cols=line)
        def heat(i: Any) -> Any:
            yield i, again(1.0)


def test_neighbours_of_periodic_sides_and_of_arrays_are_hinted_at() -> None:
    with pytest.raises(NotAffineError, match=r"boundary\.periodic"):

        @ssr.matrix(rows=line, cols=line)
        def heat(i: Any) -> Any:
            yield (i - 1) % line.shape[0], 1.0

    with pytest.raises(RuntimeConditionError, match=r"ssr\.stencil"):
        assigns(lambda x, t: np.roll(x, 1))()
