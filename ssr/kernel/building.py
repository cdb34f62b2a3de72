"""Constructors of kernel IR nodes that accept integers and strings for constants and names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TypeAlias

from . import ir

Operand: TypeAlias = "ir.Expression | int | str"
"""An expression, a known integer, or the name of a variable."""


Bounds: TypeAlias = "tuple[Operand, Operand] | tuple[Operand, Operand, Operand]"
"""The start, the exclusive end and, if it is not 1, the step of a loop."""


Branch: TypeAlias = "tuple[ir.Expression, Sequence[ir.Statement]]"
"""A condition and the statements that run where it holds."""

ALWAYS = ir.Truth(True)
"""The condition of a last branch, for all other cases."""


def expression(operand: Operand) -> ir.Expression:
    """Return an operand as an expression."""
    match operand:
        case int():
            return ir.Integer(operand)
        case str():
            return ir.Name(operand)
    return operand


def expressions(operands: Sequence[Operand]) -> tuple[ir.Expression, ...]:
    """Return operands as expressions."""
    return tuple(map(expression, operands))


def binary(operator: ir.Infix, *operands: Operand) -> ir.Expression:
    """Return an operation on operands from the left to the right.

    >>> from .print_python import expression_text
    >>> expression_text(binary("-", "n", "i", binary("+", "j", 1)))
    'n - i - (j + 1)'
    """
    return reduce(lambda left, right: ir.Binary(operator, left, right), expressions(operands))


def plus(*operands: Operand) -> ir.Expression:
    """Return a sum."""
    return binary("+", *operands)


def minus(*operands: Operand) -> ir.Expression:
    """Return a difference."""
    return binary("-", *operands)


def times(*operands: Operand) -> ir.Expression:
    """Return a product."""
    return binary("*", *operands)


def compare(left: Operand, relation: ir.Relation, right: Operand) -> ir.Compare:
    """Return a comparison."""
    return ir.Compare(relation, expression(left), expression(right))


def every(tests: Sequence[ir.Expression]) -> ir.Expression:
    """Return whether all of some tests hold, at least one."""
    return tests[0] if len(tests) == 1 else ir.All(tuple(tests))


def call(function: str, *arguments: Operand) -> ir.Call:
    """Return a call."""
    return ir.Call(function, expressions(arguments))


def load(array: Operand, offset: Operand) -> ir.Load:
    """Return the element of an array at a flat offset."""
    return ir.Load(expression(array), expression(offset))


def element(array: Operand, *index: Operand) -> ir.Element:
    """Return the element of an array at an index."""
    return ir.Element(expression(array), expressions(index))


def let(name: str, value: Operand) -> ir.Let:
    """Return an assignment to a variable."""
    return ir.Let((name,), expression(value))


def store(array: Operand, offset: Operand, value: Operand) -> ir.Store:
    """Return an assignment to an element of an array."""
    return ir.Store(expression(array), expression(offset), expression(value))


def do(function: str, *arguments: Operand) -> ir.Do:
    """Return a call for its effects."""
    return ir.Do(call(function, *arguments))


def loop(
    variable: str,
    bounds: Bounds,
    body: Sequence[ir.Statement],
    order: ir.Order = "serial",
    comment: str = "",
) -> ir.For:
    """Return a loop over the integers from a first one to before another, with a step."""
    start, stop, step = expressions(bounds if len(bounds) == 3 else (*bounds, 1))
    return ir.For(variable, start, stop, step, tuple(body), order, comment)


def choice(branches: Iterable[Branch]) -> tuple[ir.Statement, ...]:
    """Return the statement that runs the first branch whose condition holds.

    >>> from .print_python import function_lines
    >>> body = choice([(compare("n", "<", 8), [do("f", "n")]), (ALWAYS, [do("g", "n")])])
    >>> for line in function_lines(ir.Function("h", ("n",), body)):
    ...     print(line)
    def h(n):
        if n < 8:
            f(n)
        else:
            g(n)
    """
    made: tuple[ir.Statement, ...] = ()
    for condition, body in reversed(list(branches)):
        made = tuple(body) if condition == ALWAYS else (ir.If(condition, tuple(body), made),)
    return made
