"""Pack the arrays of a launch into three: scratch memory, tables of integers, and weights.

Each array argument costs some 45 nanoseconds at each call. The parts of a pack are aligned to cache
lines. The tables begin with `PLACES` integers for each part of all packs, in the order of the
kernel's arguments: its start and end in its pack, and the length of its rows, 0 if it has none.
`ssr.emit.vector_fields` generates the function that takes packs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..points.numbers import CACHE_LINE, Array, aligned
from ..runtime.constants import PLACES


@dataclass(frozen=True, slots=True)
class Packs:
    """The size of scratch memory in elements, tables and weights: at most one of each."""

    memory: Sequence[int]
    tables: Sequence[Array]
    weights: Sequence[Array]


def packed(
    scratch: Sequence[int],
    tables: Sequence[Array],
    calls: Sequence[tuple[Array, Array]],
    dtype: np.dtype[np.generic],
) -> Packs:
    """Return the packs of a launch.

    Examples
    --------
    >>> table = np.arange(6).reshape(2, 3)
    >>> made = packed([5], [table], [], np.dtype(np.float64))
    >>> made.memory, made.tables[0][:6], made.tables[0][8:], made.weights
    ([5], array([ 0,  5,  0,  8, 14,  3]), array([0, 1, 2, 3, 4, 5]), [])
    """
    count = len(scratch) + len(tables) + 2 * len(calls)
    if not count:
        return Packs([], [], [])
    places: list[int] = []
    memory, integers, weights = _Pack(dtype), _Pack(np.dtype(np.int64)), _Pack(dtype)
    integers.placed(PLACES * count)
    for length in scratch:
        places += memory.placed(length)
    for table in tables:
        places += integers.put(table)
    for links, of_links in calls:
        places += [*integers.put(links), *weights.put(of_links)]
    made = integers.array()
    made[: len(places)] = places
    return Packs([memory.end] if scratch else [], [made], [weights.array()] if calls else [])


class _Pack:
    """Parts of one type, concatenated."""

    def __init__(self, dtype: np.dtype[np.generic]) -> None:
        self.end = 0
        self._dtype = dtype
        self._parts: list[tuple[int, Array]] = []

    def placed(self, length: int, width: int = 0) -> tuple[int, int, int]:
        """Return where a part of a length is, with the length of its rows."""
        near = CACHE_LINE // self._dtype.itemsize
        start = -(-self.end // near) * near
        self.end = start + length
        return start, self.end, width

    def put(self, part: Array) -> tuple[int, int, int]:
        """Return the same for the part of an array."""
        place = self.placed(part.size, part.shape[1] if part.ndim > 1 else 0)
        self._parts.append((place[0], part.reshape(-1)))
        return place

    def array(self) -> Array:
        """Return the parts as one array, with zeros between them."""
        made = aligned((self.end,), self._dtype)
        made.fill(0)
        for start, part in self._parts:
            made[start : start + part.size] = part
        return made
