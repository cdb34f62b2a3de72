"""Clip loops over all rows of a nest to the bounds of a box (tile). Bit-exact.

    before:  for i in range(1, n - 1): ...          all rows of a space
    after:   for i in range(max(1, i_lo - 1), min(n - 1, i_hi + 1)): ...

If each statement of a nest runs the rows of its step that lie in a box, or within a fixed distance
of it, the loops are generated for all rows, without box parameters, and then clipped. Otherwise
the pieces of a line would have to be distinguished by the position of the box bounds, which has
many cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import ir
from ..kernel import ir as kernel
from ..kernel.building import call, compare, every
from ..points.affine import Affine
from ..points.expressions import expression, moved
from ..points.loop_tree import For, If, Loop, Run, runs_of
from .nests import bounds, box


def is_cut(nest: ir.Nest) -> bool:
    """Whether the loops of a nest are found for all rows, and cut."""
    return all(s.beyond is not None for s in nest.statements)


def everywhere(nest: ir.Nest) -> ir.Nest:
    """Return a nest over all rows of its statements, without conditions on the box."""
    names = bounds(nest.axes)
    statements = tuple(replace(s, domain=s.domain.without(names)) for s in nest.statements)
    return replace(nest, statements=statements, context=nest.context.without(names))


def in_box(piece: ir.Piece) -> ir.Piece:
    """Return a piece with its rows restricted to those of a box."""
    rows = box(piece.domain.axes, piece.parts[0].statement.beyond)
    return replace(piece, domain=piece.domain & rows)


def tiling(
    loops: Sequence[Loop], statement: ir.Statement, nest: ir.Nest, lead: dict[str, int]
) -> list[Loop]:
    """Return the loops of a line, cut at the ends of the box."""
    assert statement.beyond is not None
    axes = nest.axes
    row = statement.runs(tuple(map(Affine.name, axes)), nest.order)
    tests = []
    for axis, here, (low, high) in zip(axes[:-1], row, statement.beyond, strict=False):
        early = (here - Affine.name(axis)).constant
        if early + low < lead[axis]:
            tests.append(compare(expression(here), ">=", moved(f"{axis}_lo", -low)))
        if early > high:
            tests.append(compare(expression(here), "<", moved(f"{axis}_hi", high)))
    low, high = statement.beyond[-1]
    first, last = moved(f"{axes[-1]}_lo", -low), moved(f"{axes[-1]}_hi", high)
    inside = clipped(loops, first, last)
    return [If(every(tests), tuple(inside), ())] if tests and inside else inside


def clipped(loops: Sequence[Loop], first: kernel.Expression, last: kernel.Expression) -> list[Loop]:
    """Return loops and instances along a line for the rows from a first one to before a last."""
    found: list[Loop] = []
    for node in loops:
        match node:
            case For(variable, start, stop, 1, body) if _by_row(node):
                ends = call("max", start, first), call("min", stop, last)
                found.append(For(variable, *ends, 1, body))
            case For(body=body):
                found.append(replace(node, body=tuple(clipped(body, first, last))))
            case If(condition, then, orelse):
                ways = (tuple(clipped(way, first, last)) for way in (then, orelse))
                found.append(If(condition, *ways))
            case Run(indices=(*_, index)):
                row = expression(index)
                inside = every([compare(first, "<=", row), compare(row, "<", last)])
                found.append(If(inside, (node,), ()))
    return found


def _by_row(loop: For) -> bool:
    """Whether each step of a loop runs the row of its variable."""
    return all(run.indices[-1] == Affine.name(loop.variable) for run in runs_of(loop))
