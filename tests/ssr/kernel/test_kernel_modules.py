"""Kernels are kernel IR, which is printed as Python and can be read from it."""

from __future__ import annotations

import ast

import pytest

import ssr
from ssr.compiler.pipeline import lower
from ssr.kernel import ir
from ssr.kernel.building import call, compare, let, load, loop, minus, plus, store
from ssr.kernel.from_python import expression, functions_of
from ssr.kernel.print_python import expression_text, function_lines
from ssr.kernel.rewriting import length, mentioned, renamed
from tests.ssr.sample_programs import PROGRAMS

EXPRESSIONS = [
    "a - (b - c)", "a - b - c", "-a * b", "-(a * b)", "(-a) % b", "-(a // 2) % b",
    "2 * ((i + 1) // 2)",
    "(a if t else b) if u else c", "a if t else b if u else c", "a if (b if t else u) else c",
    "a and (b or c)", "(a and b) and c", "not (a and b)", "(i >= 1) & (i <= n - 2)", "(i & 3) * w",
    "x.shape[0] - 1", "(a, b)", "(a,)", "f(a, -1.0)[0]", "(a < b) == t", "a | b & c", "(a | b) & c",
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_are_read_as_they_are_printed(text: str) -> None:
    (function,) = functions_of(f"def f():\n    return {text}\n")
    (again,) = functions_of("\n".join(function_lines(function)))
    assert again == function
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(expression_text(expression(text))))


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@pytest.mark.parametrize("options", [ssr.Options(), ssr.Options(debug=True)])
def test_modules_are_read_as_they_are_printed(name: str, options: ssr.Options) -> None:
    program = PROGRAMS[name]()
    made = lower(program.ir, options, "float64", "title")
    assert functions_of(made.source) == made.kernel.functions


def test_names_stand_in_the_order_of_the_text() -> None:
    test = ir.Select(compare("t", ">=", 0), load("x", plus("i", "m")), ir.Name("w"))
    body = [let("s", test), loop("i", ("a", minus("b", 1)), [store("y", "i", call("fma", "s"))])]
    assert list(dict.fromkeys(mentioned(body))) == ["s", "x", "i", "m", "t", "w", "a", "b", "y"]
    assert list(dict.fromkeys(mentioned(renamed(body, {"i": "k", "y": "z"})))) == [
        "s", "x", "k", "m", "t", "w", "a", "b", "z",
    ]  # fmt: skip
    assert length(body) == 3
