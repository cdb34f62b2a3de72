"""Merge terms that differ between grid lines into one term with conditional operands. Bit-exact.

    before:  u[j - 1, i]       where j > 0         2 - u[-j, i]       where j = 0
    after:   c + w * u[(j - 1 if j > 0 else -j), i]

with w = 1, c = -0 where j > 0, and w = -1, c = 2 elsewhere. Multiplying by 1 and adding -0 change
no value, and the merged term is rounded once, as the original one is. The conditions are evaluated
once for each line, so that lines next to a boundary need no separate loops.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias, TypeVar

from ... import ir
from ...points.affine import Affine, Choice
from ...points.sets import Domain

T = TypeVar("T")
Tests: TypeAlias = tuple[Affine, ...]

NOTHING = ir.Const(-0.0)
"""The neutral element of addition: negative zero."""


@dataclass(frozen=True, slots=True)
class Tap:
    """The value ``constant + weight * load`` at some rows, rounded once at the end."""

    domain: Domain
    load: ir.Load
    weight: ir.Value
    constant: ir.Value


def merge_boundary_terms(terms: Sequence[ir.Term], fields: Mapping[str, ir.Field]) -> list[ir.Term]:
    """Return terms; those that read one array at one place of a line are merged if possible."""
    groups: dict[tuple[str, Affine], list[Tap]] = {}
    rest: dict[ir.Value | None, Domain] = {}
    for term in terms:
        tap = _tap(term)
        if tap is not None:
            groups.setdefault((tap.load.array, tap.load.index[-1]), []).append(tap)
        elif term.operand in rest:
            rest[term.operand] = rest[term.operand] | term.domain
        else:
            rest[term.operand] = term.domain
    found: list[ir.Term] = []
    for (array, last), taps in groups.items():
        inside = _inside(fields[array], last, taps[0].domain.axes)
        beside = {value: domain & inside for value, domain in rest.items()}
        beside = {value: domain for value, domain in beside.items() if not domain.empty}
        one = _one(taps, beside, fields[array]) if len(taps) + len(beside) > 1 else None
        if one is not None:
            rest = {value: domain - inside for value, domain in rest.items()}
        elif len(taps) > 1:
            one = _one(taps, {}, fields[array])
        found += [one] if one else [ir.Term(t.domain, ir.ONE, _value_of(t)) for t in taps]
    found += [ir.Term(d, ir.ONE, value) for value, d in rest.items() if not d.empty]
    return found


def chosen(term: ir.Term) -> bool:
    """Whether the value of a term is a choice of numbers, not only of lines that are read."""
    operand = term.operand or ir.ONE
    return any(isinstance(v, ir.Op) and v.name == "where" for v in ir.walk(operand))


def _tap(term: ir.Term) -> Tap | None:
    """Return a term as a tap, if it is one."""
    match term.operand:
        case ir.Load() as load:
            return Tap(term.domain, load, ir.ONE, NOTHING)
        case ir.Sum((*rest, ir.Term(_, weight, ir.Load() as load))):
            return Tap(term.domain, load, weight, _constant(rest))
    return None


def _constant(terms: Sequence[ir.Term]) -> ir.Value:
    """Return the terms before the last one of a sum as a value."""
    match terms:
        case []:
            return NOTHING
        case [ir.Term(_, weight, None)]:
            return weight
    return ir.Sum(tuple(terms))


def _value_of(tap: Tap) -> ir.Value:
    """Return the value of a tap."""
    if tap.weight == ir.ONE and tap.constant is NOTHING:
        return tap.load
    everywhere = Domain.where(tap.domain.axes, "0 = 0")
    last = ir.Term(everywhere, tap.weight, tap.load)
    return ir.Sum((ir.Term(everywhere, tap.constant), last))


def _inside(field: ir.Field, last: Affine, axes: tuple[str, ...]) -> Domain:
    """Return the rows for which a place along a line lies within an array."""
    low, high = field.edges[-1]
    return Domain.box(("i",), [low], [high]).preimage((last,), axes)


def _one(
    taps: Sequence[Tap], beside: Mapping[ir.Value | None, Domain], field: ir.Field
) -> ir.Term | None:
    """Return taps of one array, and other values, as one term; None unless lines select them."""
    own = [tap.domain for tap in taps]
    domains = [*own, *beside.values()]
    met, every = (reduce(operator.or_, d) for d in (own, domains))
    lines = list(map(Affine.name, every.axes))
    if len(lines) != len(field.shape) or not every <= field.domain:
        lines = list(field.lower)
    index: list[Affine] = []
    for axis, column in enumerate(zip(*(tap.load.index for tap in taps), strict=True)):
        other = column[0] if axis == len(field.shape) - 1 else lines[axis]
        place = _chosen([*column, *[other] * len(beside)], domains, every, _index)
        if place is None:
            return None
        index.append(place)
    weight = _chosen([tap.weight for tap in taps], own, met, _value)
    constant = _chosen([tap.constant for tap in taps], own, met, _value)
    if weight is None or constant is None:
        return None
    tap = Tap(every, replace(taps[0].load, index=tuple(index)), weight, constant)
    if not beside:
        return ir.Term(every, ir.ONE, _value_of(tap))
    everywhere = Domain.where(every.axes, "0 = 0")
    read = ir.Sum((ir.Term(everywhere, constant), ir.Term(everywhere, weight, tap.load)))
    values: list[ir.Value] = [*[read] * len(taps), *(v for v in beside if v is not None)]
    found = _chosen(values, domains, every, _value)
    return None if found is None else ir.Term(every, ir.ONE, found)


def _chosen(
    things: Sequence[T],
    domains: Sequence[Domain],
    rows: Domain,
    choice: Callable[[Tests, T, T], T],
) -> T | None:
    """Return the choice of one item for each part of the rows; None unless lines select it."""
    left = list(zip(things, domains, strict=True))
    decided: list[tuple[Tests, T]] = []
    while any(thing != left[0][0] for thing, _ in left):
        found = []
        for thing in dict.fromkeys(thing for thing, _ in left):
            parts = [domain for other, domain in left if other == thing]
            for part in (reduce(operator.or_, parts), *parts):
                tests = part.tests(rows)
                if tests is not None and all(rows.axes[-1] not in t.names() for t in tests):
                    found.append((len(tests), thing, part, tests))
        if not found:
            return None
        _, thing, part, tests = min(found, key=operator.itemgetter(0))
        decided.append((tests, thing))
        rows = rows - part
        left = [(t, d) for t, d in left if not d <= part]
    result = left[0][0]
    for tests, thing in reversed(decided):
        result = choice(tests, thing, result)
    return result


def _index(tests: Tests, then: Affine, orelse: Affine) -> Affine:
    return Affine(((Choice(tests, then, orelse), 1),))


def _value(tests: Tests, then: ir.Value, orelse: ir.Value) -> ir.Value:
    known = [ir.Op("ge", (ir.Coordinate(test), ir.ZERO)) for test in tests]
    whole = reduce(lambda a, b: ir.Op("and", (a, b)), known)
    return ir.Op("where", (whole, then, orelse))
