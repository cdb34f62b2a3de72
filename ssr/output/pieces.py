"""Access to arrays and distributed fields box by box."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ..errors import ArgumentError, DtypeError
from ..points.numbers import Array
from ..spaces.distributed import is_distributed

Box: TypeAlias = tuple[tuple[int, int], ...]
"""A range (low, high) for each axis, counted from 0."""

PIECE = 1 << 23
"""Limit of the bytes that one process collects at a time."""


def as_values(name: str, given: Any) -> Any:
    """Return a distributed field unchanged, and other values as an array of numbers."""
    if is_distributed(given):
        if not hasattr(type(given), "__ssr_piece__"):
            raise ArgumentError(f"{name} is {given!r}, a part of a field.", hint="Give the field.")
        return given
    if given is None or isinstance(given, dict):
        raise ArgumentError(f"{name} is {given!r}, not an array or a field.")
    found = np.asarray(given)
    if found.dtype.kind not in "biufc":
        raise DtypeError(f"{name} has dtype {found.dtype}; expected numbers.")
    return found


def place(box: Box) -> tuple[slice, ...]:
    """Return a box as slices."""
    return tuple(slice(low, high) for low, high in box)


def piece(values: Any, box: Box) -> Array | None:
    """Return the values of a box on the first rank; all ranks call it together."""
    if is_distributed(values):
        found: Array | None = values.__ssr_piece__(box)
        return found
    array: Array = values[place(box)]
    return array


def boxes_of(
    values: Any, boxes: Sequence[Box], share: Callable[[int], Sequence[int]]
) -> Iterator[tuple[int, Array]]:
    """Yield the numbers of the boxes that this process has, with values; all ranks call it."""
    if is_distributed(values):
        yield from values.__ssr_boxes__(boxes)
    else:
        for number in share(len(boxes)):
            yield number, values[place(boxes[number])]


def slabs(shape: tuple[int, ...], width: int) -> list[Box]:
    """Return boxes of at most `PIECE` bytes that are contiguous in C order, in this order.

    Examples
    --------
    >>> slabs((3, 2), 8)
    [((0, 3), (0, 2))]
    >>> slabs((2, 2**19, 4), 8)[:2]
    [((0, 1), (0, 262144), (0, 4)), ((0, 1), (262144, 524288), (0, 4))]
    """
    if 0 in shape:
        return []
    rest = [width * math.prod(shape[axis:]) for axis in range(len(shape) + 1)]
    axis = next((a for a in range(len(shape)) if rest[a + 1] <= PIECE), len(shape))
    counts = [
        1 if a < axis else max(1, PIECE // rest[a + 1]) if a == axis else n
        for a, n in enumerate(shape)
    ]
    return list(_cut(shape, counts))


def blocks(shape: tuple[int, ...], counts: tuple[int, ...]) -> list[Box]:
    """Return the chunks of an array, with the given numbers of points along axes, in C order."""
    return [] if 0 in shape else list(_cut(shape, counts))


def _cut(shape: tuple[int, ...], counts: Any) -> Iterator[Box]:
    ranges = [
        [(low, min(low + count, n)) for low in range(0, n, count)]
        for n, count in zip(shape, counts, strict=True)
    ]
    yield from product(*ranges)


def stored(values: Any) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a field, in C order and little-endian, on the first rank only."""
    for box in slabs(tuple(values.shape), values.dtype.itemsize):
        found = piece(values, box)
        if found is None:
            yield b""
        else:
            array = np.ascontiguousarray(found, little(values.dtype))
            yield array.reshape(-1).view(np.uint8).data


def little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype in little-endian order."""
    return dtype.newbyteorder("<")
