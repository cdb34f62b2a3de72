"""Functions and comparisons, of fields in programs and of run-time values in generators."""

from typing import Any

import numpy as np
import pytest

import ssr
from ssr.elementary import FUNCTIONS as ELEMENTARY

from .. import plain
from ..interpret import interpret_program

Array = np.ndarray[Any, Any]
n = ssr.size("n")
line = ssr.Space(n)
A = ssr.stencil(line, line, {-1: -1, 0: 4, 1: -1}, outside="zero")
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
    "ssr.log(x) + ssr.log(abs(x))": "np.log(x) + np.log(np.abs(x))",
    "ssr.sin(x) * ssr.cos(b) - ssr.tan(x)": "np.sin(x) * np.cos(b) - np.tan(x)",
    "ssr.tanh(x) + ssr.arctan2(x, b)": "np.tanh(x) + np.arctan2(x, b)",
    "np.log(np.tanh(np.square(x)))": "np.log(np.tanh(np.square(x)))",
    "np.arctan2(1.0, x) + np.sin(np.cos(b))": "np.arctan2(1.0, x) + np.sin(np.cos(b))",
    "ssr.sign(x) + 2 * np.sign(x - b)": "np.sign(x) + 2 * np.sign(x - b)",
    "x**b + abs(x) ** a": "x**b + np.abs(x) ** 1.5",
    "2**x + x**0 + x**9 + a**b": "2**x + x**0 + x**9 + 1.5**b",
    "np.power(abs(x), 2.5) + abs(b) ** -1.5": "np.abs(x) ** 2.5 + np.abs(b) ** -1.5",
    "(A @ x) ** (1 / 3)": "(A @ x) ** (1 / 3)",
    "ssr.where((x > 0) & (b > 0), x, b)": "np.where((x > 0) & (b > 0), x, b)",
    "ssr.where((x > 0) | ~(b > x), x, b)": "np.where((x > 0) | ~(b > x), x, b)",
    "ssr.where((a > 1) & (x > 0), x, b)": "np.where(x > 0, x, b)",
    "ssr.where((a > 1) & ~(a > 2), x, b)": "x",
    "ssr.where((x > 0) & True | False, x, b)": "np.where(x > 0, x, b)",
    "ssr.where(True | (x > 0), x, b) + ssr.where((x > 0) & False, 1, b)": "x + b",
    "ssr.where(np.logical_not(x > b), np.logical_and(x > 0, b > 0), 2)": (
        "np.where(~(x > b), (x > 0) & (b > 0), 2)"
    ),
    "~(x > 0) * b + A @ ((x > 0) | (b > 0))": "~(x > 0) * b + A @ ((x > 0) | (b > 0))",
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


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, 1e300, -7.5])


def elementary(operands: int) -> list[Any]:
    """Return the elementary functions of so many operands: NumPy's where it has them."""
    found = [f for f in ELEMENTARY.values() if len(f.operands) == operands]
    return [getattr(np, f.name, getattr(ssr, f.name)) for f in found]


FUNCTIONS = [np.sign, np.abs, *elementary(1)]
PAIRS = [np.power, np.minimum, np.maximum, *elementary(2)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_special_values(dtype: str) -> None:
    """All functions follow NumPy at zeros, infinities and NaN, compiled and not."""
    pairs = [p.ravel() for p in np.meshgrid(SPECIAL, SPECIAL)]
    with np.errstate(all="ignore"):
        a, b = (p.astype(dtype) for p in pairs)
    count = len(FUNCTIONS) + len(PAIRS)
    spaces: dict[str, Any] = {f"y{k}": line for k in range(count)}

    def body(a: Any, b: Any, **made: Any) -> None:
        found = [f(a) for f in FUNCTIONS] + [f(a, b) for f in PAIRS]
        for k, value in enumerate(found):
            made[f"y{k}"][:] = value

    names = ", ".join(spaces)
    wrapped = eval(
        f"lambda a, b, {names}: body(a, b, {', '.join(f'{y}={y}' for y in spaces)})", {"body": body}
    )
    wrapped.__name__ = "special"
    program = ssr.program(a=line, b=line, **spaces)(wrapped)
    with np.errstate(all="ignore"):
        expected = [f(a) for f in FUNCTIONS] + [f(a, b) for f in PAIRS]
    for run in program, lambda *args: plain.run(program, *args):
        made = [np.full_like(a, 5) for _ in range(count)]
        run(a, b, *made)
        for f, found, wanted in zip([*FUNCTIONS, *PAIRS], made, expected, strict=True):
            tight = f in (np.sign, np.sqrt, np.abs)
            rounding = 0 if tight else 4 * np.finfo(a.dtype).eps
            np.testing.assert_allclose(found, wanted, rounding, err_msg=f.__name__)
            if f not in (np.minimum, np.maximum):
                zero = wanted == 0
                assert np.array_equal(np.signbit(found[zero]), np.signbit(wanted[zero])), f


def test_bits_of_functions_do_not_depend_on_boxes() -> None:
    """Functions are computed point by point: vector loops and their remainders agree."""
    program = declared(
        "ssr.log(b) + ssr.exp(x) * ssr.sin(b) + ssr.cos(x) - b**x + ssr.tanh(x) / ssr.tan(b)"
    )
    x, b = np.random.default_rng(5).uniform(0.1, 9.0, size=(2, 61))
    whole = x.copy()
    program(whole, b, 1.5)
    for cuts in 2, 7, 61:
        parts = x.copy()
        program(parts, b, 1.5, boxes=ssr.Space(61).split(cuts))
        plain.check_same(parts, whole)


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


def test_conditions_of_values() -> None:
    @ssr.matrix(rows=line, cols=line, u=line, a=ssr.scalar)
    def B(i: Any, *, u: Any, a: Any) -> Any:
        yield i, ssr.where((u[i] > 0) & ~(u[i] > a) | (u[i] < -1), ssr.log(abs(u[i])), 2.0)
        if ~((i > 0) & (i < n - 1)) | (i % 3 == 0):
            yield 0 * i, ssr.where((u[i] > 0) & (i > 2), 3.0, u[i] ** i)
        yield n - 1 + 0 * i, ssr.where(~((u[i] > 0) & (i > 2)), ssr.sign(u[i]), a ** u[i])

    u = np.array([0.5, -2.0, 1.5, 3.0, -0.5, 0.0, -3.0])
    made = B.bind(u=u, a=2.0)
    x = np.ones(SIZE)
    i = np.arange(SIZE)
    dense = np.diag(
        np.where((u > 0) & ~(u > 2) | (u < -1), np.log(np.maximum(np.abs(u), 1e-300)), 2.0)
    )
    dense[:, 0] += np.where(
        ~((i > 0) & (i < SIZE - 1)) | (i % 3 == 0), np.where((u > 0) & (i > 2), 3.0, u**i), 0
    )
    dense[:, -1] += np.where(~((u > 0) & (i > 2)), np.sign(u), 2.0**u)
    np.testing.assert_allclose(made.to_scipy().toarray(), dense, 1e-14)
    np.testing.assert_allclose(plain.apply(made, x, (SIZE,)), dense @ x, 1e-14)


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

    shown = "<Matrix B: Space(n) -> Space(n), 1 family, u=bound, a=ssr.scalar>"
    assert repr(B.bind(u=np.ones(3))) == shown


def test_names() -> None:
    assert issubclass(ssr.errors.ShapeError, ssr.Error)
