"""Join sums with the sums they are part of, but for those that are used in several places.

    before:  y[:] = (s + b) + c          s, t: sums
             z[:] = f(t) + t
    after:   y[:] = s1 + s2 + ... + b + c        one chain of fused multiply-adds
             z[:] = f(t) + t                     t is found once

What a sum adds up is settled here, for all rows alike and before anything else is decided: a sum
in one place only becomes terms of the sum around it, in order. A sum that is used again, by the
same or another step, stays a value of its own, which lowering can compute once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from . import ir
from .families import multiply


def joined(steps: Sequence[ir.Step]) -> list[ir.Step]:
    """Return steps whose sums are joined."""
    numbers = _Numbers()
    used: Counter[int] = Counter()
    met: set[int] = set()
    for value in (v for step in steps for v in ir.values(step)):
        for here in ir.walk(value):
            number = numbers.of(here)
            if number not in met:
                met.add(number)
                used.update(numbers.of(c) for c in ir.children(here) if isinstance(c, ir.Sum))
    return [_changed(step, numbers, used) for step in steps]


def _changed(step: ir.Step, numbers: _Numbers, used: Counter[int]) -> ir.Step:
    match step:
        case ir.Group(assignments):
            return ir.Group(tuple(_assigned(a, numbers, used) for a in assignments))
        case ir.Call(scalars=scalars):
            return replace(step, scalars=tuple(_joined(s, numbers, used) for s in scalars))
        case ir.Assignment() | ir.Reduction():
            return replace(step, value=_joined(step.value, numbers, used))


def _assigned(step: ir.Assignment, numbers: _Numbers, used: Counter[int]) -> ir.Assignment:
    return replace(step, value=_joined(step.value, numbers, used))


def _joined(value: ir.Value, numbers: _Numbers, used: Counter[int]) -> ir.Value:
    """Return a value with sums that are used once as terms of the sums around them."""
    done: dict[int, ir.Value] = {}

    def visit(here: ir.Value) -> ir.Value:
        if id(here) not in done:
            match here:
                case ir.Op(name, args):
                    made: ir.Value = ir.Op(name, tuple(map(visit, args)))
                case ir.Sum(terms):
                    made = ir.Sum(tuple(t for term in terms for t in spread(term)))
                case _:
                    made = here
            done[id(here)] = here if made == here else made
        return done[id(here)]

    def spread(term: ir.Term) -> Sequence[ir.Term]:
        inner = term.operand
        if not isinstance(inner, ir.Sum) or used[numbers.of(inner)] > 1 or not _sign(term.weight):
            operand = None if inner is None else visit(inner)
            return (replace(term, weight=visit(term.weight), operand=operand),)
        found = visit(inner)
        assert isinstance(found, ir.Sum)
        return [
            ir.Term(t.domain, multiply(term.weight, t.weight), t.operand) for t in found.terms
        ]

    return visit(value)


def _sign(weight: ir.Value) -> bool:
    """Whether a weight changes no bits."""
    return weight in (ir.ONE, ir.Const(-1.0))


class _Numbers:
    """Numbers of values: the same for equal ones."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ir.Value, int]] = {}
        self._numbers: dict[object, int] = {}

    def of(self, value: ir.Value) -> int:
        """Return the number of a value."""
        found = self._known.get(id(value))
        if found is not None:
            return found[1]
        key: object = value
        match value:
            case ir.Op(name, args):
                key = name, tuple(map(self.of, args))
            case ir.Sum(terms):
                key = tuple((t.domain, self.of(t.weight), self._of(t.operand)) for t in terms)
        number = self._numbers.setdefault(key, len(self._numbers))
        self._known[id(value)] = value, number
        return number

    def _of(self, operand: ir.Value | None) -> int:
        return -1 if operand is None else self.of(operand)
