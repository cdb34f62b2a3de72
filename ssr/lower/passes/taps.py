"""Rows of several kinds, which come again with a period along the line, as one piece. Keeps bits.

    before:  y[i] = a x[i-1] + b x[i+1]              where i % 3 = 1
             y[i] = c x[i-2] + d x[i-1] + e x[i+1]   where i % 3 = 2, and so on
    after:   y[i] = sum of the taps  x[i-2]: 0, 0, c;  x[i-1]: .., a, d;  x[i+1]: .., b, e

A row leaves out the taps that have the weight zero for its kind, so its chain of operations is the
one it had. Loops over such rows have neither branches nor ends where a period is not complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from ... import ir
from ...points.affine import Affine
from ...points.sets import Domain

PERIODS = range(2, 9)
"""The periods that are looked for."""

SMALLEST = 2.0**-126
"""The smallest weight, which is not zero in any type of numbers."""


def in_taps(
    statement: ir.Statement, rows: Domain, kinds: Sequence[Domain]
) -> tuple[ir.Piece, list[Domain]] | None:
    """Return the rows with periods of a statement as one piece, and the kinds of all others.

    None if its value is not a sum of elements with numbers as weights.

    Parameters
    ----------
    kinds
        The rows cut into those that have the same terms.
    """
    if not statement.parallel or not isinstance(statement.value, ir.Sum):
        return None
    others = [kind for kind in kinds if not kind.simplified(rows).periodic]
    if len(kinds) - len(others) < 2:
        return None
    together = reduce(lambda left, kind: left - kind, others, rows).canonical()
    for period in PERIODS:
        taps = _taps(statement, together, period)
        if taps:
            terms = (t for t in statement.value.terms if not (t.domain & together).empty)
            kept = (replace(t, domain=t.domain.simplified(together)) for t in terms)
            part = ir.Part(statement, ir.Sum(tuple(kept)))
            return ir.Piece(f"{statement.name}_taps", together, (part,), taps), others
    return None


def _taps(statement: ir.Statement, rows: Domain, period: int) -> tuple[ir.Tap, ...] | None:
    """Return the taps of rows, if their terms come again with a period."""
    assert isinstance(statement.value, ir.Sum)
    axis = rows.axes[-1]
    kinds = [rows & Domain.where(rows.axes, f"{axis} mod {period} = {n}") for n in range(period)]
    taps: list[ir.Tap] = []
    for term in statement.value.terms:
        weight = _weight(term, statement)
        present = [not (kind & term.domain).empty for kind in kinds]
        if not any(present) or weight == 0.0:
            continue
        if weight is None or not isinstance(term.operand, ir.Load):
            return None
        if not all(kind <= term.domain for kind, some in zip(kinds, present, strict=True) if some):
            return None
        weights = tuple(weight if some else 0.0 for some in present)
        if taps and taps[-1].element == term.operand:
            pairs = list(zip(taps[-1].weights, weights, strict=True))
            if not any(one and other for one, other in pairs):
                taps[-1] = replace(taps[-1], weights=tuple(one or other for one, other in pairs))
                continue
        taps.append(ir.Tap(term.operand, weights))
    return tuple(taps)


def _weight(term: ir.Term, statement: ir.Statement) -> float | None:
    """Return the weight of an element of the line; zero for -0, with which all sums begin."""
    if term.operand is None:
        return 0.0 if repr(term.weight) == repr(ir.Const(-0.0)) else None
    if not isinstance(term.operand, ir.Load) or not isinstance(term.weight, ir.Const):
        return None
    *outer, last = term.operand.index
    axis = Affine.name(term.domain.axes[-1])
    along = (last - axis).is_constant and not any(axis.names() & a.names() for a in outer)
    own = term.operand.array == statement.array and term.operand.index != statement.index
    return term.weight.value if along and not own and abs(term.weight.value) >= SMALLEST else None
