"""Slices of one-dimensional arrays, by which kernels access the packed arguments of a launch."""

from __future__ import annotations

import numpy as np

from ..points.numbers import Array
from .intrinsics import Memory


def between(a: Memory | Array, start: int, stop: int) -> Memory | Array:
    """Return a part of an array of one axis."""
    return a[start:stop] if isinstance(a, np.ndarray) else Memory(a.array[start:stop])


def rows(a: Array, start: int, stop: int, width: int) -> Array:
    """Return a part of an array of one axis as rows of a length."""
    return a[start:stop].reshape(-1, width)
