"""Operations on integer boxes: one box as pairs of integers, or arrays of boxes.

An array of boxes has the shape (boxes, axes, 2): for each box and axis the first index and the end
index, which is excluded. A box is empty if it is empty along one axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from ssr.extension import Array

Box: TypeAlias = tuple[tuple[int, int], ...]


def filled(boxes: Array) -> Array:
    """Return which boxes of an array hold points."""
    return np.asarray((boxes[..., 0] < boxes[..., 1]).all(axis=-1))


def common(one: Array, other: Array) -> Array:
    """Return the intersections of two arrays of boxes that broadcast."""
    low = np.maximum(one[..., 0], other[..., 0])
    return np.stack([low, np.minimum(one[..., 1], other[..., 1])], axis=-1)


def around(one: Array, other: Array) -> Array:
    """Return the smallest boxes that contain both; empty boxes are ignored."""
    low = np.minimum(one[..., 0], other[..., 0])
    hull = np.stack([low, np.maximum(one[..., 1], other[..., 1])], axis=-1)
    hull = np.where(filled(other)[..., None, None], hull, one)
    return np.where(filled(one)[..., None, None], hull, other)


def around_all(boxes: Array) -> Box | None:
    """Return the smallest box that holds all boxes of an array; None if all are empty.

    >>> around_all(np.array([[[0, 2], [1, 4]], [[3, 3], [0, 9]], [[1, 3], [0, 2]]]))
    ((0, 3), (0, 4))
    """
    some = boxes[filled(boxes)]
    if not len(some):
        return None
    return as_box(np.stack([some[..., 0].min(axis=0), some[..., 1].max(axis=0)], axis=-1))


def within(one: Array, other: Array) -> Array:
    """Return which boxes lie within others; empty ones lie within all."""
    inside = (one[..., 0] >= other[..., 0]) & (one[..., 1] <= other[..., 1])
    held: Array = inside.all(axis=-1) | ~filled(one)
    return held


def distinct(numbers: Array, boxes: Array) -> tuple[Array, Array]:
    """Return the distinct pairs of a number and its box, in increasing order.

    >>> distinct(np.array([2, 1, 2]), np.array([[[0, 3]], [[0, 2]], [[0, 3]]]))
    (array([1, 2]), array([[[0, 2]],
    <BLANKLINE>
           [[0, 3]]]))
    """
    pairs = np.column_stack([numbers, boxes.reshape(len(boxes), -1)])
    pairs = pairs[np.lexsort(pairs.T[::-1])]
    new = np.ones(len(pairs), bool)
    new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    return pairs[new, 0], pairs[new, 1:].reshape(-1, *boxes.shape[1:])


def as_box(row: Array) -> Box:
    """Return a row of an array of boxes as pairs of integers.

    >>> as_box(np.array([[0, 2], [1, 4]]))
    ((0, 2), (1, 4))
    """
    return tuple(map(tuple, row.tolist()))


def slices(box: Box, lower: Iterable[int]) -> tuple[Any, ...]:
    """Return where a box lies in an array whose first element has the index ``lower``.

    >>> slices(((2, 4), (-1, 3)), (0, -1))
    (slice(2, 4, None), slice(0, 4, None))
    """
    return tuple(
        slice(low - first, high - first) for (low, high), first in zip(box, lower, strict=True)
    )


def shifted(box: Box, lower: Iterable[int]) -> Box:
    """Return a box of an array in the indices of a space whose first ones are ``lower``.

    >>> shifted(((2, 4), (0, 4)), (0, -1))
    ((2, 4), (-1, 3))
    """
    return tuple((low + first, high + first) for (low, high), first in zip(box, lower, strict=True))


def volume(box: Box) -> int:
    """Return the number of points.

    >>> volume(((0, 2), (1, 4))), volume(((0, 2), (4, 1)))
    (6, 0)
    """
    count = 1
    for low, high in box:
        count *= max(0, high - low)
    return count


def meet(one: Box, other: Box) -> Box | None:
    """Return the points of both boxes; None if there are none.

    >>> meet(((0, 3),), ((2, 5),)), meet(((0, 2),), ((2, 5),))
    (((2, 3),), None)
    """
    found = []
    for (low, high), (first, last) in zip(one, other, strict=True):
        low, high = max(low, first), min(high, last)
        if low >= high:
            return None
        found.append((low, high))
    return tuple(found)


def without(box: Box, other: Box) -> Iterator[Box]:
    """Yield the points of a box that are not in another one, as boxes.

    >>> list(without(((0, 4), (0, 4)), ((1, 2), (0, 4))))
    [((0, 1), (0, 4)), ((2, 4), (0, 4))]
    """
    shared = meet(box, other)
    if shared is None:
        if volume(box):
            yield box
        return
    rest = list(box)
    for axis, (low, high) in enumerate(shared):
        first, last = rest[axis]
        for edge in ((first, low), (high, last)):
            if edge[0] < edge[1]:
                yield (*rest[:axis], edge, *rest[axis + 1 :])
        rest[axis] = low, high


def without_all(box: Box, others: Iterable[Box]) -> list[Box]:
    """Return the difference of a box and other boxes, as boxes."""
    left = [box] if volume(box) else []
    for other in others:
        left = [part for one in left for part in without(one, other)]
    return left


def disjoint(boxes: Iterable[Box]) -> list[Box]:
    """Return disjoint boxes with the same union; adjacent boxes that form a box are merged.

    >>> disjoint([((0, 3), (0, 2)), ((2, 5), (0, 2)), ((7, 9), (0, 2))])
    [((0, 5), (0, 2)), ((7, 9), (0, 2))]
    """
    found: list[Box] = []
    for box in sorted(boxes, key=volume, reverse=True):  # large boxes first: fewer parts
        found += without_all(box, found)
    count = 0
    while count != len(found):
        count = len(found)
        for axis in range(len(found[0]) if found else 0):
            found = _chained(found, axis)
    return sorted(found)


def stacked(boxes: Iterable[Box]) -> list[Box]:
    """Return disjoint boxes after adjacent ones are merged along any axis except the last.

    Merging along the last axis would make lines of points longer.

    >>> stacked([((0, 3), (0, 2)), ((3, 5), (0, 2)), ((0, 3), (2, 4))])
    [((0, 3), (2, 4)), ((0, 5), (0, 2))]
    """
    found = [*boxes]
    count = 0
    while count != len(found):
        count = len(found)
        for axis in range(len(found[0]) - 1 if found else 0):
            found = _chained(found, axis)
    return sorted(found)


def _chained(boxes: Iterable[Box], axis: int) -> list[Box]:
    """Return boxes after adjacent ones are merged along an axis."""
    found: list[Box] = []
    for box in sorted(boxes, key=lambda b: (b[:axis], b[axis + 1 :], b[axis])):
        before, rest = box[:axis], box[axis + 1 :]
        if found:
            last = found[-1]
            follows = last[axis][1] == box[axis][0]
            if follows and (last[:axis], last[axis + 1 :]) == (before, rest):
                found[-1] = (*before, (last[axis][0], box[axis][1]), *rest)
                continue
        found.append(box)
    return found


def hull(boxes: Sequence[Box]) -> Box:
    """Return the smallest box that holds some boxes, none of them empty."""
    return tuple(
        (min(low for low, _ in edges), max(high for _, high in edges))
        for edges in zip(*boxes, strict=True)
    )


def joined(boxes: Iterable[Box]) -> list[Box]:
    """Return boxes that cover the given ones, after boxes close to each other are merged.

    Two boxes are merged if their hull has at most an eighth more points than both.
    """
    found: list[Box] = []
    for box in boxes:
        grown = True
        while grown:
            grown = False
            for other in found:
                both = hull([box, other])
                overlap = meet(box, other)
                own = volume(box) + volume(other) - (volume(overlap) if overlap else 0)
                if 8 * volume(both) <= 9 * own:
                    found.remove(other)
                    box, grown = both, True
                    break
        found.append(box)
    return found
