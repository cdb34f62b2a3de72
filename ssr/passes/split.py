"""Cut statements into pieces of rows with the same terms, so that loops hold no conditions.

    before:  y[i] = 2 x[i] - (x[i-1] if i >= 1) - (x[i+1] if i <= n-2)
    after:   i = 0 | 1 <= i <= n-2 | i = n-1, each with its own terms

Pieces that exist only on grids of a few points along an axis keep their conditions and share one
piece; so do all of them if there are more than `PIECES`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import ir
from ..sets import Domain

PIECES = 100


def split(statement: ir.Statement, context: Domain, buffer: bool) -> tuple[ir.Piece, ...]:
    """Return the pieces of a statement.

    Parameters
    ----------
    statement
        The statement.
    context
        What is known of sizes and box.
    buffer
        Whether the target is a buffer, cleared beforehand: zero pieces that nothing else
        overwrites are left out.
    """
    rows = statement.domain & context
    if statement.value is None:
        return (ir.Piece(statement.name, rows, None),)
    guards = _guards(statement.value, rows)
    pieces = [rows]
    for guard in guards:
        pieces = [
            part for p in pieces for part in (p & guard, p - guard) if not part.empty
        ]
        if len(pieces) > 2 * PIECES:
            return whole(statement, context)
    large = _large(rows)
    small = [p for p in pieces if (p & large).empty]
    common = [p for p in pieces if not (p & large).empty]
    resolved = [(p, resolve(statement.value, p)) for p in common]
    if buffer:
        resolved = _without_zeros(resolved, statement.domain.axes)
    found = [
        ir.Piece(f"{statement.name}_{n}", p.simplified(), value)
        for n, (p, value) in enumerate(resolved)
    ]
    if small:
        rest = small[0]
        for p in small[1:]:
            rest = rest | p
        found.append(ir.Piece(f"{statement.name}_small", rest, simplify(statement.value, rest)))
    return tuple(found)


def whole(statement: ir.Statement, context: Domain) -> tuple[ir.Piece, ...]:
    """Return the statement as one piece with its conditions inside."""
    rows = statement.domain & context
    value = None if statement.value is None else simplify(statement.value, rows)
    return (ir.Piece(statement.name, rows, value),)


def simplify(value: ir.Value, rows: Domain) -> ir.Value:
    """Return a value in which terms say only what is not known of the rows anyway."""

    def change(node: ir.Value) -> ir.Value | None:
        if not isinstance(node, ir.Sum):
            return None
        kept = []
        for t in node.terms:
            if not (rows & t.domain).empty:
                domain = rows if rows <= t.domain else t.domain.simplified(rows)
                kept.append(replace(t, domain=domain))
        return ir.Sum(tuple(kept))

    return ir.rewrite(value, change)


def resolve(value: ir.Value, rows: Domain) -> ir.Value:
    """Return a value for rows that all have the same terms: only those."""

    def change(node: ir.Value) -> ir.Value | None:
        if isinstance(node, ir.Sum):
            return ir.Sum(tuple(replace(t, domain=rows) for t in node.terms if rows <= t.domain))
        return None

    return ir.rewrite(value, change)


def _guards(value: ir.Value, rows: Domain) -> tuple[Domain, ...]:
    """Return the distinct conditions of terms that some rows meet and others do not."""
    found: dict[Domain, None] = {}
    for node in ir.walk(value):
        if isinstance(node, ir.Sum):
            for term in node.terms:
                if not rows <= term.domain and not (rows & term.domain).empty:
                    found[term.domain] = None
    return tuple(found)


def _large(rows: Domain) -> Domain:
    """Return the index space for boxes of at least eight points along each axis."""
    bounds = " and ".join(f"{a}_hi - {a}_lo >= 8" for a in rows.axes)
    names = [f"{a}_{end}" for a in rows.axes for end in ("lo", "hi")]
    return Domain.where(rows.axes, bounds, names)


def _without_zeros(
    pieces: Sequence[tuple[Domain, ir.Value]], axes: tuple[str, ...]
) -> list[tuple[Domain, ir.Value]]:
    zero = [(p, v) for p, v in pieces if is_zero(v)]
    other = [(p, v) for p, v in pieces if not is_zero(v)]
    written: Domain | None = None
    for p, _ in other:
        shadow = p.project(axes[-1:])
        written = shadow if written is None else written | shadow
    kept = [
        (p, v)
        for p, v in zero
        if written is not None and not (p.project(axes[-1:]) & written).empty
    ]
    return [*other, *kept]


def is_zero(value: ir.Value) -> bool:
    """Whether a resolved value is the number zero."""
    return isinstance(value, ir.Sum) and all(
        t.weight == ir.ZERO and t.operand is None for t in value.terms
    )
