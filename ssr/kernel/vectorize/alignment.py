"""The row at which the first vector of a line begins."""

from __future__ import annotations

from .. import ir
from ..building import call, compare, let
from .context import Context
from .integers import at_row, minus, plus, times
from .plans import Plan

LONG = 6
"""Vectors of a loop from which on they begin where cache lines do, even if there are more then."""


def first_row(
    context: Context, plan: Plan, start: ir.Expression, stop: ir.Expression, *, masks: bool
) -> tuple[list[ir.Statement], ir.Expression]:
    """Return the row at which the first vector of a loop begins, and the statements that find it.

    It is the last one until the start at which vectors of the aligned access begin; it is the start
    itself if the lines of that array begin in several ways. With ``masks`` it is so, too, if the
    loop is short and would have one vector more; a loop that has no rows has no vectors then.
    """
    if plan.aligned is None:
        return [], start
    array, offset, _ = plan.aligned
    size, lanes, names = context.target.vector_bytes, plan.lanes, context.names
    place = plus(
        call("address", array), times(at_row(offset, plan.loop.variable, start), plan.size)
    )
    before = ir.Binary(
        ">>", ir.Binary("&", place, ir.Integer(size - 1)), ir.Integer(plan.size.bit_length() - 1)
    )
    uneven = ir.Binary("&", call("line_steps", array), ir.Integer(size - 1))
    early, first = ir.Name(names.new("early")), ir.Name(names.new("first"))
    found = minus(start, early)
    if masks:
        count = minus(stop, start)
        rest = ir.Binary("&", plus(count, -1), ir.Integer(lanes - 1))
        no_more = compare(plus(early, rest), "<", lanes)
        is_long = compare(count, ">=", LONG * lanes)
        found = ir.Select(ir.Any((is_long, no_more)), found, start)
    return [
        let(early.name, ir.Select(compare(uneven, "==", 0), before, ir.Integer(0))),
        let(first.name, found),
    ], first
