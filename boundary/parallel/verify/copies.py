"""The last write of each array element: on one array, and in each rank's memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ssr.extension import Domain, LastWrites

from ..ranks.memory import Memory, Storage
from .elements import points_of


@dataclass(eq=False)
class Copies:
    """An array on one array, and its copies in the storages of ranks.

    Attributes
    ----------
    axes
        The number of axes.
    memories
        The memory of each rank.
    whole
        The last writes of its elements on one array.
    """

    axes: int
    memories: Mapping[int, Memory]
    whole: LastWrites = field(init=False)
    _held: dict[tuple[int, Storage], LastWrites] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.whole = LastWrites.none(self.axes)

    def forget(self) -> None:
        """Reset all elements to hold no write."""
        self.whole = LastWrites.none(self.axes)
        self._held.clear()

    def held(self, rank: int, storage: Storage | None) -> LastWrites:
        """Return the last writes of the elements of a storage."""
        if storage is None:
            return LastWrites.none(self.axes)
        return self._held.get((rank, storage)) or LastWrites.none(self.axes)

    def write(self, rank: int, storage: Storage | None, points: Domain, number: int) -> bool:
        """Record a write to points of a storage; return whether it holds all of them."""
        if storage is None or not points <= points_of(storage.points):
            return points.empty
        self.copy(rank, storage, points, LastWrites.by(points, number))
        return True

    def copy(self, rank: int, storage: Storage, points: Domain, source: LastWrites) -> None:
        """Copy the last writes of points from elsewhere to a storage."""
        here = self.held(rank, storage)
        self._held[rank, storage] = here.copied(points, source)
