"""Placement of halo exchanges: the data of each exchange, and when it starts and finishes.

A subdomain reads points that others own. These values are transferred after the last unit that
changes them and before the first unit that reads them. All values that are read until the next
change are transferred together, so that unchanged values are sent once. Exchanges with overlapping
intervals are merged.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ssr.extension import Array

from ..partition.boxes import Box, as_box, common, filled, meet, within
from .footprint import Footprint, Read

ENTRY = -1
"""The number of the unit before the first: the values of the fields when a call begins."""


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """A halo requirement: values of one array that subdomains read before its next change.

    Attributes
    ----------
    array
        The name of the array.
    since, until
        The last unit that changes them, `ENTRY` if none does, and the first that reads them.
    reads
        The points that are read.
    """

    array: str
    since: int
    until: int
    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """The transfers of one exchange.

    Attributes
    ----------
    begin, finish
        The unit before which values are sent, and the unit before which they are received.
    wishes
        The halo requirements that the exchange satisfies.
    front
        The wavefront of the unit after which values are sent, if its rows run in wavefronts.
    """

    begin: int
    finish: int
    wishes: tuple[Wish, ...]
    front: int | None = None


def exchanges(footprint: Footprint, fresh: Collection[str] = ()) -> tuple[Exchange, ...]:
    """Return the exchanges of a program, ordered by the unit before which they finish.

    The arrays in ``fresh`` have valid halos when the call begins.
    """
    wanted = [w for w in wishes(footprint) if w.since != ENTRY or w.array not in fresh]
    waiting = sorted(wanted, key=lambda wish: (wish.until, wish.since))
    found = []
    while waiting:
        finish = waiting[0].until
        ready = [w for w in waiting if w.since < finish]  # including those that are not needed yet
        begin = max(wish.since for wish in ready) + 1
        found.append(Exchange(begin, finish, tuple(ready)))
        waiting = [w for w in waiting if w not in ready]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _State:
    """The state of an array before a unit.

    Attributes
    ----------
    since
        The last unit that has written points that other subdomains must receive.
    fills
        The fills whose ghost points are still valid: unit, and points received.
    """

    since: int = ENTRY
    fills: tuple[tuple[int, Box], ...] = ()

    def written(self, unit: int, box: Box) -> _State:
        """Return the state after a unit that writes points within a box."""
        kept = tuple(fill for fill in self.fills if meet(fill[1], box) == box)
        return _State(unit, kept)

    def filled(self, unit: int, given: Box) -> _State:
        """Return the state after a fill; each subdomain computes the ghosts of its halo."""
        return _State(self.since, (*self.fills, (unit, given)))

    def wanted(self, footprint: Footprint, read: Read) -> tuple[int, Read | None]:
        """Return the unit since which values are unchanged, and the remote part of a read."""
        if not self.fills:
            return self.since, _needed(footprint, read, read.boxes)
        inside = np.array(self.fills[0][1])
        for _, given in self.fills[1:]:
            inside = common(inside, np.array(given))
        if read.far and not within(read.boxes, inside).all():  # includes ghosts computed elsewhere
            return max(self.since, self.fills[-1][0]), _needed(footprint, read, read.boxes)
        return self.since, _needed(footprint, read, common(read.boxes, inside))


def wishes(footprint: Footprint) -> tuple[Wish, ...]:
    """Return the halo requirements of all subdomains, by array and change."""
    states: dict[str, _State] = {}
    found: dict[tuple[str, int], list[Read]] = {}
    reads: dict[int, list[Read]] = {}
    for read in footprint.reads:
        reads.setdefault(read.unit, []).append(read)
    for unit, written in enumerate(footprint.written):
        for read in reads.get(unit, ()):
            since, needed = states.get(read.array, _State()).wanted(footprint, read)
            if needed is not None:
                found.setdefault((read.array, since), []).append(needed)
        for array, box in written.items():
            states[array] = states.get(array, _State()).written(unit, box)
        for array, box in footprint.filled[unit].items():
            states[array] = states.get(array, _State()).filled(unit, box)
    return tuple(
        Wish(array, since, min(r.unit for r in group), tuple(group))
        for (array, since), group in found.items()
    )


def _needed(footprint: Footprint, read: Read, boxes: Array) -> Read | None:
    """Return the part of a read that is not owned and not received within the loop nest."""
    own = footprint.owned(read.array)[read.numbers]
    some = filled(boxes) & (read.far | ~within(boxes, own))
    if read.made and some.any():
        some &= ~_made_there(footprint, read, boxes)
    if not some.any():
        return None
    return Read(read.unit, read.array, read.numbers[some], boxes[some], read.made, read.far)


def _made_there(footprint: Footprint, read: Read, boxes: Array) -> Array:
    """Return for each box of points whether their owners compute all of them in the same nest."""
    rows = footprint.rows[read.unit]
    made = [
        footprint.reached(reach, rows)
        for reach in footprint.units[read.unit].writes
        if reach.array == read.array
    ]

    def makes(owner: int, points: Box) -> bool:
        return any(meet(as_box(written[owner]), points) == points for written in made)

    every = [footprint.owners_of(read.array, as_box(points)) for points in boxes]
    return np.array([all(makes(*owned) for owned in found) for found in every], bool)
