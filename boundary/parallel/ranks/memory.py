"""Local memory of one rank for one array: a sequence of storages, one or more for each box.

A storage holds a box of points: the points that a box of the partition owns, and the halo that it
reads. Points that lie elsewhere, for example on another block, have separate storages. A kernel
receives the whole memory as one array and addresses a storage by the offset of index zero and its
strides.

Boxes that have the same points share a storage, for example the panels of a sphere for the metric
of one panel. Boxes that together form a larger box share one as well, unless a program requires
separate memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from ssr.extension import CACHE_LINE, Array, aligned

from ..partition.boxes import Box, hull, joined, meet, slices

LONG = 3
"""Rows of at least this number of cache lines start at a cache line. The padding is small then."""


@dataclass(frozen=True, slots=True)
class Storage:
    """A box of points in memory, in C order from ``start`` on.

    Attributes
    ----------
    pitch
        The distance from a row along the last axis to the next one; 0 if nothing is left out.
    """

    points: Box
    start: int
    pitch: int = 0

    @property
    def strides(self) -> tuple[int, ...]:
        """The distances between neighbours along each axis."""
        return self._distances[1:]

    @property
    def size(self) -> int:
        """The number of elements, including padding."""
        return self._distances[0]

    @property
    def _distances(self) -> tuple[int, ...]:
        found = [1]
        for axis in reversed(range(len(self.points))):
            low, high = self.points[axis]
            last = axis == len(self.points) - 1
            found.insert(0, self.pitch if last and self.pitch else found[0] * (high - low))
        return tuple(found)

    @property
    def zero(self) -> int:
        """The offset of index zero, which may lie outside the storage."""
        return self.start - sum(
            low * stride for (low, _), stride in zip(self.points, self.strides, strict=True)
        )

    def at(self, points: Box) -> int:
        """Return the offset of the first point of a box."""
        return self.zero + sum(
            low * stride for (low, _), stride in zip(points, self.strides, strict=True)
        )

    def holds(self, points: Box) -> bool:
        """Whether the storage contains all points of a box."""
        return meet(self.points, points) == points

    def view(self, flat: Array, points: Box) -> Array:
        """Return points as a view of the flat memory of one component or of all components."""
        inside: tuple[Any, ...] = slices(points, (low for low, _ in self.points))
        shape = [high - low for low, high in self.points]
        shape[-1] = self.pitch or shape[-1]
        whole = flat[..., self.start : self.start + self.size]
        found: Array = whole.reshape(*flat.shape[:-1], *shape)[(..., *inside)]
        return found


@dataclass(eq=False)
class Memory:
    """The storages of one rank for one array.

    Attributes
    ----------
    axes
        The number of axes of the array.
    components
        The number of values at each point of a vector field; None for a field of numbers.
    groups
        For subdomains that may share a storage the number of their group.
    first
        For each subdomain the first owned index along the last axis, which is aligned to a cache
        line in each long row.
    apart
        Whether a program requires that subdomains do not share storages.
    near
        For each subdomain the storage of its own points and its halo.
    far
        For each subdomain the storages of the remote points that it reads.
    """

    axes: int
    components: int | None
    dtype: Any
    groups: Mapping[int, int] = field(default_factory=dict)
    first: Mapping[int, int] = field(default_factory=dict)
    apart: bool = False
    near: dict[int, Storage] = field(default_factory=dict)
    far: dict[int, tuple[Storage, ...]] = field(default_factory=dict)
    _count: int = field(default=1, init=False)
    _flat: Array | None = field(default=None, init=False)

    @property
    def flat(self) -> Array:
        """All numbers, shape (N,) or (components, N), allocated when they are first needed.

        Elements that are not stored are NaN.
        """
        if self._flat is None:
            self._flat = self._allocated(self._count)
        return self._flat

    def _allocated(self, count: int) -> Array:
        count = _whole_lines(count, self._line)
        shape = (count,) if self.components is None else (self.components, count)
        made = aligned(shape, self.dtype)
        made.fill(np.nan)
        return made

    @property
    def array(self) -> Array:
        """The memory as a kernel argument: with the number of axes of the field."""
        lead = () if self.components is None else (self.components,)
        return self.flat.reshape(*lead, *(1,) * (self.axes - 1), -1)

    def arrays(self) -> list[Array]:
        """Return the array of each component, or the only one."""
        return [self.array] if self.components is None else list(self.array)

    def storages(self) -> Iterator[Storage]:
        """Yield all storages."""
        yield from self.near.values()
        for several in self.far.values():
            yield from several

    def _placed(self, points: Box, place: int, first: int | None) -> Storage:
        """Return a storage of points from an offset on, which is aligned to a cache line.

        In long rows the index ``first`` is also aligned to a cache line.
        """
        line = self._line
        low, high = points[-1]
        if first is None or high - low < LONG * line:
            return Storage(points, place)
        return Storage(points, place + (low - first) % line, _whole_lines(high - low, line))

    @property
    def _line(self) -> int:
        """The number of elements of a cache line."""
        return CACHE_LINE // int(np.dtype(self.dtype).itemsize)

    def grow(
        self,
        near: Mapping[int, Box],
        far: Mapping[int, Sequence[Box]],
        *,
        apart: bool = False,
    ) -> bool:
        """Extend the storages by more points; return whether memory was reallocated.

        Values are kept, and new copies of a point of a subdomain receive its value.
        """
        apart = self.apart or apart
        around = {box: s.points for box, s in self.near.items()}
        for box, points in near.items():
            around[box] = hull([around[box], points]) if box in around else points
        parted, self.apart = apart != self.apart, apart
        around = self._together(around)
        beyond = {box: [s.points for s in several] for box, several in self.far.items()}
        for box, several in far.items():
            beyond[box] = joined([*beyond.get(box, ()), *several])
        same_near = around == {box: s.points for box, s in self.near.items()}
        same_far = all(set(b) == {s.points for s in self.far.get(n, ())} for n, b in beyond.items())
        if same_near and same_far and not parted:
            return False
        self._move(around, beyond)
        return True

    def _together(self, around: Mapping[int, Box]) -> dict[int, Box]:
        """Return the points that each subdomain holds if a group shares the union of its points."""
        members: dict[int, list[Box]] = {}
        for box, points in around.items():
            members.setdefault(self._group(box), []).append(points)
        return {box: hull(members[self._group(box)]) for box in around}

    def _group(self, box: int) -> int:
        """Return the number of a box's group; boxes are numbered from 0, groups of one below."""
        return -1 - box if self.apart else self.groups.get(box, -1 - box)

    def _move(self, around: Mapping[int, Box], beyond: Mapping[int, Sequence[Box]]) -> None:
        place = 0

        def placed(points: Box, first: int | None = None) -> Storage:
            nonlocal place
            made = self._placed(points, place, first)
            place = _whole_lines(made.start + made.size, self._line)
            return made

        near: dict[int, Storage] = {}
        of_group: dict[int, Storage] = {}
        for box, points in sorted(around.items()):
            group = self._group(box)
            first = self.first.get(box)
            near[box] = of_group[group] = of_group.get(group) or placed(points, first)
        far = {box: tuple(map(placed, several)) for box, several in sorted(beyond.items())}
        self._count = max(place, 1)
        if self._flat is not None:
            self._flat = self._moved(self._flat, near, far)
        self.near, self.far = near, far

    def _moved(
        self, flat: Array, near: Mapping[int, Storage], far: Mapping[int, Sequence[Storage]]
    ) -> Array:
        """Return memory for new storages with the values of the old ones."""
        found = self._allocated(self._count)
        for box in {*self.near, *self.far}:
            for old, new in product(_held(box, self.near, self.far), _held(box, near, far)):
                both = meet(old.points, new.points)
                if both is not None:
                    new.view(found, both)[...] = old.view(flat, both)
        return found


def _whole_lines(count: int, line: int) -> int:
    """Return a count rounded up to whole cache lines of ``line`` elements."""
    return -(-count // line) * line


def _held(
    box: int, near: Mapping[int, Storage], far: Mapping[int, Sequence[Storage]]
) -> list[Storage]:
    """Return the storages of a subdomain, first the remote ones, which may be out of date."""
    return [*far.get(box, ()), *([near[box]] if box in near else [])]
