"""Derivatives of pointwise functions; SymPy expressions as functions of symbols."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import ssr

from .. import plain

Array = np.ndarray[Any, Any]
line = ssr.Space(ssr.size("n"))


def euler(q: Any, g: Any = 1.4) -> Any:
    """Return the flux of the Euler equations in the first of three directions."""
    r, u, v, w, e = q
    p = (g - 1) * (e - (u**2 + v**2 + w**2) / r / 2)
    return u, u * u / r + p, u * v / r, u * w / r, (e + p) * u / r


def bent(q: Any) -> Any:
    """Return functions with kinks and all the rest."""
    a, b = q
    return [
        abs(a - b) * ssr.sign(b),
        ssr.minimum(a * b, 2 * a) + np.maximum(a, b**2),
        ssr.where((a > b) & ~(b > 3) | (a < 0), a**b, ssr.sqrt(b)),
        np.exp(-a) * ssr.sin(b) + ssr.cos(a) * ssr.tan(b / 4) - ssr.tanh(a),
        ssr.log(a) / ssr.arctan2(a, b) + a**2.5 / b**0.5 - 2**b,
        3.0,
    ]


def by_differences(function: Callable[..., Any], q: Array) -> Array:
    columns = []
    for step in 1e-6 * np.eye(len(q)):
        change = np.array(function(q + step), float) - np.array(function(q - step), float)
        columns.append(change / 2e-6)
    return np.array(columns).T


@pytest.mark.parametrize(
    ("function", "point"),
    [
        (euler, [1.2, 0.3, -0.7, 0.2, 3.0]),
        (bent, [0.5, 0.7]),
        (bent, [2.5, 0.3]),
        (bent, [5.5, 3.5]),
    ],
)
def test_numbers(function: Callable[..., Any], point: list[float]) -> None:
    q = np.array(point)
    found = np.array(ssr.jacobian(function)(q))
    np.testing.assert_allclose(found, by_differences(function, q), 1e-7, 1e-7)
    lists = ssr.jacobian(function)(point)
    np.testing.assert_allclose(lists, found, 1e-15)


def test_arrays_and_further_arguments() -> None:
    derivative = ssr.jacobian(euler)
    q = np.random.default_rng(1).uniform(1, 2, size=(5, 4))
    found = derivative(q, 1.6)
    for point in range(4):
        at = np.array([[np.broadcast_to(e, 4)[point] for e in row] for row in found])
        wanted = by_differences(lambda q: euler(q, 1.6), q[:, point])
        np.testing.assert_allclose(at, wanted, 1e-7, 1e-7)
    assert found[0] == (0.0, 1.0, 0.0, 0.0, 0.0)


def test_a_single_value() -> None:
    gradient = ssr.jacobian(lambda q: q[0] * q[1] ** 2)
    assert gradient((3.0, 2.0)) == (4.0, 12.0)


@pytest.mark.parametrize("function", [euler, bent])
def test_programs(function: Callable[..., Any]) -> None:
    derivative = ssr.jacobian(function)
    count = 5 if function is euler else 2
    names = [f"q{c}" for c in range(count)]
    made = [f"y{c}" for c in range(count)]

    def body(**fields: Any) -> None:
        rows = derivative([fields[q] for q in names])
        for c, y in enumerate(made):
            total = 0.0
            for row in rows:
                total = total + row[c]
            fields[y][:] = total

    text = ", ".join(names + made)
    scope: dict[str, Any] = {"body": body}
    exec(f"def p({text}):\n    body({', '.join(f'{k}={k}' for k in names + made)})", scope)
    program = ssr.program(**dict.fromkeys(names + made, line))(scope["p"])
    q = np.random.default_rng(2).uniform(0.5, 4.5, size=(count, 9))
    found = [np.full(9, np.nan) for _ in made]
    program(*q, *found)
    wanted = sum(np.array([np.broadcast_to(e, 9) for e in row]) for row in derivative(q))
    np.testing.assert_allclose(np.array(found), wanted, 1e-12, 1e-12)
    assert len(plain.source(program)) < 20000


def test_generators() -> None:
    derivative = ssr.jacobian(lambda q, a: [q[0] ** 2 * a, q[0] / q[1]])

    @ssr.matrix(rows=line, cols=line, u=line, v=line, a=ssr.scalar)
    def A(i: Any, *, u: Any, v: Any, a: Any) -> Any:
        inner = ssr.jacobian(lambda q: a * q[0] ** 3)
        (first, _), (_, last) = derivative((u[i], v[i]), a)
        yield i, first + last + inner((u[i],))[0]

    u, v = np.random.default_rng(3).uniform(1, 2, size=(2, 5))
    wanted = 6 * u - u / v**2 + 9 * u**2
    matrix = A.bind(u=u, v=v, a=3.0)
    np.testing.assert_allclose(matrix.to_scipy().diagonal(), wanted, 1e-14)
    np.testing.assert_allclose(plain.apply(matrix, np.ones(5), (5,)), wanted, 1e-14)


def test_expressions() -> None:
    x, y = sympy.symbols("x y")
    table = sympy.Matrix([[x / y**2, sympy.sinh(x)], [sympy.atan(y), sympy.Piecewise((x, x < y))]])
    compute = ssr.lambdify([x, y], [table, sympy.pi, sympy.Max(x, y, 2), -x * sympy.exp(-x * y)])
    at = np.array([0.5, 3.0]), np.array([2.0, 1.0])
    a, b = at
    ((p, q), (r, s)), pi, largest, last = compute(*at)
    np.testing.assert_allclose(p, a / b**2)
    np.testing.assert_allclose(q, np.sinh(a))
    np.testing.assert_allclose(r, np.arctan(b))
    np.testing.assert_allclose(s, [0.5, np.nan])
    np.testing.assert_allclose(largest, [2, 3])
    np.testing.assert_allclose(last, -a * np.exp(-a * b))
    assert pi == np.pi
    whole = compute(0.5, 2.0)
    assert whole[0][1][1] == 0.5


def test_a_choice_of_numbers_computes_what_is_chosen() -> None:
    x = sympy.Symbol("x")
    f = ssr.lambdify([x], sympy.Piecewise((sympy.sin(x) / x, sympy.Ne(x, 0)), (1, True)))
    assert f(0.0) == 1.0
    assert f(1.0) == np.sin(1.0)


def test_expressions_of_indices() -> None:
    x = sympy.Symbol("x")
    f = ssr.lambdify([x], sympy.Piecewise((x**2, x < 3), (2 * x, True)))

    @ssr.matrix(rows=line, cols=line)
    def A(i: Any) -> Any:
        yield i, f(1.0 * i)

    found = A.bind(n=5).to_scipy().diagonal()
    np.testing.assert_array_equal(found, [0, 1, 4, 6, 8])


def test_what_cannot_be_computed() -> None:
    x, y = sympy.symbols("x y")
    with pytest.raises(ssr.errors.UnsupportedError, match="SymPy's gamma"):
        ssr.lambdify([x], sympy.gamma(x))
    with pytest.raises(ssr.errors.UnsupportedError, match="SymPy's"):
        ssr.lambdify([x], x + sympy.I)
    with pytest.raises(ssr.errors.ArgumentError, match="No argument stands for y"):
        ssr.lambdify([x], x + y)
    with pytest.raises(ssr.errors.ArgumentError, match="takes 1 values, not 2"):
        ssr.lambdify([x], x)(1.0, 2.0)
    with pytest.raises(ssr.errors.DtypeError, match="is not a real number"):
        ssr.jacobian(lambda q: "no")((1.0,))
    with pytest.raises(ssr.errors.RuntimeConditionError):
        ssr.jacobian(lambda q: q[0] if q[0] > 0 else 0.0)((1.0,))
