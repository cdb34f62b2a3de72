"""Conversion of NumPy scalars to Python numbers, and allocation of arrays."""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any, TypeAlias

import numpy as np

from ..errors import TooLargeError

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""An array of any type."""


def plain(value: Any) -> Any:
    """Return the value of a NumPy scalar or an array without axes; other objects unchanged."""
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        return value.item()
    return value


CACHE_LINE = 64
"""Bytes of a cache line, and of the widest vectors."""

SMALL = 2**14
"""Bytes up to which an array is not aligned, since alignment costs a microsecond."""


def aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return a new uninitialized array, aligned to a cache line.

    Vectors of eight values are loaded twice as fast if they do not cross cache lines.
    """
    kind = np.dtype(dtype)
    try:
        memory = np.empty(math.prod(shape) * kind.itemsize + CACHE_LINE, np.uint8)
        return np.ndarray(shape, kind, memory, -memory.ctypes.data % CACHE_LINE)
    except (MemoryError, OverflowError, ValueError):
        count = " x ".join(map(str, shape))
        size = math.prod(shape) * kind.itemsize / 2**30
        raise TooLargeError(
            f"An array of {count} numbers does not fit memory.",
            note=f"It would take {size:.3g} GiB.",
        ) from None


def allocated(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return a new array without values; it is `aligned` unless it is small."""
    if math.prod(shape) * np.dtype(dtype).itemsize > SMALL:
        return aligned(shape, dtype)
    return np.empty(shape, dtype)


def is_zero(value: object) -> bool:
    """Whether something is the integer zero, from which `sum` of Python begins."""
    return type(value) is int and value == 0


def real(value: Any) -> float | None:
    """Return a number of Python or NumPy, which may be infinite or NaN; None for other values.

    An integer or a fraction beyond the range of floats is refused.
    """
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def integer(value: Any) -> int | None:
    """Return an integer of Python or NumPy as one of Python's; None for other values."""
    if type(value) is int:
        return value
    value = plain(value)
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def index_type(*numbers: int) -> type[np.signedinteger[Any]]:
    """Return the type of indices that hold some numbers: 32 bits while they fit."""
    return np.int32 if max(numbers) < 2**31 else np.int64
