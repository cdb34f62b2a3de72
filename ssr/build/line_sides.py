"""Loops of which the first and the last rows lack some terms.

    for i in range(i_lo, i_hi):
        s = t + ld(x, r + i - 1) if (i >= 1) else t
        st(y, r + i, s + ld(x, r + i + 1) if (i <= n - 2) else s)

Rows are *inside* where all such tests of their place hold: here those from 1 to n - 2. They need no
tests, so that most of a line is computed without any.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

from ..runtime.constants import TEST


class Side(NamedTuple):
    """The test that a row is at a place or ``after`` it, or else at it or before it."""

    after: bool
    place: ast.expr


class Inside(NamedTuple):
    """The sides of a loop, and the body of rows inside.

    Whether terms of the loop depend on the line, too, is ``by_line``.
    """

    sides: Sequence[Side]
    body: list[ast.stmt]
    by_line: bool


def side(node: ast.expr, variable: str) -> Side | None:
    """Return the side that an expression tests, if it is such a test.

    >>> found = side(ast.parse("i <= n - 2", mode="eval").body, "i")
    >>> found and (found.after, ast.unparse(found.place))
    (False, 'n - 2')
    """
    match node:
        case ast.Compare(ast.Name(id=name), [ast.GtE() | ast.LtE() as op], [place]):
            if name == variable:
                return Side(isinstance(op, ast.GtE), place)
    return None


def inside(body: Sequence[ast.stmt], variable: str) -> Inside | None:
    """Return what rows inside compute of the body of a loop; None if there are no sides."""
    if not all(isinstance(node, ast.Assign | ast.Expr) for node in body):
        return None
    choices = [one for node in body for one in _choices(node)]
    found = {
        (one.after, ast.dump(one.place)): one
        for choice in choices
        for test in _all(choice.test)
        for one in (side(test, variable),)
        if one is not None
    }
    if not found:
        return None
    by_line = any(
        isinstance(test, ast.Name) and test.id.startswith(TEST)
        for choice in choices
        for test in _all(choice.test)
    )
    return Inside(tuple(found.values()), _without_sides(list(body), variable), by_line)


def limits(builder: Any, given: Any, sides: Sequence[Side], start: Any, stop: Any) -> Any:
    """Return the rows from which on and until which a loop is inside, in LLVM's language.

    There are none between them if the second one is not larger. ``given`` returns integers.
    """
    lower = [given(one.place) for one in sides if one.after]
    upper = [builder.add(given(one.place), start.type(1)) for one in sides if not one.after]
    return extreme(builder, ">", (start, *lower)), extreme(builder, "<", (stop, *upper))


def extreme(builder: Any, order: str, numbers: Iterable[Any]) -> Any:
    """Return the least or the largest of some integers, in LLVM's language."""
    return reduce(lambda a, b: builder.select(builder.icmp_signed(order, a, b), a, b), numbers)


def _all(test: ast.expr) -> Iterator[ast.expr]:
    """Yield the tests that all hold if one does."""
    match test:
        case ast.BinOp(left, ast.BitAnd(), right):
            yield from _all(left)
            yield from _all(right)
        case _:
            yield test


def _choices(node: ast.AST) -> Iterator[ast.IfExp]:
    """Yield the choices of numbers, not those of places in arrays."""
    if isinstance(node, ast.IfExp):
        yield node
    for part in _numbers(node):
        yield from _choices(part)


def _numbers(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Call(ast.Name(id="ld")):
            return
        case ast.Call(ast.Name(id="st"), [_, _, value]):
            yield value
        case _:
            yield from ast.iter_child_nodes(node)


def _without_sides(node: Any, variable: str) -> Any:
    """Return what rows inside compute of a node, which itself stays as it is."""
    match node:
        case list():
            return [_without_sides(part, variable) for part in node]
        case ast.IfExp(test, body, orelse):
            rest = [one for one in _all(test) if side(one, variable) is None]
            found, other = (_without_sides(part, variable) for part in (body, orelse))
            if not rest:
                return found
            return ast.IfExp(reduce(lambda a, b: ast.BinOp(a, ast.BitAnd(), b), rest), found, other)
        case ast.Call(ast.Name(id="ld")) | ast.Name() | ast.Constant():
            return node
        case ast.Call(ast.Name(id="st") as st, [array, place, value]):
            return ast.Call(st, [array, place, _without_sides(value, variable)], [])
        case ast.AST():
            fields = {name: _without_sides(part, variable) for name, part in ast.iter_fields(node)}
            return ast.copy_location(type(node)(**fields), node)
    return node
