"""Values of a field that go from rank to rank outside programs: to one rank, or to other owners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ssr import Space
from ssr.extension import Array

from ..partition.boxes import Box, as_box, meet, slices, volume
from ..partition.partition import Partition
from .memory import Memory
from .world import Letter, World

Views: TypeAlias = Mapping[tuple[int, int], Sequence[Array]]
"""Parts of arrays, for pairs of a rank that sends and one that receives; none is without parts."""


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The points of a space that the ranks of this process own, and the memory of their values."""

    space: Space
    partition: Partition
    memories: Mapping[int, Memory]

    def of_rank(self, rank: int) -> Iterator[tuple[int, Box]]:
        """Yield the boxes of a rank that own points, each with these."""
        owned = self.partition.owned(self.space)
        for number in self.memories[rank].near:
            box = as_box(owned[number])
            if volume(box):
                yield number, box

    def view(self, rank: int, number: int, points: Box) -> Array:
        """Return the values of some points of a box."""
        memory = self.memories[rank]
        return memory.near[number].view(memory.flat, points)

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
        """Return where a rank puts the values of some points in an array of these."""
        found: dict[tuple[int, int], list[Array]] = {}
        for number, part in self.partition.owners_of(self.space, points):
            inside = slices(part, (low for low, _ in points))
            pair = int(self.partition.owners[number]), root
            found.setdefault(pair, []).append(whole[(..., *inside)])
        return found

    def shared(self, other: Partition) -> dict[int, list[_Shared]]:
        """Return which points each rank of this process owns together with boxes of ``other``."""
        found: dict[int, list[_Shared]] = {}
        for rank in self.memories:
            found[rank] = [
                _Shared(number, theirs, points)
                for number, box in self.of_rank(rank)
                for theirs, points in other.owners_of(self.space, box)
            ]
        return found


@dataclass(frozen=True, slots=True)
class _Shared:
    """Points that are owned by a box here, and by one of another partition."""

    mine: int
    theirs: int
    points: Box


def move(world: World, one: Pieces, other: Pieces) -> None:
    """Copy the values of one to the other, whose points are owned in another way."""
    sent: dict[tuple[int, int], list[Array]] = {}
    received: dict[tuple[int, int], list[Array]] = {}
    for rank, parts in one.shared(other.partition).items():
        for part in parts:
            pair = rank, int(other.partition.owners[part.theirs])
            sent.setdefault(pair, []).append(one.view(rank, part.mine, part.points))
    for rank, parts in other.shared(one.partition).items():
        for part in sorted(parts, key=lambda p: (p.theirs, p.mine)):  # as the sender goes on
            pair = int(one.partition.owners[part.theirs]), rank
            received.setdefault(pair, []).append(other.view(rank, part.mine, part.points))
    carry(world, sent, received)


def carry(world: World, sent: Views, received: Views) -> None:
    """Copy values of ranks of this process to others, and those of others to here.

    Parameters
    ----------
    world
        The ranks.
    sent, received
        Where values are, and where they go: for a pair the same values in the same order.
    """
    letters = [
        Letter(*pair, np.concatenate([view.ravel() for view in views]))
        for pair, views in sent.items()
        if pair[0] != pair[1]
    ]
    arriving = {
        pair: np.empty(sum(view.size for view in views), views[0].dtype)
        for pair, views in received.items()
        if pair[0] != pair[1]
    }
    incoming = [Letter(*pair, values) for pair, values in arriving.items()]
    channel = world.channel(letters, incoming, "the gathering or moving of a field")
    channel.start()
    for pair, views in received.items():
        if pair not in arriving:
            for view, values in zip(views, sent[pair], strict=True):
                view[...] = values
    channel.wait()
    for pair, values in arriving.items():
        place = 0
        for view in received[pair]:
            view[...] = values[place : place + view.size].reshape(view.shape)
            place += view.size
