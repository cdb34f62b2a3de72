"""Functions whose kernel IR is translated do what they do in plain Python."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssr.kernel import ir
from ssr.kernel.types import Type, TypeMismatch
from ssr.runtime.intrinsics import ld, plain
from ssr.runtime.intrinsics import st as store
from tests.ssr.generated import DOUBLES, INTEGER, compiled, functions, optimised

from ...random_examples import examples

Function = Callable[..., Any]
THREE = [INTEGER] * 3


def made(text: str) -> tuple[Function, Callable[[Sequence[Type]], Function]]:
    """Return the function ``f`` of a text, and a function that compiles it for some types."""
    scope = functions(text, {"np": np, "ld": ld, "st": store, "half": 0.5})
    return scope["f"], partial(compiled, scope["f"])


CASES = {
    "floors": "return a // 3 - b // -2 + a % 5 - (-a) % 7",
    "chained": "return 1 if a <= b < c else 0",
    "choice in a choice": "return (a if b > c else b if a > c else c) + 1",
    "extremes": "return min(a, b, c) - max(a, b - c)",
    "not": "return 1 if not (a == b) and not b > c else 2",
    "bits": "return 3 if (a + b) & 1 else 4",
    "nothing after a return": """
        if a > b:
            return 1
        return 2
        """,
    "returns in both branches": """
        if a > b:
            return 1
        else:
            return 2
        """,
    "assigned in one branch": """
        x = a
        if b > c:
            x = b
        return x
        """,
    "assigned in both": """
        if b > c:
            x = b
            y = x + 1
        else:
            x = c
            y = x + 2
        return x * y
        """,
    "carried by a loop": """
        x, y = 0, 1
        for i in range(a):
            x, y = y, (x + y) % 1000
        return x
        """,
    "a loop that does not run": """
        x = 7
        for i in range(b, b):
            x = i
        return x
        """,
    "backwards": """
        x = 0
        for i in range(c, a, -2):
            x = 3 * x + i
        return x
        """,
    "by a step that is known late": """
        x, step = 0, 2 * a + 1
        for i in range(b, c, step):
            x = 3 * x + i
        return x
        """,
    "in threes": """
        x = 0
        for i in range(a, c, 3):
            for j in range(i, c):
                x += i * j
        return x
        """,
    "one name in two loops": """
        x = 0
        for i in range(a):
            t = i + b
            x = x + t
        for i in range(b):
            t = i * c
            x = x - t
        return x
        """,
    "read before it is assigned again": """
        x = a
        y = 0
        for i in range(4):
            y = y + x
            x = i
        return y
        """,
    "a condition that stops": """
        x = a
        while x > 1 and x != b:
            x = x // 2
            if x == c:
                return -1
        return x
        """,
    "an argument that changes": """
        a += b
        if c > 0:
            a = a - c
        return a
        """,
}


@pytest.mark.parametrize("name", CASES)
def test_integers(name: str) -> None:
    body = textwrap.indent(textwrap.dedent(CASES[name]).strip(), "    ")
    function, build = made(f"def f(a, b, c):\n{body}\n")
    run = build(THREE)
    for numbers in itertools.product((-5, 0, 1, 2, 9), repeat=3):
        assert run(*numbers) == function(*numbers), numbers


def test_what_costs_something_is_left_out_where_python_leaves_it_out() -> None:
    _, build = made(
        """
        def f(a, n):
            p = 0
            while p < n and ld(a, p) > half:
                p = p + 1
            q = 0
            while not (q >= n or ld(a, q) > half):
                q = q + 1
            return 100 * p + q
        """
    )
    run = build([DOUBLES, INTEGER])
    assert run(np.ones(3), 3) == 300
    assert run(np.zeros(0), 0) == 0
    assert run(np.array([1.0, 0.0]), 2) == 100


def test_arrays_tuples_and_parts() -> None:
    text = """
        def part(table, n, a):
            for i in range(n):
                low, high = i, table[n - 1 - i, 0] + table.shape[1]
                table[i, 0] = low
                table[i, 1] = high
                table[i, 1] += 2

        def f(table, a):
            n = table.shape[0]
            width = table.shape[1]
            part(table, n, a)
            first, both = n, (table[0, 1], table[n - 1, 0])
            second, third = both
            st(a, 1, (half if third > width else ld(a, 0)) / np.sqrt(ld(a, 2)))
            return first * second + third
        """
    function, build = made(text)
    run = build([ir.Array("i8", 2), DOUBLES])
    for n in 1, 3:
        tables = [np.arange(2 * n).reshape(n, 2) for _ in range(2)]
        arrays = [np.array([2.0, 3.0, 7.0]) for _ in range(2)]
        assert run(tables[0], arrays[0]) == plain(function)(tables[1], arrays[1])
        assert np.array_equal(*tables)
        assert np.array_equal(*arrays)


@pytest.mark.parametrize("layout", ["C", "A", "F"])
@pytest.mark.parametrize("element", ["i8", "i4"])
def test_elements_of_arrays(layout: str, element: str) -> None:
    function, build = made("def f(a, k, j, i):\n    return a[k, j, i] - 2 * a[k - 1, j + 1, 0]\n")
    whole = np.random.default_rng(1).integers(-100, 100, (4, 6, 10), np.dtype(element))
    part = whole[:, ::2, 1::3]
    a = {"C": np.ascontiguousarray, "A": np.asarray, "F": np.asfortranarray}[layout](part)
    run = build([ir.Array(element, 3, contiguous=layout == "C"), *THREE])
    for k, j, i in itertools.product(range(1, 4), range(2), range(3)):
        assert run(a, k, j, i) == function(a, k, j, i)


def test_where_a_line_begins_is_opaque_to_llvm() -> None:
    text = """
        def f(a, n, s):
            for k in range(n):
                line = k * s + 1
                for i in range(n):
                    place = line + i
                    st(a, place, ld(a, place) + half)
        """
    function, build = made(text)
    types = [DOUBLES, INTEGER, INTEGER]
    run = build(types)
    written = optimised(function, types)
    assert "freeze i64" in written
    arrays = [np.arange(40.0) for _ in range(2)]
    run(arrays[0], 5, 7)
    plain(function)(arrays[1], 5, 7)
    assert np.array_equal(*arrays)


@pytest.mark.parametrize(
    "body",
    [
        "x = 1\n    if a > 0:\n        x = half\n    return 2",
        "return half",
        "return min(a, half)",
        "x = 0\n    for i in range(half):\n        x = i\n    return x",
    ],
)
def test_no_value_is_cut_to_another_type(body: str) -> None:
    _, build = made(f"def f(a):\n    {body}\n")
    with pytest.raises(TypeMismatch):
        build([INTEGER])


NAMES = "a", "b", "c", "x", "y"
READ = st.sampled_from(NAMES)
NUMBER = st.integers(-4, 4).map(str) | READ
SIMPLE = st.tuples(NUMBER, st.sampled_from(("+", "-", "*", "//", "%", "&")), NUMBER).map(
    lambda t: f"({t[0]} {t[1]} {t[2]})" if t[1] not in ("//", "%") else f"({t[0]} {t[1]} 3)"
)
TEST = st.recursive(
    st.tuples(SIMPLE | NUMBER, st.sampled_from(("<", "<=", "==", "!=", ">", ">=")), NUMBER).map(
        " ".join
    ),
    lambda inner: (
        st.tuples(inner, st.sampled_from(("and", "or")), inner).map(
            lambda t: f"({t[0]}) {t[1]} ({t[2]})"
        )
        | inner.map(lambda t: f"not ({t})")
    ),
    max_leaves=4,
)
CHOICE = st.tuples(SIMPLE, TEST, SIMPLE).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})")
LIMITED = (SIMPLE | CHOICE).map(lambda value: f"{value} % 97")
ASSIGNMENT = st.tuples(READ, LIMITED).map(lambda t: [f"{t[0]} = {t[1]}"])


def indented(body: list[list[str]]) -> list[str]:
    return [f"    {line}" for lines in body for line in lines]


BODY = st.recursive(
    ASSIGNMENT,
    lambda inner: st.tuples(TEST, st.lists(inner, min_size=1), st.lists(inner)).map(
        lambda t: [f"if {t[0]}:", *indented(t[1]), *(["else:", *indented(t[2])] if t[2] else [])]
    )
    | st.tuples(st.sampled_from(("i", "j")), NUMBER, NUMBER, st.lists(inner, min_size=1)).map(
        lambda t: [f"for {t[0]} in range({t[1]} % 5, {t[2]} % 7):", f"    x = {t[0]}",
                   *indented(t[3])]
    ),
    max_leaves=8,
)  # fmt: skip


@examples(60)
@given(st.lists(BODY, min_size=1, max_size=4), st.tuples(*[st.integers(-9, 9)] * 3))
def test_random_functions(body: list[list[str]], numbers: tuple[int, int, int]) -> None:
    lines = [
        "def f(a, b, c):",
        "    x, y = a, 1",
        *indented(body),
        "    return a + 2*b + 3*c + x*y",
    ]
    function, build = made("\n".join(lines) + "\n")
    assert build(THREE)(*numbers) == function(*numbers)
