"""Slices of one-dimensional arrays, by which kernels access the packed arguments of a launch."""

from __future__ import annotations

from typing import Any

import numpy as np

from .intrinsics import Memory


def between(a: Any, start: int, stop: int) -> Any:
    """Return a part of an array of one axis."""
    return a[start:stop] if isinstance(a, np.ndarray) else Memory(a.array[start:stop])


def rows(a: Any, start: int, stop: int, width: int) -> Any:
    """Return a part of an array of one axis as rows of a length."""
    return a[start:stop].reshape(-1, width)
