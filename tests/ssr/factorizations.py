"""Incomplete factorizations as users write them, and dense ones from a textbook.

The dense ones follow Saad, Iterative Methods for Sparse Linear Systems (2nd ed. 2003): algorithm
10.3 (a pattern of zeros, loops k i j), algorithm 10.4 (loops i k j), section 10.3.2 (ILU(0)), the
exercise on IC, and equation (10.24) for DILU. They know nothing of rows, columns and grids.
"""

from typing import Any

import numpy as np

import ssr

Array = np.ndarray[Any, Any]


def ilu0(A: ssr.Matrix) -> ssr.Recurrence:
    """Return L - I and U of an incomplete factorization without fill, in one matrix."""

    @ssr.recurrence(rows=A.rows, cols=A.cols)
    def LU(*index: Any) -> Any:
        *here, done = index
        own = tuple(here) if len(here) > 1 else here[0]
        row = A.row(*here)
        for k in [c for c in row if c < own]:
            row[k] /= done[k, k]
            for c in row:
                if c > k:
                    row[c] -= row[k] * done[k, c]
        yield from row.items()

    return LU


def ic0(A: ssr.Matrix) -> ssr.Recurrence:
    """Return L of an incomplete Cholesky factorization without fill, L @ L.T."""

    @ssr.recurrence(rows=A.rows, cols=A.cols)
    def L(*index: Any) -> Any:
        *here, done = index
        own = tuple(here) if len(here) > 1 else here[0]
        row = {c: value for c, value in A.row(*here).items() if c <= own}
        for k in row:
            for c in [c for c in row if c < k]:
                row[k] -= row[c] * (row[c] if k == own else done[k, c])
            row[k] = ssr.sqrt(row[k]) if k == own else row[k] / done[k, k]
        yield from row.items()

    return L


def dilu(A: ssr.Matrix) -> ssr.Recurrence:
    """Return the diagonal D of (D + A.tril(-1)) D^-1 (D + A.triu(1))."""

    @ssr.recurrence(rows=A.rows, cols=A.cols)
    def D(*index: Any) -> Any:
        *here, done = index
        own = tuple(here) if len(here) > 1 else here[0]
        row, column = A.row(*here), A.T.row(*here)
        for k in [c for c in row if c < own and c in column]:
            row[own] -= row[k] * column[k] / done[k, k]
        yield own, row[own]

    return D


def dense_ilu0(A: Array, pattern: Array | None = None) -> Array:
    """Return L - I + U by algorithm 10.3: elimination, with what is outside the pattern dropped."""
    kept = A != 0 if pattern is None else pattern
    a, n = A.copy(), len(A)
    with np.errstate(all="ignore"):
        for k in range(n - 1):
            for i in range(k + 1, n):
                if kept[i, k]:
                    a[i, k] = a[i, k] / a[k, k]
                    for j in range(k + 1, n):
                        if kept[i, j] and kept[k, j]:
                            a[i, j] = a[i, j] - a[i, k] * a[k, j]
    return a


def dense_ic0(A: Array, pattern: Array | None = None) -> Array:
    """Return L by columns, right-looking, with what is outside the pattern dropped."""
    kept = A != 0 if pattern is None else pattern
    a, n = np.tril(A), len(A)
    for k in range(n):
        a[k, k] = np.sqrt(a[k, k])
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
        for j in range(k + 1, n):
            for i in range(j, n):
                if kept[i, j]:
                    a[i, j] -= a[i, k] * a[j, k]
    return np.where(kept, a, 0.0) * np.tri(n)


def dense_dilu(A: Array) -> Array:
    """Return D by equation (10.24): the product has the diagonal of A."""
    d = A.diagonal().copy()
    for i in range(len(A)):
        for k in range(i):
            d[i] -= A[i, k] * A[k, i] / d[k]
    return np.diag(d)
