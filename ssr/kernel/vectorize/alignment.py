"""Alignment: the row at which the first full vector of a loop begins."""

from __future__ import annotations

from .. import ir
from ..building import call, compare, let
from ..integers import at_row, minus, plus, times
from .context import Context
from .plans import Plan

LONG = 6
"""Number of vectors of a loop from which on they are aligned, even if this adds a vector."""


def first_row(
    context: Context, plan: Plan, start: ir.Expression, stop: ir.Expression
) -> tuple[list[ir.Statement], ir.Expression]:
    """Return the row at which the first vector of a loop begins, and the statements that find it.

    It is the last one until the start at which vectors of the aligned access begin, or the start
    itself: if the lines of that array begin in several ways, or if the loop is short and would have
    one vector more. No row of the vectors from there on is before the stop if the loop has no rows.
    """
    if plan.aligned is None:
        return [], start
    array, offset, _ = plan.aligned
    size, lanes, names = context.target.vector_bytes, plan.lanes, context.names
    element = at_row(offset, plan.loop.variable, start)
    place = plus(call("address", array), times(element, plan.size))
    before = ir.Binary(
        ">>", ir.Binary("&", place, ir.Integer(size - 1)), ir.Integer(plan.size.bit_length() - 1)
    )
    uneven = ir.Binary("&", call("line_steps", array), ir.Integer(size - 1))
    early = ir.Name(names.new("early"))
    count = minus(stop, start)
    rest = ir.Binary("&", plus(count, -1), ir.Integer(lanes - 1))
    no_more = compare(plus(early, rest), "<", lanes)
    is_long = compare(count, ">=", LONG * lanes)
    first = names.new("first")
    return [
        let(early.name, ir.Select(compare(uneven, "==", 0), before, ir.Integer(0))),
        let(first, ir.Select(ir.Any((is_long, no_more)), minus(start, early), start)),
    ], ir.Name(first)
