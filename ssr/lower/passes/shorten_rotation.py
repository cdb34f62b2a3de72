"""Drop the oldest plane of a rotating buffer where one loop reads and replaces it. Bit-exact.

    before:  for i: %t[k + 1, j, i] = f(u[k + 1, j, i], ...)          two planes
             for i: v[k, j, i] = g(%t[k, j, i], %t[k + 1, j, i])
    after:   for i: %l[i] = %t[k, j, i]                               one plane
             for i: %t[k + 1, j, i] = f(u[k + 1, j, i], ...)
             for i: v[k, j, i] = g(%l[i], %t[k + 1, j, i])

The last read of the oldest plane is often at the row at which the newest plane is written. If
these accesses share a loop, the old element is loaded into a register first, and its storage is
reused for the new element.
"""

from __future__ import annotations

from dataclasses import replace

from ... import ir
from ...algebra.analyse import reads
from ...points.affine import Affine
from ...points.sets import Domain
from .loop_fusion import loop_fusion, seen


def shorten_rotation(nest: ir.Nest) -> ir.Nest:
    """Return a nest whose rotations of planes are as short as they can be."""
    if nest.fused and not nest.joint:
        for buffer in nest.buffers:
            if buffer.lines is not None and buffer.rows > 1:
                nest = _shorter(buffer, nest) or nest
    return nest


def _shorter(buffer: ir.Buffer, nest: ir.Nest) -> ir.Nest | None:
    """Return a nest with one plane less in a rotation; None if its oldest plane is needed."""
    writers = [n for n, s in enumerate(nest.statements) if s.array == buffer.name]
    if len(writers) != 1:
        return None
    made = nest.statements[writers[0]]
    newest = seen(made.index, made, nest)
    back = (buffer.rows - 1) * (1 if nest.order == "backward" else -1)
    oldest = newest[0] + back
    found = [
        (n, load)
        for n, statement in enumerate(nest.statements)
        for load in ir.loads(statement.value)
        if load.array == buffer.name and seen(load.index, statement, nest)[0] == oldest
    ]
    if len(found) != 1:
        return None
    ((place, load),) = found
    if seen(load.index, nest.statements[place], nest)[1:] != newest[1:] or place < writers[0]:
        return None
    changed = _held(nest, buffer, writers[0], place, load)
    names = {changed.statements[writers[0]].name, made.name, nest.statements[place].name}
    loops = ({s.name for group in loop for s in group} for loop in loop_fusion(changed))
    shared = any(names <= loop for loop in loops)
    return changed if shared else None


def _held(nest: ir.Nest, buffer: ir.Buffer, writer: int, reader: int, load: ir.Load) -> ir.Nest:
    """Return a nest with a shorter rotation, an element of which is read before it is replaced."""
    reading, here = nest.statements[reader], (Affine.name(nest.axes[-1]),)
    held = ir.Buffer(ir.scratch("l", nest.buffers), 1, buffer.pad)
    name = f"{nest.statements[writer].name}_old"
    rows = Domain.union(
        [rows for rows, read in reads(reading.value, reading.domain) if read == load]
    )
    first = replace(reading, name=name, domain=rows, array=held.name, index=here, value=load)
    statements = list(nest.statements)
    statements[reader] = replace(
        reading,
        value=ir.rewrite(reading.value, lambda v: ir.Load(held.name, here) if v == load else None),
    )
    statements.insert(writer, first)
    others = (replace(b, rows=b.rows - 1) if b == buffer else b for b in nest.buffers)
    return replace(nest, statements=tuple(statements), buffers=(*others, held))
