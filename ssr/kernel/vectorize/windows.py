"""Windows on lines: elements of which neighbouring rows read some, and which are loaded once.

A row of a stencil reads an element of a line and its neighbours. As vectors these are loads that
overlap, and all but one of them lie in two cache lines each, which takes processors twice as long.
Instead, a loop over vectors loads the last of them only, and keeps that of the vector before: all
others are made of the two. The elements that are read are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from .. import ir
from ..linear import line_of, shift_of, step_of
from .plans import Plan

MANY = 10
"""Loads of a row from which on processors wait for loads. With fewer they wait for memory, and the
longer the chain of operations after the last load, the fewer loads they have under way."""

Line: TypeAlias = tuple[str, ir.Expression]
"""The identity of a line: its array, and the offset of a row's own place on it."""


class Window(NamedTuple):
    """The elements of a line that a row reads, as places beside its own.

    Attributes
    ----------
    first, last
        The first and the last place.
    offset
        That of the element at the last place.
    """

    array: str
    first: int
    last: int
    offset: ir.Expression


def key_of(array: str, offset: ir.Expression) -> Line:
    """Return the line that an element is on."""
    return array, line_of(offset)


def windows_of(plan: Plan, body: Sequence[ir.Statement]) -> dict[Line, Window]:
    """Return the windows of a loop with a body, by line.

    They are on lines of arrays that it does not store, of which each row reads several elements,
    whatever it chooses otherwise, that are in two vectors together.
    """
    if len(plan.loads) < MANY:
        return {}
    stored = {access.array for access in plan.stores}
    found: dict[Line, dict[int, Window]] = {}
    for array, offset in _reads(body):
        if array not in stored and step_of(offset, plan.loop.variable) == 1:
            place = shift_of(offset)
            window = Window(array, place, place, offset)
            found.setdefault(key_of(array, offset), {})[place] = window
    return {
        line: there[max(there)]._replace(first=min(there))
        for line, there in found.items()
        if len(there) > 1 and max(there) - min(there) <= plan.lanes
    }


def _reads(body: Sequence[ir.Statement]) -> Iterator[tuple[str, ir.Expression]]:
    """Yield the array and the offset of each element that all rows read."""
    left = [part for node in body for part in ir.expressions(node)]
    while left:
        match left.pop():
            case ir.Select(test):
                left.append(test)
            case ir.Load(ir.Name(array), offset):
                yield array, offset
            case node:
                left += ir.parts(node)
