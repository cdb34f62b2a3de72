"""Vector loops with long bodies, whose parts run one after the other on blocks of vectors."""

from __future__ import annotations

from .. import ir
from ..building import call, compare, do, let, loop
from ..integers import minus, plus
from ..types import TRUTH
from .bodies import Body, Made, rows_between
from .context import Context
from .line_sides import extreme
from .parts import Part
from .plans import Plan

BLOCK = 8
"""Number of vectors on which a part of a long body runs before the next part."""


def written(context: Context, plan: Plan) -> list[ir.Statement]:
    """Return the statements of a loop."""
    names, lanes, variable = context.names, plan.lanes, plan.loop.variable
    first, last, rest = (ir.Name(names.new(variable)) for _ in range(3))
    rooms = {value: ir.Name(names.new(value)) for part in plan.parts for value in part.kept}
    start, stop = plan.loop.start, plan.loop.stop
    out: list[ir.Statement] = []
    for value, room in rooms.items():
        is_truth = context.type_of(value) == TRUTH
        count = ir.Integer(BLOCK * lanes)
        like = plan.stores[0].array
        memory = call("scratch_truths", count) if is_truth else call("scratch_numbers", like, count)
        out.append(let(room.name, memory))
    size = plus(first, BLOCK * lanes)
    left = ir.Binary("&", minus(last, first), ir.Integer(lanes - 1))
    block: list[ir.Statement] = [
        let(last.name, extreme("min", size, stop)),
        let(rest.name, minus(last, left)),
    ]

    def at_vector(part: Part, out: list[ir.Statement], mask: ir.Expression | None) -> None:
        row = ir.Name(variable)
        place = minus(row, first)
        body = Body(context, plan, row, out, mask)
        for value in part.taken:
            found = call(f"vector_load{lanes}", rooms[value], place)
            body.values[value] = Made(body.named(value, found), True)
        for node in part.body:
            body.run(node)
        for value in part.kept:
            kept = body.vector(body.values[value])
            out.append(do("vector_store", rooms[value], place, kept))

    for part in plan.parts:
        whole: list[ir.Statement] = []
        at_vector(part, whole, None)
        block.append(loop(variable, (first, rest, lanes), whole, "vectors"))
        mask = names.new("rows")
        end: list[ir.Statement] = [
            let(variable, rest),
            let(mask, rows_between(lanes, rest, None, last)),
        ]
        at_vector(part, end, ir.Name(mask))
        block.append(ir.If(compare(rest, "<", last), tuple(end)))
    return [*out, loop(first.name, (start, stop, BLOCK * lanes), block, "vectors")]
