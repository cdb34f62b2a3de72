"""Distribute statements over loops where peeled rows at line ends would be too long. Bit-exact.

    before:  i = 0: s[0] = 2 u[0] - u[1], v[0] = w[0]    after:  i = 0: s[0] = 2 u[0] - u[1]
             1 <= i: s[i] = u[i] - u[i-1], v[i] = w[i]           1 <= i: s[i] = u[i] - u[i-1]
                                                                 0 <= i: v[i] = w[i]

A row with special terms at the end of a line is peeled and written out as scalar code for all
statements of its loop. If this code is long, statements without such rows move to a separate
loop, unless they depend on the other statements or share much arithmetic with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from ... import ir
from ...points.sets import Domain
from ..steps.stored_values import cost
from .row_classes import common_kinds, count_terms, is_narrow, stage_of

LOOP = 16
"""Number of terms of peeled rows at line ends that cost as much as one more loop on each line."""

MUCH = 8
"""Cost of a shared value, in additions, from which on its statements stay in one loop."""


def peel_line_ends(
    group: Sequence[ir.Statement], kinds: Sequence[Domain], nest: ir.Nest, hidden: frozenset[str]
) -> tuple[ir.Stage, ...]:
    """Return statements in one loop, or in loops of statements with the same rows at line ends."""
    parts = _bound_together(group)
    if len(parts) == 1 or not any(map(is_narrow, kinds)):
        return (stage_of(group, kinds, hidden),)
    stages: list[ir.Stage] = []
    for part in parts:
        found = common_kinds(part, nest.context)
        alike = next((s for s in stages if _are_equal([p.domain for p in s.pieces], found)), None)
        if alike is None:
            stages.append(stage_of(part, found, hidden))
        else:
            both = _in_order(group, (*alike.statements, *part))
            stages[stages.index(alike)] = stage_of(both, found, hidden)

    def as_one(first: ir.Stage, second: ir.Stage) -> ir.Stage:
        both = _in_order(group, (*first.statements, *second.statements))
        return stage_of(both, common_kinds(both, nest.context), hidden)

    while len(stages) > 1:
        joined = [(pair, as_one(*pair)) for pair in combinations(stages, 2)]
        (first, second), one = min(joined, key=lambda found: _more_at_ends(*found))
        if _more_at_ends((first, second), one) > LOOP:
            break
        stages = [one if stage is first else stage for stage in stages if stage is not second]
    return tuple(stages) if len(stages) == 1 else tuple(map(_inside, stages))


def _inside(stage: ir.Stage) -> ir.Stage:
    """Return a stage whose pieces have other names than those of its statements on other lines."""
    pieces = tuple(replace(piece, name=f"{piece.name}_inside") for piece in stage.pieces)
    return replace(stage, pieces=pieces)


def _are_equal(some: Sequence[Domain], others: Sequence[Domain]) -> bool:
    """Whether two sequences have the same sets, in any order."""
    return len(some) == len(others) and all(any(a.equals(b) for b in others) for a in some)


def _more_at_ends(apart: Sequence[ir.Stage], both: ir.Stage) -> int:
    """Return how many more terms are written out for single rows if some loops are one."""
    return _at_ends(both) - sum(map(_at_ends, apart))


def _in_order(
    group: Sequence[ir.Statement], some: Sequence[ir.Statement]
) -> tuple[ir.Statement, ...]:
    """Return some statements of a group in the order that they have there."""
    names = {s.name for s in some}
    return tuple(s for s in group if s.name in names)


def _bound_together(group: Sequence[ir.Statement]) -> list[tuple[ir.Statement, ...]]:
    """Return statements in independent sets.

    No set accesses an array that another one writes, and they share no expensive values.
    """
    values = {s.name: set(ir.walk(s.value)) for s in group}

    def touch(one: ir.Statement, other: ir.Statement) -> bool:
        """Whether two statements depend on each other, or share an expensive value."""
        if one.array == other.array or one.array in ir.arrays(other.value):
            return True
        same = values[one.name] & values[other.name]
        return other.array in ir.arrays(one.value) or any(cost(v) >= MUCH for v in same)

    found: list[list[ir.Statement]] = []
    for one in group:
        bound, others = [one], []
        for part in found:
            if any(touch(one, other) for other in part):
                bound += part
            else:
                others.append(part)
        found = [*others, bound]
    return [_in_order(group, part) for part in found]


def _at_ends(stage: ir.Stage) -> int:
    """Return how many terms are written out for single rows of lines."""
    return sum(
        max(1, count_terms([part.value]))
        for piece in stage.pieces
        if is_narrow(piece.domain)
        for part in piece.parts
    )
