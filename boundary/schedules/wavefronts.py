"""Solves that cross cuts: parts of boxes run in turn, as soon as the rows before theirs are there.

Rows of a solve read what rows before them have made, and some of these belong to other boxes. Parts
whose rows wait for nobody run first; what others read of theirs moves; then those run that have
waited for them only, and so on: each time a *wavefront* of parts. Values do not depend on it, as
every row reads what it reads when rows run in their order.

A box that is one part makes all others wait. So boxes are cut into parts along an axis, and the
first part of a box is computed beside the second one of the box before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ssr.errors import UnsupportedError
from ssr.extension import Array, Reach

from ..partition.boxes import Box, as_box, common, distinct, filled, within
from ..partition.lookup import Lookup
from .exchanges import Exchange, Wish
from .footprint import Footprint, Read

PASSED = 3000
"""Values that are read or written in the time in which a message goes to the next wavefront."""

MOST = 32
"""Into how many parts a box is cut at most."""

TRIED = 4096
"""How many parts there are at most, so that the best way to cut is found quickly."""


@dataclass(frozen=True, slots=True, eq=False)
class Wavefronts:
    """The rows of a nest as parts of boxes that run one after the other.

    Attributes
    ----------
    boxes
        For each part its box.
    rows
        The rows of each part, as an array of boxes.
    fronts
        The wavefront of each part, from 0 on.
    exchanges
        For wavefronts of which other boxes read something, what moves behind them.
    """

    boxes: Array
    rows: Array
    fronts: Array
    exchanges: dict[int, Exchange]

    @property
    def count(self) -> int:
        """The number of wavefronts."""
        return int(self.fronts.max()) + 1

    def of(self, front: int, box: int) -> list[Box]:
        """Return the rows of a box that are in a wavefront."""
        return [as_box(rows) for rows in self.rows[(self.fronts == front) & (self.boxes == box)]]


def wavefronts(footprint: Footprint, unit: int) -> Wavefronts | None:
    """Return the wavefronts of a nest; None if its rows depend on rows of their own box only.

    Raises
    ------
    UnsupportedError
        If boxes would wait for each other.
    """
    if footprint.units[unit].kind != "nest":
        return None
    _check_lines(footprint, unit)
    if not crosses(footprint, unit):
        return None
    if footprint.meta.nests[footprint.units[unit].number].fused:
        raise _crossing(
            footprint,
            unit,
            "It shares loops with other steps, which may change a value before it moves.",
            "Use ssr.Options(fuse=False).",
        )
    for ways in _ways(footprint, unit), _finest(footprint, unit):
        found = [parts for parts in ways if parts.fronts is not None]
        for parts in sorted(found, key=lambda parts: parts.cost):
            if parts.safe:
                return parts.wavefronts()
    raise _crossing(
        footprint,
        unit,
        "Boxes would wait for each other: each has rows that depend on rows of the other.",
        "Solve within boxes, with near = A.local(), and put the rest on the right: "
        "near.tril().solve(b - (A - near) @ x - near.triu(1) @ x). As a smoother that is "
        "ssr.solvers.GaussSeidel(local=True); the rows of ssr.solvers.Jacobi() wait for "
        "none. Or cut along axes without such dependences.",
    )


def crosses(footprint: Footprint, unit: int) -> bool:
    """Whether rows of a nest read what it makes at rows of other boxes."""
    return any(
        not within(read.boxes, footprint.owned(read.array)[read.numbers]).all()
        for read in footprint.reads
        if read.unit == unit and read.made
    )


def _check_lines(footprint: Footprint, unit: int) -> None:
    """Raise if a cut goes through lines that are solved as a whole."""
    nest = footprint.meta.nests[footprint.units[unit].number]
    rows, whole = footprint.rows[unit], footprint.row_space(unit).box(footprint.sizes)
    run = rows[filled(rows)]
    if nest.along is not None and (run[:, nest.along] != np.array(whole[nest.along])).any():
        raise _crossing(
            footprint,
            unit,
            f"Its lines run along axis {nest.along}, and each is solved as a whole.",
            "Give solves along other axes a program of their own: bc.in_turn(one, other) "
            "runs each where its lines are whole, to which fields are moved.",
        )
    if nest.whole_lines and (run[:, -1] != np.array(whole[-1])).any():
        raise _crossing(
            footprint,
            unit,
            "Its recurrence along the last axis is computed for whole lines.",
            "Cut along other axes, or use ssr.Options(exact=True).",
        )


def _crossing(footprint: Footprint, unit: int, note: str, hint: str) -> UnsupportedError:
    nest = footprint.meta.nests[footprint.units[unit].number]
    name = footprint.declaration.program.name
    return UnsupportedError(
        f"The solve for {nest.target!r} in {name} crosses a cut between boxes.",
        note=note,
        hint=hint,
    )


def _ways(footprint: Footprint, unit: int) -> Iterator[_Parts]:
    """Yield ways to cut the boxes of rows into parts."""
    rows = footprint.rows[unit]
    yield _Parts(footprint, unit, 0, 1)
    if footprint.meta.nests[footprint.units[unit].number].local:
        return
    for axis, extent in enumerate(_extents(rows)[:-1]):
        count = 2
        while count <= min(MOST, TRIED // len(rows), extent):
            yield _Parts(footprint, unit, axis, count)
            count *= 2


def _finest(footprint: Footprint, unit: int) -> Iterator[_Parts]:
    """Yield the boxes of rows in parts of one row along an axis.

    Where rows read at both sides of a cut, boxes wait for each other plane by plane.
    """
    if not footprint.meta.nests[footprint.units[unit].number].local:
        for axis, extent in enumerate(_extents(footprint.rows[unit])[:-1]):
            if extent > 1:
                yield _Parts(footprint, unit, axis, extent)


def _extents(rows: Array) -> list[int]:
    """Return how many rows the longest box has along each axis."""
    longest: list[int] = (rows[..., 1] - rows[..., 0]).max(axis=0, initial=0).tolist()
    return longest


class _Parts:
    """Boxes of rows that are cut into parts along an axis.

    Attributes
    ----------
    fronts
        The wavefront of each part; None if parts wait for each other.
    safe
        Whether rows find the values that they read: those that are overwritten later, too.
    """

    def __init__(self, footprint: Footprint, unit: int, axis: int, count: int) -> None:
        self.footprint, self.unit = footprint, unit
        rows = footprint.rows[unit]
        low, high = rows[:, axis, 0], rows[:, axis, 1]
        cuts = low[:, None] + (high - low)[:, None] * np.arange(count + 1) // count
        every = np.repeat(rows[:, None], count, axis=1)
        every[:, :, axis, 0], every[:, :, axis, 1] = cuts[:, :-1], cuts[:, 1:]
        every = every.reshape(-1, *rows.shape[1:])
        some = np.flatnonzero(filled(every))
        self.rows, self.boxes = every[some], some // count
        record = footprint.units[unit]
        self.written = [(r.array, self._final(r)) for r in record.writes]
        self.beyond = [(r.array, footprint.reached(r, self.rows)) for r in record.writes]
        names = {array for array, _ in self.written}
        reads = [r for r in footprint.read_by(unit) if r.array in names]
        self.made = [(r.array, footprint.reached(r, self.rows)) for r in reads if r.new]
        self.old = [(r.array, footprint.reached(r, self.rows)) for r in reads if not r.new]
        self.edges = _Pairs.of(self.made, self.written)
        self.fronts = self._fronts()

    def _final(self, reach: Reach) -> Array:
        """Return what parts write of an array, without that which others own."""
        return common(
            self.footprint.reached(reach, self.rows), self.footprint.owned(reach.array)[self.boxes]
        )

    def _fronts(self) -> Array | None:
        """Return the wavefront of each part; None if parts wait for each other."""
        fronts = np.full(len(self.rows), -1)
        before, after = self.edges.makers, self.edges.readers
        waiting = np.bincount(after, minlength=len(fronts))
        number = 0
        while (ready := (waiting == 0) & (fronts < 0)).any():
            fronts[ready] = number
            np.subtract.at(waiting, after[ready[before]], 1)
            number += 1
        return None if (fronts < 0).any() else fronts

    @property
    def cost(self) -> int:
        """The time until all parts have run, in that in which a value is read or written."""
        assert self.fronts is not None
        footprint = self.footprint
        ranks, count = footprint.partition.ranks, int(self.fronts.max(initial=0)) + 1
        busy = np.zeros((count, ranks), np.int64)
        points = (self.rows[..., 1] - self.rows[..., 0]).prod(axis=1)
        np.add.at(busy, (self.fronts, footprint.partition.owners[self.boxes]), points)
        record = footprint.units[self.unit]
        each = len(record.reads) + len(record.writes)
        return each * int(busy.max(axis=1).sum()) + PASSED * count

    @property
    def safe(self) -> bool:
        """Whether rows find what they read of values that are overwritten later.

        Parts of a box share memory: what one overwrites, those behind it must not read, and must
        not write again. In the memory around a box there is room for one value of each point: what
        others have made, when it is there.
        """
        assert self.fronts is not None
        fronts = self.fronts
        again = _Pairs.of(self.beyond, self.beyond)
        if (self.boxes[again.readers] == self.boxes[again.makers]).any():
            return False
        read = _Pairs.of(self.old, self.beyond)
        near = self.boxes[read.readers] == self.boxes[read.makers]
        if (near & (fronts[read.makers] <= fronts[read.readers])).any():
            return False
        for array, reader, maker, points in self.edges.across(self.boxes):
            later = (self.boxes == self.boxes[reader]) & (fronts > fronts[maker])
            for other, boxes in (*self.old, *self.beyond):
                if other == array and filled(common(boxes[later], np.array(points))).any():
                    return False
        return True

    def wavefronts(self) -> Wavefronts:
        """Return the parts with what moves between them."""
        assert self.fronts is not None
        moved: dict[int, dict[str, list[tuple[int, Box]]]] = {}
        for array, reader, maker, points in self.edges.across(self.boxes):
            behind = moved.setdefault(int(self.fronts[maker]), {})
            behind.setdefault(array, []).append((int(self.boxes[reader]), points))
        exchanges = {front: self._exchange(front, arrays) for front, arrays in moved.items()}
        return Wavefronts(self.boxes, self.rows, self.fronts, exchanges)

    def _exchange(self, front: int, moved: Mapping[str, Sequence[tuple[int, Box]]]) -> Exchange:
        """Return the exchange of what boxes read behind a wavefront."""
        wishes = []
        for array, wanted in sorted(moved.items()):
            numbers, boxes = distinct(
                np.array([box for box, _ in wanted]), np.array([points for _, points in wanted])
            )
            read = Read(self.unit, array, numbers, boxes, made=True)
            wishes.append(Wish(array, self.unit, self.unit, (read,)))
        return Exchange(self.unit, self.unit, tuple(wishes), front)


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """Parts, and other ones that write what they read: arrays of as many numbers, and points."""

    arrays: tuple[str, ...]
    readers: Array
    makers: Array
    points: tuple[Box, ...]

    @staticmethod
    def of(reads: Sequence[tuple[str, Array]], writes: Sequence[tuple[str, Array]]) -> _Pairs:
        """Return the pairs for what all parts read, and for what all write."""
        found = [
            (array, reader, maker, points)
            for array, made in writes
            for lookup in (Lookup(made),)
            for name, boxes in reads
            if name == array
            for reader in np.flatnonzero(filled(boxes)).tolist()
            for maker, points in lookup.meeting(as_box(boxes[reader]))
            if maker != reader
        ]
        arrays, readers, makers, points = zip(*found, strict=True) if found else ((),) * 4
        return _Pairs(arrays, np.array(readers, np.int64), np.array(makers, np.int64), points)

    def across(self, boxes: Array) -> Iterator[tuple[str, int, int, Box]]:
        """Yield the pairs of parts of different boxes: array, reader, maker, and points."""
        for pair in zip(
            self.arrays, self.readers.tolist(), self.makers.tolist(), self.points, strict=True
        ):
            if boxes[pair[1]] != boxes[pair[2]]:
                yield pair
