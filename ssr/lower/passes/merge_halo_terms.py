"""Merge the terms that read interior elements and halo elements of one array. Reassociates.

    before:  x[i] = r[i] + (x[i + 1] if i + 1 >= i_own_hi) + (x[i + 1] if i + 1 < i_own_hi)
    after:   x[i] = r[i] + x[i + 1]

In distributed programs each subdomain has its own arrays, and a sweep does not modify halo
elements, so that the old and the new value of a halo element are equal. The merged term replaces
the interior term: a single subdomain then adds the terms in the same order as an undistributed
array. Elements that are computed on the row's own line are not merged, because recurrences along
a line begin in the own box (`recurrence`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from ... import ir
from ...algebra.own_box import everywhere, own_bounds
from ...points.affine import Affine
from ...points.sets import Domain
from ..nests import bounds


def merge_halo_terms(nest: ir.Nest) -> ir.Nest:
    """Return the nest with terms joined that read the same array in the own and other boxes."""
    if nest.joint or not any(statement.local for statement in nest.statements):
        return nest
    statements = tuple(replace(s, value=_joined(s, nest)) for s in nest.statements)
    return replace(nest, statements=statements)


def _joined(statement: ir.Statement, nest: ir.Nest) -> ir.Value:
    row = tuple(map(Affine.name, nest.axes))

    def change(node: ir.Sum) -> ir.Value | None:
        groups: dict[tuple[ir.Value, tuple[Affine, ...]], list[ir.Term]] = {}
        for term in node.terms:
            load = term.operand
            if not isinstance(load, ir.Load) or load.array != statement.local:
                continue
            if not load.new or load.index[:-1] != row[:-1]:
                groups.setdefault((term.weight, load.index), []).append(term)
        found: dict[int, ir.Term | None] = {}
        for terms in groups.values():
            own = [t for t in terms if not everywhere(t.domain, nest.rows).empty]
            whole = _whole(terms, statement.domain & nest.context) if len(own) == 1 else None
            if whole is not None:
                found |= dict.fromkeys(map(id, terms))
                found[id(own[0])] = replace(own[0], domain=whole)
        kept = (found.get(id(term), term) for term in node.terms)
        return ir.Sum(tuple(term for term in kept if term is not None))

    return ir.rewrite_sums(statement.value, change)


def _whole(terms: Sequence[ir.Term], rows: Domain) -> Domain | None:
    """Return the rows of some terms together, if there are several that do not depend on boxes."""
    if len(terms) < 2:
        return None
    parts = [rows & term.domain for term in terms]
    if any(not (one & other).empty for one, other in combinations(parts, 2)):
        return None
    inside = rows.without(bounds(rows.axes))
    found = Domain.union([inside & term.domain for term in terms]).without(own_bounds(rows.axes))
    return found.simplified() if (rows & found).equals(Domain.union(parts)) else None
