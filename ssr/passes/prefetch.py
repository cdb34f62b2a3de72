"""Bring rows near that statements with staged lines will read a few lines later.

Only nests that go through line buffers need it: their short loops hide the streams from the
hardware. One request is made for each cache line of each row read from memory for the first time.
"""

from __future__ import annotations

from dataclasses import replace

from .. import ir
from ..index import Affine
from ..nests import box
from ..sets import Domain

AHEAD = 4
"""Lines between a request and its use."""


def prefetch(nest: ir.Nest, line: int) -> ir.Nest:
    """Return the nest with requests; ``line`` is the number of elements of a cache line."""
    if not nest.buffers or len(nest.axes) < 2:
        return nest
    axes = nest.axes
    direction = -1 if nest.order == "backward" else 1
    row = tuple(Affine.name(a) for a in axes)
    step = Domain.where(axes, f"{axes[-1]} mod {line} = 0")
    made = []
    for array, offset in leading(nest).items():
        index = tuple(r + o for r, o in zip(row[:-1], offset, strict=True))
        index = (*index[:-1], index[-1] + direction * AHEAD, row[-1])
        made.append(
            ir.Statement(
                name=f"prefetch_{array}",
                domain=box(axes) & step,
                array=array,
                index=index,
                value=None,
                parallel=True,
            )
        )
    return replace(nest, statements=(*made, *nest.statements))


def leading(nest: ir.Nest) -> dict[str, tuple[int, ...]]:
    """Return, for each array read, the line offset that is the first to be met in sweep order."""
    direction = -1 if nest.order == "backward" else 1
    found: dict[str, tuple[int, ...]] = {}
    buffers = {b.name for b in nest.buffers}
    row = tuple(Affine.name(a) for a in nest.axes)
    for statement in nest.statements:
        if statement.value is None:
            continue
        for load in ir.loads(statement.value):
            if load.array in buffers or len(load.index) != len(row):
                continue
            shift = tuple(c - r for c, r in zip(load.index, row, strict=True))[:-1]
            if not all(s.is_constant for s in shift):
                continue
            offset = tuple(s.constant for s in shift)
            known = found.get(load.array)
            if known is None or tuple(direction * o for o in offset) > tuple(
                direction * o for o in known
            ):
                found[load.array] = offset
    return found
