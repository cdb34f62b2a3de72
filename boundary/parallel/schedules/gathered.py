"""Footprints of products with stored sparse matrices: the column ranges of the rows of a box."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ssr import Space
from ssr.extension import Array, Stored

from ..partition.boxes import Box, as_box, filled


def columns(stored: Stored, rows: Array, sizes: Mapping[str, int]) -> Array:
    """Return the smallest boxes around the columns of some rows of a stored matrix."""
    found = np.zeros((len(rows), stored.cols.ndim, 2), np.int64)
    for number in np.flatnonzero(filled(rows)):
        points = points_of(
            stored.cols, stored.csr.indices[entries(stored, rows[number], sizes)], sizes
        )
        if points.size:
            found[number, :, 0], found[number, :, 1] = points.min(axis=1), points.max(axis=1) + 1
    return found


def entries(stored: Stored, rows: Array, sizes: Mapping[str, int]) -> Array:
    """Return the positions of the entries of a box of rows in a stored matrix."""
    whole = stored.rows.box(sizes)
    shape = tuple(high - low for low, high in whole)
    box: Box = as_box(rows)
    inside = [np.arange(a - low, b - low) for (a, b), (low, _) in zip(box, whole, strict=True)]
    numbers = np.ravel_multi_index(np.ix_(*inside), shape).ravel()
    first, last = stored.csr.indptr[numbers], stored.csr.indptr[numbers + 1]
    counts = (last - first).astype(np.int64)
    begins = np.cumsum(counts) - counts
    found: Array = np.repeat(first - begins, counts) + np.arange(counts.sum())
    return found


def points_of(space: Space, numbers: Array, sizes: Mapping[str, int]) -> Array:
    """Return the indices of points by their numbers in C order, a row for each axis."""
    whole = space.box(sizes)
    index = np.unravel_index(numbers, tuple(high - low for low, high in whole))
    return np.array([axis + low for axis, (low, _) in zip(index, whole, strict=True)])
