"""Read and write footprints of each subdomain, for each unit of a kernel.

A unit is a loop nest or a step of another package. Footprints are computed by arithmetic on arrays
of boxes, with one row for each subdomain of the partition, so that the cost per subdomain is small;
isl is not called. The result is the same on all ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ssr import Space
from ssr.errors import ArgumentError, UnboundError, UnsupportedError
from ssr.extension import (
    AXES,
    Array,
    Declaration,
    External,
    KernelMeta,
    Reach,
    UnitMeta,
    ir,
    region,
)

from ...synchronization.synchronize import SharedPoints
from ...tables.ghosts import Ghosts
from ..partition.boxes import (
    Box,
    around,
    around_all,
    as_box,
    common,
    distinct,
    filled,
    hull,
    meet,
    within,
)
from ..partition.partition import Partition
from .gathered import columns
from .split import Share, apart, shared


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """The elements of an array that the boxes of a partition read in a unit.

    Attributes
    ----------
    unit
        The number of the unit.
    array
        The name of the array.
    numbers
        The numbers of the subdomains that read, sorted, possibly with repetitions.
    boxes
        The points that they read, as an array of boxes.
    made
        Whether the values are computed by the nest itself, at earlier rows.
    far
        Whether the points lie outside the halo of a subdomain, for example on another block.
    """

    unit: int
    array: str
    numbers: Array
    boxes: Array
    made: bool = False
    far: bool = False

    def of(self, box: int) -> list[Box]:
        """Return the points that one subdomain reads."""
        first, last = self.numbers.searchsorted(box), self.numbers.searchsorted(box, "right")
        return [as_box(row) for row in self.boxes[first:last]]


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """The rows of a stored matrix that subdomains multiply by an array: an array of boxes."""

    matrix: str
    array: str
    rows: Array


class Footprint:
    """Reads and writes of a kernel of the distributed form on the boxes of a partition.

    Parameters
    ----------
    meta
        The metadata of its kernel.

    Attributes
    ----------
    spaces
        The points of each array, with the ghosts that are computed in its own memory.
    given
        For arrays that fills complete, the points that all of these fills are given.
    rows
        For each nest the rows that each subdomain runs.
    reads
        All reads, unit by unit.
    written
        For each unit the arrays that it changes, each with a bounding box of the points written.
        Ghosts that a fill computes are excluded.
    filled
        For each unit the arrays that it completes by ghosts, each with the points it is given.
    shares
        For each unit that is a step of another package, the part that each subdomain computes.
    overlapping
        The arrays of which a subdomain, in a nest, writes points that it does not own, or reads
        such points and writes others.
    gathered
        The rows of stored matrices that subdomains multiply by a field.
    renewed
        The fields of which each subdomain computes all points that it reads, including points of
        others: its halo remains valid until the field is changed elsewhere.
    complete
        Whether each subdomain writes, in rows that it owns, all points that it owns of the arrays
        that nests write; values from other rows are not final. Nests that store on several spaces
        may miss points, where a subdomain owns points of one space but not these rows of the nest.
    """

    def __init__(self, declaration: Declaration, meta: KernelMeta, partition: Partition) -> None:
        self.declaration = declaration
        self.meta = meta
        self.partition = partition
        self.sizes = self._sizes()
        self.units = tuple(unit for unit in meta.units if unit.kind != "move")
        self.captured = frozenset(f for f in meta.fields[self._given_by_calls() :])
        self.spaces = self._spaces()
        self._inner = {name: declaration.spaces[name] for name, _ in meta.wide}
        steps = (s for s in declaration.program.steps if isinstance(s, ir.Call))
        self._externals = {step.name: step.external for step in steps}
        self.given = self._completed()
        self.rows: dict[int, Array] = {}
        self.reads: list[Read] = []
        self.written: list[dict[str, Box]] = []
        self.filled: list[dict[str, Box]] = []
        self.shares: dict[int, tuple[Share, ...]] = {}
        self.overlapping: set[str] = set()
        self._made: dict[str, list[Array]] = {name: [] for name in meta.made_once}
        self.complete = True
        self.gathered: list[Gathered] = []
        self._hulls = {name: self.owned(name) for name in self.spaces}
        for number, unit in enumerate(self.units):
            self.written.append(self._nest(number, unit) if unit.kind == "nest" else {})
            self.filled.append({})
        self.overlapping |= {read.array for read in self.reads if self._overwrites(read)}
        self.renewed = frozenset(name for name in meta.made_once if self._renews(name))
        calls = [number for number, unit in enumerate(self.units) if unit.kind == "call"]
        for number in calls:
            self._alike(self.fields(number))
        for number in calls:
            self._call(number)
        self.reads.sort(key=lambda read: read.unit)

    def hull(self, array: str) -> Array:
        """Return for each subdomain the box of owned points and halo that its memory holds."""
        return self._hulls[array]

    def owned(self, array: str) -> Array:
        """Return the points of an array that each box owns."""
        return self.partition.owned(self.spaces[array], self._inner.get(array))

    def owners_of(self, array: str, points: Box) -> list[tuple[int, Box]]:
        """Return the subdomains that own points of a box of an array, each with its owned part."""
        return self.partition.owners_of(self.spaces[array], points, self._inner.get(array))

    def row_space(self, unit: int) -> Space:
        """Return the points of the rows of a nest."""
        nest = self.meta.nests[self.units[unit].number]
        return self.declaration.spaces[self.meta.temporaries.get(nest.alike, nest.alike)]

    def external(self, unit: int) -> Ghosts | SharedPoints:
        """Return the external step of a unit."""
        return known(self._externals[self.name(unit)])

    def name(self, unit: int) -> str:
        """Return the name of the external step of a unit."""
        return self.meta.calls[self.units[unit].number].name

    def completes(self, unit: int) -> bool:
        """Whether a unit is a fill: it writes ghosts and nothing else."""
        return self.units[unit].kind == "call" and isinstance(self.external(unit), Ghosts)

    def behind_fills(self, place: int) -> int:
        """Return the first unit from a place on that is not a fill."""
        while place < len(self.units) and self.completes(place):
            place += 1
        return place

    def fields(self, unit: int) -> tuple[str, ...]:
        """Return the arrays of a unit that is a step of another package."""
        return self.meta.calls[self.units[unit].number].fields

    def _sizes(self) -> dict[str, int]:
        """Return the values of all sizes, from the partition and from bound sizes."""
        given, bound = self.partition.sizes, self.declaration.sizes
        for name in self.meta.sizes:
            if name not in given and name not in bound:
                raise UnboundError(
                    f"No value is given for the size {name}.",
                    hint=f"Give it where the grid is spread: bc.distribute(..., {name}=...).",
                )
            if given.get(name, bound.get(name)) != bound.get(name, given.get(name)):
                raise ArgumentError(
                    f"The size {name} is {given[name]} in the distribution of the grid, and is "
                    f"bound to {bound[name]} in {self.declaration.program.name}."
                )
        return {name: bound.get(name, given.get(name, 0)) for name in self.meta.sizes}

    # -- points ----------------------------------------------------------------------------------

    def _given_by_calls(self) -> int:
        return len(self.meta.fields) - len(self.declaration.captured)

    def _spaces(self) -> dict[str, Space]:
        spaces = self.declaration.spaces
        alike = {**{name: name for name in self.meta.fields}, **self.meta.temporaries}
        alike |= dict(self.meta.wide)
        return {name: spaces[other] for name, other in alike.items() if name not in self.captured}

    def _completed(self) -> dict[str, Box]:
        """Return for each array that fills complete the points that all these fills are given."""
        found: dict[str, Box] = {}
        for number in range(len(self.units)):
            if self.completes(number):
                for name, box in self._given_to(number).items():
                    both = meet(found.get(name, box), box)
                    assert both is not None, (
                        "fills are given parts of an array without a common point"
                    )
                    found[name] = both
        return found

    def _given_to(self, unit: int) -> dict[str, Box]:
        """Return for each array of a step of another package the points that the step is given."""
        pairs = zip(self.fields(unit), self.external(unit).fields, strict=True)
        return {name: owned.box(self.sizes) for name, (owned, _) in pairs}

    # -- loop nests ------------------------------------------------------------------------------

    def _nest(self, number: int, unit: UnitMeta) -> dict[str, Box]:
        """Record the reads and writes of a nest; return the points that all subdomains write."""
        whole = np.array([self.row_space(number).box(self.sizes)])
        rows = self.rows[number] = self._cut(number, unit, whole)
        for reach in self.read_by(number):
            self._take(number, reach, self.reached(reach, rows))
            if reach.matrix:
                stored = self.declaration.stored[reach.matrix]
                met = self._met(reach, rows, stored.rows)
                self.gathered.append(Gathered(reach.matrix, reach.array, met))
        written: dict[str, Box] = {}
        for reach in unit.writes:
            boxes = self.reached(reach, rows)
            every = self.reached(reach, whole)
            owned = self.owned(reach.array)
            final = within(common(every, owned), boxes) & within(common(whole, owned), rows)
            self.complete = self.complete and bool(final.all())
            if not within(boxes, owned).all():
                self.overlapping.add(reach.array)
            self._hulls[reach.array] = around(self._hulls[reach.array], boxes)
            if reach.array in self._made:
                self._made[reach.array].append(boxes)
            some = around_all(boxes)
            if some is not None:
                written[reach.array] = hull([written.get(reach.array, some), some])
        return written

    def _cut(self, number: int, unit: UnitMeta, whole: Array) -> Array:
        """Return the rows of a nest that each subdomain runs: the rows that write its points."""
        for reach in unit.writes:
            rows = common(self.owned(reach.array), whole)
            rows[~filled(rows)] = 0
            return rows
        return self.partition.owned(self.row_space(number))

    def _values(self, rows: Array) -> dict[str, int | Array]:
        """Return the variables of reaches: sizes, and bounds of the rows of each subdomain.

        The bounds are those of the owned rows.
        """
        values: dict[str, int | Array] = dict(self.sizes)
        for axis, name in enumerate(AXES[rows.shape[1]]):
            for own in "", "own_":
                values |= {
                    f"{name}_{own}lo": rows[:, axis, 0],
                    f"{name}_{own}hi": rows[:, axis, 1],
                }
        return values

    def read_by(self, unit: int) -> Iterator[Reach]:
        """Yield the reads of a nest from distributed arrays."""
        return (r for r in self.units[unit].reads if r.array not in self.captured)

    def reached(self, reach: Reach, rows: Array) -> Array:
        """Return the points of an array that a nest reaches from each of some boxes of rows."""
        if reach.matrix:
            stored = self.declaration.stored[reach.matrix]
            return columns(stored, self._met(reach, rows, stored.rows), self.sizes)
        return self._met(reach, rows, self.spaces[reach.array])

    def _met(self, reach: Reach, rows: Array, space: Space) -> Array:
        """Return the points of a space that boxes of rows reach; none for empty boxes."""
        whole = np.array(space.box(self.sizes))
        made = np.empty((len(rows), len(whole), 2), np.int64)
        for axis, (low, high) in enumerate(region(reach, self._values(rows))):
            made[:, axis, 0], made[:, axis, 1] = low, high
        made = common(made, whole)
        made[~(filled(rows) & filled(made))] = 0
        return made

    def _overwrites(self, read: Read) -> bool:
        """Whether a nest writes an array of which subdomains read points that they do not own."""
        own = self.owned(read.array)[read.numbers]
        return read.array in self.written[read.unit] and not within(read.boxes, own).all()

    def _renews(self, array: str) -> bool:
        """Whether each subdomain computes all points of an array that it reads."""
        reads = [read for read in self.reads if read.array == array]
        made = self._made[array]
        return all(
            bool(np.any([within(read.boxes, boxes[read.numbers]) for boxes in made], axis=0).all())
            for read in reads
        )

    def _take(self, number: int, reach: Reach, boxes: Array) -> None:
        numbers = np.flatnonzero(filled(boxes))
        if numbers.size:
            read = Read(number, reach.array, numbers, boxes[numbers], made=reach.new)
            self.reads.append(read)
            self._hulls[reach.array] = around(self._hulls[reach.array], boxes)

    # -- external steps --------------------------------------------------------------------------

    def _call(self, number: int) -> None:
        """Record the reads and writes of a step of another package."""
        names, external = self.fields(number), self.external(number)
        completing = isinstance(external, Ghosts)
        room = [self.hull(n) if completing else self.owned(n) for n in names]
        found = []
        for whole in external.parts(self.sizes):
            for part in apart(whole):
                share = shared(part, room)
                if share is not None:
                    found.append(share)
        self.shares[number] = tuple(found)
        self.reads += self._sources(number, names)
        (self.filled if completing else self.written)[number] = self._given_to(number)

    def _alike(self, names: Sequence[str]) -> None:
        """Extend arrays of one space that are completed together to the same halo."""
        for space in {self.spaces[name] for name in names}:
            alike = [n for n in names if self.spaces[n] == space]
            hull = self._hulls[alike[0]]
            for name in alike[1:]:
                hull = around(hull, self._hulls[name])
            for name in alike:
                self._hulls[name] = hull

    def _sources(self, number: int, names: Sequence[str]) -> Iterator[Read]:
        """Yield the reads of subdomains for their shares of a step, array by array."""
        met: dict[str, list[tuple[Array, Array]]] = {}
        for share in self.shares[number]:
            for source, boxes in share.reads():
                for read in boxes:
                    met.setdefault(names[source], []).append((share.boxes, read))
        for array, several in met.items():
            numbers, boxes = distinct(*map(np.concatenate, zip(*several, strict=True)))
            some = filled(boxes)
            near = within(boxes, self.hull(array)[numbers])
            for chosen, far in ((some & near, False), (some & ~near, True)):
                if chosen.any():
                    yield Read(number, array, numbers[chosen], boxes[chosen], far=far)


def known(external: External) -> Ghosts | SharedPoints:
    """Return a step of a program if it is one of this package; else raise."""
    if not isinstance(external, (Ghosts, SharedPoints)):
        raise UnsupportedError(f"The step {external.name} cannot be distributed.")
    return external
