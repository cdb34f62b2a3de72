"""Merge row classes that repeat with a period along the line into one piece. Bit-exact.

    before:  y[i] = a x[i-1] + b x[i+1]              where i % 3 = 1
             y[i] = c x[i-2] + d x[i-1] + e x[i+1]   where i % 3 = 2, and so on
    after:   y[i] = sum of the taps  x[i-2]: 0, 0, c;  x[i-1]: .., a, d;  x[i+1]: .., b, e

A tap is an offset with one weight for each row class. Taps with weight zero are skipped, so each
row computes its original chain of operations. Loops over such rows have neither branches nor
remainder loops for incomplete periods.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from ... import ir
from ...points.affine import Affine
from ...points.sets import Domain

PERIODS = range(2, 9)
"""The periods that are recognized."""

SMALLEST = 2.0**-126
"""The smallest weight of a tap: it does not underflow to zero in any type."""


def periodic_stencils(
    statement: ir.Statement, rows: Domain, kinds: Sequence[Domain]
) -> ir.Piece | None:
    """Return the rows with periods of a statement as one piece.

    None if its value is not a sum of elements with numbers as weights.
    """
    if not statement.parallel or not isinstance(statement.value, ir.Sum):
        return None
    if not (statement.index[-1] - Affine.name(rows.axes[-1])).is_constant:
        return None
    for together in _together(statement.value, rows, kinds):
        for period in PERIODS:
            taps = _taps(statement, together, period)
            if taps:
                wider = _alike(statement.value, rows, together, period)
                more = _taps(statement, wider, period) if together <= wider else None
                together, taps = (wider, more) if more else (together, taps)
                part = ir.Part(statement, _kept(statement.value, together))
                return ir.Piece(f"{statement.name}_taps", together, (part,), (taps,))
    return None


def joined(piece: ir.Piece, other: ir.Piece) -> ir.Piece | None:
    """Return two periodic pieces as one: one loop, in which bundles of rows share weights.

    None if they are not periodic, if rows or periods differ, or if one reads the other's result.
    """
    parts, taps = (*piece.parts, *other.parts), (*piece.taps, *other.taps)
    made = {part.statement.array for part in parts}
    read = (ir.arrays(p.statement.value) - {p.statement.array} for p in parts)
    if len(taps) < len(parts) or len(made) < len(parts) or any(made & arrays for arrays in read):
        return None
    if len({len(tap.weights) for part in taps for tap in part}) > 1:
        return None
    if not piece.domain.equals(other.domain):
        return None
    name = f"{parts[0].statement.name}_to_{parts[-1].statement.name}_taps"
    return ir.Piece(name, piece.domain, parts, taps)


def _together(value: ir.Sum, rows: Domain, kinds: Sequence[Domain]) -> Iterator[Domain]:
    """Yield rows that may be one piece: rows of periodic classes, or rows of all periodic terms."""
    others = [kind for kind in kinds if not kind.simplified(rows).periodic]
    yield reduce(lambda left, kind: left - kind, others, rows).canonical()
    for term in value.terms:
        if term.domain.simplified(rows).periodic:
            rows = rows & (term.domain & rows).without_remainders()
    yield rows.canonical()


def _alike(value: ir.Sum, rows: Domain, together: Domain, period: int) -> Domain:
    """Return the rows with the same terms as the rows of their class in ``together``.

    At the ends of a line, rows of some classes have the same terms as inside it. If there are such
    rows elsewhere, only the rows of ``together`` are returned.
    """
    found = []
    for kind in _kinds(rows, period):
        for term in value.terms:
            is_there = not (kind & together & term.domain).empty
            kind = kind & term.domain if is_there else kind - term.domain
        found.append(kind)
    alike = Domain.union(found).canonical()
    return alike if alike.without_remainders().equals(alike) else together


def _kinds(rows: Domain, period: int) -> list[Domain]:
    """Return rows cut by their remainders."""
    axis = rows.axes[-1]
    return [rows & Domain.where(rows.axes, f"{axis} mod {period} = {n}") for n in range(period)]


def _kept(value: ir.Sum, rows: Domain) -> ir.Sum:
    """Return the terms of a sum that some rows have."""
    terms = (t for t in value.terms if not (t.domain & rows).empty)
    return ir.Sum(tuple(replace(t, domain=t.domain.simplified(rows)) for t in terms))


def _taps(statement: ir.Statement, rows: Domain, period: int) -> tuple[ir.Tap, ...] | None:
    """Return the taps of rows, if their terms come again with a period."""
    assert isinstance(statement.value, ir.Sum)
    kinds = _kinds(rows, period)
    taps: list[ir.Tap] = []
    for term in statement.value.terms:
        present = [not (kind & term.domain).empty for kind in kinds]
        if not any(present):
            continue
        weight = _weight(term, statement)
        if weight is None:
            return None
        if not all(kind <= term.domain for kind, some in zip(kinds, present, strict=True) if some):
            return None
        absent = -0.0 if term.operand is None else 0.0
        weights = tuple(weight if some else absent for some in present)
        assert term.operand is None or isinstance(term.operand, ir.Load)
        last = taps[-1] if taps else None
        if last and term.operand is not None and last.element == term.operand:
            pairs = list(zip(last.weights, weights, strict=True))
            if not any(one and other for one, other in pairs):
                taps[-1] = replace(last, weights=tuple(one or other for one, other in pairs))
                continue
        taps.append(ir.Tap(term.operand, weights))
    return tuple(taps)


def _weight(term: ir.Term, statement: ir.Statement) -> float | None:
    """Return a constant, or the weight of an element of the line; None for other terms."""
    if not isinstance(term.weight, ir.Const):
        return None
    if term.operand is None:
        return term.weight.value
    if not isinstance(term.operand, ir.Load):
        return None
    *outer, last = term.operand.index
    axis = Affine.name(term.domain.axes[-1])
    along = (last - axis).is_constant and not any(axis.names() & a.names() for a in outer)
    own = term.operand.array == statement.array and term.operand.index != statement.index
    return term.weight.value if along and not own and abs(term.weight.value) >= SMALLEST else None
