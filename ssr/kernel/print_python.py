"""Print kernel IR as Python source."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from . import ir
from .operations import MODULES

RANGES = {
    "serial": "range", "independent": "independent",
    "vectors": "vectors", "rolled": "rolled",
}  # fmt: skip
"""The name of the range function for each loop order."""

_ORIGINS = {
    **{name: module for module, rules in MODULES.items() for name in rules},
    **dict.fromkeys(("ld", "st", "independent", "rolled"), "intrinsics"),
    "vectors": "vectors",
}
"""The module of ``ssr.runtime`` that defines a name of the printed text."""

_INFIX = {"|": 5, "&": 6, "<<": 7, ">>": 7, "+": 8, "-": 8, "*": 9, "/": 9, "//": 9, "%": 9}
_SELECT, _ANY, _ALL, _NOT, _COMPARE, _NEGATIVE, _ATOM = 0, 1, 2, 3, 4, 10, 11
"""Operator precedences, as in Python."""


def expression_text(node: ir.Expression) -> str:
    """Return the text of an expression, with the parentheses that it needs.

    >>> i, n = ir.Name("i"), ir.Name("n")
    >>> expression_text(ir.Binary("-", n, ir.Binary("+", i, ir.Integer(1))))
    'n - (i + 1)'
    """
    return _text(node)[0]


def _within(node: ir.Expression, least: int) -> str:
    text, strength = _text(node)
    return text if strength >= least else f"({text})"


def _text(node: ir.Expression) -> tuple[str, int]:
    """Return the text of an expression, and how strongly its outermost operation binds."""
    match node:
        case ir.Integer(value):
            return str(value), _ATOM if value >= 0 else _NEGATIVE
        case ir.Real(text):
            return text, _NEGATIVE if text.startswith("-") else _ATOM
        case ir.Truth(value):
            return str(value), _ATOM
        case ir.Name(name):
            return name, _ATOM
        case ir.Binary(operator, left, right):
            here = _INFIX[operator]
            return f"{_within(left, here)} {operator} {_within(right, here + 1)}", here
        case ir.Negative(operand):
            return f"-{_within(operand, _NEGATIVE)}", _NEGATIVE
        case ir.Not(operand):
            return f"not {_within(operand, _NOT)}", _NOT
        case ir.Compare(relation, left, right):
            first, second = (_within(side, _COMPARE + 1) for side in (left, right))
            return f"{first} {relation} {second}", _COMPARE
        case ir.All(parts):
            return " and ".join(_within(part, _ALL + 1) for part in parts), _ALL
        case ir.Any(parts):
            return " or ".join(_within(part, _ANY + 1) for part in parts), _ANY
        case ir.Select(test, then, orelse):
            chosen, other = _within(then, _SELECT + 1), _within(orelse, _SELECT)
            return f"{chosen} if {_within(test, _SELECT + 1)} else {other}", _SELECT
        case ir.Load(array, offset):
            return f"ld({expression_text(array)}, {expression_text(offset)})", _ATOM
        case ir.Element(array, index):
            places = ", ".join(map(expression_text, index))
            return f"{_within(array, _ATOM)}[{places}]", _ATOM
        case ir.Extent(array, axis):
            return f"{array}.shape[{axis}]", _ATOM
        case ir.Group(parts):
            inner = ", ".join(map(expression_text, parts))
            return f"({inner},)" if len(parts) == 1 else f"({inner})", _ATOM
        case ir.Call(function, arguments):
            return f"{function}({', '.join(map(expression_text, arguments))})", _ATOM


def printed(module: ir.Module) -> str:
    """Return the text of a module."""
    lines = [f'"""{module.title}"""', "", *_imports(module), "", f"real = np.{module.dtype}"]
    lines += [f"{name} = real({_number(value)})" for name, value in module.constants]
    lines += [f"{name} = np.float64({_number(value)})" for name, value in module.doubles]
    lines += [f"{name} = {text!r}" for name, text in module.labels]
    for function in module.functions:
        lines += ["", "", *function_lines(function)]
    return "\n".join([*lines, ""])


def _imports(module: ir.Module) -> Iterator[str]:
    """Yield the lines of imports."""
    origins = {**_ORIGINS, **dict.fromkeys(("ld", "st"), "checked")} if module.checked else _ORIGINS
    used = {name for function in module.functions for name in _used(function)} & origins.keys()
    yield from ("import numpy as np", "")
    for origin in sorted({origins[name] for name in used}):
        names = sorted(name for name in used if origins[name] == origin)
        yield f"from ssr.runtime.{origin} import {', '.join(names)}"


def _used(function: ir.Function) -> Iterator[str]:
    """Yield the functions that the text of a function calls."""
    for node in ir.statements(function.body):
        if isinstance(node, ir.For):
            yield RANGES[node.order]
        elif isinstance(node, ir.Store):
            yield "st"
        for expression in ir.expressions(node):
            for part in ir.walk(expression):
                if isinstance(part, ir.Call):
                    yield part.function
                elif isinstance(part, ir.Load):
                    yield "ld"


def _number(value: float) -> str:
    """Return the text of a number; infinities and NaN are names of NumPy."""
    text = repr(value)
    return text if math.isfinite(value) else f"{text[:-3]}np.{text[-3:]}"


def function_lines(function: ir.Function) -> list[str]:
    """Return the lines of a function."""
    head = f"def {function.name}({', '.join(function.arguments)}):"
    return [head, *("    " * depth + text for depth, text in _lines(function.body, 1))]


def _lines(body: Sequence[ir.Statement], depth: int) -> Iterator[tuple[int, str]]:
    """Yield the lines of a block, each with its depth."""
    for node in body:
        match node:
            case ir.Let(targets, value):
                yield depth, f"{', '.join(targets)} = {_value(value)}"
            case ir.Store(array, offset, value):
                given = ", ".join(map(expression_text, (array, offset, value)))
                yield depth, f"st({given})"
            case ir.SetElement(array, index, value):
                places = ", ".join(map(expression_text, index))
                yield depth, f"{array}[{places}] = {_value(value)}"
            case ir.Do(call, comment):
                yield depth, f"{expression_text(call)}{_comment(comment)}"
            case ir.For(variable, start, stop, step, inner, order, comment):
                bounds = ", ".join(map(expression_text, _bounds(start, stop, step)))
                yield depth, f"for {variable} in {RANGES[order]}({bounds}):{_comment(comment)}"
                yield from _lines(inner, depth + 1)
            case ir.While(test, inner):
                yield depth, f"while {expression_text(test)}:"
                yield from _lines(inner, depth + 1)
            case ir.If(test, then, orelse, comment):
                yield depth, f"if {expression_text(test)}:{_comment(comment)}"
                yield from _lines(then, depth + 1)
                yield from _else_lines(orelse, depth)
            case ir.Return(value):
                yield depth, "return" if value is None else f"return {expression_text(value)}"


def _else_lines(orelse: Sequence[ir.Statement], depth: int) -> Iterator[tuple[int, str]]:
    """Yield the lines of the other side of a branch; one branch alone there is an ``elif``."""
    match orelse:
        case []:
            return
        case [ir.If()]:
            (_, first), *rest = _lines(orelse, depth)
            yield depth, f"el{first}"
            yield from rest
        case _:
            yield depth, "else:"
            yield from _lines(orelse, depth + 1)


def _value(node: ir.Expression) -> str:
    """Return the text of an assigned value; a group of values needs no parentheses there."""
    if isinstance(node, ir.Group) and len(node.parts) > 1:
        return ", ".join(map(expression_text, node.parts))
    return expression_text(node)


def _bounds(
    start: ir.Expression, stop: ir.Expression, step: ir.Expression
) -> tuple[ir.Expression, ...]:
    """Return the arguments of a range."""
    if step != ir.Integer(1):
        return start, stop, step
    return (stop,) if start == ir.Integer(0) else (start, stop)


def _comment(text: str) -> str:
    return f"  # {text}" if text else ""
