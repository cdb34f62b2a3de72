"""Selection of consecutive loops along a line that can be fused to one vector loop (a chain).

    for i: t[i] = f(c[i - 1], c[i], c[i + 1])
    for i: u[i] = t[i] + a t[i - 1]
    for i: x[i] = u[i] + a**2 u[i - 2]

Each loop of a *chain* reads values that earlier loops have stored at its own row and at rows on one
side of it only. All loops can therefore run on one vector before the next vector, in ascending or
descending order, and the values of the last vectors stay in registers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from .. import ir
from ..linear import difference, expanded
from .context import Context
from .plans import FUNCTIONS, Access, Plan, Plans

LONGEST = 80
"""Limit of the statements of all loops of a chain, beyond which values spill from registers."""

PURE = FUNCTIONS | {"min", "max"}
"""Functions without side effects."""


class Chain(NamedTuple):
    """One or more loops that are fused.

    Attributes
    ----------
    links
        The plans of the loops.
    way
        1 if vectors run in ascending order of rows, -1 if in descending order.
    shifts
        For loads of values that earlier loops store, by array and offset: the distance to the row
        of the store.
    before
        Statements that run before all loops.
    length
        The number of statements of a block that the chain replaces.
    """

    links: Sequence[Plan]
    way: Literal[1, -1] = 1
    shifts: Mapping[tuple[str, ir.Expression], int] = MappingProxyType({})
    before: Sequence[ir.Statement] = ()
    length: int = 1


def chain(context: Context, plans: Plans, body: Sequence[ir.Statement]) -> Chain | None:
    """Return the longest chain of several loops at the beginning of a block, if there is one."""
    first = _link(context, plans, body[0])
    if first is None:
        return None
    links, before, best = [first], list[ir.Statement](), None
    for length, node in enumerate(body[1:], 2):
        if not isinstance(node, ir.For):
            if not _may_run_before(context, node, links):
                break
            before.append(node)
            continue
        link = _link(context, plans, node)
        if link is None or not _continues(link, links):
            break
        links.append(link)
        found = _found(context, links)
        if found is None:
            break
        best = Chain(tuple(links), *found, tuple(before), length)
    return best


def shared(context: Context, plans: Plans, node: ir.If, rest: Sequence[ir.Statement]) -> int:
    """Return the number of statements after a branch that are part of chains that begin in it.

    They are copied to each side of the branch; no later statement uses their variables.
    """
    found = 0
    for side in (node.then, node.orelse):
        loops = [n for n, one in enumerate(side) if isinstance(one, ir.For)]
        if loops:
            last = side[loops[-1] :]
            longest = chain(context, plans, [*last, *rest])
            found = max(found, longest.length - len(last) if longest else 0)
    made = {name for one in rest[:found] for name in _assigned(one)}
    return 0 if made and any(ir.names(one) & made for one in rest[found:]) else found


def _assigned(node: ir.Statement) -> set[str]:
    """Return the variables that a statement assigns, except the counters of its loops."""
    parts = list(ir.statements((node,)))
    counters = {part.variable for part in parts if isinstance(part, ir.For)}
    return {name for part in parts if isinstance(part, ir.Let) for name in part.targets} - counters


def _link(context: Context, plans: Plans, node: ir.Statement) -> Plan | None:
    """Return the plan of a loop that can be a link: it stores into each array at one place."""
    if not isinstance(node, ir.For) or node.step != ir.Integer(1):
        return None
    found = plans.of(node)
    if found is None or found.far or len(found.parts) > 1:
        return None
    arrays = [access.array for access in found.stores]
    near = all(access.step == 1 for access in (*found.loads, *found.stores))
    return found if near and len(set(arrays)) == len(arrays) else None


def _continues(link: Plan, links: Sequence[Plan]) -> bool:
    """Whether a loop has the variable and element type of others, and reads their results."""
    made = {access.array for one in links for access in one.stores}
    alike = link.loop.variable == links[0].loop.variable and link.element == links[0].element
    length = sum(len(one.loop.body) for one in (*links, link))
    return alike and length <= LONGEST and any(a.array in made for a in link.loads)


def _found(
    context: Context, links: Sequence[Plan]
) -> tuple[Literal[1, -1], Mapping[tuple[str, ir.Expression], int]] | None:
    """Return the way of vectors on which some loops can be a chain, and the shifts of loads."""
    after, ahead = list[int](), list[int]()
    shifts: dict[tuple[str, ir.Expression], int] = {}
    for early, late in itertools.combinations(links, 2):
        for load, store in _met(late.loads, early.stores):
            shift = _difference(context, load.offset, store.offset)
            if shift is None or shifts.setdefault((load.array, load.offset), shift) != shift:
                return None
            after.append(shift)
        for load, store in _met(early.loads, late.stores):
            shift = _difference(context, load.offset, store.offset)
            if shift is None:
                return None
            ahead.append(shift)
        if any(_met(late.stores, early.stores)):
            return None
    if all(s <= 0 for s in after) and all(s >= 0 for s in ahead):
        return 1, shifts
    if all(s >= 0 for s in after) and all(s <= 0 for s in ahead):
        return -1, shifts
    return None


def _met(some: Sequence[Access], others: Sequence[Access]) -> Iterator[tuple[Access, Access]]:
    """Yield pairs of accesses to one array."""
    return ((a, b) for a in some for b in others if a.array == b.array)


def _may_run_before(
    context: Context,
    node: ir.Statement,
    links: Sequence[Plan],
    equal: Mapping[str, ir.Expression] = MappingProxyType({}),
) -> bool:
    """Whether a statement between loops may run before all of them.

    It reads none of the arrays that they store; they do not read the arrays that it stores, and
    store to them at other rows only. At the statement, some integers are ``equal`` to others.
    """
    made = {access.array for link in links for access in link.stores}
    read = {access.array for link in links for access in link.loads}
    match node:
        case ir.If(test, then, orelse):
            sides = (then, {**equal, **_equal(test)}), (orelse, equal)
            inside = all(
                _may_run_before(context, one, links, known) for side, known in sides for one in side
            )
            return inside and _is_pure(test) and not ir.names(test) & made
        case ir.Let((name,), value):
            alone = name in context.uses.plain and _is_pure(value)
            return alone and not ir.names(value) & made
        case ir.Store(ir.Name(array), offset, value):
            alone = all(_is_pure(part) for part in (offset, value))
            alone = alone and array not in read
            return (
                alone
                and not (ir.names(offset) | ir.names(value)) & made
                and all(
                    _is_outside(context, offset, link, access, equal)
                    for link in links
                    for access in link.stores
                    if access.array == array
                )
            )
    return False


def _is_pure(node: ir.Expression) -> bool:
    """Whether an expression calls no function that could store."""
    return all(part.function in PURE for part in ir.walk(node) if isinstance(part, ir.Call))


def _equal(test: ir.Expression) -> dict[str, ir.Expression]:
    """Return the variables that have the value of another integer where a condition holds.

    >>> from ssr.kernel.from_python import expression
    >>> _equal(expression("(n >= 2 and hi == m) and lo == 0"))
    {'hi': Name(name='m'), 'lo': Integer(value=0)}
    """
    match test:
        case ir.All(parts):
            return {name: value for one in parts for name, value in _equal(one).items()}
        case ir.Compare("==", ir.Name(name), value):
            return {name: value}
    return {}


def _is_outside(
    context: Context,
    offset: ir.Expression,
    link: Plan,
    access: Access,
    equal: Mapping[str, ir.Expression],
) -> bool:
    """Whether a loop does not access an element if some integers are equal."""
    loop = link.loop
    own = ir.Binary("-", access.offset, ir.Name(loop.variable))
    row = ir.Binary("-", offset, own)
    before = (_difference(context, row, start, equal) for start in _among(loop.start, "max"))
    after = (_difference(context, row, stop, equal) for stop in _among(loop.stop, "min"))
    return any(d is not None and d < 0 for d in before) or any(
        d is not None and d >= 0 for d in after
    )


def _among(bound: ir.Expression, extreme: Literal["min", "max"]) -> list[ir.Expression]:
    """Return the integers of which a bound is the largest, or the least one.

    >>> from ssr.kernel.from_python import expression
    >>> found = _among(expression("min(n - 1, hi) + 1"), "min")
    >>> found == [expression("n - 1 + 1"), expression("hi + 1")]
    True
    """
    match bound:
        case ir.Call(function, arguments) if function == extreme:
            return [one for argument in arguments for one in _among(argument, extreme)]
        case ir.Binary("+" | "-" as symbol, left, ir.Integer() as right):
            return [ir.Binary(symbol, one, right) for one in _among(left, extreme)]
    return [bound]


def _difference(
    context: Context,
    offset: ir.Expression,
    other: ir.Expression,
    equal: Mapping[str, ir.Expression] = MappingProxyType({}),
) -> int | None:
    """Return the difference of two integers, if it is constant.

    It may depend on some variables being ``equal`` to other integers.
    """
    plain = context.uses.plain
    known = context.uses.definitions
    definitions = {name: made for name, made in known.items() if name in plain}
    made = {
        name: value
        for name, value in equal.items()
        if {name, *ir.names(value)} <= plain
        and not any(
            ir.names(factor) & equal.keys()
            for product in expanded(value, definitions)
            for factor in product
        )
    }
    return difference(offset, other, {**definitions, **made})
