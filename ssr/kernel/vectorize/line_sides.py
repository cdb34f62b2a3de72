"""Boundary predicates of loops whose first and last rows lack some terms, and the rows inside.

    for i in range(i_lo, i_hi):
        s = t + ld(x, r + i - 1) if (i >= 1) else t
        st(y, r + i, s + ld(x, r + i + 1) if (i <= n - 2) else s)

Rows are *inside* where all predicates on their index hold: here those from 1 to n - 2. They need no
masks, so that most of a line is computed without masks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

from .. import ir
from ..building import call, expression
from ..integers import plus
from ..rewriting import with_parts


class Side(NamedTuple):
    """The test that a row is at a place or ``after`` it, or else at it or before it."""

    after: bool
    place: ir.Expression


class Inside(NamedTuple):
    """The sides of a loop, and the body of rows inside."""

    sides: tuple[Side, ...]
    body: tuple[ir.Statement, ...]


def side(node: ir.Expression, variable: str) -> Side | None:
    """Return the side that an expression tests, if it is such a test.

    >>> side(ir.Compare("<=", ir.Name("i"), ir.Name("n")), "i")
    Side(after=False, place=Name(name='n'))
    """
    match node:
        case ir.Compare(">=" | "<=" as relation, ir.Name(name), place) if name == variable:
            return Side(relation == ">=", place)
    return None


def inside(body: Sequence[ir.Statement], variable: str) -> Inside | None:
    """Return the sides and the inner body of the body of a loop; None if there are no sides."""
    if not all(isinstance(node, ir.Let | ir.Store | ir.SetElement | ir.Do) for node in body):
        return None
    tests = [
        test
        for node in body
        for value in _numbers(node)
        for choice in _choices(value)
        for test in _all(choice.test)
    ]
    found = dict.fromkeys(one for test in tests for one in (side(test, variable),) if one)
    if not found:
        return None
    return Inside(tuple(found), tuple(_rows_inside(node, variable) for node in body))


def limits(
    found: Inside | None, start: ir.Expression, stop: ir.Expression
) -> tuple[ir.Expression, ir.Expression]:
    """Return the bounds of the rows at which a loop is inside.

    There are no such rows if the upper bound is not larger than the lower bound.

    >>> from ssr.kernel.from_python import expression
    >>> from ssr.kernel.print_python import expression_text
    >>> some = Inside((Side(True, ir.Integer(1)), Side(False, expression("n - 2"))), ())
    >>> [expression_text(limit) for limit in limits(some, ir.Name("lo"), ir.Name("hi"))]
    ['max(lo, 1)', 'min(hi, n - 1)']
    """
    return on_sides(found.sides if found else (), start, stop)


def on_sides(
    sides: Iterable[Side], start: ir.Expression, stop: ir.Expression
) -> tuple[ir.Expression, ir.Expression]:
    """Return the first row of a range that is on some sides, and the one after the last."""
    ordered = sorted(sides, key=repr)
    lower = [one.place for one in ordered if one.after]
    upper = [plus(one.place, 1) for one in ordered if not one.after]
    return extreme("max", start, *lower), extreme("min", stop, *upper)


def sides_of_loads(
    body: Sequence[ir.Statement], variable: str
) -> dict[tuple[str, ir.Expression], frozenset[Side]]:
    """Return for each load, by array and offset, the sides on which all rows are that read it.

    >>> from ssr.kernel.from_python import functions_of
    >>> (found,) = functions_of("def f(i): s = ld(x, i - 1) if i >= 1 else ld(x, i)")
    >>> [(offset, len(sides)) for (_, offset), sides in sides_of_loads(found.body, "i").items()]
    [(Binary(operator='-', left=Name(name='i'), right=Integer(value=1)), 1), (Name(name='i'), 0)]
    """
    found: dict[tuple[str, ir.Expression], frozenset[Side]] = {}

    def look(node: ir.Expression, sides: frozenset[Side]) -> None:
        match node:
            case ir.Load(ir.Name(array), offset):
                found[array, offset] = found.get((array, offset), sides) & sides
            case ir.Select(test, then, orelse):
                more = (side(one, variable) for one in _all(test))
                look(test, sides)
                look(then, sides.union(one for one in more if one))
                look(orelse, sides)
            case _:
                for part in ir.parts(node):
                    look(part, sides)

    for statement in body:
        for value in _numbers(statement):
            look(value, frozenset())
    return found


def extreme(name: str, *numbers: ir.Expression) -> ir.Expression:
    """Return the ``min`` or the ``max`` of some integers, each of them once."""
    found = tuple(dict.fromkeys(numbers))
    return found[0] if len(found) == 1 else call(name, *map(expression, found))


def _all(test: ir.Expression) -> Iterator[ir.Expression]:
    """Yield the tests that all hold if one does."""
    match test:
        case ir.Binary("&", left, right):
            yield from _all(left)
            yield from _all(right)
        case _:
            yield test


def _numbers(node: ir.Statement) -> tuple[ir.Expression, ...]:
    """Return the expressions of a statement, except the index of an element that it stores."""
    match node:
        case ir.Store(value=value) | ir.SetElement(value=value):
            return (value,)
    return ir.expressions(node)


def _choices(node: ir.Expression) -> Iterator[ir.Select]:
    """Yield the choices of values, not of array indices."""
    if isinstance(node, ir.Load):
        return
    if isinstance(node, ir.Select):
        yield node
    for part in ir.parts(node):
        yield from _choices(part)


def _rows_inside(node: ir.Statement, variable: str) -> ir.Statement:
    """Return a statement specialized to rows inside."""
    match node:
        case ir.Let(value=value) | ir.Store(value=value) | ir.SetElement(value=value):
            return replace(node, value=_without_sides(value, variable))
        case ir.Do(given):
            arguments = tuple(_without_sides(part, variable) for part in given.arguments)
            return replace(node, call=replace(given, arguments=arguments))
    return node


def _without_sides(node: ir.Expression, variable: str) -> ir.Expression:
    """Return an expression specialized to rows inside."""
    match node:
        case ir.Load():
            return node
        case ir.Select(test, then, orelse):
            rest = [one for one in _all(test) if side(one, variable) is None]
            found, other = (_without_sides(part, variable) for part in (then, orelse))
            if not rest:
                return found
            return ir.Select(reduce(lambda a, b: ir.Binary("&", a, b), rest), found, other)
    return with_parts(node, lambda part: _without_sides(part, variable))
