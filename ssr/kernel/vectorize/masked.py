"""Masked vector loops for large fields: compact code, for branches that are rarely taken.

Every vector of such a loop has a mask.
"""

from __future__ import annotations

from .. import ir
from ..building import let, loop
from .bodies import Body, rows_between
from .context import Context
from .plans import Plan
from .requests import of_far_loop


def written(context: Context, plan: Plan) -> list[ir.Statement]:
    """Return the statements of a loop, which requests memory."""
    name, row = plan.loop.variable, ir.Name(plan.loop.variable)
    out: list[ir.Statement] = [*of_far_loop(context, plan)]
    mask = context.names.new("rows")
    out.append(let(mask, rows_between(plan.lanes, row, None, plan.loop.stop)))
    body = Body(context, plan, row, out, ir.Name(mask))
    for node in plan.loop.body:
        body.run(node)
    return [loop(name, (plan.loop.start, plan.loop.stop, plan.lanes), out, "vectors")]
