"""Detection of NaN and infinity on ranks in the debug build.

All ranks raise the same error, that of the first finding of all kernels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ssr.extension import KIND, Array, bad_value, number_found, read_fields

from ..partition.boxes import Box, as_box, filled, meet, slices
from ..schedules.plan import Plan
from ..worlds.world import World
from .arguments import RankMemory
from .values import first_index

NONE = 2**62
"""The value that a process reports if it has found no NaN or infinity."""


def examine(
    plan: Plan, world: World, ranks: Sequence[RankMemory], unit: int, notes: Sequence[str]
) -> None:
    """Raise the same error on all ranks if a unit has computed an infinity or NaN."""
    here = [[int(n) for n in r.states[-1, : KIND + 1]] for r in ranks if r.states[-1, 0]]
    for name, kind, row in plan.footprint.units[unit].folds:
        value = number_found(kind, ranks[0].states, row)
        if not math.isfinite(value):
            look = next(n for n, k in enumerate(plan.meta.looks) if k.target == name)
            here.append([1, look, 0, 0, 0, 0, 0 if math.isnan(value) else 1 if value > 0 else -1])
    found = _first_finding(world, min(here, default=None))
    if found is not None:
        raise bad_value(plan.declaration, plan.meta.looks[found[1]], found, notes)


def _first_finding(world: World, here: list[int] | None) -> list[int] | None:
    """Return the first finding of all processes, given that of this one."""
    found: list[int] = []
    for place in range(KIND + 1):
        largest = np.array([-NONE if here is None else -here[place]])
        world.combine(np.zeros(0, np.int64), largest, "a look at what the debug build found")
        found.append(-int(largest[0]))
        if found[0] == NONE:
            return None
        here = here if here is not None and here[place] == found[place] else None
    return found


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
    """Return the index and value of the first bad element on all ranks; None without one."""
    several, lower = [*parts], [low for low, _ in whole]
    bad = ((points, ~np.isfinite(values)) for points, values in several)
    index = first_index(world, tuple(high - low for low, high in whole), lower, bad, what)
    if index is None:
        return None
    point = tuple(n + low for n, low in zip(index, lower, strict=True))
    here = tuple((n, n + 1) for n in point)
    own = (
        values[slices(here, (low for low, _ in points))].item()
        for points, values in several
        if meet(points, here)
    )
    bits = np.array([next(own, 0.0)]).view(np.int64)
    world.combine(bits, np.zeros(0, np.int64), what)
    return point, float(bits.view(np.float64)[0])
