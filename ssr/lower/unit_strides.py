"""Normalize loops of constant step to unit stride, so that accesses are affine in the counter.

    before:  for i in range(a, b, 2):  y[i] = x[i // 2]
    after:   for i_2 in range((a + 1) // 2, (b + 1) // 2):  y[2*i_2] = x[i_2]

The pass requires that all rows of the loop have the same remainder for all sizes; other loops are
not changed. It makes the prolongations of multigrid, which read a coarse grid, vectorizable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..kernel.building import binary, plus
from ..points.affine import Affine
from ..points.loop_tree import For, If, Loop, Run
from ..points.sets import Domain


def unit_strides(loops: Sequence[Loop], pieces: Mapping[str, Domain]) -> tuple[Loop, ...]:
    """Return loops with innermost ones of larger steps rewritten; ``pieces`` has their rows."""
    return tuple(_rewritten(node, pieces) for node in loops)


def _rewritten(node: Loop, pieces: Mapping[str, Domain]) -> Loop:
    match node:
        case If(condition, then, orelse):
            return If(condition, unit_strides(then, pieces), unit_strides(orelse, pieces))
        case For(_, _, _, step, body) if step > 1 and all(isinstance(r, Run) for r in body):
            runs = [r for r in body if isinstance(r, Run)]
            rest = _remainder(runs[0], node, pieces)
            return node if rest is None else _counted(node, runs, rest)
        case For(variable, start, stop, step, body):
            return For(variable, start, stop, step, unit_strides(body, pieces))
    return node


def _remainder(run: Run, loop: For, pieces: Mapping[str, Domain]) -> int | None:
    """Return the remainder of a loop's variable divided by its step; None if it varies."""
    shift = run.indices[0] - Affine.name(loop.variable)
    if not shift.is_constant:
        return None
    rows = pieces[run.piece]
    axis = rows.axes[-1]
    for rest in range(loop.step):
        same = f"({axis} - {shift.constant + rest}) mod {loop.step} = 0"
        if rows <= Domain.where(rows.axes, same):
            return rest
    return None


def _counted(loop: For, runs: Sequence[Run], rest: int) -> For:
    """Return the loop over ``t`` with ``variable = step * t + rest``."""
    step, counter = loop.step, f"{loop.variable}_{loop.step}"
    place = {loop.variable: Affine.name(counter) * step + rest}
    more = step - 1 - rest
    start, stop = (
        binary("//", plus(bound, more) if more else bound, step)
        for bound in (loop.start, loop.stop)
    )
    body = tuple(Run(r.piece, tuple(i.substitute(place) for i in r.indices)) for r in runs)
    return For(counter, start, stop, 1, body)
