"""Changes of the kernel IR."""

from __future__ import annotations

from collections.abc import Callable

from . import ir

Change = Callable[[ir.Expression], ir.Expression]


def with_parts(node: ir.Expression, change: Change) -> ir.Expression:
    """Return an expression with each of its parts changed."""
    match node:
        case ir.Binary(operator, left, right):
            return ir.Binary(operator, change(left), change(right))
        case ir.Compare(relation, left, right):
            return ir.Compare(relation, change(left), change(right))
        case ir.Negative(operand):
            return ir.Negative(change(operand))
        case ir.Not(operand):
            return ir.Not(change(operand))
        case ir.All(parts):
            return ir.All(tuple(map(change, parts)))
        case ir.Any(parts):
            return ir.Any(tuple(map(change, parts)))
        case ir.Group(parts):
            return ir.Group(tuple(map(change, parts)))
        case ir.Call(function, arguments):
            return ir.Call(function, tuple(map(change, arguments)))
        case ir.Select(test, then, orelse):
            return ir.Select(change(test), change(then), change(orelse))
        case ir.Load(array, offset):
            return ir.Load(change(array), change(offset))
        case ir.Element(array, index):
            return ir.Element(change(array), tuple(map(change, index)))
    return node
