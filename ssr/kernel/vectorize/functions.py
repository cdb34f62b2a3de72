"""The loops of a function, each in the form that suits it."""

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
from .sums import Closing, sums_of


def vectorized(context: Context, function: ir.Function) -> ir.Function:
    """Return a function with its loops over rows as loops over vectors."""
    context.sums = sums_of(context, function)
    body = _Pass(context).function(function.body)
    if context.sums.keys() - context.begun:  # no loop makes the terms of these
        context.sums = {name: context.sums[name] for name in context.begun}
        body = _Pass(context).function(function.body)
    return replace(function, body=body)


class _Pass:
    """The walk over the statements of a function."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._plans = Plans(context)
        self._sums = Closing(context)

    def function(self, body: Sequence[ir.Statement]) -> tuple[ir.Statement, ...]:
        """Return the statements of the whole function."""
        found = [*self._sums.opened(), *self._block(body)]
        if not (found and isinstance(found[-1], ir.Return)):
            found += self._sums.closed()
        return tuple(found)

    def _block(self, body: Sequence[ir.Statement]) -> tuple[ir.Statement, ...]:
        found: list[ir.Statement] = []
        place = 0
        while place < len(body):
            node, rest = body[place], body[place + 1 :]
            place += 1
            if isinstance(node, ir.For):
                chain = chain_plans.chain(self._context, self._plans, (node, *rest))
                if chain is not None:
                    found += self._block(chain.before)
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
        """Return a statement, after those by which sums get to states that it reads."""
        match node:
            case ir.Do():
                return [*self._sums.added(node)]
            case ir.Return():
                return [*self._sums.closed(), node]
            case ir.If(test, then, orelse):
                before = self._sums.closed(test)
                return [*before, replace(node, then=self._block(then), orelse=self._block(orelse))]
            case ir.While(test, body):
                self._sums.meet(body)
                again = tuple(self._sums.closed(test))
                return [*again, replace(node, body=self._block(body) + again)]
            case ir.For():
                self._sums.meet(node.body)
                before = self._sums.closed(*ir.expressions(node))
                return [*before, *self._loop(node)]
            case ir.SetElement(array):
                return [*self._sums.closed(ir.Name(array), *ir.expressions(node)), node]
        return [*self._sums.closed(*ir.expressions(node)), node]

    def _loop(self, node: ir.For) -> list[ir.Statement]:
        """Return a loop: over vectors, with its ends apart, or as it is."""
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
        body = self._block(node.body)
        self._context.backwards = before
        return replace(node, body=body)

    def _ends_apart(self, node: ir.For, found: Inside) -> list[ir.Statement]:
        """Return a loop as one over the rows inside, and one at each end of the line."""
        names = (self._context.names.new(f"{node.variable}_{end}") for end in ("low", "high"))
        low, high = map(ir.Name, names)
        first, last = extreme("min", low, node.stop), extreme("max", low, high)
        return [
            *(let(n.name, v) for n, v in zip((low, high), limits(found, node.start, node.stop),
                                            strict=True)),
            replace(node, stop=first, order="few"),
            *self._loop(replace(node, start=low, stop=high, body=found.body)),
            replace(node, start=last, order="few"),
        ]  # fmt: skip


def _is_negative(step: ir.Expression) -> bool:
    match step:
        case ir.Integer(number):
            return number < 0
    return isinstance(step, ir.Negative)
