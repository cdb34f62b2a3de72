"""Local values of a field: the memory on the ranks of this process, and the ownership of points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Shared:
    """Points owned by a subdomain here and by one of another partition."""

    mine: int
    theirs: int
    points: Box


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
                memory.hold(points, boxes)
                self.whole = next(iter(memory.near.values())).view(memory.flat, points)
            else:
                memory.grow(boxes, {})
            self.memories[rank] = memory

    def room(self, rank: int, plan: Plan, name: str) -> None:
        """Extend the memory by the halo that a program reads of its field ``name``."""
        near, far = plan.room(rank, plan.parts[name])
        if self.memories[rank].grow(near, far, apart=name in plan.parted):
            self.moves += 1

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

    def shared(self, other: Partition) -> dict[int, list[Shared]]:
        """Return for each rank of this process the intersections with boxes of ``other``."""
        return {
            rank: [
                Shared(number, theirs, points)
                for number, box in self.of_rank(rank)
                for theirs, points in other.owners_of(self.space, box)
            ]
            for rank in self.memories
        }


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
