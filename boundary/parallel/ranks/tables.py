"""Tables of one rank for loop nests and fills: row boxes, offsets, strides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ssr.extension import (
    Array,
    BufferMeta,
    Tables,
    blocked,
    buffer_elements,
)

from ...synchronization.synchronize import SharedPoints
from ...tables.assemble import assemble
from ...tables.lines import pieces_of
from ..partition.boxes import Box, as_box, filled, meet, without_all
from ..schedules.footprint import Footprint
from ..schedules.inner import inner
from ..schedules.messages import at_hand
from ..schedules.schedule import Rows
from ..schedules.split import homed
from ..schedules.wavefronts import Wavefronts
from .memory import Memory, Storage


class RankTables:
    """The tables that one rank passes to a kernel, part by part.

    Parameters
    ----------
    fronts
        The wavefronts of nests whose rows depend on rows of other boxes.
    memories
        The memory of each field and temporary, by the names of the kernel.
    whole
        For arrays of matrices, which all boxes read whole: the offset of index zero, and the
        strides of all axes but the last.
    """

    def __init__(
        self,
        footprint: Footprint,
        fronts: Mapping[int, Wavefronts],
        rank: int,
        memories: Mapping[str, Memory],
        whole: Mapping[str, tuple[int, ...]],
    ) -> None:
        self.footprint = footprint
        self.fronts = fronts
        self.memories, self.whole = memories, whole
        self.boxes = self._in_turn(rank)
        meta = footprint.meta
        self._arrays = (*meta.fields, *meta.temporaries)
        sizes = (np.dtype(memory.dtype).itemsize for memory in self.memories.values())
        self._itemsize = max(sizes, default=8)
        self._nests: dict[tuple[int, Rows], Array] = {}
        self._calls: dict[int, Tables] = {}

    def _in_turn(self, rank: int) -> tuple[int, ...]:
        """Return the subdomains of a rank, ordered so that arrays with fewer axes stay cached.

        Consecutive subdomains that differ only along the missing axes read the same elements.
        """
        partition = self.footprint.partition
        axes = min((memory.axes for memory in self.memories.values()), default=0)
        boxes = partition.boxes[:, -axes:]
        return tuple(sorted(partition.of_rank(rank), key=lambda box: as_box(boxes[box])))

    # -- loop nests ------------------------------------------------------------------------------

    def nest(self, unit: int, rows: Rows) -> Array:
        """Return the table of a nest: one row of integers for each box of rows."""
        known = self._nests.get((unit, rows))
        if known is None:
            known = self._nests[unit, rows] = self._table(unit, rows)
        return known

    def _table(self, unit: int, rows: Rows) -> Array:
        meta = self.footprint.meta
        sizes = [self.footprint.sizes[name] for name in meta.sizes]
        every = self.footprint.rows[unit]
        local = meta.nests[self.footprint.units[unit].number].local
        lines = [
            [
                *sizes,
                *(edge for axis in part for edge in axis),
                *(every[box].flat if local else ()),
                *self._offsets(box),
            ]
            for box, part in self.rows(unit, rows)
        ]
        width = len(sizes) + (4 if local else 2) * every.shape[1]
        width += sum(self._axes(name) for name in self._arrays)
        return np.array(lines, np.int64).reshape(-1, width)

    def rows(self, unit: int, rows: Rows) -> list[tuple[int, Box]]:
        """Return the boxes of rows that the rank runs, divided so that planes stay cached."""
        nest = self.footprint.meta.nests[self.footprint.units[unit].number]
        return [
            (box, part)
            for box, whole in self._chosen(unit, rows)
            for part in blocked(whole, nest, self._itemsize)
        ]

    def _chosen(self, unit: int, rows: Rows) -> list[tuple[int, Box]]:
        own = self.footprint.rows[unit]
        every = [(b, as_box(own[b])) for b in self.boxes if filled(own[b])]
        if rows == "all":
            return every
        if isinstance(rows, int):
            fronts = self.fronts[unit]
            return [(box, part) for box, _ in every for part in fronts.of(rows, box)]
        found = []
        for box, whole in every:
            inside = inner(self.footprint, unit, box)
            if rows == "inner":
                found += [(box, inside)] if inside is not None else []
            else:
                held = [] if inside is None else [inside]
                found += [(box, part) for part in without_all(whole, held)]
        return found

    def _axes(self, name: str) -> int:
        return len(self.whole[name]) if name in self.whole else self.memories[name].axes

    def _offsets(self, box: int) -> list[int]:
        """Return for each array the offset of index zero and the strides of all axes but one."""
        found: list[int] = []
        for name in self._arrays:
            if name in self.whole:
                found += self.whole[name]
                continue
            storage = self.memories[name].near.get(box)
            if storage is None:  # the nests of this box do not access it
                found += [0] * self.memories[name].axes
            else:
                found += [storage.zero, *storage.strides[:-1]]
        return found

    def buffer(self, buffer: BufferMeta) -> int:
        """Return the number of elements of a buffer of a nest."""
        units = enumerate(self.footprint.units)
        unit = next(n for n, u in units if u.kind == "nest" and u.number == buffer.nest)
        return max((buffer_elements(buffer, part) for _, part in self.rows(unit, "all")), default=1)

    # -- external steps --------------------------------------------------------------------------

    def call(self, unit: int, dtype: Any) -> Tables:
        """Return the tables of a step of another package."""
        known = self._calls.get(unit)
        if known is None:
            known = self._calls[unit] = self._assembled(unit, dtype)
        return known

    def scratch(self, dtype: Any) -> int:
        """Return the number of elements of scratch memory for external steps."""
        units = (n for n, unit in enumerate(self.footprint.units) if unit.kind == "call")
        return max((self.call(unit, dtype).scratch for unit in units), default=0)

    def _assembled(self, unit: int, dtype: Any) -> Tables:
        names, external = self.footprint.fields(unit), self.footprint.external(unit)
        layouts: list[tuple[int, ...]] = []
        homes: list[int] = []
        known: dict[tuple[int, int], int] = {}

        def number(field: int, storage: Storage) -> int:
            key = field, storage.start
            if key not in known:
                known[key] = len(homes)
                homes.append(field)
                layouts.append((storage.zero, *storage.strides))
            return known[key]

        parts = []
        for share in self.footprint.shares[unit]:
            for place in np.flatnonzero(np.isin(share.boxes, self.boxes)).tolist():
                box, part, reads = int(share.boxes[place]), share.of(place), share.read(place)
                targets = [
                    number(piece.target, self.memories[names[piece.target]].near[box])
                    for piece in pieces_of(part)
                ]
                sources = [
                    [
                        number(tap.source, self.storage(names[tap.source], box, read))
                        for tap, read in zip(piece.taps, reads, strict=True)
                    ]
                    for piece in pieces_of(part)
                ]
                parts.append(homed(part, targets, sources))
        staged = isinstance(external, SharedPoints)
        return assemble(parts, external.form, layouts, dtype, staged=staged, homes=homes)

    def storage(self, array: str, box: int, read: Box | None) -> Storage:
        """Return the storage in which a subdomain reads points; any storage if it reads none.

        The halo is that of this program, which determines the exchanges: the storage may have grown
        for another program, and then holds points that are not kept up to date.
        """
        memory = self.memories[array]
        if read is None:
            return next(memory.storages())
        around = as_box(self.footprint.hull(array)[box])
        if meet(around, read) == read:
            return memory.near[box]
        other = at_hand(self.footprint, array, box, read)
        if other is not None:
            return memory.near[other]
        return next(storage for storage in memory.far[box] if storage.holds(read))
