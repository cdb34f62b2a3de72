"""Sliding windows of vector loads: reuse of overlapping loads along a line.

A row of a stencil reads an element of a line and its neighbors. As vectors, these are overlapping
loads, and all but one of them cross a cache line, which doubles their cost. Instead, a vector loop
loads only the last of them and keeps the one of the previous iteration; all others are composed of
these two by shuffles. The set of elements that are read does not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from .. import ir
from ..linear import line_of, shift_of, step_of
from .plans import Plan

MANY = 10
"""Number of loads of a row from which on the load ports are the bottleneck. With fewer loads it is
the memory, and a longer chain of operations after the last load reduces the loads in flight."""

Line: TypeAlias = tuple[str, ir.Expression]
"""The key of a line: its array, and the offset of the row's own element on it."""


class Window(NamedTuple):
    """The elements of a line that a row reads, as distances from the row.

    Attributes
    ----------
    first, last
        The first and the last distance.
    offset
        The array offset of the element at the last distance.
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

    They are on lines of arrays that the loop does not store. Each row reads unconditionally several
    elements of such a line, all within two vectors.
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
