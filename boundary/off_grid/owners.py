"""Lookup of the boxes and ranks that own given points of a space."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ssr import Space
from ssr.extension import Array

from ..parallel.partition.boxes import Box, as_box
from ..parallel.partition.partition import Partition


def boxes_of(partition: Partition, space: Space, rank: int) -> dict[int, Box]:
    """Return the owned points of each nonempty subdomain of a rank, by subdomain number."""
    owned = partition.owned(space)
    found = {number: as_box(owned[number]) for number in partition.of_rank(rank)}
    return {number: box for number, box in found.items() if all(low < high for low, high in box)}


def numbers_within(boxes: Iterable[tuple[int, Box]], index: Array) -> Array:
    """Return for each index, a row, the number of the box that contains it; -1 if none does."""
    found = np.full(len(index), -1)
    for number, box in boxes:
        low, high = np.transpose(box)
        found[((index >= low) & (index < high)).all(axis=1)] = number
    return found


def owners(partition: Partition, space: Space, index: Array) -> Array:
    """Return for each index of a space, a row, the rank that owns it."""
    if not len(index):
        return np.zeros(0, np.int64)
    low, high = index.min(axis=0).tolist(), (index.max(axis=0) + 1).tolist()
    near = partition.owners_of(space, tuple(zip(low, high, strict=True)))
    found: Array = partition.owners[numbers_within(near, index)]
    return found
