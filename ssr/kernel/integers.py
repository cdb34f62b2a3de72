"""Constructors of integer expressions with constant folding: sums, differences and products."""

from __future__ import annotations

from . import ir
from .building import Operand, expression
from .rewriting import substituted


def plus(left: Operand, right: Operand) -> ir.Expression:
    """Return a sum.

    >>> from ssr.kernel.print_python import expression_text
    >>> [expression_text(plus(plus("i", n), -1)) for n in (0, 1, 3)]
    ['i - 1', 'i', 'i + 2']
    """
    match expression(left), expression(right):
        case ir.Integer(a), ir.Integer(b):
            return ir.Integer(a + b)
        case ir.Integer() as a, b:
            return plus(b, a)
        case a, ir.Integer(0):
            return a
        case ir.Binary("+", a, ir.Integer(n)), ir.Integer(more):
            return plus(a, n + more)
        case ir.Binary("-", a, ir.Integer(n)), ir.Integer(more):
            return plus(a, more - n)
        case a, ir.Integer(n) if n < 0:
            return ir.Binary("-", a, ir.Integer(-n))
        case a, b:
            return ir.Binary("+", a, b)


def minus(left: Operand, right: Operand) -> ir.Expression:
    """Return a difference.

    >>> minus("i", "i"), minus("i", 0)
    (Integer(value=0), Name(name='i'))
    """
    match expression(left), expression(right):
        case a, ir.Integer(n):
            return plus(a, -n)
        case a, b if a == b:
            return ir.Integer(0)
        case ir.Integer(0), b:
            return ir.Negative(b)
        case a, b:
            return ir.Binary("-", a, b)


def times(left: Operand, factor: int) -> ir.Expression:
    """Return a product with a known integer."""
    match expression(left):
        case ir.Integer(n):
            return ir.Integer(factor * n)
        case a if factor == 1:
            return a
        case a:
            return ir.Binary("*", ir.Integer(factor), a)


def at_row(offset: ir.Expression, variable: str, row: ir.Expression) -> ir.Expression:
    """Return the offset of an element for a row, of which the variable is a part.

    >>> from ssr.kernel.from_python import expression
    >>> from ssr.kernel.print_python import expression_text
    >>> expression_text(at_row(expression("r + i - 1"), "i", ir.Integer(1)))
    'r'
    """
    match offset:
        case ir.Name(name) if name == variable:
            return row
        case ir.Binary("+", left, right):
            return plus(at_row(left, variable, row), at_row(right, variable, row))
        case ir.Binary("-", left, right):
            return minus(at_row(left, variable, row), at_row(right, variable, row))
        case ir.Binary("*", ir.Integer(factor), right):
            return times(at_row(right, variable, row), factor)
    return substituted(offset, {variable: row})
