"""Matrices whose entries are products and quotients of the same data are found to be equal."""

from typing import Any

import pytest

import ssr
from ssr.algebra.quotients import TERMS

n = ssr.size("n", at_least=3)
cells = ssr.Space(n)


def diagonal_of(text: str) -> ssr.Matrix:
    @ssr.matrix(rows=cells, cols=cells, s=cells, t=cells, a=ssr.scalar, b=ssr.scalar)
    def entries(i: Any, *, s: Any, t: Any, a: Any, b: Any) -> Any:
        names = {"s": s[i], "t": t[i], "a": a, "b": b, "i": i, "n": n, "ssr": ssr}
        yield i, eval(text, {}, names)

    return entries


EQUAL = [
    ("-1.0 / s", "-(1.0 / s)"),
    ("1 / -s", "-1 / s"),
    ("a / (-s)", "-a / s"),
    ("(-a) / (-s)", "a / s"),
    ("2 / (4 * s)", "1 / (2 * s)"),
    ("2 / (4 * s)", "0.5 / s"),
    ("a / (3 * s)", "(a / 3) / s"),
    ("(a / s) / t", "a / (s * t)"),
    ("a / (s / t)", "a * t / s"),
    ("(a / s) * (b / t)", "(a * b) / (t * s)"),
    ("s / (2 * s)", "0.5 * (a / a)"),
    ("1 / (1 / s)", "s"),
    ("(s * t) / t", "s"),
    ("1 / s + 1 / t", "1 / t + 1 / s"),
    ("(a - b) / s", "a / s - b / s"),
    ("1 / (s + t)", "1 / (t + s)"),
    ("1 / (s - t)", "-(1 / (t - s))"),
    ("a / (2 * s + 2 * t)", "(a / 2) / (s + t)"),
    ("1 / (a * s + a * t)", "1 / a / (s + t)"),
    ("(s + t) / (2 * t + 2 * s)", "0.5 * (a / a)"),
    ("(s * s - t * t) / (s - t)", "s + t"),
    ("s / (s + t) + t / (s + t)", "s / s"),
    ("(s + t) * (1 / (s + t))", "s / s"),
    ("1 / (1 / s + 1 / t)", "s * t / (s + t)"),
    ("1 / (s + t)**2 * (s + t)", "1 / (s + t)"),
    ("1 / s**2", "(1 / s) * (1 / s)"),
    ("s**-3", "1 / (s * s * s)"),
    ("(s / t)**2", "s**2 / t**2"),
    ("ssr.sqrt(-(1 / s))", "ssr.sqrt(-1 / s)"),
    ("1 / ssr.exp(s + t)", "1 / ssr.exp(t + s)"),
    ("i / s", "-(-i / s)"),
    ("(2 * i - 4) * s", "2 * ((i - 2) * s)"),
    ("1 / (n * s)", "(1 / n) / s"),
]

UNEQUAL = [
    ("1 / s", "1 / t"),
    ("-1 / s", "1 / s"),
    ("a / s", "s / a"),
    ("a / (3 * s)", "(1 / 3) * (a / s)"),  # one third as a number of floating point
    ("1 / (s + t)", "1 / s + 1 / t"),
    ("1 / (s - t)", "1 / (t - s)"),
    ("(s * s + t * t) / (s + t)", "s + t"),
    ("s / 0.0", "t / 0.0"),
    ("ssr.sqrt(1 / s)", "ssr.sqrt(-1 / s)"),
    ("s**0.5", "s"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_values(one: str, other: str) -> None:
    assert diagonal_of(one).equals(diagonal_of(other))
    assert not diagonal_of(one).equals(diagonal_of(f"{other} + s"))


@pytest.mark.parametrize(("one", "other"), UNEQUAL)
def test_values_that_differ(one: str, other: str) -> None:
    assert diagonal_of(one).equals(diagonal_of(one))
    assert not diagonal_of(one).equals(diagonal_of(other))


def test_uneven_grids_are_symmetric() -> None:
    """Distances of centres as data: -1 / s and 1 / s meet -(1 / s)."""
    inner = cells.faces(0).grow(-1)
    D = ssr.difference(inner, cells, 0)
    G = ssr.difference(inner, cells, 0, spacing=inner)
    for A in D.T @ ssr.diagonal(inner) @ D, D.T @ G, G.T @ ssr.diagonal(inner) @ G:
        assert A.T.equals(A)
        assert not A.equals(-A)


def test_factors_at_several_points() -> None:
    """The order of factors does not depend on how the entries are numbered."""

    @ssr.matrix(rows=cells, cols=cells, c=cells)
    def means(i: Any, *, c: Any) -> Any:
        yield i, c[i]
        if i + 1 < n:
            yield i + 1, c[i] * c[i + 1] / (c[i] + c[i + 1])
        if i > 0:
            yield i - 1, 1 / (1 / c[i] + 1 / c[i - 1])

    @ssr.matrix(rows=cells, cols=cells, c=cells)
    def uneven(i: Any, *, c: Any) -> Any:
        if i + 1 < n:
            yield i + 1, c[i] / c[i + 1]
        if i > 0:
            yield i - 1, c[i] / c[i - 1]

    assert means.T.equals(means)
    assert not uneven.T.equals(uneven)


def test_long_products_are_compared_as_expressions() -> None:
    power = " * ".join(["(a + b + s + t + 1)"] * 12)
    assert TERMS < 5**12
    assert diagonal_of(power).equals(diagonal_of(power))
    assert diagonal_of(f"-({power}) / s").equals(diagonal_of(f"-1 / s * ({power})"))
