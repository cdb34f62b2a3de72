"""Recompute the terms of doubled recurrences beyond subdomain boundaries. Bit-exact.

A recurrence computed by doubling sums the same terms at every row of a line; some of these terms
belong to a few rows before it. In distributed programs, a subdomain that begins in the middle of
a line recomputes these terms:

    before:  for i in i_lo ... i_hi:       %t[i] = f(b[i]);  x[i] = %t[i] + a %t[i-1] + ...
    after:   for i in i_lo - m ... i_hi:   %t[i] = f(b[i])
             for i in i_lo ... i_hi:       x[i] = %t[i] + a %t[i-1] + ...

Each buffer is computed as far beyond the box as it is read, limited to the rows of the line.
"""

from __future__ import annotations

from dataclasses import replace

from ... import ir
from ...points.affine import Affine
from ...points.sets import Domain
from ..nests import NO_ENDS, Ends, beyond_box, bounds, box, covered


def overlapping_recurrence(nest: ir.Nest) -> ir.Nest:
    """Return a nest whose buffers hold all values that rows of a box read, for any bounds."""
    if not nest.whole_lines:
        return nest
    last = Affine.name(nest.axes[-1])
    needed = {buffer.name: NO_ENDS for buffer in nest.buffers}
    statements: list[ir.Statement] = []
    for statement in reversed(nest.statements):
        here = needed.get(statement.array, NO_ENDS)
        statements.append(_grown(statement, here, nest) if here != NO_ENDS else statement)
        for load in ir.loads(statement.value):
            if load.array in needed:
                shift = (load.index[-1] - last).constant
                needed[load.array] = needed[load.array].including(here, shift)
    buffers = (_padded(buffer, needed[buffer.name]) for buffer in nest.buffers)
    return replace(
        nest, statements=tuple(reversed(statements)), buffers=tuple(buffers), whole_lines=False
    )


def _padded(buffer: ir.Buffer, reach: Ends) -> ir.Buffer:
    """Return a buffer with room for more rows."""
    pad = max(buffer.pad, reach.low, reach.high)
    return replace(buffer, pad=pad, cleared=buffer.cleared or pad > 0)


def _grown(statement: ir.Statement, reach: Ends, nest: ir.Nest) -> ir.Statement:
    """Return a statement that also runs beyond the box, at rows of the nest."""
    edges = bounds(nest.axes)
    ends = *beyond_box(statement.domain)[:-1], (reach.low, reach.high)
    rows = statement.domain.without(edges) & box(nest.axes, ends)

    def change(value: ir.Sum) -> ir.Value:
        return ir.Sum(tuple(replace(t, domain=_free(t.domain, edges)) for t in value.terms))

    value = covered(ir.rewrite_sums(statement.value, change), rows, -0.0)
    return replace(statement, domain=rows, value=value)


def _free(domain: Domain, edges: tuple[str, ...]) -> Domain:
    """Return a set without the conditions that depend on the box."""
    return domain.without(edges) if not {*edges}.isdisjoint(domain.parameters()) else domain
