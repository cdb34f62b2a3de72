"""Vectorization of a function: the walk over its loops, and the choice of a form for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import ir
from ..building import call, let
from . import chain_plans, in_parts, lines, masked
from .chain_plans import Chain
from .context import Context
from .line_sides import Inside, extreme, inside, limits
from .plans import Plan, Plans
from .requests import are_far


def vectorized(context: Context, function: ir.Function) -> ir.Function:
    """Return a function with its loops over rows as loops over vectors."""
    return replace(function, body=_Pass(context).block(function.body))


class _Pass:
    """The walk over the statements of a function."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._plans = Plans(context)

    def block(self, body: Sequence[ir.Statement]) -> tuple[ir.Statement, ...]:
        """Return the statements of a block."""
        found: list[ir.Statement] = []
        place = 0
        while place < len(body):
            node, rest = body[place], body[place + 1 :]
            place += 1
            if isinstance(node, ir.For):
                chain = chain_plans.chain(self._context, self._plans, (node, *rest))
                if chain is not None:
                    found += self.block(chain.before)
                    found += lines.written(self._context, chain)
                    place += chain.length - 1
                    continue
            elif isinstance(node, ir.If):
                more = chain_plans.shared(self._context, self._plans, node, rest)
                both = tuple(rest[:more])
                node = replace(node, then=node.then + both, orelse=node.orelse + both)
                place += more
            found += self._statement(node)
        return tuple(found)

    def _statement(self, node: ir.Statement) -> list[ir.Statement]:
        match node:
            case ir.If(_, then, orelse):
                return [replace(node, then=self.block(then), orelse=self.block(orelse))]
            case ir.While(_, body):
                return [replace(node, body=self.block(body))]
            case ir.For():
                return self._loop(node)
        return [node]

    def _loop(self, node: ir.For) -> list[ir.Statement]:
        """Return a loop over vectors, a loop with its ends split off, or the loop unchanged."""
        if node.step != ir.Integer(1):
            return [self._outer(node)]
        plan = self._plans.of(node)
        found = plan.inside if plan else inside(node.body, node.variable)
        if plan is not None and not plan.far and not (found and len(plan.parts) > 1):
            return self._on_vectors(plan)
        if found is not None:
            return self._ends_apart(node, found)
        if plan is not None:
            far = call("seldom", are_far(self._context, plan))
            return [ir.If(far, tuple(masked.written(self._context, plan)), (node,))]
        return [self._outer(node)]

    def _on_vectors(self, plan: Plan) -> list[ir.Statement]:
        if len(plan.parts) > 1:
            return in_parts.written(self._context, plan)
        return lines.written(self._context, Chain((plan,)))

    def _outer(self, node: ir.For) -> ir.For:
        """Return a loop row by row, with the loops in its body."""
        before = self._context.backwards
        self._context.backwards = before or _is_negative(node.step)
        body = self.block(node.body)
        self._context.backwards = before
        return replace(node, body=body)

    def _ends_apart(self, node: ir.For, found: Inside) -> list[ir.Statement]:
        """Split a loop into one over the rows inside, and one at each end of the line."""
        names = (self._context.names.new(f"{node.variable}_{end}") for end in ("low", "high"))
        low, high = map(ir.Name, names)
        first, last = extreme("min", low, node.stop), extreme("max", low, high)
        return [
            *(let(n.name, v) for n, v in zip((low, high), limits(found, node.start, node.stop),
                                            strict=True)),
            replace(node, stop=first, order="rolled"),
            *self._loop(replace(node, start=low, stop=high, body=found.body)),
            replace(node, start=last, order="rolled"),
        ]  # fmt: skip


def _is_negative(step: ir.Expression) -> bool:
    match step:
        case ir.Integer(number):
            return number < 0
    return isinstance(step, ir.Negative)
