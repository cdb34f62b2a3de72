"""Order the terms of each sum: terms that depend on the row's own line come last. Reassociates.

before:  x[j, i] = b[j, i] + x′[j, i - 1] + x′[j - 1, i]
after:   x[j, i] = b[j, i] + x′[j - 1, i] + x′[j, i - 1]

The pass runs for every setting of the options, `exact` included.
"""

from __future__ import annotations

from dataclasses import replace

from ... import ir
from ...points.affine import Affine


def order_terms(nest: ir.Nest) -> ir.Nest:
    """Return the nest with the terms that depend on the row's own line last in their sum."""

    def change(value: ir.Sum) -> ir.Value | None:
        own = [t for t in value.terms if own_line(t, nest)]
        return ir.Sum((*(t for t in value.terms if t not in own), *own)) if own else None

    return replace(
        nest,
        statements=tuple(
            replace(s, value=ir.rewrite_sums(s.value, change)) for s in nest.statements
        ),
    )


def own_line(term: ir.Term, nest: ir.Nest) -> bool:
    """Whether a term reads a value computed earlier on the same line."""
    load = term.operand
    if not isinstance(load, ir.Load) or not load.new:
        return False
    row = tuple(Affine.name(a) for a in nest.axes[:-1])
    lines = (load.index[:-1], row)
    return not row or load.index[:-1] == row or not term.domain.equal(*lines).empty
