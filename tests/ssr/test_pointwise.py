"""Functions and comparisons, of fields in programs and of run-time values in generators."""

from typing import Any

import numpy as np
import pytest

import ssr
from ssr.interpret import interpret_program

from . import plain

Array = np.ndarray[Any, Any]
n = ssr.size("n")
line = ssr.Space(n)
A = ssr.stencil(line, line, {-1: -1, 0: 4, 1: -1}, outside="drop")
SIZE = 7
DENSE = A.bind(n=SIZE).to_scipy().toarray()

CASES = {
    "ssr.sqrt(x)": "np.sqrt(x)",
    "ssr.exp(x) + 1": "np.exp(x) + 1",
    "abs(-x) * b": "np.abs(x) * b",
    "ssr.minimum(a, x)": "np.minimum(a, x)",
    "ssr.maximum(x, b)": "np.maximum(x, b)",
    "ssr.maximum(x, float('nan'))": "x * np.nan",
    "ssr.where(x > b, x, 2)": "np.where(x > b, x, 2)",
    "ssr.where(A @ x >= 0, A @ b, b)": "np.where(A @ x >= 0, A @ b, b)",
    "ssr.where(a > 1, x, b)": "x",
    "ssr.where(a < 1, 1.0, x)": "x",
    "(x < 0) * b + (x >= b)": "(x < 0) * b + (x >= b)",
    "A @ (x != 0) - (x == b)": "A @ (x != 0) - (x == b) * 1.0",
    "x > 0": "x > 0",
    "x**2 + b**3 - x**-1.0": "x * x + b * b * b - 1 / x",
    "abs(A @ x - b) ** 0.5": "np.sqrt(np.abs(A @ x - b))",
    "np.sqrt(np.square(x)) * np.float64(3) - np.asarray(2)": "np.abs(x) * 3 - 2",
    "A @ x[:] - x[...]": "A @ x - x",
    "(a * A) @ x + (A / a) @ b - (n * A) @ b": "a * (A @ x) + A @ b / a - 7 * (A @ b)",
    "(a * A + (1 - a) * A - a * (a * A)) @ x": "(1 - a * a) * (A @ x)",
    "((a * A).tril() - A.tril()).solve(b)": "np.linalg.solve((a - 1) * np.tril(A), b)",
}


def declared(text: str) -> ssr.Program:
    names: dict[str, Any] = {"ssr": ssr, "np": np, "A": A, "n": n}
    exec(f"def body(x, b, a):\n    x[:] = {text}", names)
    return ssr.program(x=line, b=line, a=ssr.scalar)(names["body"])


def data(dtype: str) -> tuple[Array, Array]:
    x, b = np.random.default_rng(3).normal(size=(2, SIZE)).astype(dtype)
    x[1] = b[1]
    return x, b


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("text", "meant"), CASES.items(), ids=CASES)
def test_expressions_of_fields(text: str, meant: str, dtype: str) -> None:
    program = declared(text)
    x, b = data(dtype)
    dense = DENSE.astype(dtype)
    with np.errstate(invalid="ignore"):
        expected = eval(meant, {"np": np, "A": dense, "x": x, "b": b, "a": 1.5})
    made, again = x.copy(), x.copy()
    plain.run(program, made, b, 1.5)
    interpret_program(program.ir, {"x": again, "b": b}, {"a": 1.5}, {"n": SIZE}, dtype)
    bound = 1e-14 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(made, expected, bound, bound)
    np.testing.assert_allclose(again, expected, bound, bound)


def test_a_compiled_expression() -> None:
    program = declared("ssr.where(x > b, ssr.exp(x), ssr.minimum(x, b)) + (x <= 0) * abs(b) ** 0.5")
    x, b = data("float64")
    expected = np.where(x > b, np.exp(x), np.minimum(x, b)) + (x <= 0) * np.sqrt(np.abs(b))
    program(x, b, 1.5)
    np.testing.assert_allclose(x, expected, 1e-14)


def test_functions_of_values() -> None:
    @ssr.matrix(rows=line, cols=line, u=line, a=ssr.scalar)
    def B(i: Any, *, u: Any, a: Any) -> Any:
        yield i, np.sqrt(u[i]) ** 3 + np.float64(2) * u[i] ** 0.5 / np.asarray(3.0) - a**-2
        if np.int64(0) < i:
            yield i - np.int64(1), np.maximum(u[i], np.float32(2)) + 2.0 * i
        if i > np.array(1):
            yield 0 * i, np.where(np.bool_(True), 1.0, 2.0) + np.int64(2) * i

    made = B.bind(u=1.0 + np.arange(SIZE), a=np.asarray(2.0))
    x = np.ones(SIZE)
    np.testing.assert_allclose(plain.apply(made, x, (SIZE,)), made.to_scipy() @ x, 1e-15)


def test_multiples_by_sizes() -> None:
    made = (A * n / 2).bind(n=3)
    np.testing.assert_array_equal(made.to_scipy().toarray(), 1.5 * A.bind(n=3).to_scipy().toarray())
    np.testing.assert_array_equal(plain.apply(made, np.ones(3), (3,)), 1.5 * (A @ np.ones(3)))


def test_data_bound_to_a_size() -> None:
    @ssr.matrix(rows=line, cols=line, a=ssr.scalar)
    def D(i: Any, *, a: Any) -> Any:
        yield i, a

    np.testing.assert_array_equal(plain.apply(D.bind(a=n), np.ones(3), (3,)), 3.0)
    np.testing.assert_array_equal(D.bind(a=n / 2, n=3).to_scipy().diagonal(), 1.5)


def test_integers_of_numpy() -> None:
    two = np.int64(2)
    wide = ssr.Space(two, np.int32(3)).grow(np.int64(1), (np.int8(0), two))
    assert wide == ssr.Space(2, 3).grow(1, (0, 2))
    assert wide.split(two, 1) == wide.split(2, 1)
    assert wide.faces(np.int64(1)) == wide.faces(1)
    B = ssr.stencil(line, line.grow(two), {np.int64(-2): 1, (two,): np.float32(3)})
    assert B.equals(ssr.stencil(line, line.grow(2), {-2: 1, 2: 3}))
    assert (np.float64(2) * B * np.asarray(3)).equals(6 * B)
    assert B.bind(n=two).shape == (2, 6)


def test_operations_on_numbers_never_fail() -> None:
    """They follow NumPy: infinities and NaN, as kernels give them."""

    @ssr.matrix(rows=line, cols=line)
    def B(i: Any) -> Any:
        yield i, ssr.sqrt(0.5 - n) + ssr.maximum(1.0 / (n - 3), float("nan"))
        if i > 0:
            yield i - 1, 1.0 / (n - 3) + ssr.exp(1000.0 * n)

    dense = B.bind(n=3).to_scipy().toarray()
    assert np.isnan(dense.diagonal()).all()
    assert np.isposinf(dense.diagonal(-1)).all()


def test_every_condition_is_decided_alike_in_both_runs() -> None:
    """A generator may keep what does not change its entries."""
    seen = []

    @ssr.matrix(rows=line, cols=line)
    def B(i: Any) -> Any:
        seen.append(i)
        if i > 2:
            yield i, 1.0
        else:
            yield i, 2.0

    assert len(seen) == 4
    assert len(B.families) == 2


def test_size() -> None:
    assert isinstance(n, ssr.Index)
    assert ssr.Space(ssr.size("n")) == ssr.Space(*ssr.sizes("n"))


def test_repr_of_bound_data() -> None:
    @ssr.matrix(rows=line, cols=line, u=line, a=ssr.scalar)
    def B(i: Any, *, u: Any, a: Any) -> Any:
        yield i, u[i] * a

    shown = "<Matrix B: Space(n) -> Space(n), 1 families, u=bound, a=ssr.scalar>"
    assert repr(B.bind(u=np.ones(3))) == shown


def test_names() -> None:
    assert issubclass(ssr.errors.ShapeError, ssr.Error)
