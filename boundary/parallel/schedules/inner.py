"""Overlap of communication and computation: rows that read no data of other subdomains."""

from __future__ import annotations

import numpy as np

from ssr.extension import AXES, Array, region

from ..partition.boxes import Box, as_box, filled, meet, volume, within
from .exchanges import Exchange
from .footprint import Footprint

LONG = 256
"""The smallest number of rows along the last axis for which a split of this axis pays off."""


def splittable(footprint: Footprint, exchanges: tuple[Exchange, ...]) -> dict[int, str]:
    """Return the nests whose inner rows should run before an exchange is finished."""
    found: dict[int, str] = {}
    waiting = sorted({e.finish for e in exchanges})
    for place in waiting:
        unit = footprint.behind_fills(place)
        if unit < len(footprint.units) and footprint.units[unit].kind == "nest":
            found[unit] = found.get(unit) or _reason(footprint, place, unit)
    return found


def _reason(footprint: Footprint, place: int, unit: int) -> str:
    nest = footprint.meta.nests[footprint.units[unit].number]
    if nest.earlier != () or nest.along is not None or _spoils(footprint, unit):
        return "its rows depend on each other, or one overwrites what another reads"
    filled_before = {name for call in range(place, unit) for name in footprint.fields(call)}
    if not filled_before.isdisjoint(footprint.written[unit]):
        return "a fill that runs before it reads what it overwrites"
    rows = footprint.rows[unit]
    boxes = [int(b) for b in filled(rows).nonzero()[0]]
    some = boxes[len(boxes) // 2] if boxes else None
    if some is None:
        return "there are no rows"
    inside, whole = inner(footprint, unit, some), as_box(rows[some])
    if inside is None:
        return "every row reads what others own"
    if inside[-1] != whole[-1] and whole[-1][1] - whole[-1][0] < LONG:
        return "cutting short rows along the last axis costs more than it hides"
    return ""


def _spoils(footprint: Footprint, unit: int) -> bool:
    """Whether a subdomain reads points that the nest overwrites in another one of its rank.

    Copies between subdomains of a rank run when the messages arrive, after the inner rows.
    """
    owners = footprint.partition.owners
    several = np.bincount(owners, minlength=footprint.partition.ranks)[owners] > 1
    reads = [r for r in footprint.reads if r.unit == unit and r.array in footprint.written[unit]]
    for read in reads:
        owned = footprint.owned(read.array)[read.numbers]
        if (several[read.numbers] & ~within(read.boxes, owned)).any():
            return True
    return False


def inner(footprint: Footprint, unit: int, box: int) -> Box | None:
    """Return the rows of a subdomain that read only points it owns, as one box of rows.

    None if there are none. Ghosts count as owned by others, since fills compute them after the
    messages have arrived.
    """
    rows: Box | None = as_box(footprint.rows[unit][box])
    while rows is not None and volume(rows):
        narrower = _narrowed(footprint, unit, box, rows)
        if narrower == rows:
            return rows
        rows = meet(rows, narrower)
    return None


def _narrowed(footprint: Footprint, unit: int, box: int, rows: Box) -> Box:
    """Return rows shortened at each end by the extent of their reads beyond the owned points."""
    values: dict[str, int | Array] = dict(footprint.sizes)
    whole_box = as_box(footprint.rows[unit][box])
    for name, (low, high), (least, most) in zip(AXES[len(rows)], rows, whole_box, strict=True):
        values |= {f"{name}_lo": low, f"{name}_hi": high}
        values |= {f"{name}_own_lo": least, f"{name}_own_hi": most}
    ends = [list(edge) for edge in rows]
    for reach in footprint.units[unit].reads:
        if reach.array in footprint.captured:
            continue
        if reach.matrix:  # columns may lie anywhere
            return tuple((low, low) for low, _ in rows)
        whole = footprint.spaces[reach.array].box(footprint.sizes)
        reached: Box = tuple((int(low), int(high)) for low, high in region(reach, values))
        read = meet(reached, whole) if volume(reached) else None
        own = meet(
            as_box(footprint.owned(reach.array)[box]), footprint.given.get(reach.array, whole)
        )
        if read is None:
            continue
        if own is None:
            return tuple((low, low) for low, _ in rows)
        shift = len(rows) - len(read)
        for axis, ((low, high), (first, last)) in enumerate(zip(read, own, strict=True)):
            along = axis + shift
            if along < 0:
                if low < first or high > last:
                    return tuple((begin, begin) for begin, _ in rows)
                continue
            start, stop = rows[along]
            ends[along][0] = max(ends[along][0], start + max(0, first - low))
            ends[along][1] = min(ends[along][1], stop - max(0, high - last))
    return tuple((low, max(low, high)) for low, high in ends)
