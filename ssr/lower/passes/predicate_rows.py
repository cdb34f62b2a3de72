"""Merge row classes into one piece whose terms have predicates. Bit-exact.

    before:  i = 0: y = 2 x[i] - x[i+1]      0 < i < n-1: y = ...      i = n-1: y = ...
    after:   s = -0;  s = s + 2 x[i];  if i >= 1: s = s - x[i-1];  if i <= n-2: s = s - x[i+1]

-0 is the neutral element of addition, so both forms compute the same chain of operations. In
vector loops a predicate is a mask, and a masked term costs as much as a present one. The pass is
therefore applied to boundary lines, which are few and have many row classes, and to lines on which
only some rows at the ends lack terms: their vector loop has no masks between the ends
(`ssr.kernel.vectorize.line_sides`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ... import ir
from ...points.affine import Affine, Choice
from ...points.sets import Domain


def predicate_rows(
    name: str, group: Sequence[ir.Statement], rows: Domain, hidden: frozenset[str]
) -> ir.Piece | None:
    """Return statements as one piece; None if this is impossible."""
    parts = []
    for statement in group:
        value = _tested(statement.value, rows, hidden)
        if value is None:
            return None
        parts.append(ir.Part(statement, value, statement.array not in hidden))
    return ir.Piece(name, rows.simplified(), tuple(parts))


def _tested(value: ir.Value, rows: Domain, hidden: frozenset[str]) -> ir.Value | None:
    """Return a value whose terms have tests if some rows lack them; None if impossible."""
    known: dict[Domain, tuple[Affine, ...] | None] = {}
    around, failed = rows.around(), False

    def tests(domain: Domain) -> tuple[Affine, ...] | None:
        if domain not in known:
            found = domain.tests(around)
            simple = found and all(_is_simple(test, rows.axes[-1]) for test in found)
            known[domain] = found if simple else None
        return known[domain]

    def change(total: ir.Sum) -> ir.Value:
        nonlocal failed
        terms: list[ir.Term] = []
        if not total.terms or not rows <= Domain.union([term.domain for term in total.terms]):
            failed = True  # an empty sum is 0, not -0
            return total
        for term, otherwise in _completed(total.terms, rows):
            if rows <= term.domain:
                terms.append(replace(term, domain=rows))
            elif not (rows & term.domain).empty:
                found = tests(term.domain)
                if found is None or not _is_plain(term, hidden):
                    failed = True
                    return total
                operand = term.operand and _clamped(term.operand, found, rows.axes)
                weight = term.weight if otherwise else _clamped(term.weight, found, rows.axes)
                there = rows & term.domain
                terms.append(ir.Term(there, weight, operand, term.box, found, otherwise))
        return ir.Sum(tuple(terms))

    made = ir.rewrite_sums(value, change)
    return None if failed else made


def _completed(terms: Sequence[ir.Term], rows: Domain) -> Iterator[tuple[ir.Term, ir.Const | None]]:
    """Yield terms, each with the constant that replaces its operand in all rows without it.

    A constant exists if the previous or next term has it as operand, with the same weight.
    """
    left = list(terms)
    while left:
        term, number = left.pop(0), None
        for one, other in ((term, left[0]), (left[0], term)) if left else ():
            if _is_completed(one, other, rows):
                assert isinstance(other.operand, ir.Const)
                term, number = one, other.operand
                del left[0]
                break
        yield term, number


def _is_completed(term: ir.Term, other: ir.Term, rows: Domain) -> bool:
    """Whether another term has a number for a term's operand, at all rows without that one."""
    return (
        term.operand is not None
        and isinstance(other.operand, ir.Const)
        and term.box == other.box == "any"
        and repr(term.weight) == repr(other.weight)  # distinguishes 0 and -0
        and not (term.domain & rows).empty
        and (term.domain & other.domain & rows).empty
        and rows <= term.domain | other.domain
    )


def _clamped(value: ir.Value, tests: Sequence[Affine], axes: Sequence[str]) -> ir.Value:
    """Return a value that reads lines near a row if tests fail; the result is then not used.

    Masked loads of unmapped memory are very slow on some processors.
    """

    def near(index: Affine, axis: str) -> Affine:
        here = Affine.name(axis)
        decisive = tuple(t for t in tests if axes[-1] not in t.names() and t.names() & {axis})
        other = here if (index - here).is_constant else Affine.of(0)
        chosen = Affine(((Choice(decisive, index, other), 1),))
        return chosen if decisive and index != other else index

    def change(part: ir.Value) -> ir.Value | None:
        if not isinstance(part, ir.Load) or len(part.index) != len(axes):
            return None
        *outer, last = map(near, part.index, axes)
        return replace(part, index=(*outer, last))

    return ir.rewrite(value, change)


def _is_plain(term: ir.Term, hidden: frozenset[str]) -> bool:
    """Whether a term has no operands that would be computed before it at all rows."""
    apart = ir.Sum, ir.Gather, ir.Diagonal
    parts = [part for value in (term.weight, term.operand) if value for part in ir.walk(value)]
    kept = any(isinstance(part, ir.Load) and part.array in hidden for part in parts)
    return not kept and not any(isinstance(part, apart) for part in parts)


def _is_simple(test: Affine, axis: str) -> bool:
    """Whether a test is one of the line, or says on which side of a place on it a row is."""
    along = dict(test.terms).get(axis, 0)
    return abs(along) <= 1 and axis not in (test - along * Affine.name(axis)).names()
