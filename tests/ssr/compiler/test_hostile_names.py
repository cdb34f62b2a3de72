"""Names that a user gives never become code of a kernel."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.compiler.pipeline import lower
from ssr.kernel.kernel_names import mangled, printable

from .. import plain

(n,) = ssr.sizes("n")
line = ssr.Space(n)

NAMES = [
    '"""\nraise SystemExit\n"""',
    "'''\nraise SystemExit\n'''",
    "x\nraise SystemExit",
    "x\r\nraise SystemExit",
    "x\x0craise SystemExit",
    "x\u2028raise SystemExit",
    'x\\"""\nraise SystemExit',
    "\\",
    '"',
    "\x00",
    "\ud800",
    "{n}{{",
    "# coding: utf-7",
    "é" * 200,
]
HOSTILE = pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))


def calls_of(source: str) -> list[str]:
    """Return what a module does when it is imported, but for assignments, imports, functions."""
    kept = (ast.Assign, ast.Import, ast.ImportFrom, ast.FunctionDef)
    body = ast.parse(source).body
    assert isinstance(body[0], ast.Expr)
    return [ast.unparse(node) for node in body[1:] if not isinstance(node, kept)]


@HOSTILE
def test_a_text_is_one_line_of_a_comment_or_docstring(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f'"""{printable(name)}"""\ny = 1  # {printable(name)}\nx = 2', scope)
    assert (scope["y"], scope["x"]) == (1, 2)
    assert len(printable(name).splitlines()) <= 1
    assert printable("A.tril(-1) apply, generated for float64.") == (
        "A.tril(-1) apply, generated for float64."
    )


@HOSTILE
@pytest.mark.parametrize("debug", [False, True])
def test_names_of_programs(name: str, debug: bool) -> None:
    def body(x: Any) -> None:
        x[:] = 2 * x

    body.__name__ = name
    program = ssr.program(x=line, options=ssr.Options(debug=debug))(body)
    for checked in False, True:
        source = lower(program.ir, program.options, "float64", f"{name}.", checked=checked).source
        assert not calls_of(source)
    x = np.ones(3)
    plain.run(program, x)
    assert (x == 2).all()


def test_a_compiled_program_with_a_hostile_name() -> None:
    def body(x: Any) -> None:
        x[:] = 2 * x

    body.__name__ = NAMES[0]
    x = np.ones(3)
    ssr.program(x=line)(body)(x)
    assert (x == 2).all()


@HOSTILE
def test_names_of_matrices(name: str) -> None:
    def body(i: Any, *, a: Any) -> Any:
        yield i, a[i]

    body.__name__ = body.__qualname__ = name
    matrix = ssr.matrix(rows=line, cols=line, a=line)(body).bind(a=np.full(3, 2.0))
    program = matrix.program("apply")
    assert not calls_of(lower(program.ir, program.options, "float64", program.ir.name).source)


@HOSTILE
def test_names_of_sizes_are_refused(name: str) -> None:
    with pytest.raises(ssr.errors.ArgumentError):
        ssr.size(name)


def test_fields_are_called_by_names_that_python_accepts() -> None:
    """Parameters are identifiers; the kernel's own name for one is an identifier, too."""
    for name in ("require", "piece", "lambda_", "ψ", "x_0", "u[2]", "__name__", "__import__"):
        assert mangled(name).isidentifier()
        assert mangled(name) not in ("require", "piece", "__name__", "__import__")
