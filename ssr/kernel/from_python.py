"""Parse functions in Python source as kernel IR.

The parser serves examples, tests and tools; the compiler constructs kernel IR directly.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from ..errors import UnsupportedError
from . import ir
from .print_python import RANGES

_INFIX: dict[type[ast.operator], ir.Infix] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
_RELATIONS: dict[type[ast.cmpop], ir.Relation] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_ORDERS = {name: order for order, name in RANGES.items()}


def functions_of(text: str) -> tuple[ir.Function, ...]:
    """Return the functions of a module, in order."""
    found = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return tuple(
        ir.Function(f.name, tuple(a.arg for a in f.args.args), _block(f.body)) for f in found
    )


def expression(text: str) -> ir.Expression:
    """Return an expression that is written as Python text."""
    return _expression(ast.parse(text, mode="eval").body)


def _refused(node: ast.AST) -> UnsupportedError:
    where = f"{ast.unparse(node)} (line {getattr(node, 'lineno', '?')})"
    return UnsupportedError(f"Kernels have no such statement or expression: {where}.")


def _block(body: Sequence[ast.stmt]) -> tuple[ir.Statement, ...]:
    return tuple(map(_statement, body))


def _statement(node: ast.stmt) -> ir.Statement:
    match node:
        case ast.Assign([ast.Name(id=name)], value):
            return ir.Let((name,), _expression(value))
        case ast.Assign([ast.Tuple(elts=targets)], value):
            names = tuple(target.id for target in targets if isinstance(target, ast.Name))
            if len(names) == len(targets):
                return ir.Let(names, _expression(value))
        case ast.Assign([ast.Subscript(value=ast.Name(id=array), slice=index)], value):
            return ir.SetElement(array, _index(index), _expression(value))
        case ast.AugAssign(ast.Name(id=name), _, value):
            changed = ir.Binary(_infix(node), ir.Name(name), _expression(value))
            return ir.Let((name,), changed)
        case ast.AugAssign(ast.Subscript(value=ast.Name(id=array), slice=index), _, value):
            places = _index(index)
            old = ir.Element(ir.Name(array), places)
            changed = ir.Binary(_infix(node), old, _expression(value))
            return ir.SetElement(array, places, changed)
        case ast.Expr(ast.Call(ast.Name(id="st"), [array, offset, value], [])):
            target = _expression(array), _expression(offset)
            return ir.Store(*target, _expression(value))
        case ast.Expr(ast.Call() as call):
            found = _expression(call)
            assert isinstance(found, ir.Call)
            return ir.Do(found)
        case ast.For(ast.Name(id=name), ast.Call(ast.Name(id=kind), bounds, []), body, []) if (
            kind in _ORDERS and len(bounds) in (1, 2, 3)
        ):
            zero, one = ir.Integer(0), ir.Integer(1)
            known = [_expression(bound) for bound in bounds]
            start, stop, step = {1: (zero, *known, one), 2: (*known, one), 3: known}[len(known)]
            order = cast(ir.Order, _ORDERS[kind])
            return ir.For(name, start, stop, step, _block(body), order)
        case ast.While(test, body, []):
            return ir.While(_expression(test), _block(body))
        case ast.If(test, then, orelse):
            return ir.If(_expression(test), _block(then), _block(orelse))
        case ast.Return(value):
            return ir.Return(None if value is None else _expression(value))
    raise _refused(node)


def _infix(node: ast.BinOp | ast.AugAssign) -> ir.Infix:
    found = _INFIX.get(type(node.op))
    if found is None:
        raise _refused(node)
    return found


def _index(node: ast.expr) -> tuple[ir.Expression, ...]:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return tuple(map(_expression, parts))


def _expression(node: ast.expr) -> ir.Expression:
    match node:
        case ast.Constant(bool(value)):
            return ir.Truth(value)
        case ast.Constant(int(value)):
            return ir.Integer(value)
        case ast.Constant(float(value)):
            return ir.Real(repr(value))
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
            return ir.Integer(-value)
        case ast.Name(id=name):
            return ir.Name(name)
        case ast.BinOp(left, _, right):
            return ir.Binary(_infix(node), _expression(left), _expression(right))
        case ast.UnaryOp(ast.USub(), operand):
            return ir.Negative(_expression(operand))
        case ast.UnaryOp(ast.Not(), operand):
            return ir.Not(_expression(operand))
        case ast.Compare(left, ops, operands):
            sides = [_expression(side) for side in (left, *operands)]
            relations = [_RELATIONS.get(type(op)) for op in ops]
            found = tuple(
                ir.Compare(relation, *pair)
                for relation, pair in zip(relations, pairwise(sides), strict=True)
                if relation
            )
            if len(found) < len(ops):
                raise _refused(node)
            return found[0] if len(found) == 1 else ir.All(found)
        case ast.BoolOp(op, values):
            both = ir.All if isinstance(op, ast.And) else ir.Any
            return both(tuple(map(_expression, values)))
        case ast.IfExp(test, body, orelse):
            return ir.Select(_expression(test), _expression(body), _expression(orelse))
        case ast.Tuple(elts=parts):
            return ir.Group(tuple(map(_expression, parts)))
        case ast.Call(ast.Name(id="ld"), [array, offset], []):
            return ir.Load(_expression(array), _expression(offset))
        case ast.Call(ast.Name() | ast.Attribute() as function, arguments, []):
            return ir.Call(ast.unparse(function), tuple(map(_expression, arguments)))
        case ast.Subscript(ast.Attribute(ast.Name(id=array), "shape"), ast.Constant(int(axis))):
            return ir.Extent(array, axis)
        case ast.Subscript(value=array, slice=index):
            return ir.Element(_expression(array), _index(index))
    raise _refused(node)
