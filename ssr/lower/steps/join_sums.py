"""Flatten nested sums and products that are used once into the enclosing sum.

    before:  y[:] = (s + b) + c * d      s, t: sums
             z[:] = f(t) + t
    after:   y[:] = s1 + s2 + ... + b + c * d    one chain of fused multiply-adds
             z[:] = f(t) + t                     t is computed once

The pass fixes the terms of each sum for all rows before all other decisions. A sum that is used
once becomes terms of the enclosing sum, in order. A product that is used once becomes a weight and
an operand, so that it is added without intermediate rounding. A value that is used again, in the
same or another step, remains a separate value, which lowering can compute once.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ... import ir
from ...algebra.families import multiply
from ...symbols.operations import of_scalars

EXPONENT = 100
"""Largest exponent of a power of two whose reciprocal is a normal number in every type."""


def join_sums(program: ir.Program) -> ir.Program:
    """Return a program whose sums and products are joined."""
    used: Counter[int] = Counter()
    met: set[int] = set()
    for value in (v for step in program.steps for v in ir.values(step)):
        for here in ir.walk(value):
            if id(here) not in met:
                met.add(id(here))
                used.update(map(id, ir.children(here)))
    steps = (ir.with_values(step, lambda value: _joined(value, used)) for step in program.steps)
    return replace(program, steps=tuple(steps))


def _joined(value: ir.Value, used: Counter[int]) -> ir.Value:
    """Return a value with sums that are used once as terms of the sums around them."""
    done: dict[int, ir.Value] = {}

    def visit(here: ir.Value) -> ir.Value:
        if id(here) not in done:
            match here:
                case ir.Sum(terms):
                    found = tuple(t for term in terms for t in spread(term))
                    same = len(found) == len(terms) and all(map(operator.is_, found, terms))
                    done[id(here)] = here if same else ir.Sum(found)
                case _:
                    done[id(here)] = ir.with_children(here, visit)
        return done[id(here)]

    def spread(term: ir.Term) -> Sequence[ir.Term]:
        inner = term.operand
        if isinstance(inner, ir.Sum) and used[id(inner)] == 1 and _sign(term.weight):
            found = visit(inner)
            assert isinstance(found, ir.Sum)
            return [replace(t, weight=multiply(term.weight, t.weight)) for t in found.terms]
        product = _product(inner) if used[id(inner)] == 1 and _sign(term.weight) else None
        if product is not None:
            factor, other = map(visit, product)
            return [replace(term, weight=multiply(term.weight, factor), operand=other)]
        weight, operand = visit(term.weight), None if inner is None else visit(inner)
        if weight is term.weight and operand is inner:
            return (term,)
        return (replace(term, weight=weight, operand=operand),)

    return visit(value)


def _product(value: ir.Value | None) -> tuple[ir.Value, ir.Value] | None:
    """Return the factors of a product, or of a quotient by a power of two, which is exact.

    Arithmetic of scalars is not changed, because it is evaluated once for all rows.
    """
    if value is None or of_scalars(value):
        return None
    match value:
        case ir.Op("mul", (factor, other)):
            return factor, other
        case ir.Op("div", (other, ir.Const(number))):
            digits, exponent = math.frexp(number)
            if abs(digits) == 0.5 and abs(exponent) < EXPONENT:
                return ir.Const(1 / number), other
    return None


def _sign(weight: ir.Value) -> bool:
    """Whether a weight changes no bits."""
    return weight in (ir.ONE, ir.Const(-1.0))
