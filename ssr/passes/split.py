"""Separate interior rows from boundary rows, so that loops hold no conditions.

A statement is cut into pieces of rows at which the same terms are present:

    before:  y[i] = 2 x[i] - (x[i-1] if i >= 1) - (x[i+1] if i <= n-2)
    after:   i = 0 | 1 <= i <= n-2 | i = n-1, each with its own terms

In three dimensions that would be up to 64 pieces. Where the pieces hold more than `TERMS` terms
together, only lines that have all terms are cut this way. On the other lines, the sum is built up
in a line buffer, one loop for each term over the rows where it is present:

    a[i] = -0;  a[i] = a[i] + term_1[i];  a[i] = a[i] + term_2[i];  ...;  y[i] = a[i]

Both forms compute the same chain of operations: -0 is the neutral element of addition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .. import ir
from ..affine import Affine
from ..sets import Domain

TERMS = 128
"""Terms written out for one statement, all pieces together, before lines are built up."""


def split(nest: ir.Nest, *, interior: bool) -> tuple[ir.Nest, tuple[ir.Stage | ir.Branch, ...]]:
    """Return the nest with the buffers needed, and what runs on each line.

    Parameters
    ----------
    nest
        The nest.
    interior
        Whether to cut out interior rows at all; otherwise all lines are built up.
    """
    buffers = list(nest.buffers)
    cleared = {b.name for b in buffers if b.pad}
    line = tuple(
        _line(s, nest.context, buffers, interior, s.array in cleared) for s in nest.statements
    )
    flat = tuple(part for found in line for part in found)
    return replace(nest, buffers=tuple(buffers)), flat


def pieces(statement: ir.Statement, context: Domain, cleared: bool) -> tuple[ir.Piece, ...]:
    """Return the pieces of a statement, each with the terms present.

    ``cleared`` says that the target is a buffer, cleared beforehand: zero pieces that nothing else
    overwrites are left out.
    """
    rows = statement.domain & context
    resolved = [(p, resolve(statement.value, p)) for p in _classes(statement.value, rows)]
    if cleared:
        resolved = _without_zeros(resolved, statement.domain.axes)
    return tuple(
        ir.Piece(f"{statement.name}_{n}", p.simplified(), value)
        for n, (p, value) in enumerate(resolved)
    )


def _classes(value: ir.Value, rows: Domain) -> list[Domain]:
    """Return the rows cut into sets that meet the same conditions."""
    found = [] if rows.empty else [rows]
    for guard in guards(value, rows):
        found = [part for p in found for part in (p & guard, p - guard) if not part.empty]
    return found


def _line(
    statement: ir.Statement,
    context: Domain,
    buffers: list[ir.Buffer],
    interior: bool,
    cleared: bool,
) -> tuple[ir.Stage | ir.Branch, ...]:
    """Return how a statement runs on a line."""
    value = statement.value
    rows = statement.domain & context
    conditions = guards(value, rows) if statement.parallel else ()
    if not conditions:
        return (ir.Stage(statement, pieces(statement, context, cleared)),)
    count = len(conditions)
    if interior and _written_out(value, rows, count) <= TERMS:
        return (ir.Stage(statement, pieces(statement, context, cleared)),)
    built = tuple(
        ir.Stage(s, pieces(s, context, False)) for s in _built_up(statement, rows, buffers)
    )
    outer = rows.axes[:-1]
    if not interior or not outer:
        return built
    lines = _whole_lines(rows, conditions)
    inside = statement.domain & lines.preimage(tuple(map(Affine.name, outer)), rows.axes)
    if lines.empty or _written_out(value, inside & context, count) > TERMS:
        return built
    kept = replace(statement, domain=inside)
    return (ir.Branch(lines, (ir.Stage(kept, pieces(kept, context, cleared)),), built),)


def _written_out(value: ir.Value, rows: Domain, conditions: int) -> int:
    """Return how many terms all pieces hold, equal sums once; at once many if there are many."""
    found = _classes(value, rows) if conditions <= 2 * TERMS else []
    count = 0
    for part in found:
        sums = {node for node in ir.walk(resolve(value, part)) if isinstance(node, ir.Sum)}
        count += sum(len(node.terms) for node in sums)
        if count > TERMS:
            break
    return count if found else TERMS + 1


def _whole_lines(rows: Domain, conditions: Sequence[Domain]) -> Domain:
    """Return the lines, as a set over the outer axes, on which every term is present somewhere.

    Terms that are on boundary lines only are left out: another one takes their place in the
    interior, as after a product of matrices.
    """
    outer = rows.axes[:-1]
    lines = rows.project(outer)
    for condition in conditions:
        shadow = (rows & condition).project(outer)
        lines = lines & shadow if (lines & shadow).thick else lines - shadow
    return lines


def _built_up(
    statement: ir.Statement, rows: Domain, buffers: list[ir.Buffer]
) -> Iterator[ir.Statement]:
    """Yield the statements that build up the sums of some lines term by term."""
    statement = replace(statement, requests=())
    made: list[ir.Statement] = []
    known: dict[ir.Sum, ir.Load] = {}
    last = Affine.name(rows.axes[-1])

    def change(value: ir.Value) -> ir.Value | None:
        if not isinstance(value, ir.Sum) or all(rows <= t.domain for t in value.terms):
            return None
        if value in known:
            return known[value]
        name = ir.scratch("a", buffers)
        buffers.append(ir.Buffer(name, 1, 0))
        so_far = known[value] = ir.Load(name, (last,))
        step = replace(statement, array=name, index=(last,))
        start = ir.Const(-0.0)
        made.append(replace(step, name=f"start_{name[1:]}", domain=rows, value=start))
        for n, term in enumerate(value.terms):
            here = rows & term.domain
            if here.empty:
                continue
            total = ir.Sum((ir.Term(here, ir.ONE, so_far), replace(term, domain=here)))
            made.append(replace(step, name=f"add_{name[1:]}_{n}", domain=here, value=total))
        return so_far

    result = ir.rewrite(statement.value, change)
    yield from made
    yield replace(statement, name=f"{statement.name}_built", domain=rows, value=result)


def resolve(value: ir.Value, rows: Domain) -> ir.Value:
    """Return a value for rows that all have the same terms: only those."""

    def change(node: ir.Value) -> ir.Value | None:
        if isinstance(node, ir.Sum):
            return ir.Sum(tuple(replace(t, domain=rows) for t in node.terms if rows <= t.domain))
        return None

    return ir.rewrite(value, change)


def guards(value: ir.Value, rows: Domain) -> tuple[Domain, ...]:
    """Return the distinct conditions of terms that some rows meet and others do not."""
    found: dict[Domain, None] = {}
    for node in ir.walk(value):
        if isinstance(node, ir.Sum):
            for term in node.terms:
                if not rows <= term.domain and not (rows & term.domain).empty:
                    found[term.domain] = None
    return tuple(found)


def _without_zeros(
    found: Sequence[tuple[Domain, ir.Value]], axes: tuple[str, ...]
) -> list[tuple[Domain, ir.Value]]:
    zero = [(p, v) for p, v in found if is_zero(v)]
    other = [(p, v) for p, v in found if not is_zero(v)]
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
