"""Execution of a schedule on isl sets: the write of each element, and checks of each read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ssr.extension import Access, Domain, LastWrites, Product

from ...tables.lines import pieces_of
from ..partition.boxes import Box, as_box, meet, volume, without_all
from ..ranks.memory import Storage
from ..ranks.tables import RankTables
from ..ranks.transfers import targets_of
from ..ranks.values import Values, memories_of_temporaries
from ..schedules.messages import Message
from ..schedules.plan import Plan
from ..schedules.schedule import KernelPart, Reduce, Start, Wait
from .copies import Copies
from .elements import Elements, among, points_of, sources, targets
from .one_array import OneArray, Writes

Packed = dict[tuple[int, int], list[LastWrites]]
"""For pairs of ranks, the writes that the parts of a message contain."""


@dataclass(frozen=True, eq=False)
class SymbolicField:
    """A field without use of its values, and the copies of each of its arrays."""

    values: Values
    copies: tuple[Copies, ...]

    @staticmethod
    def of(values: Values, count: int) -> SymbolicField:
        """Return a field of ``count`` arrays."""
        axes, memories = values.space.ndim, values.memories
        return SymbolicField(values, tuple(Copies(axes, memories) for _ in range(count)))

    def give(self, number: int) -> None:
        """Record one write for all points, on one array and in the memory of each subdomain."""
        partition = self.values.partition
        every = points_of(self.values.space.box(partition.sizes))
        for copies in self.copies:
            copies.whole = LastWrites.by(every, number)
            for rank, memory in copies.memories.items():
                for box, points in self.values.of_rank(rank):
                    copies.write(rank, memory.near[box], points_of(points), number)


class Call:
    """A call of a program on fields.

    Parameters
    ----------
    elements
        The reads and writes of its units.
    writes
        All writes until now.
    """

    def __init__(
        self,
        plan: Plan,
        elements: Elements,
        fields: Mapping[str, SymbolicField],
        writes: Writes,
    ) -> None:
        self.plan, self.elements, self.fields = plan, elements, fields
        self.footprint, self.writes = plan.footprint, writes
        self.ranks = range(self.footprint.partition.ranks)
        own = [memories_of_temporaries(plan, rank) for rank in self.ranks]
        self.copies: dict[str, Copies] = {}
        for name, of_field in fields.items():
            self.copies |= dict(zip(plan.parts[name], of_field.copies, strict=True))
        for name in plan.meta.temporaries:
            axes = self.footprint.spaces[name].ndim
            self.copies[name] = Copies(axes, {rank: own[rank][name] for rank in self.ranks})
        memories = [
            {name: each.memories[rank] for name, each in self.copies.items()} for rank in self.ranks
        ]
        self.tables = [
            RankTables(self.footprint, plan.fronts, rank, memories[rank], {}) for rank in self.ranks
        ]

    def run(self, valid: frozenset[str]) -> None:
        """Run the program on one array and on ranks, with the halos of some fields valid."""
        for name in self.plan.meta.temporaries:
            self.copies[name].forget()
        self.right = OneArray(self.footprint, self.elements, self.copies, self.writes)
        self._on_ranks(valid)

    # -- on ranks --------------------------------------------------------------------------------

    def _on_ranks(self, valid: frozenset[str]) -> None:
        """Run the schedule of the program on all ranks."""
        explained = self.plan.explained(valid)
        self._posts = explained.posts
        self._packed: dict[int, Packed] = {}
        self._under_way: dict[int, Packed] = {}
        self._there: dict[int, Packed] = {}
        self._run: dict[int, list[Box]] = {}
        self._reduced: set[str] = set()
        for step in explained.schedule.steps:
            match step:
                case KernelPart():
                    for rank in self.ranks:
                        self._part(rank, step)
                case Start(number):
                    self._under_way[number] = self._packed.pop(number, {})
                case Wait(number):
                    self._there[number] = self._under_way.pop(number, {})
                case Reduce(unit):
                    self._reduce(unit)
        self._owned()

    def _reduce(self, unit: int) -> None:
        """Check that each row has contributed once to the reductions of a unit."""
        folds = self.footprint.units[unit].folds
        if not folds:
            return
        whole = self.footprint.row_space(unit).box(self.footprint.sizes)
        run = self._run.get(unit, [])
        once = sum(map(volume, run)) == volume(whole) and not without_all(whole, run)
        self._hold(once, f"{folds[0][0]} is not made of each row once")
        self._reduced.update(name for name, _, _ in folds)

    def _part(self, rank: int, part: KernelPart) -> None:
        """Run a part of the kernel on a rank."""
        for unit in range(len(self.footprint.units) + 1):
            for exchange in part.packed.get(unit, ()):
                self._pack(rank, exchange)
            for exchange in part.taken.get(unit, ()):
                self._take(rank, exchange)
            if unit not in part.units:
                continue
            record = self.footprint.units[unit]
            late = [name for name in record.numbers if name not in self._reduced]
            self._hold(not late, f"a unit reads {late} before that is reduced")
            if record.kind == "call":
                self._fill(rank, unit)
                continue
            for box, rows in self.tables[rank].rows(unit, part.units[unit]):
                self._run.setdefault(unit, []).append(rows)
                self._rows(rank, unit, box, rows)
            if len(self.ranks) == 1:  # the kernel has all rows
                self._reduce(unit)

    # -- messages --------------------------------------------------------------------------------

    def _pack(self, rank: int, exchange: int) -> None:
        for message in self._posts[exchange].mail(rank).sends:
            packed = self._packed.setdefault(exchange, {})
            packed[rank, message.target] = [
                self._near(rank, part.array, part.owner).within(points_of(part.points))
                for part in message.parts
            ]

    def _near(self, rank: int, array: str, box: int) -> LastWrites:
        copies = self.copies[array]
        return copies.held(rank, copies.memories[rank].near.get(box))

    def _take(self, rank: int, exchange: int) -> None:
        mail = self._posts[exchange].mail(rank)
        for want, owner in mail.within:
            copies = self.copies[want.array]
            memory = copies.memories[rank]
            found = self._near(rank, want.array, owner)
            for storage, points in targets_of(memory, want.box, want.points):
                if storage != memory.near[owner]:
                    copies.copy(rank, storage, points_of(points), found)
        for message in mail.receives:
            self._receive(rank, exchange, message)

    def _receive(self, rank: int, exchange: int, message: Message) -> None:
        """Receive the values of a message; without the message they are undefined."""
        there = self._there.get(exchange, {}).get((message.source, rank), [])
        for number, part in enumerate(message.parts):
            copies = self.copies[part.array]
            lost = LastWrites.none(copies.axes)
            found = there[number] if number < len(there) else lost
            for want in self._posts[exchange].mail(rank).wants:
                shared = meet(want.points, part.points) if want.array == part.array else None
                if shared is None:
                    continue
                for storage, points in targets_of(copies.memories[rank], want.box, shared):
                    copies.copy(rank, storage, points_of(points), found)

    # -- loop nests ------------------------------------------------------------------------------

    def _rows(self, rank: int, unit: int, box: int, rows: Box) -> None:
        """Run the rows of a box in a nest."""
        own = as_box(self.footprint.rows[unit][box])
        actions = self.elements.units[unit]
        assert actions is not None
        where = f"on rank {rank}, box {box}"
        for group in actions.groups:
            writes = [access for action in group for access in action.writes]
            made: dict[str, Domain] = {}
            for access in writes:
                points = self.elements.of(access, rows, own)
                made[access.array] = made.get(access.array, points) | points
            for action in group:
                for access in action.reads:
                    if access.array in self.copies:
                        read = self.elements.of(access, rows, own)
                        if access.new and access.array in made:
                            read = read - made[access.array]
                        self._reads(unit, access, read, rank, box, f"{action.name} {where}")
                for product in action.products:
                    self._columns(unit, product, rank, box, rows, made, f"{action.name} {where}")
            for access in writes:
                points, copies = self.elements.of(access, rows, own), self.copies[access.array]
                storage = copies.memories[rank].near.get(box)
                fits = copies.write(rank, storage, points, self.right.numbers[unit, id(access)])
                self._hold(fits, f"{access.array} is written beyond its memory {where}")

    def _reads(
        self, unit: int, access: Access, points: Domain, rank: int, box: int, who: str
    ) -> None:
        """Check the reads of rows of a subdomain."""
        seen = self._near(rank, access.array, box)
        self._check(self.right.needs[unit, id(access)].within(points), seen, access.array, who)

    def _columns(
        self,
        unit: int,
        product: Product,
        rank: int,
        box: int,
        rows: Box,
        made: Mapping[str, Domain],
        who: str,
    ) -> None:
        """Check the columns of entries of a stored matrix."""
        access = product.rows
        own = as_box(self.footprint.rows[unit][box])
        seen, need = self._near(rank, access.array, box), self.right.needs[unit, id(access)]
        wrong = need.missing(seen)
        if wrong is None:
            return
        if access.new and access.array in made:
            wrong = wrong - made[access.array]
        found = among(self.elements.columns(product, self.elements.of(access, rows, own)), wrong)
        for point in found:
            here = need.within(points_of(tuple((x, x + 1) for x in point)))
            self._check(here, seen, access.array, who)

    # -- external steps --------------------------------------------------------------------------

    def _fill(self, rank: int, unit: int) -> None:
        """Run the shares of a rank in a step of another package; all is read before it writes."""
        names, tables = self.footprint.fields(unit), self.tables[rank]
        read: dict[tuple[str, int, Storage], list[Domain]] = {}
        written: dict[tuple[str, int], list[Domain]] = {}
        for share in self.footprint.shares[unit]:
            for place in np.flatnonzero(np.isin(share.boxes, tables.boxes)).tolist():
                box, part, reads = int(share.boxes[place]), share.of(place), share.read(place)
                for piece in pieces_of(part):
                    for tap, points in zip(piece.taps, reads, strict=True):
                        if points is not None:
                            array = names[tap.source]
                            key = array, box, tables.storage(array, box, points)
                            read.setdefault(key, []).append(sources(piece, tap))
                for number, points_made in targets(part):
                    written.setdefault((names[number], box), []).append(points_made)
        for (array, box, storage), several in read.items():
            need = self.right.needs[unit, array].within(Domain.union(several))
            who = f"{self.footprint.name(unit)} on rank {rank}, box {box}"
            self._check(need, self.copies[array].held(rank, storage), array, who)
        for (array, box), several in written.items():
            copies = self.copies[array]
            near, number = copies.memories[rank].near.get(box), self.right.numbers[unit, array]
            fits = copies.write(rank, near, Domain.union(several), number)
            self._hold(fits, f"{array} is filled beyond its memory on rank {rank}, box {box}")

    # -- conditions ------------------------------------------------------------------------------

    def _owned(self) -> None:
        """Check that subdomains hold the last writes of the points that they own."""
        for name, of_field in self.fields.items():
            for array, copies in zip(self.plan.parts[name], of_field.copies, strict=True):
                for rank in self.ranks:
                    for box, points in of_field.values.of_rank(rank):
                        need = copies.whole.within(points_of(points))
                        who = f"the end of the call on rank {rank}, box {box}"
                        self._check(need, self._near(rank, array, box), array, who)

    def _check(self, need: LastWrites, seen: LastWrites, array: str, who: str) -> None:
        """Fail unless elements hold the writes that are needed."""
        found = need.first_missing(seen)
        if found is None:
            return
        point, expected, held = found
        self._hold(
            False,
            f"{who} reads {self.writes.shown(held)} in {array}{list(point)}, not "
            f"{self.writes.shown(expected)}",
        )

    def _hold(self, holds: bool, words: str) -> None:
        """Fail unless a condition holds."""
        assert holds, f"schedule of {self.plan.declaration.program.name}: {words}"
