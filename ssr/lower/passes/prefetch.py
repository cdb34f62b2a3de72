"""Bring the memory a line will touch near before it is computed with.

A loop over a few streams is limited by how many cache lines are on their way at once, and a
processor's own prefetching stops at page ends. Each array is requested by the statement that meets
its elements first in sweep order, also the array that is written:

    before:  for i in range(a, b): y[i] = f(x[i + 1], ...)
    after:   for strip in range(a, b, 256):
                 for i in range(strip, min(strip + 256, b), 8): prefetch(x[i + 512]); ...
                 for i in range(strip, min(strip + 256, b)):    y[i] = f(x[i + 1], ...)

The pass is off by default. Measured on a 5-point sweep of 2048^2 points on a server shared with
others: 3.1 -> 2.65 ns a point while its memory was loaded, 2.4 -> 2.9 while it was not.
"""

from __future__ import annotations

from dataclasses import replace

from ... import ir
from ...points.affine import Affine

Offset = tuple[int, ...]


def prefetch(nest: ir.Nest) -> ir.Nest:
    """Return the nest with each array's requests at the statement that meets it first."""
    first: dict[str, tuple[Offset, int]] = {}
    for place, statement in enumerate(nest.statements):
        for array, offset in _lines(statement, nest):
            known = first.get(array)
            if known is None or offset > known[0]:
                first[array] = (offset, place)
    direction = -1 if nest.order == "backward" else 1
    row = tuple(Affine.name(a) for a in nest.axes)
    statements = list(nest.statements)
    for array, (offset, place) in first.items():
        statement = statements[place]
        shifted = [r + direction * o for r, o in zip(row[:-1], offset, strict=True)]
        request = ir.Load(array, statement.runs((*shifted, row[-1]), nest.order, -1))
        statements[place] = replace(statement, requests=(*statement.requests, request))
    return replace(nest, statements=tuple(statements))


def _lines(statement: ir.Statement, nest: ir.Nest) -> list[tuple[str, Offset]]:
    """Return the lines of arrays a statement touches, as offsets in sweep direction."""
    direction = -1 if nest.order == "backward" else 1
    return [
        (array, tuple(direction * s.constant for s in shift[:-1]))
        for array, shift in ir.met(statement, nest)
        if all(s.is_constant for s in shift)
    ]
