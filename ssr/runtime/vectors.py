"""Vectors of rows in plain Python, represented by NumPy arrays.

`ssr.kernel.vectorize` generates these operations; arrays are `Memory`, as in `intrinsics`. The
names of operations that create a vector end in its number of lanes. A mask is a vector of booleans.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..points.numbers import Array
from .intrinsics import Memory, Real, ld, st, unwritten

vectors = range
"""The range of the first rows of vectors."""


def _loading(lanes: int) -> Callable[..., Array]:
    def vector_load(array: Memory, offset: int, mask: Array | None = None) -> Array:
        """Return contiguous elements; masked-off elements are not read, and are zero."""
        found = np.zeros(lanes, array.flat.dtype)
        for n in range(lanes):
            if mask is None or mask[n]:
                found[n] = ld(array, offset + n)
        return found

    return vector_load


def _spreading(lanes: int) -> Callable[..., Array]:
    def spread(number: Real) -> Array:
        """Return the vector of which each element is a number."""
        return np.full(lanes, number)

    return spread


def _between(lanes: int) -> Callable[..., Array]:
    def rows_between(low: int, high: int) -> Array:
        """Return for each lane whether its number is in a range."""
        return np.array([low <= n < high for n in range(lanes)])

    return rows_between


vector_load2, vector_load4, vector_load8, vector_load16 = map(_loading, (2, 4, 8, 16))
spread2, spread4, spread8, spread16 = map(_spreading, (2, 4, 8, 16))
rows_between2, rows_between4, rows_between8, rows_between16 = map(_between, (2, 4, 8, 16))


def vector_store(array: Memory, offset: int, value: Array, mask: Array | None = None) -> None:
    """Store contiguous elements, except those whose mask is false."""
    for n, number in enumerate(value):
        if mask is None or mask[n]:
            st(array, offset + n, number)


def shuffle(first: Array, second: Array, *places: int) -> Array:
    """Return elements of two vectors, which are counted one after the other.

    >>> shuffle(np.array([1, 2]), np.array([3, 4]), 1, 2)
    array([2, 3])
    """
    return np.concatenate([first, second])[list(places)]


def blend(mask: Array, first: Array, second: Array) -> Array:
    """Return the elements of a first vector that have a mask, and others of a second one.

    >>> blend(np.array([True, False]), np.array([1, 2]), np.array([3, 4]))
    array([1, 4])
    """
    return np.where(mask, first, second)


def complement(mask: Array) -> Array:
    """Return the mask of the other lanes."""
    return ~mask


def request(array: Memory, offset: int, soon: bool, written: bool) -> None:
    """Bring a cache line near, at any offset; ``soon`` to be read or ``written`` very near."""


def elements(array: Memory) -> int:
    """Return the number of elements of an array."""
    return int(array.array.size)


def line_steps(array: Memory) -> int:
    """Return the bitwise or of the strides of an array in bytes, except along its last axis."""
    found = 0
    for step in array.array.strides[:-1]:
        found |= step
    return found


def seldom(test: bool) -> bool:
    """Return a truth that seldom holds."""
    return test


def scratch_numbers(array: Memory, count: int) -> Memory:
    """Return memory on the stack for numbers of the type of an array."""
    return Memory(unwritten(count, array.array.dtype))


def scratch_truths(count: int) -> Memory:
    """Return memory on the stack for truths."""
    return Memory(np.zeros(count, np.bool_))
