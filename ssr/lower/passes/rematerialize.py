"""Rematerialize cheap line-buffer values where they are read, instead of storing them. Bit-exact.

    before:  for i: %f[i] = g(c[i - 1], c[i])      after:  for i: v[i] = g(c[i], c[i + 1])
             for i: v[i] = %f[i + 1] - %f[i]                            - g(c[i - 1], c[i])

A line buffer that is read at other points than the row requires a separate loop, stores and
loads. The buffer is removed if recomputing its values at each use costs few more operations. In
distributed programs such buffers are kept: a sum inlined into another sum could read elements
that the outer sum does not read.
"""

from __future__ import annotations

from dataclasses import replace

from ... import ir
from ...points.affine import Affine
from ..steps.stored_values import cost
from .row_classes import guards

STORED = 7
"""Cost of a line buffer in operations: its stores and loads, and a separate loop."""


def rematerialize(nest: ir.Nest) -> ir.Nest:
    """Return a nest without the line buffers whose values are cheaper to recompute."""
    whole = all(s.beyond is None for s in nest.statements)
    if nest.fused and not nest.joint and whole:
        folded = {fold.buffer for fold in nest.folds}
        for buffer in nest.buffers:
            if buffer.rows == 1 and buffer.lines is None and buffer.name not in folded:
                nest = _without(buffer.name, nest)
    return nest


def _without(name: str, nest: ir.Nest) -> ir.Nest:
    """Return a nest that recomputes the values of a line buffer at each use, if cheaper."""
    writers = [n for n, s in enumerate(nest.statements) if s.array == name]
    readers = [n for n, s in enumerate(nest.statements) if name in ir.arrays(s.value)]
    if len(writers) != 1 or not readers or readers[0] <= writers[0]:
        return nest
    place, made = writers[0], nest.statements[writers[0]]
    until = nest.statements[place + 1 : readers[-1] + 1]
    if not _is_simple(made, nest) or any(s.array in ir.arrays(made.value) for s in until):
        return nest
    loads = (load for n in readers for load in ir.loads(nest.statements[n].value))
    places = {load.index for load in loads if load.array == name}
    if not 1 < len(places) <= 1 + STORED / cost(made.value):
        return nest
    rest = (s for n, s in enumerate(nest.statements) if n != place)
    return replace(
        nest,
        statements=tuple(_inlined(s, made, nest.order) for s in rest),
        buffers=tuple(b for b in nest.buffers if b.name != name),
    )


def _is_simple(made: ir.Statement, nest: ir.Nest) -> bool:
    """Whether a statement computes the same expression at all its rows, which are independent."""
    alike = not guards(made.value, made.domain & nest.context)
    return made.parallel and alike and not ir.gathers(made.value)


def _inlined(statement: ir.Statement, made: ir.Statement, order: ir.Order) -> ir.Statement:
    """Return a statement that recomputes the values it reads from a line buffer.

    The buffer holds the line computed last; its distance is the difference of the two advances.
    """
    axes = made.domain.axes
    stands = statement.runs(tuple(map(Affine.name, axes)), order, -1)
    line = made.runs(stands, order)[:-1]

    def change(node: ir.Value) -> ir.Value | None:
        if not isinstance(node, ir.Load) or node.array != made.array:
            return None
        return ir.value_at(made.value, axes, (*line, node.index[-1]), statement.domain)

    return replace(statement, value=ir.rewrite(statement.value, change))
