"""Vectorized rows with periodic coefficients: a bundle of neighboring rows at a time.

The weights of a bundle are ``repeated`` along its rows. A row without a term has the weight zero:
no element is read, and ``fma_present`` leaves its value unchanged. Each row thus computes the
chain of operations of its terms. At both ends of a line, bundles contain rows outside the line,
before ``low`` and from ``high`` on, which are neither read nor written.

Loading a bundle that crosses a cache line takes as long as two loads. Where rows read several
neighbors, each bundle of elements is therefore loaded once, in order, and the unaligned bundles
that rows read are composed ``of_two``. In plain Python a bundle is an array, as in `bundles`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..points.numbers import Array
from .bundles import width
from .intrinsics import Memory, Real, Value, fma, ld, st


def repeated(lines: Memory, *numbers: Real) -> Array:
    """Return the bundle of rows of an array that has numbers in turn, from the first one on."""
    return np.resize(np.array(numbers), width(lines.array.itemsize))


def take_rows(lines: Memory, place: int, weights: Array, low: int, high: int) -> Array:
    """Return the bundle at an offset of an array, with zeros for rows that do not read it."""
    return _read(lines, place, (low <= n < high and w != 0 for n, w in enumerate(weights)))


def take_wanted(lines: Memory, place: int, first: int, low: int, high: int, *reads: int) -> Array:
    """Return the bundle at an offset of an array, with zeros for elements that no row reads."""
    there, wanted = _rows_of(low, high), 0
    for distance, rows in zip(reads[::2], reads[1::2], strict=True):
        wanted |= (rows & there) << distance
    count = width(lines.array.itemsize)
    return _read(lines, place, (bool(wanted >> (first + n) & 1) for n in range(count)))


def _read(lines: Memory, place: int, read: Iterable[bool]) -> Array:
    """Return a bundle of elements of an array, with zeros for elements that are not read."""
    zero = lines.array.dtype.type(0)
    return np.array([ld(lines, place + n) if is_read else zero for n, is_read in enumerate(read)])


def _rows_of(low: int, high: int) -> int:
    """Return the set of rows from ``low`` to before ``high``, without rows before row 0."""
    before, until = (1 << max(low, 0)) - 1, (1 << max(high, 0)) - 1
    return until & ~before


def of_two(left: Array, right: Array, number: int) -> Array:
    """Return the bundle that begins ``number`` elements into the left one of two neighbours."""
    return np.concatenate([left[number:], right[:number]])


def put_rows(lines: Memory, place: int, value: Array, low: int, high: int) -> None:
    """Store a bundle at an offset of an array, except for rows outside the line."""
    for n, number in enumerate(value):
        if low <= n < high:
            st(lines, place + n, number)


def fma_present(weights: Array, x: Value, total: Array) -> Array:
    """Return ``weights * x + total`` rounded once, and the total where a weight is zero."""
    return np.where(weights != 0, fma(weights, x, total), total)
