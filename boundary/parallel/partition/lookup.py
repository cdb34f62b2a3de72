"""Index for fast intersection queries on an array of boxes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ssr.extension import Array

from .boxes import Box, as_box, filled, meet


class Lookup:
    """A spatial index of the boxes of an array.

    Boxes are grouped by their ranges, axis by axis; the groups are built on demand.

    Parameters
    ----------
    boxes
        An array of boxes; empty boxes are ignored.

    Examples
    --------
    >>> boxes = np.array([[[0, 2], [0, 3]], [[0, 2], [3, 6]], [[2, 4], [0, 6]]])
    >>> sorted(Lookup(boxes).meeting(((1, 3), (4, 5))))
    [(1, ((1, 2), (4, 5))), (2, ((2, 3), (4, 5)))]
    """

    def __init__(self, boxes: Array) -> None:
        self._boxes = boxes
        self._root = _Node(np.flatnonzero(filled(boxes)), 0)

    def meeting(self, box: Box) -> Iterator[tuple[int, Box]]:
        """Yield the numbers of the boxes that intersect a box, and the intersections."""
        for number in self._root.meeting(self._boxes, box):
            shared = meet(as_box(self._boxes[number]), box)
            assert shared is not None
            yield number, shared


class _Node:
    """Boxes that have the same ranges along the axes before one."""

    __slots__ = ("_children", "axis", "numbers")

    def __init__(self, numbers: Array, axis: int) -> None:
        self.numbers = numbers
        self.axis = axis
        self._children: tuple[Array, Array, list[_Node]] | None = None

    def meeting(self, boxes: Array, box: Box) -> Iterator[int]:
        if self.axis == len(box):
            yield from self.numbers.tolist()
            return
        lows, highs, nodes = self._parted(boxes)
        low, high = box[self.axis]
        for place in np.flatnonzero((lows < high) & (highs > low)).tolist():
            yield from nodes[place].meeting(boxes, box)

    def _parted(self, boxes: Array) -> tuple[Array, Array, list[_Node]]:
        """Return the ranges of the boxes along the axis, and a node for each."""
        if self._children is None:
            ranges = boxes[self.numbers, self.axis]
            order = np.lexsort((ranges[:, 1], ranges[:, 0]))
            ranges, numbers = ranges[order], self.numbers[order]
            change = np.flatnonzero((ranges[1:] != ranges[:-1]).any(axis=1)) + 1
            first = np.concatenate([[0], change]) if len(numbers) else np.zeros(0, np.int64)
            parts = np.split(numbers, change) if len(numbers) else []
            nodes = [_Node(part, self.axis + 1) for part in parts]
            self._children = ranges[first, 0], ranges[first, 1], nodes
        return self._children
