"""Which loops that run one after the other along a line can be one loop over vectors.

    for i: t[i] = f(c[i - 1], c[i], c[i + 1])
    for i: u[i] = t[i] + a t[i - 1]
    for i: x[i] = u[i] + a**2 u[i - 2]

Each loop of such a *chain* reads what earlier ones have made of its own row and of rows on one side
of it, never on the other. On each vector all loops may run before the next one then, in order or
against it, and what they have made of the last vectors stays in registers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from ..kernel import ir
from ..kernel.linear import difference, expanded
from ..runtime import intrinsics
from .vector_plans import IN_LLVM, WRITTEN, Access, Plan, Translation, plan

LONGEST = 80
"""Statements of all loops of a chain together; the values of more of them are not in registers."""


class Chain(NamedTuple):
    """Some loops as one: its ``links``.

    ``before`` are statements that run before all of them. Vectors run with the rows if ``way`` is 1
    and against them if it is -1. ``shifts`` are the distances to rows of which the loads with these
    arrays and offsets read what earlier links have stored. ``length`` statements become the chain.
    """

    before: Sequence[ir.Statement]
    links: Sequence[Plan]
    way: Literal[1, -1]
    shifts: Mapping[tuple[str, ir.Expression], int]
    length: int


def chain(translation: Translation, body: Sequence[ir.Statement]) -> Chain | None:
    """Return the longest chain at the beginning of a block, if there is one of some loops."""
    first = _link(translation, body[0])
    if first is None:
        return None
    links, before, best = [first], list[ir.Statement](), None
    for length, node in enumerate(body[1:], 2):
        if not isinstance(node, ir.For):
            if not _may_run_before(translation, node, links):
                break
            before.append(node)
            continue
        link = _link(translation, node)
        if link is None or not _continues(link, links):
            break
        links.append(link)
        found = _found(translation, links)
        if found is None:
            break
        best = Chain(tuple(before), tuple(links), *found, length)
    return best


def shared(translation: Translation, node: ir.If, rest: Sequence[ir.Statement]) -> int:
    """Return how many statements behind a branch are part of chains that begin in it.

    Each side of the branch is to run them itself then; nothing behind them takes what they assign.
    """
    found = 0
    for side in (node.then, node.orelse):
        loops = [n for n, one in enumerate(side) if isinstance(one, ir.For)]
        if loops:
            last = side[loops[-1] :]
            longest = chain(translation, [*last, *rest])
            found = max(found, longest.length - len(last) if longest else 0)
    made = {name for one in rest[:found] for name in _assigned(one)}
    return 0 if made and any(ir.names(one) & made for one in rest[found:]) else found


def _assigned(node: ir.Statement) -> set[str]:
    """Return the variables that a statement assigns, but for those that count rows of its loops."""
    parts = list(ir.statements((node,)))
    counters = {part.variable for part in parts if isinstance(part, ir.For)}
    return {name for part in parts if isinstance(part, ir.Let) for name in part.targets} - counters


def _link(translation: Translation, node: ir.Statement) -> Plan | None:
    """Return the plan of a loop that can be a link: it stores into each array at one place."""
    if not isinstance(node, ir.For) or node.step != ir.Integer(1):
        return None
    found = plan(translation, node)
    if found is None or found.far or len(found.parts) > 1:
        return None
    arrays = [access.array for access in found.stores]
    near = all(access.step == 1 for access in (*found.loads, *found.stores))
    near = near and not translation.sums.keys() & set(arrays)  # sums keep units busy
    return found if near and len(set(arrays)) == len(arrays) else None


def _continues(link: Plan, links: Sequence[Plan]) -> bool:
    """Whether a loop has the variable and the numbers of others, and reads what they store."""
    made = {access.array for one in links for access in one.stores}
    alike = link.loop.variable == links[0].loop.variable and link.dtype == links[0].dtype
    length = sum(len(one.loop.body) for one in (*links, link))
    return alike and length <= LONGEST and any(a.array in made for a in link.loads)


def _found(
    translation: Translation, links: Sequence[Plan]
) -> tuple[Literal[1, -1], Mapping[tuple[str, ir.Expression], int]] | None:
    """Return the way of vectors on which some loops can be a chain, and the shifts of loads."""
    pairs = list(itertools.combinations(links, 2))
    after, ahead = list[int](), list[int]()
    shifts: dict[tuple[str, ir.Expression], int] = {}
    for early, late in pairs:
        for load, store in _met(late.loads, early.stores):
            shift = _difference(translation, load.offset, store.offset)
            if shift is None or shifts.setdefault((load.array, load.offset), shift) != shift:
                return None
            after.append(shift)
        for load, store in _met(early.loads, late.stores):
            shift = _difference(translation, load.offset, store.offset)
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
    translation: Translation,
    node: ir.Statement,
    links: Sequence[Plan],
    equal: Mapping[str, ir.Expression] = MappingProxyType({}),
) -> bool:
    """Whether a statement between loops may run before all of them.

    It reads nothing that they store; what it stores they do not read, and store at other rows.
    Where it runs some integers are ``equal`` to others.
    """
    made = {access.array for link in links for access in link.stores}
    read = {access.array for link in links for access in link.loads}
    match node:
        case ir.If(test, then, orelse):
            sides = (then, {**equal, **_equal(test)}), (orelse, equal)
            inside = all(
                _may_run_before(translation, one, links, known)
                for side, known in sides
                for one in side
            )
            return inside and _is_pure(translation, test) and not ir.names(test) & made
        case ir.Let((name,), value):
            alone = name in translation.plain and _is_pure(translation, value)
            return alone and not ir.names(value) & made
        case ir.Store(ir.Name(array), offset, value):
            alone = all(_is_pure(translation, part) for part in (offset, value))
            if translation.static("st") is not intrinsics.st or array in read or not alone:
                return False
            return not (ir.names(offset) | ir.names(value)) & made and all(
                _is_outside(translation, offset, link, access, equal)
                for link in links
                for access in link.stores
                if access.array == array
            )
    return False


def _is_pure(translation: Translation, node: ir.Expression) -> bool:
    """Whether an expression calls nothing that could store."""
    known = min, max, *IN_LLVM, *WRITTEN
    called = {part.function for part in ir.walk(node) if isinstance(part, ir.Call)}
    return all(any(translation.static(name) is one for one in known) for name in called)


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
    translation: Translation,
    offset: ir.Expression,
    link: Plan,
    access: Access,
    equal: Mapping[str, ir.Expression],
) -> bool:
    """Whether an element is none of those that a loop accesses, where some integers are equal."""
    loop = link.loop
    own = ir.Binary("-", access.offset, ir.Name(loop.variable))
    row = ir.Binary("-", offset, own)
    before = (_difference(translation, row, start, equal) for start in _among(loop.start, "max"))
    after = (_difference(translation, row, stop, equal) for stop in _among(loop.stop, "min"))
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
    translation: Translation,
    offset: ir.Expression,
    other: ir.Expression,
    equal: Mapping[str, ir.Expression] = MappingProxyType({}),
) -> int | None:
    """Return the difference of two integers, if it is the same always.

    That is wherever variables are ``equal`` to other integers, if some are given.
    """
    plain = translation.plain
    definitions = {name: made for name, made in translation.definitions.items() if name in plain}
    if "one" in definitions:
        definitions["one"] = ir.Integer(1)
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
