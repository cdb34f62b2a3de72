"""Which loops that run one after the other along a line can be one loop over vectors.

    for i: t[i] = f(c[i - 1], c[i], c[i + 1])
    for i: u[i] = t[i] + a t[i - 1]
    for i: x[i] = u[i] + a**2 u[i - 2]

Each loop of such a *chain* reads what earlier ones have made of its own row and of rows on one side
of it, never on the other. On each vector all loops may run before the next one then, in order or
against it, and what they have made of the last vectors stays in registers.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from ..runtime import intrinsics
from .vector_parts import names
from .vector_plans import IN_LLVM, WRITTEN, Access, Plan, Translation, expanded, plan

LONGEST = 80
"""Statements of all loops of a chain together; the values of more of them are not in registers."""


class Link(NamedTuple):
    """A loop of a chain, its plan, and the rows from which on and until which it runs."""

    node: ast.For
    plan: Plan
    start: ast.expr
    stop: ast.expr


class Chain(NamedTuple):
    """Some loops as one.

    ``before`` are statements that run before all of them. Vectors run with the rows if ``way`` is 1
    and against them if it is -1. ``shifts`` are the distances to rows of which the loads with these
    arrays and offsets read what earlier links have stored. ``length`` statements become the chain.
    """

    before: Sequence[ast.stmt]
    links: Sequence[Link]
    way: Literal[1, -1]
    shifts: Mapping[tuple[str, str], int]
    length: int


def key(array: str, offset: ast.expr) -> tuple[str, str]:
    """Return what tells loads apart."""
    return array, ast.dump(offset)


def chain(translation: Translation, body: Sequence[ast.stmt]) -> Chain | None:
    """Return the longest chain at the beginning of a block, if there is one of some loops."""
    first = _link(translation, body[0])
    if first is None:
        return None
    links, before, best = [first], list[ast.stmt](), None
    for length, node in enumerate(body[1:], 2):
        if not isinstance(node, ast.For):
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


def shared(translation: Translation, node: ast.If, rest: Sequence[ast.stmt]) -> int:
    """Return how many statements behind a branch are part of chains that begin in it.

    Each side of the branch is to run them itself then; nothing behind them takes what they assign.
    """
    found = 0
    for side in (node.body, node.orelse):
        loops = [n for n, one in enumerate(side) if isinstance(one, ast.For)]
        if loops:
            last = side[loops[-1] :]
            longest = chain(translation, [*last, *rest])
            found = max(found, longest.length - len(last) if longest else 0)
    made = {name for one in rest[:found] for name in _assigned(one)}
    return 0 if made and any(names(one) & made for one in rest[found:]) else found


def _assigned(node: ast.stmt) -> set[str]:
    """Return the variables that a statement assigns, but for those that count rows of its loops."""
    parts = list(ast.walk(node))
    counters = {ast.dump(part.target) for part in parts if isinstance(part, ast.For)}
    names = (part for part in parts if isinstance(part, ast.Name))
    return {
        part.id
        for part in names
        if isinstance(part.ctx, ast.Store) and ast.dump(part) not in counters
    }


def _link(translation: Translation, node: ast.stmt) -> Link | None:
    """Return the link that a loop is, if it can be one: it stores into each array at one place."""
    match node:
        case ast.For(iter=ast.Call(func=ast.Name(id=kind), args=[*bounds])) if len(bounds) < 3:
            found = plan(translation, node, kind)
            if found is None or found.far or len(found.parts) > 1:
                return None
            arrays = [access.array for access in found.stores]
            near = all(access.step == 1 for access in (*found.loads, *found.stores))
            near = near and not translation.sums.keys() & set(arrays)  # sums keep units busy
            if near and len(set(arrays)) == len(arrays):
                start = bounds[0] if len(bounds) == 2 else ast.Constant(0)
                return Link(node, found, start, bounds[-1])
    return None


def _continues(link: Link, links: Sequence[Link]) -> bool:
    """Whether a loop has the variable and the numbers of others, and reads what they store."""
    made = {access.array for one in links for access in one.plan.stores}
    alike = ast.dump(link.node.target) == ast.dump(links[0].node.target)
    alike = alike and link.plan.dtype == links[0].plan.dtype
    length = sum(len(one.node.body) for one in (*links, link))
    return alike and length <= LONGEST and any(a.array in made for a in link.plan.loads)


def _found(
    translation: Translation, links: Sequence[Link]
) -> tuple[Literal[1, -1], Mapping[tuple[str, str], int]] | None:
    """Return the way of vectors on which some loops can be a chain, and the shifts of loads."""
    pairs = list(itertools.combinations(links, 2))
    after, ahead = list[int](), list[int]()
    shifts: dict[tuple[str, str], int] = {}
    for early, late in pairs:
        for load, store in _met(late.plan.loads, early.plan.stores):
            shift = _difference(translation, load.offset, store.offset)
            if shift is None or shifts.setdefault(key(load.array, load.offset), shift) != shift:
                return None
            after.append(shift)
        for load, store in _met(early.plan.loads, late.plan.stores):
            shift = _difference(translation, load.offset, store.offset)
            if shift is None:
                return None
            ahead.append(shift)
        if any(_met(late.plan.stores, early.plan.stores)):
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
    node: ast.stmt,
    links: Sequence[Link],
    equal: Mapping[str, ast.expr] = MappingProxyType({}),
) -> bool:
    """Whether a statement between loops may run before all of them.

    It reads nothing that they store; what it stores they do not read, and store at other rows.
    Where it runs some integers are ``equal`` to others.
    """
    made = {access.array for link in links for access in link.plan.stores}
    read = {access.array for link in links for access in link.plan.loads}
    match node:
        case ast.If(test=test, body=body, orelse=orelse):
            sides = (body, {**equal, **_equal(test)}), (orelse, equal)
            inside = all(
                _may_run_before(translation, one, links, known)
                for side, known in sides
                for one in side
            )
            return inside and _is_pure(translation, test) and not names(test) & made
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            alone = name in translation.plain and _is_pure(translation, value)
            return alone and not names(value) & made
        case ast.Expr(value=ast.Call(func=function, args=[ast.Name(id=array), offset, value])):
            alone = all(_is_pure(translation, part) for part in (offset, value))
            if translation.static(function) is not intrinsics.st or array in read or not alone:
                return False
            return not (names(offset) | names(value)) & made and all(
                _is_outside(translation, offset, link, access, equal)
                for link in links
                for access in link.plan.stores
                if access.array == array
            )
    return False


def _is_pure(translation: Translation, node: ast.expr) -> bool:
    """Whether an expression calls nothing that could store."""
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    known = intrinsics.ld, min, max, *IN_LLVM, *WRITTEN
    return all(any(translation.static(c.func) is one for one in known) for c in calls)


def _equal(test: ast.expr) -> dict[str, ast.expr]:
    """Return the variables that have the value of another integer where a condition holds.

    >>> found = _equal(ast.parse("(n >= 2 and hi == 2 * n) and lo == 0", mode="eval").body)
    >>> {name: ast.unparse(value) for name, value in found.items()}
    {'hi': '2 * n', 'lo': '0'}
    """
    match test:
        case ast.BoolOp(ast.And(), values):
            return {name: value for one in values for name, value in _equal(one).items()}
        case ast.Compare(ast.Name(id=name), [ast.Eq()], [value]):
            return {name: value}
    return {}


def _is_outside(
    translation: Translation,
    offset: ast.expr,
    link: Link,
    access: Access,
    equal: Mapping[str, ast.expr],
) -> bool:
    """Whether an element is none of those that a loop accesses, where some integers are equal."""
    assert isinstance(link.node.target, ast.Name)
    own = ast.BinOp(access.offset, ast.Sub(), link.node.target)
    row = ast.BinOp(offset, ast.Sub(), own)
    before = (_difference(translation, row, start, equal) for start in _among(link.start, "max"))
    after = (_difference(translation, row, stop, equal) for stop in _among(link.stop, "min"))
    return any(d is not None and d < 0 for d in before) or any(
        d is not None and d >= 0 for d in after
    )


def _among(bound: ast.expr, extreme: str) -> list[ast.expr]:
    """Return the integers of which a bound is the largest, or the least one.

    >>> bound = ast.parse("min(n - 1, hi) + 1", mode="eval").body
    >>> [ast.unparse(one) for one in _among(bound, "min")]
    ['n - 1 + 1', 'hi + 1']
    """
    match bound:
        case ast.Call(func=ast.Name(id=name), args=args) if name == extreme:
            return [one for arg in args for one in _among(arg, extreme)]
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, ast.Constant() as right):
            return [ast.BinOp(one, op, right) for one in _among(left, extreme)]
    return [bound]


def _difference(
    translation: Translation,
    offset: ast.expr,
    other: ast.expr,
    equal: Mapping[str, ast.expr] = MappingProxyType({}),
) -> int | None:
    """Return the difference of two integers, if it is the same always.

    That is wherever variables are ``equal`` to other integers, if some are given.
    """
    plain = translation.plain
    definitions = {name: made for name, made in translation.definitions.items() if name in plain}
    if "one" in definitions:
        definitions["one"] = ast.Constant(1)
    made = {
        name: value
        for name, value in equal.items()
        if {name, *names(value)} <= plain
        and not any(equal.keys() & set(term) for term in expanded(value, definitions))
    }
    terms = expanded(ast.BinOp(offset, ast.Sub(), other), {**definitions, **made})
    number = terms.pop((), 0)
    return None if terms else number
