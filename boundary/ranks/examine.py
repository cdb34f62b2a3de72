"""The debug build on ranks: infinities and NaN among what units have made.

All ranks look together, and raise the same error. Each looks at the rows that its boxes have run,
as their memory also holds points that nobody has stored yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ssr.extension import Array, bad_value, number_found, read_fields

from ..partition.boxes import Box, as_box, filled
from ..schedules.plan import Plan
from ..worlds.world import World
from .arguments import RankMemory


def examine(
    plan: Plan, world: World, ranks: Sequence[RankMemory], unit: int, notes: Sequence[str]
) -> None:
    """Raise if a unit has made an infinity or NaN, on all ranks alike.

    Parameters
    ----------
    plan
        The program.
    world
        All ranks.
    ranks
        The memory of those of this process.
    unit
        The number of the unit.
    notes
        What `held` has found before the call.

    Raises
    ------
    NonFiniteError, SingularMatrixError
        If it has.
    """
    folds = {name: (kind, row) for name, kind, row in plan.footprint.units[unit].folds}
    for look in plan.examined[unit]:
        if look.target in folds:
            kind, row = folds[look.target]
            if not math.isfinite(number_found(kind, ranks[0].states, row)):
                raise bad_value(plan.declaration, plan.meta, look, None, notes)
            continue
        whole = plan.footprint.row_space(unit).box(plan.footprint.sizes)
        parts = _parts(plan, ranks, look.target, plan.footprint.rows[unit])
        found = _first(world, whole, parts, f"a look at {look.target}")
        if found is not None:
            raise bad_value(plan.declaration, plan.meta, look, found, notes)


def held(plan: Plan, world: World, ranks: Sequence[RankMemory]) -> list[str]:
    """Return notes on infinities and NaN in fields that a program reads."""
    notes = []
    fields = read_fields(plan.declaration.program)
    for name in plan.meta.fields:
        if name not in fields or name in plan.footprint.captured:
            continue
        whole = plan.footprint.spaces[name].box(plan.footprint.sizes)
        parts = _parts(plan, ranks, name, plan.footprint.owned(name))
        found = _first(world, whole, parts, f"a look at {name}")
        if found is not None:
            where = ", ".join(map(str, found[0]))
            notes.append(f"{name} held {found[1]} at ({where}) when the program was called")
    return notes


def _parts(
    plan: Plan, ranks: Sequence[RankMemory], name: str, boxes: Array
) -> Iterator[tuple[Box, Array]]:
    """Yield some points of each box of this process, with the values of an array."""
    for rank in ranks:
        flat = rank.array(name).reshape(-1)
        for box in plan.footprint.partition.of_rank(rank.rank):
            if filled(boxes[box]):
                points = as_box(boxes[box])
                yield points, rank.memories[name].near[box].view(flat, points)


def _first(
    world: World, whole: Box, parts: Iterable[tuple[Box, Array]], what: str
) -> tuple[tuple[int, ...], float] | None:
    """Return the index and the value of the first bad element of all ranks; None if none is."""
    shape = tuple(high - low for low, high in whole)
    none = math.prod(shape)
    here, value = none, 0.0
    for points, values in parts:
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            inside = [
                int(n) + low - first
                for n, (low, _), (first, _) in zip(bad[0], points, whole, strict=True)
            ]
            number = int(np.ravel_multi_index(inside, shape))
            if number < here:
                here, value = number, float(values[tuple(bad[0])])
    nothing, largest = np.zeros(0, np.int64), np.array([-here], np.int64)
    world.combine(nothing, largest, what)
    number = -int(largest[0])
    if number == none:
        return None
    bits = np.array([value if here == number else 0.0]).view(np.int64)
    world.combine(bits, nothing, what)
    index = np.unravel_index(number, shape)
    point = tuple(int(n) + low for n, (low, _) in zip(index, whole, strict=True))
    return point, float(bits.view(np.float64)[0])
