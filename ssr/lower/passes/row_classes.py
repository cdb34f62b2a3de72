"""Partition rows into classes with the same terms, and specialize statements for each class.

    y[i] = 2 x[i] - (x[i-1] if i >= 1) - (x[i+1] if i <= n-2)

has three row classes, i = 0, 1 <= i <= n-2 and i = n-1. A piece is one class with its terms.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from types import MappingProxyType

from ... import ir
from ...algebra.own_box import is_local
from ...points.affine import Affine
from ...points.sets import Domain

TERMS = 128
"""Limit of the written-out terms of a statement, over all pieces; longer sums are accumulated."""

NARROW = 8
"""Number of consecutive rows of a line up to which a row class counts as narrow."""


def guards(value: ir.Value, rows: Domain) -> tuple[Domain, ...]:
    """Return the distinct conditions of terms that some rows satisfy and others do not."""
    found: dict[Domain, None] = {}
    for node in ir.sums(value):
        for term in node.terms:
            if not rows <= term.domain and not (rows & term.domain).empty:
                found[term.domain] = None
    return tuple(found)


def classes(value: ir.Value, rows: Domain) -> Iterator[Domain]:
    """Yield the rows cut into sets that satisfy the same conditions."""
    return (part for part, _ in _classes(value, rows))


def _classes(value: ir.Value, rows: Domain) -> Iterator[tuple[Domain, Mapping[Domain, bool]]]:
    """Yield the rows cut into sets, each with the conditions that it satisfies or violates."""
    conditions = guards(value, rows)

    def parts(rows: Domain, met: tuple[bool, ...]) -> Iterator[tuple[Domain, dict[Domain, bool]]]:
        if rows.empty:
            return
        if len(met) == len(conditions):
            yield rows, dict(zip(conditions, met, strict=True))
            return
        condition = conditions[len(met)]
        yield from parts(rows & condition, (*met, True))
        yield from parts(rows - condition, (*met, False))

    return parts(rows, ())


def common_kinds(group: Sequence[ir.Statement], context: Domain) -> list[Domain]:
    """Return the rows of a group cut into sets that satisfy the same conditions of its statements.

    Lines with periodic rows are distinguished from lines without.
    """
    rows = [s.domain & context for s in group]
    found = [reduce(operator.or_, rows)]
    conditions: dict[Domain, None] = {}
    for statement, own in zip(group, rows, strict=True):
        for guard in (own, *guards(statement.value, own)):
            if guard.periodic:
                conditions[all_rows(guard)] = None
            conditions[guard] = None
    for guard in conditions:
        found = [part for p in found for part in (p & guard, p - guard) if not part.empty]
    return found


def all_rows(domain: Domain) -> Domain:
    """Return all rows of the lines on which a set has some."""
    outer = domain.axes[:-1]
    return domain.project(outer).preimage(tuple(map(Affine.name, outer)), domain.axes)


def lines_of(rows: Domain) -> Domain:
    """Return the lines of some rows, as a set over the outer axes.

    Where they depend on the box that owns them, these are its lines that may have such rows.
    """
    outer = rows.axes[:-1]
    lines = rows.project(outer)
    if not is_local(rows):
        return lines
    parts = lines.conjunctions()
    every = [part.simplified(part.project(()).preimage((), outer)) for part in parts]
    return Domain.union(every) if every else lines


def cut(
    group: Sequence[ir.Statement], found: Sequence[Domain], hidden: frozenset[str]
) -> tuple[ir.Piece, ...]:
    """Return the pieces of a group of statements, with the terms present.

    A statement that stores the value already in memory is left out, and so are rows at which
    nothing is stored. Stores to ``hidden`` arrays are omitted.
    """
    pieces = []
    for n, rows in enumerate(found):
        parts = tuple(
            ir.Part(s, value, s.array not in hidden)
            for s in group
            if rows <= s.domain
            for value in (resolve(s.value, rows),)
            if not is_kept(s, value)
        )
        if any(part.stored for part in parts):
            pieces.append(ir.Piece(f"{name_of(group)}_{n}", rows.simplified(), parts))
    return tuple(pieces)


def stage_of(
    group: Sequence[ir.Statement], kinds: Sequence[Domain], hidden: frozenset[str]
) -> ir.Stage:
    """Return statements in one loop along a line, in pieces of some kinds of rows."""
    return ir.Stage(tuple(group), cut(group, kinds, hidden))


def name_of(group: Sequence[ir.Statement]) -> str:
    """Return the name of a group of statements."""
    first, last = group[0].name, group[-1].name
    return first if len(group) == 1 else f"{first}_to_{last}"


def resolve(
    value: ir.Value, rows: Domain, met: Mapping[Domain, bool] = MappingProxyType({})
) -> ir.Value:
    """Return a value with the terms of some rows, which all have the same terms.

    For some conditions, ``met`` states whether the rows satisfy them.
    """
    known = dict(met)

    def present(term: ir.Term) -> bool:
        if term.domain not in known:
            known[term.domain] = rows <= term.domain
        return known[term.domain]

    def change(node: ir.Sum) -> ir.Value:
        return ir.Sum(tuple(replace(t, domain=rows) for t in node.terms if present(t)))

    return ir.rewrite_sums(value, change)


def is_kept(statement: ir.Statement, value: ir.Value) -> bool:
    """Whether a resolved value is the load of the element that the statement stores."""
    if isinstance(value, ir.Sum) and len(value.terms) == 1 and value.terms[0].weight == ir.ONE:
        value = value.terms[0].operand or ir.ONE
    return value == ir.Load(statement.array, statement.index)


def is_zero(value: ir.Value) -> bool:
    """Whether a resolved value is the number zero."""
    return isinstance(value, ir.Sum) and all(
        t.weight == ir.ZERO and t.operand is None for t in value.terms
    )


def without_zeros(value: ir.Value, found: Sequence[Domain], axes: tuple[str, ...]) -> list[Domain]:
    """Return the sets of rows, except where the value is zero and no other value is stored."""
    zero = [p for p in found if is_zero(resolve(value, p))]
    other = [p for p in found if not is_zero(resolve(value, p))]
    written: Domain | None = None
    for p in other:
        shadow = p.project(axes[-1:])
        written = shadow if written is None else written | shadow
    if written is not None:
        other += [p for p in zero if not (p.project(axes[-1:]) & written).empty]
    return other


def is_narrow(rows: Domain) -> bool:
    """Whether there are few rows on each line, next to each other."""
    *outer, last = map(Affine.name, rows.axes)
    return (rows & rows.preimage((*outer, last + NARROW), rows.axes)).empty


def written_out(value: ir.Value, rows: Domain, most: int = TERMS) -> int:
    """Return how many terms all pieces hold, equal sums once; more than most if there are many."""
    if len(guards(value, rows)) > 2 * TERMS:
        return most + 1
    terms = 0
    for part, met in _classes(value, rows):
        terms += count_terms([resolve(value, part, met)])
        if terms > most:
            break
    return terms


def count_terms(values: Iterable[ir.Value]) -> int:
    """Return how many terms all sums have, equal ones of a value once."""
    return sum(len(total.terms) for value in values for total in set(ir.sums(value)))
