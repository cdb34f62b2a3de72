"""Partitions: the blocks of a grid, or a space, divided into boxes with owners.

A partition is given in global indices. It divides the cells; the points of any other space are
assigned accordingly. A face or ghost point belongs to the box next to it, and a coarse point to the
box of its fine points.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ssr import Space
from ssr.errors import ArgumentError
from ssr.extension import Array, integer

from ...grid.grid import GridSpace
from .boxes import Box, as_box, filled
from .lookup import Lookup

FEW = 8
"""The largest number of boxes that are listed individually when ranks disagree about a
partition."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Boxes of cells, and the rank that owns each.

    Parameters
    ----------
    cells
        The cells of the blocks of each kind, or a space alone.
    sizes
        Values of the symbolic sizes.
    kinds
        For each box the number of its kind.
    boxes
        The boxes, shape (boxes, axes, 2), in the coordinates of the cells.
    owners
        For each box the number of its rank.
    ranks
        The number of ranks; some may own nothing.
    """

    cells: tuple[Space, ...]
    sizes: Mapping[str, int]
    kinds: Array
    boxes: Array
    owners: Array
    ranks: int
    _owned: dict[object, Array] = field(default_factory=dict, repr=False)
    _lookups: dict[object, Lookup] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.boxes)

    @property
    def lead(self) -> int:
        """The number of axes before those of a block."""
        return int(isinstance(self.cells[0], GridSpace))

    @cached_property
    def _of_rank(self) -> tuple[Array, Array]:
        """The numbers of the subdomains ordered by owner, and the start of each rank."""
        order = np.argsort(self.owners, kind="stable")
        return order, np.searchsorted(self.owners[order], np.arange(self.ranks + 1))

    def of_rank(self, rank: int) -> tuple[int, ...]:
        """Return the numbers of the boxes that a rank owns."""
        order, starts = self._of_rank
        return tuple(order[starts[rank] : starts[rank + 1]].tolist())

    def owned(self, space: Space, inner: Space | None = None) -> Array:
        """Return the part of a space that each box owns, as an array of boxes.

        Every point of the space is owned by one box. A box of another kind of blocks owns none.

        Parameters
        ----------
        space
            The points.
        inner
            Those of them that are not ghosts, which are owned as in their own space; a ghost
            belongs to the adjacent box. By default the owned points of a space of a grid.
        """
        if inner is None:
            inner = (space.owned if isinstance(space, GridSpace) else None) or space
        key = _key(space), _key(inner)
        known = self._owned.get(key)
        if known is None:
            known = self._owned[key] = self._cut(space, inner)
        return known

    def owners_of(
        self, space: Space, points: Box, inner: Space | None = None
    ) -> list[tuple[int, Box]]:
        """Return the subdomains that own points of a box of a space, each with its owned part.

        ``inner`` as for `owned`.
        """
        key = _key(space), None if inner is None else _key(inner)
        known = self._lookups.get(key)
        if known is None:
            known = self._lookups[key] = Lookup(self.owned(space, inner))
        return sorted(known.meeting(points))

    def _cut(self, space: Space, inner: Space) -> Array:
        kind = self._kind(space)
        reference = self.cells[kind].box(self.sizes)
        whole, within = space.box(self.sizes), inner.box(self.sizes)
        beyond = len(whole) - len(reference)
        mine = self.kinds == kind
        found = np.zeros((len(self), len(whole), 2), np.int64)
        for axis, (low, high) in enumerate(whole):
            along = axis - beyond
            if along < 0:
                found[:, axis] = low, high
            else:
                edges = self.boxes[:, along]
                first, last = reference[along]
                staggered = space.data.staggered[axis]
                made = _scaled(edges, first, last, *within[axis], staggered)
                made = np.where(edges == first, low, made)
                found[:, axis] = np.where(edges == last, high, made)
        for axis in range(max(0, -beyond)):  # axis that is missing in the space: its first cells
            mine = mine & (self.boxes[:, axis, 0] == reference[axis][0])
        found[~(mine & filled(found))] = 0
        return found

    def _kind(self, space: Space) -> int:
        """Return the kind of blocks by which a space is divided: its own, or the most similar."""
        if isinstance(space, GridSpace):
            for number, cells in enumerate(self.cells):
                if isinstance(cells, GridSpace) and cells.blocks == space.blocks:
                    return number
            raise ArgumentError(
                f"{space!r} has other blocks than the partition.",
                hint="Distribute the grid that the space is a part of.",
            )
        extents = space.extent(self.sizes)

        def unlike(number: int) -> int:
            shape = self.cells[number].extent(self.sizes)
            return sum(abs(a - b) for a, b in zip(reversed(extents), reversed(shape), strict=False))

        return min(range(len(self.cells)), key=unlike)

    def has_cells_of(self, other: Partition) -> bool:
        """Whether the partition ``other`` is one of the same cells."""
        mine, theirs = (
            [(_key(cells), cells.box(p.sizes)) for cells in p.cells] for p in (self, other)
        )
        return mine == theirs

    @cached_property
    def facts(self) -> Mapping[str, str]:
        """The facts on which ranks that share it must agree, as texts."""
        own = (f"{self.shown(box)} of rank {rank}" for box, rank in enumerate(self.owners[:FEW]))
        boxes, rest = ", ".join(own), len(self) - FEW
        if rest > 0:
            parts = (np.ascontiguousarray(a) for a in (self.kinds, self.boxes, self.owners))
            digest = zlib.crc32(b"".join(part.tobytes() for part in parts))
            boxes += f" and {rest} others (checksum {digest:08x})"
        return {
            "cells": ", ".join(map(repr, self.cells)),
            **{f"size {name}": str(number) for name, number in sorted(self.sizes.items())},
            "boxes": boxes,
        }

    def shown(self, box: int) -> str:
        """Return a box as text: its ranges, and its kind if there are several."""
        ranges = ", ".join(f"{low}:{high}" for low, high in as_box(self.boxes[box]))
        return f"[{ranges}]" + (f" of kind {self.kinds[box]}" if len(self.cells) > 1 else "")


def _key(space: Space) -> object:
    """Return a key that distinguishes spaces, including the blocks of a grid's space."""
    return space, getattr(space, "blocks", None)


def _scaled(edges: Array, first: int, last: int, low: int, high: int, staggered: bool) -> Array:
    """Return the ranges of an axis that belong to ranges of cells."""
    cells, points = last - first, high - low - int(staggered)
    ghosts = low <= first and high >= last and points - cells <= max(16, cells // 2)
    near_end = high - int(staggered) == last or cells - points <= max(4, cells // 4)
    if ghosts or (low > first and near_end):
        made = edges.copy()  # the same cells, with or without ghosts, or a subset
    else:
        count = high - first - int(staggered) if low <= first < high else points
        start = first if low <= first < high else low
        made = start + -(-(edges - first) * count // cells)
    made = np.clip(made, low, high)
    made = np.where(edges == first, low, made)
    result: Array = np.where(edges == last, high, made)
    return result


def _check_cover(boxes: Array, space: Space, sizes: Mapping[str, int]) -> None:
    """Raise unless boxes contain every cell of a space once."""
    whole = np.array(space.box(sizes))
    if not filled(boxes).all() or (boxes[..., 0] < whole[:, 0]).any():
        raise ArgumentError(f"A box is empty, or not within {space!r}.")
    if (boxes[..., 1] > whole[:, 1]).any():
        raise ArgumentError(f"A box is not within {space!r}.")
    held = int(np.prod(boxes[..., 1] - boxes[..., 0], axis=1).sum())
    points = int(np.prod(whole[:, 1] - whole[:, 0]))
    if held < points:
        raise ArgumentError(f"The boxes hold {held} of the {points} cells of {space!r}.")
    if held > points or _overlap(boxes):
        raise ArgumentError(f"Boxes of {space!r} overlap.", hint="Each cell is in one box.")


def _overlap(boxes: Array) -> bool:
    """Whether two boxes intersect."""
    lookup = Lookup(boxes)
    return any(len([*lookup.meeting(as_box(box))]) > 1 for box in boxes)


def _is_box(given: Any, axes: int) -> bool:
    """Whether something is a rank, a kind, and a pair of integers for each axis."""
    try:
        rank, kind, ranges = given
        flat = [rank, kind, *(edge for low, high in ranges for edge in (low, high))]
    except (TypeError, ValueError):
        return False
    return len(flat) == 2 + 2 * axes and all(integer(n) is not None for n in flat)


def partition(
    cells: Sequence[Space],
    sizes: Mapping[str, int],
    boxes: Sequence[tuple[int, int, Sequence[tuple[int, int]]]],
    ranks: int,
) -> Partition:
    """Return the partition with explicitly given boxes: (rank, kind, box)."""
    axes = cells[0].ndim
    if not isinstance(boxes, Sequence):
        raise ArgumentError(
            f"boxes is {boxes!r}.", hint="Give a list of (rank, kind, ((low, high), ...))."
        )
    for given in boxes:
        if not _is_box(given, axes):
            raise ArgumentError(
                f"{given!r} is not a rank, a kind and {axes} pairs of integers.",
                hint="A box has one pair (low, high) for each axis of the cells.",
            )
    made = Partition(
        tuple(cells),
        dict(sizes),
        np.array([kind for _, kind, _ in boxes], np.int64),
        np.array([box for _, _, box in boxes], np.int64).reshape(-1, axes, 2),
        np.array([rank for rank, _, _ in boxes], np.int64),
        ranks,
    )
    if not all(0 <= kind < len(cells) for kind in made.kinds):
        raise ArgumentError(
            f"Boxes are of kinds {sorted(set(made.kinds.tolist()))}, and there are {len(cells)}.",
            hint="Kinds of blocks are counted from 0.",
        )
    for number, space in enumerate(made.cells):
        _check_cover(made.boxes[made.kinds == number], space, made.sizes)
    if not all(0 <= rank < ranks for rank in made.owners):
        raise ArgumentError(
            f"Boxes are owned by ranks {sorted(set(made.owners.tolist()))}, and there are {ranks}.",
            hint="Ranks are counted from 0.",
        )
    return made
