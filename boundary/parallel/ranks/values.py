"""Local values of a field: the memory on the ranks of this process, and the ownership of points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ssr import Space
from ssr.extension import Array

from ..partition.boxes import Box, as_box, meet, slices, stacked, volume
from ..partition.partition import Partition
from ..schedules.plan import Plan
from ..worlds.world import World
from .memory import Memory

Views: TypeAlias = Mapping[tuple[int, int], Sequence[Array]]
"""Parts of arrays for pairs (sending rank, receiving rank). Pairs without parts are omitted."""


class Values:
    """The values of a field on the ranks of this process.

    Programs that are bound to a field keep its values, not the field itself.

    Attributes
    ----------
    space, partition
        The points, and their decomposition over ranks.
    memories
        The memory of each rank.
    whole
        The global array in a job of one process; None otherwise.
    changes, moves
        The number of changes of the values, equal on all ranks, and the number of reallocations
        of the memory in this process.
    """

    def __init__(
        self,
        space: Space,
        partition: Partition,
        components: int | None,
        dtype: np.dtype[Any],
        world: World,
    ) -> None:
        self.space = space
        self.partition = partition
        self.dtype = dtype
        self.memories: dict[int, Memory] = {}
        self.whole: Array | None = None
        self.changes = 0
        self.moves = 0
        owned = partition.owned(space)
        for rank in world.here:
            memory = memory_of(partition, space, rank, components, dtype)
            boxes = {b: as_box(owned[b]) for b in partition.of_rank(rank)}
            boxes = {b: box for b, box in boxes.items() if volume(box)}
            if world.alone:
                points = space.box(partition.sizes)
                memory.groups = dict.fromkeys(boxes, 0)
                memory.grow(dict.fromkeys(boxes, points), {})
                self.whole = next(iter(memory.near.values())).view(memory.flat, points)
            else:
                memory.grow(boxes, {})
            self.memories[rank] = memory

    # -- boxes -----------------------------------------------------------------------------------

    def of_rank(self, rank: int) -> Iterator[tuple[int, Box]]:
        """Yield the nonempty subdomains of a rank with their owned points."""
        owned = self.partition.owned(self.space)
        for number in self.memories[rank].near:
            box = as_box(owned[number])
            if volume(box):
                yield number, box

    def views(self) -> Iterator[tuple[Box, Array]]:
        """Yield the owned points of each subdomain in this process, with their values."""
        for rank in self.memories:
            for number, box in self.of_rank(rank):
                yield box, self.view(rank, number, box)

    def view(self, rank: int, number: int, points: Box) -> Array:
        """Return the values of some points of a box."""
        memory = self.memories[rank]
        return memory.near[number].view(memory.flat, points)

    def copy(self, other: Values) -> None:
        """Set all values to those of a field with the same subdomains."""
        for (_, here), (_, there) in zip(self.views(), other.views(), strict=True):
            here[...] = there
        self.changes += 1

    # -- values sent between ranks ---------------------------------------------------------------

    def within(self, points: Box, root: int) -> Views:
        """Return the values of some points, for a rank that receives all of them."""
        found: dict[tuple[int, int], list[Array]] = {}
        for rank in self.memories:
            for number, box in self.of_rank(rank):
                part = meet(box, points)
                if part is not None:
                    found.setdefault((rank, root), []).append(self.view(rank, number, part))
        return found

    def places(self, whole: Array, points: Box, root: int) -> Views:
        """Return the views of an array into which a rank receives the values of some points."""
        found: dict[tuple[int, int], list[Array]] = {}
        for number, part in self.partition.owners_of(self.space, points):
            inside = slices(part, (low for low, _ in points))
            pair = int(self.partition.owners[number]), root
            found.setdefault(pair, []).append(whole[(..., *inside)])
        return found

    def shared(self, other: Partition) -> Iterator[tuple[int, int, int, Box]]:
        """Yield the intersections of subdomains with those of another partition.

        They are given by the rank, the numbers of both subdomains, and the points.
        """
        for rank in self.memories:
            for number, box in self.of_rank(rank):
                for theirs, points in other.owners_of(self.space, box):
                    yield rank, number, theirs, points


def values_of(plan: Plan, world: World) -> dict[str, Values]:
    """Return new values for all fields of a program."""
    found = {}
    for name, arrays in plan.parts.items():
        components = None if arrays == (name,) else len(arrays)
        space = plan.declaration.spaces[arrays[0]]
        found[name] = Values(space, plan.footprint.partition, components, plan.dtype, world)
    return found


def make_room(plan: Plan, fields: Mapping[str, Values]) -> None:
    """Extend the memory of fields by the halos that a program reads."""
    for name, field in fields.items():
        for rank, memory in field.memories.items():
            near, far = plan.room(rank, plan.parts[name])
            if memory.grow(near, far, apart=name in plan.parted):
                field.moves += 1


def memory_of(
    partition: Partition, space: Space, rank: int, components: int | None, dtype: np.dtype[Any]
) -> Memory:
    """Return memory for an array of a space on a rank, initially without points."""
    first = {number: int(partition.boxes[number, -1, 0]) for number in partition.of_rank(rank)}
    return Memory(space.ndim, components, dtype, _groups(partition, space, rank), first)


def _groups(partition: Partition, space: Space, rank: int) -> dict[int, int]:
    """Return the groups of subdomains of a rank that may share a storage of points of a space.

    They have the same points, because they differ only along axes that the space does not have, or
    they form a larger box of the same block.
    """
    missing = max(0, partition.boxes.shape[1] - space.ndim)
    several: dict[tuple[int, Box], list[tuple[int, Box]]] = {}
    for number in partition.of_rank(rank):
        box = as_box(partition.boxes[number, missing:])
        if volume(box):
            block = int(partition.kinds[number]), box[: max(0, partition.lead - missing)]
            several.setdefault(block, []).append((number, box))
    found: dict[int, int] = {}
    for boxes in several.values():
        together = stacked({box for _, box in boxes})
        count = len(found)
        for number, box in boxes:
            found[number] = count + next(n for n, whole in enumerate(together) if meet(whole, box))
    return found


def memories_of_temporaries(plan: Plan, rank: int) -> dict[str, Memory]:
    """Return the memory of the temporaries of a program on a rank, by their names."""
    found: dict[str, Memory] = {}
    for name in plan.meta.temporaries:
        space, partition = plan.footprint.spaces[name], plan.footprint.partition
        memory = found[name] = memory_of(partition, space, rank, None, plan.dtype)
        memory.grow(*plan.room(rank, (name,)), apart=name in plan.parted)
    return found


def first_index(
    world: World,
    shape: tuple[int, ...],
    lower: Sequence[int],
    parts: Iterable[tuple[Box, Array]],
    what: str,
) -> tuple[int, ...] | None:
    """Return the index of the first true element on all ranks, in C order; None without one.

    Parameters
    ----------
    shape, lower
        The shape of the array of the whole, and the first index of the points along each axis.
    parts
        Boxes of points of this process, each with truth values.
    """
    here = none = math.prod(shape)
    for box, found in parts:
        if len(at := np.argwhere(found)):
            lead = (0,) * (len(shape) - len(box))
            origin = *lead, *(low - first for (low, _), first in zip(box, lower, strict=True))
            here = min(here, int(np.ravel_multi_index(tuple(at[0] + origin), shape)))
    most = np.array([-here], np.int64)
    world.combine(np.zeros(0, np.int64), most, what)
    place = -int(most[0])
    return None if place == none else tuple(map(int, np.unravel_index(place, shape)))
