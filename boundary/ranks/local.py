"""The part of a vector that one rank owns, with the ghosts that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssr.extension import Array, Box

from .plan import HaloPlan


class LocalVector:
    """Memory for the owned points of one rank and their ghosts.

    Parameters
    ----------
    plan
        The plan of the rank.
    cells, cols
        The boxes of the whole: of its cells, and of its cells with ghosts. Ghosts along all axes
        but the first equal the cells at the other end.
    dtype
        The type of numbers.

    Attributes
    ----------
    shape
        Numbers of owned points along the axes.
    wide
        Owned points with ghosts, along axis 0 as far as the rank reads them.
    first
        The index of the first point of ``wide``.
    """

    def __init__(self, plan: HaloPlan, cells: Box, cols: Box, dtype: Any) -> None:
        read = [*plan.rows, *(g for g, _ in plan.ghosts)]
        inside, around = cells[1:], cols[1:]
        self.plan = plan
        self.shape = len(plan.rows), *(n for _, n in inside)
        self.first = min(read), *(low for low, _ in around)
        shape = max(read) + 1 - min(read), *(high - low for low, high in around)
        self.wide: Array = np.zeros(shape, dtype)
        both = list(zip(around, inside, strict=True))
        self._inside = tuple(slice(-low, n - low) for (low, _), (_, n) in both)
        self._wraps = [
            (axis, np.array([g for g in range(low, high) if not 0 <= g < n]), n, low)
            for axis, ((low, high), (_, n)) in enumerate(both, start=1)
            if low < 0 or high > n
        ]

    def load(self, x: Array) -> None:
        """Take the owned points of a vector, and fill the ghosts that equal some of them."""
        rows = self.plan.rows
        own = slice(rows.start - self.first[0], rows.stop - self.first[0])
        self.wide[self._at(own)] = x
        self._wrap(own)
        for ghost, row in self.plan.ghosts:
            if row in rows:
                self.wide[ghost - self.first[0]] = self.wide[row - self.first[0]]

    def message(self, rows: Sequence[int]) -> Array:
        """Return memory for a message of some rows."""
        return np.empty((len(rows), *self.shape[1:]), self.wide.dtype)

    def pack(self, rows: Sequence[int], message: Array) -> None:
        """Copy owned rows to a message, without ghosts along other axes."""
        for place, row in enumerate(rows):
            message[place] = self.wide[self._at(row - self.first[0])]

    def unpack(self, rows: Sequence[int], message: Array) -> None:
        """Copy the rows of a message to the ghosts that equal them."""
        where = {row: place for place, row in enumerate(rows)}
        for ghost, row in self.plan.ghosts:
            if row in where:
                at = ghost - self.first[0]
                self.wide[self._at(at)] = message[where[row]]
                self._wrap(slice(at, at + 1))

    def _at(self, rows: int | slice) -> tuple[Any, ...]:
        """Return the place of rows without ghosts along other axes."""
        return (rows, *self._inside)

    def _wrap(self, rows: slice) -> None:
        """Fill the ghosts along all axes but the first, of some rows."""
        part = self.wide[rows]
        for axis, ghosts, n, low in self._wraps:
            ahead: tuple[Any, ...] = (slice(None),) * axis
            part[(*ahead, ghosts - low)] = part[(*ahead, ghosts % n - low)]
