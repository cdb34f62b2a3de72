"""Wavefront schedules of sweeps across subdomain boundaries (pipelined triangular solves).

The rows of a solve read values of earlier rows, and some of these belong to other subdomains. Parts
of boxes that depend on no other part run first. The values that other boxes read are sent, then the
parts run whose dependences are complete, and so on. Each set of parts that run together is a
*wavefront*. The result does not depend on the division, because every row reads the same values as
in the sequential order.

An undivided box would make all later boxes wait. Boxes are therefore divided into parts along an
axis, and the first part of a box runs at the same time as the second part of the previous box
(pipelining). A valid order always exists if the parts are single grid lines: the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ssr.errors import UnsupportedError
from ssr.extension import Array

from ..partition.boxes import Box, as_box, distinct, filled, meet, within
from ..partition.lookup import Lookup
from .exchanges import Exchange, Wish
from .footprint import Footprint, Read

PASSED = 3000
"""The latency of a message to the next wavefront, in units of the time to read or write one
value."""

MOST = 32
"""The largest number of parts of a box."""

TRIED = 4096
"""The largest total number of parts, which bounds the time of the search for the best division."""

LINES = 50_000
"""The largest number of grid lines for a division into single lines."""


@dataclass(frozen=True, slots=True, eq=False)
class Wavefronts:
    """The rows of a nest, divided into parts of subdomains that run in wavefronts.

    Attributes
    ----------
    boxes
        For each part its subdomain.
    rows
        The rows of each part, as an array of boxes.
    fronts
        The wavefront of each part, from 0 on.
    exchanges
        For wavefronts with values that other subdomains read, the exchange after the wavefront.
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
    """Return the wavefronts of a nest; None if rows depend on rows of the same subdomain only."""
    if footprint.units[unit].kind != "nest":
        return None
    _check_lines(footprint, unit)
    if not crosses(footprint, unit):
        return None
    local = footprint.meta.nests[footprint.units[unit].number].local  # boxes stay undivided
    finer = () if local else (_finest(footprint, unit), _lines(footprint, unit))
    for ways in _ways(footprint, unit, 1 if local else MOST), *finer:
        found = [parts for parts in ways if parts.fronts is not None]
        if found:
            best: _Parts = min(found, key=lambda parts: parts.cost)
            return best.wavefronts()
    raise _crossing(
        footprint,
        unit,
        "Boxes would wait for each other: each has rows that depend on rows of the other, and "
        + (
            "local matrices need boxes that are not divided."
            if local
            else f"there are more than {LINES} lines."
        ),
        "Solve within boxes, with near = A.rank_local(), and put the rest on the right: "
        "near.tril().solve(b - (A - near) @ x - near.triu(1) @ x). As a smoother that is "
        "ssr.solvers.GaussSeidel(rank_local=True); the rows of ssr.solvers.Jacobi() wait for "
        "none. Or cut along axes without such dependences.",
    )


def crosses(footprint: Footprint, unit: int) -> bool:
    """Whether rows of a nest read values that it computes at rows of other subdomains."""
    return any(
        not within(read.boxes, footprint.owned(read.array)[read.numbers]).all()
        for read in footprint.reads
        if read.unit == unit and read.made
    )


def _check_lines(footprint: Footprint, unit: int) -> None:
    """Raise if an interface between subdomains cuts lines that are solved as a whole."""
    nest = footprint.meta.nests[footprint.units[unit].number]
    rows, whole = footprint.rows[unit], footprint.row_space(unit).box(footprint.sizes)
    run = rows[filled(rows)]
    if nest.along is not None and (run[:, nest.along] != np.array(whole[nest.along])).any():
        raise _crossing(
            footprint,
            unit,
            f"Its lines run along axis {nest.along}, and each is solved as a whole.",
            "Give solves along other axes a program of their own: bc.alternating(one, other) "
            "runs each where its lines are whole, to which fields are moved.",
        )


def _crossing(footprint: Footprint, unit: int, note: str, hint: str) -> UnsupportedError:
    nest = footprint.meta.nests[footprint.units[unit].number]
    name = footprint.declaration.program.name
    return UnsupportedError(
        f"The solve for {nest.target!r} in {name} crosses a cut between boxes.",
        note=note,
        hint=hint,
    )


def _ways(footprint: Footprint, unit: int, most: int) -> Iterator[_Parts]:
    """Yield divisions of the boxes of rows into at most ``most`` parts along one axis."""
    rows = footprint.rows[unit]
    extents = _extents(rows)
    yield _Parts(footprint, unit, (1,) * len(extents))
    for axis, extent in enumerate(extents[:-1]):
        count = 2
        while count <= min(most, TRIED // len(rows), extent):
            yield _Parts(footprint, unit, _along(axis, count, len(extents)))
            count *= 2


def _finest(footprint: Footprint, unit: int) -> Iterator[_Parts]:
    """Yield the boxes of rows in parts of one row along an axis.

    If rows read values from both sides of an interface, subdomains alternate plane by plane.
    """
    extents = _extents(footprint.rows[unit])
    for axis, extent in enumerate(extents[:-1]):
        if extent > 1:
            yield _Parts(footprint, unit, _along(axis, extent, len(extents)))


def _lines(footprint: Footprint, unit: int) -> Iterator[_Parts]:
    """Yield the boxes of rows line by line: lines have no cyclic dependences."""
    rows = footprint.rows[unit]
    *outer, _ = _extents(rows)
    if prod(outer) * len(rows) <= LINES:
        yield _Parts(footprint, unit, (*outer, 1))


def _along(axis: int, count: int, axes: int) -> tuple[int, ...]:
    """Return the numbers of parts along all axes: ``count`` along one axis, 1 along others."""
    return tuple(count if n == axis else 1 for n in range(axes))


def _cut(rows: Array, counts: Sequence[int]) -> tuple[Array, Array]:
    """Return boxes of rows divided into parts along each axis, and the box of each part."""
    boxes = np.arange(len(rows))
    for axis, count in enumerate(counts):
        if count == 1:
            continue
        low, high = rows[:, axis, 0], rows[:, axis, 1]
        cuts = low[:, None] + (high - low)[:, None] * np.arange(count + 1) // count
        rows, boxes = np.repeat(rows, count, axis=0), np.repeat(boxes, count)
        rows[:, axis, 0], rows[:, axis, 1] = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
    some = filled(rows)
    return rows[some], boxes[some]


def _extents(rows: Array) -> list[int]:
    """Return the largest number of rows of a box along each axis."""
    longest: list[int] = (rows[..., 1] - rows[..., 0]).max(axis=0, initial=0).tolist()
    return longest


class _Parts:
    """Boxes of rows divided into parts along each axis.

    Attributes
    ----------
    fronts
        The wavefront of each part; None if parts depend on each other.
    """

    def __init__(self, footprint: Footprint, unit: int, counts: Sequence[int]) -> None:
        self.footprint, self.unit = footprint, unit
        self.rows, self.boxes = _cut(footprint.rows[unit], counts)
        record = footprint.units[unit]
        written = [(r.array, footprint.reached(r, self.rows)) for r in record.writes]
        owned = ((array, footprint.owned(array)[self.boxes]) for array, _ in written)
        assert all(
            within(rows, own).all() for (_, rows), (_, own) in zip(written, owned, strict=True)
        ), "a sweep makes what its box owns"
        names = {array for array, _ in written}
        reads = [r for r in footprint.read_by(unit) if r.array in names]
        made = [(r.array, footprint.reached(r, self.rows)) for r in reads if r.new]
        old = [(r.array, footprint.reached(r, self.rows)) for r in reads if not r.new]
        self.edges = _Pairs.of(made, written)
        self.fronts = self._fronts(_Pairs.of(old, written))

    def _fronts(self, old: _Pairs) -> Array | None:
        """Return the wavefront of each part; None if parts depend on each other.

        A part runs after the parts that compute its new values, and before the parts of its
        subdomain that overwrite its old values. The halo holds one value of each point: a value
        received from another subdomain after its wavefront must not replace an old value that is
        read later.
        """
        near = self.boxes[old.readers] == self.boxes[old.makers]
        replaced = near | self._moved_over(old)
        before = np.concatenate([self.edges.makers, old.readers[replaced]])
        after = np.concatenate([self.edges.readers, old.makers[replaced]])
        later = np.concatenate([np.ones(len(self.edges.makers), np.int64), near[replaced]])
        fronts = np.zeros(len(self.rows), np.int64)
        while True:
            least = fronts.copy()
            np.maximum.at(least, after, fronts[before] + later)
            if (least == fronts).all():
                return fronts
            if least.max() >= len(fronts):
                return None
            fronts = least

    def _moved_over(self, old: _Pairs) -> Array:
        """Return which reads of old values of other subdomains conflict with an exchange."""
        moved: dict[tuple[str, int, int], list[Box]] = {}
        for array, reader, maker, points in self.edges.across(self.boxes):
            moved.setdefault((array, int(self.boxes[reader]), maker), []).append(points)
        found = np.zeros(len(old.readers), bool)
        for place, (array, reader, maker, points) in enumerate(old):
            there = moved.get((array, int(self.boxes[reader]), maker), ())
            found[place] = any(meet(box, points) is not None for box in there)
        return found

    @property
    def cost(self) -> int:
        """The time until all parts have run, in units of the time to read or write one value."""
        assert self.fronts is not None
        footprint = self.footprint
        ranks, count = footprint.partition.ranks, int(self.fronts.max(initial=0)) + 1
        busy = np.zeros((count, ranks), np.int64)
        points = (self.rows[..., 1] - self.rows[..., 0]).prod(axis=1)
        np.add.at(busy, (self.fronts, footprint.partition.owners[self.boxes]), points)
        record = footprint.units[self.unit]
        each = len(record.reads) + len(record.writes)
        return each * int(busy.max(axis=1).sum()) + PASSED * count

    def wavefronts(self) -> Wavefronts:
        """Return the parts with the exchanges between them."""
        assert self.fronts is not None
        moved: dict[int, dict[str, list[tuple[int, Box]]]] = {}
        for array, reader, maker, points in self.edges.across(self.boxes):
            behind = moved.setdefault(int(self.fronts[maker]), {})
            behind.setdefault(array, []).append((int(self.boxes[reader]), points))
        exchanges = {front: self._exchange(front, arrays) for front, arrays in moved.items()}
        return Wavefronts(self.boxes, self.rows, self.fronts, exchanges)

    def _exchange(self, front: int, moved: Mapping[str, Sequence[tuple[int, Box]]]) -> Exchange:
        """Return the exchange of the values that subdomains read after a wavefront."""
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
    """Dependences between parts: arrays, readers, writers and points, of equal length."""

    arrays: tuple[str, ...]
    readers: Array
    makers: Array
    points: tuple[Box, ...]

    @staticmethod
    def of(reads: Sequence[tuple[str, Array]], writes: Sequence[tuple[str, Array]]) -> _Pairs:
        """Return the dependences for the reads and writes of all parts."""
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

    def __iter__(self) -> Iterator[tuple[str, int, int, Box]]:
        """Yield array, reader, maker, and points of each pair."""
        yield from zip(
            self.arrays, self.readers.tolist(), self.makers.tolist(), self.points, strict=True
        )

    def across(self, boxes: Array) -> Iterator[tuple[str, int, int, Box]]:
        """Yield the pairs of parts of different boxes."""
        yield from (pair for pair in self if boxes[pair[1]] != boxes[pair[2]])
