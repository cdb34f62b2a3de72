"""Sums of terms that loops over vectors make, added up in these loops.

The terms of a sum are stored in a line buffer, and `accumulate` adds up the line. Where a loop over
vectors makes the whole line, it takes each vector of terms apart while it has them: loops that wait
for memory have time for it. Whether these terms count is found out at the call, which identifies
the line by its place and length: no other statement stores lines of this buffer. If it is another
line, or does not fit the state, the call adds up the buffer. The bits of a sum do not depend on it
(docs/decisions/reproducible-sums.md).

A sum stays open from line to line; the state gets the parts of its terms where the function reads
it, or where a line needs the state itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .. import ir
from ..building import call, do, let
from ..integers import at_row, minus
from .context import Context
from .plans import Plan
from .summed import Sum, calls_apart, states, summed

LANES = 8
"""The doubles of vectors that sums take apart."""


def sums_of(context: Context, function: ir.Function) -> Mapping[str, Sum]:
    """Return the sums that loops of a function may add up, by the buffers of their terms."""
    if context.target.lanes(64) != LANES:
        return {}
    found = {}
    for name, added in calls_apart(function, context.uses).items():
        known = context.scope.variables.get(name)
        state, row, *_ = added.arguments
        is_buffer = isinstance(known, ir.Array) and replace(known, written=False) == ir.Array("f8")
        if is_buffer and isinstance(state, ir.Name):
            squares = added.function == "accumulate_squares"
            found[name] = Sum(context.names.new("sum"), state.name, row, squares)
    return found


def begin(
    context: Context, plan: Plan, start: ir.Expression, stop: ir.Expression
) -> Iterator[ir.Statement]:
    """Yield the statements that begin the sums of the lines that a loop stores."""
    for array, offset, step in plan.stores:
        found = context.sums.get(array)
        if found is not None and step == 1:
            context.begun.add(array)
            place = at_row(offset, plan.loop.variable, start)
            yield do("begin_line", found.name, found.state, found.row, place, minus(stop, start))


class Closing:
    """The statements by which states get the terms of sums where a function needs them.

    Parameters
    ----------
    context
        The function.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._adding = False  # before that no sum has any terms for its state

    def opened(self) -> Iterator[ir.Statement]:
        """Yield the statements at the beginning of the function."""
        for found in self._context.sums.values():
            yield let(found.name, call("open_squares" if found.squares else "open_sum"))

    def meet(self, body: Sequence[ir.Statement]) -> None:
        """Note the body of a loop, which may add up lines."""
        self._adding = self._adding or any(map(summed, ir.statements(tuple(body))))

    def added(self, node: ir.Do) -> Iterator[ir.Statement]:
        """Yield the statements in place of a call; lines may have been added up already."""
        found = summed(node)
        known = self._context.sums.get(found[0]) if found else None
        if found is None or known is None:
            yield from self.closed(node.call)
            yield node
            return
        self._adding = True
        yield do("end_line", known.name, *found[1].arguments)

    def closed(self, *reading: ir.Expression) -> Iterator[ir.Statement]:
        """Yield the statements that close all sums, or those whose states some expressions read."""
        if not self._adding:
            return
        read = states(reading)
        for found in self._context.sums.values():
            rows = {number for array, number in read if array == found.state}
            unknown = None in rows or (rows and not isinstance(found.row, ir.Integer))
            if not reading or found.row in rows or unknown:
                yield do("close_sum", found.name, found.state, found.row)
