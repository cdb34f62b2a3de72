"""Sums of terms that loops over vectors make, added up in these loops.

The terms of a sum are stored in a line buffer, and `accumulate` adds up the line. Where a loop over
vectors makes the whole line, it takes each vector of terms apart while it has them: loops that wait
for memory have time for it. Whether these terms count is found out at the call, which identifies
the line by its place and length: no other statement stores lines of this buffer. If it is another
line, or does not fit the state, the call adds up the buffer. The bits of a sum do not depend on it
(docs/decisions/0009-sums-without-order.md).

A sum stays open from line to line; the state gets the parts of its terms where the function reads
it, or where a line needs the state itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .. import ir
from ..building import call, do, let
from ..rewriting import substituted
from .context import Context
from .integers import minus
from .plans import Plan
from .summed import apart, states, summed

LANES = 8
"""The doubles of vectors that sums take apart."""


def begin(
    context: Context, plan: Plan, start: ir.Expression, stop: ir.Expression
) -> Iterator[ir.Statement]:
    """Yield the statements that begin the sums of the lines that a loop stores."""
    for array, offset, step in plan.stores:
        found = context.sums.get(array)
        if found is not None and step == 1:
            context.begun.add(array)
            state, row, *_ = context.uses.summed[array].arguments
            place = substituted(offset, {plan.loop.variable: start})
            yield do("begin_line", found, state, row, place, minus(stop, start))


class Sums:
    """The sums of a function that its loops may add up.

    Parameters
    ----------
    context
        The function.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._calls = {name: context.uses.summed[name] for name in context.sums}
        self._adding = False  # before that no sum has any terms for its state

    def opened(self) -> Iterator[ir.Statement]:
        """Yield the statements at the beginning of the function."""
        for buffer, name in self._context.sums.items():
            squares = self._calls[buffer].function == "accumulate_squares"
            yield let(name, call("open_sum", ir.Truth(squares)))

    def meet(self, body: Sequence[ir.Statement]) -> None:
        """Note that a loop has a body, which may add up lines."""
        self._adding = self._adding or any(map(summed, ir.statements(tuple(body))))

    def added(self, node: ir.Do) -> Iterator[ir.Statement]:
        """Yield the statements in place of a call; lines may have been added up already."""
        found = summed(node)
        name = self._context.sums.get(found[0]) if found else None
        if found is None or name is None:
            yield from self.closed(node.call)
            yield node
            return
        self._adding = True
        yield ir.Do(ir.Call("end_line", (ir.Name(name), *found[1].arguments)), line=node.line)

    def closed(self, *reading: ir.Expression) -> Iterator[ir.Statement]:
        """Yield the statements that give states the terms of sums.

        They are of all sums, or of those whose states some expressions read.
        """
        if not self._adding:
            return
        read = states(reading)
        for buffer, name in self._context.sums.items():
            state, row, *_ = self._calls[buffer].arguments
            assert isinstance(state, ir.Name)
            rows = {number for array, number in read if array == state.name}
            unknown = None in rows or (rows and not isinstance(row, ir.Integer))
            if not reading or row in rows or unknown:
                yield do("close_sum", name, state, row)


def sums_of(context: Context) -> Mapping[str, str]:
    """Return new names for the sums that loops of a function may add up, by buffer."""
    if context.target.vector_bytes == 0 or context.target.lanes(64) != LANES:
        return {}
    found = {}
    for name in apart(context.uses.summed):
        known = context.scope.variables.get(name)
        if isinstance(known, ir.Array) and replace(known, written=False) == ir.Array("f8"):
            found[name] = context.names.new("sum")
    return found
