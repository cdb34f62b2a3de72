"""Names in kernel IR: queries, substitution and renaming."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from . import ir

Change: TypeAlias = Callable[[ir.Expression], ir.Expression]


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


def substituted(node: ir.Expression, values: Mapping[str, ir.Expression]) -> ir.Expression:
    """Return an expression with values for some of its names.

    >>> from .print_python import expression_text
    >>> test = ir.Compare(">=", ir.Binary("-", ir.Name("n"), ir.Name("i")), ir.Integer(1))
    >>> expression_text(substituted(test, {"i": ir.Binary("+", ir.Name("j"), ir.Integer(2))}))
    'n - (j + 2) >= 1'
    """
    if isinstance(node, ir.Name):
        return values.get(node.name, node)
    return with_parts(node, lambda part: substituted(part, values)) if values else node


def renamed(body: Iterable[ir.Statement], names: Mapping[str, str]) -> tuple[ir.Statement, ...]:
    """Return statements with other names for variables and arguments."""
    values = {name: ir.Name(other) for name, other in names.items()}

    def named(name: str) -> str:
        return names.get(name, name)

    def expression(node: ir.Expression) -> ir.Expression:
        match node:
            case ir.Name(name):
                return values.get(name, node)
            case ir.Extent(array, axis):
                return ir.Extent(named(array), axis)
        return with_parts(node, expression)

    def every(nodes: Sequence[ir.Expression]) -> tuple[ir.Expression, ...]:
        return tuple(map(expression, nodes))

    def statement(node: ir.Statement) -> ir.Statement:
        match node:
            case ir.Let(targets, value):
                return ir.Let(tuple(map(named, targets)), expression(value))
            case ir.Store(array, offset, value):
                return ir.Store(expression(array), expression(offset), expression(value))
            case ir.SetElement(array, index, value):
                return ir.SetElement(named(array), every(index), expression(value))
            case ir.Do(ir.Call(function, arguments)):
                return replace(node, call=ir.Call(function, every(arguments)))
            case ir.For(variable, start, stop, step, inner):
                start, stop, step = every((start, stop, step))
                variable, inner = named(variable), tuple(map(statement, inner))
                return ir.For(variable, start, stop, step, inner, node.order, node.comment)
            case ir.While(test, inner):
                return ir.While(expression(test), tuple(map(statement, inner)))
            case ir.If(test, then, orelse):
                then, orelse = tuple(map(statement, then)), tuple(map(statement, orelse))
                return ir.If(expression(test), then, orelse, node.comment)
            case ir.Return(value):
                return ir.Return(None if value is None else expression(value))

    return tuple(map(statement, body))


def assigned(node: ir.Statement) -> tuple[str, ...]:
    """Return the variables that a statement assigns to, except those of nested statements."""
    match node:
        case ir.Let(targets=targets):
            return targets
        case ir.For(variable=variable):
            return (variable,)
    return ()


def mentioned(body: Iterable[ir.Statement]) -> Iterator[str]:
    """Yield the names in statements, in the order of the printed text."""
    for node in body:
        yield from assigned(node)
        if isinstance(node, ir.SetElement):
            yield node.array
        for part in ir.expressions(node):
            yield from _in_order(part)
        for block in ir.blocks(node):
            yield from mentioned(block)


def _in_order(node: ir.Expression) -> Iterator[str]:
    left = [node]
    while left:
        here = left.pop()
        if isinstance(here, ir.Name):
            yield here.name
        elif isinstance(here, ir.Extent):
            yield here.array
        elif isinstance(here, ir.Select):
            left += here.orelse, here.test, here.then
        else:
            left += ir.parts(here)[::-1]


def length(body: Iterable[ir.Statement]) -> int:
    """Return the number of statements, including nested ones; an ``else`` counts as one.

    >>> x = ir.Let(("x",), ir.Integer(1))
    >>> length([x, ir.If(ir.Name("t"), (x,), (x, x))])
    6
    """
    total = 0
    for node in body:
        total += 2 if isinstance(node, ir.If) and node.orelse else 1
        total += sum(map(length, ir.blocks(node)))
    return total
