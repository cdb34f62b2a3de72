"""Small matrices at many points: bitwise reproducible products and inverses.

The order of summation in BLAS and LAPACK depends on the processor; here it is the order of the
axes.
"""

from __future__ import annotations

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Array

EPSILON = float(np.finfo(np.float64).eps)


def product(left: Array, right: Array) -> Array:
    """Return the products of matrices in the last two axes."""
    total = left[..., :, 0, None] * right[..., 0, None, :]
    for k in range(1, left.shape[-1]):
        total = total + left[..., :, k, None] * right[..., k, None, :]
    return total


def left_inverse(basis: Array) -> Array:
    """Return ``inverse(B^T B) B^T`` for matrices B in the last two axes, by Gram-Schmidt."""
    count = basis.shape[-1]
    columns = [basis[..., k] for k in range(count)]
    sizes = [np.sqrt(_dot(column, column)) for column in columns]
    rows = list[Array]()
    upper: dict[tuple[int, int], Array] = {}
    for k in range(count):
        rest = columns[k]
        for j, row in enumerate(rows):
            upper[j, k] = _dot(row, rest)
            rest = rest - upper[j, k][..., None] * row
        upper[k, k] = np.sqrt(_dot(rest, rest))
        if not (upper[k, k] > 64 * EPSILON * sizes[k]).all():
            raise ArgumentError("The vectors of a basis depend on each other at a point.")
        rows.append(rest / upper[k, k][..., None])
    for k in reversed(range(count)):
        rows[k] = rows[k] / upper[k, k][..., None]
        for j in range(k):
            rows[j] = rows[j] - upper[j, k][..., None] * rows[k]
    return np.stack(rows, axis=-2)


def _dot(x: Array, y: Array) -> Array:
    """Return the sums of products along the last axis, from its first element on."""
    total: Array = x[..., 0] * y[..., 0]
    for k in range(1, x.shape[-1]):
        total = total + x[..., k] * y[..., k]
    return total
