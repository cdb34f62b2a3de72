"""Pseudoinverses of small dense matrices, bitwise reproducible on all processors.

BLAS and LAPACK choose the order of summation by processor type and number of threads. Here each
step is an elementwise NumPy operation or an exactly rounded sum.
"""

from __future__ import annotations

import math

import numpy as np

from ..points.numbers import Array

EPSILON = float(np.finfo(np.float64).eps)

ROUNDED = 64
"""Bound on the rounding errors of an entry, in addition to those of the elimination."""


def pseudoinverse(matrix: Array, epsilon: float = EPSILON) -> Array:
    """Return the pseudoinverse of a square matrix of finite numbers.

    A pivot counts as zero if it is below ``(n + ROUNDED) * epsilon`` times the largest one, where
    rows and columns are scaled to entries of size one: a bound on its rounding errors.
    With orthonormal bases N of the null space and M of that of the transpose, the pseudoinverse is
    ``inverse(A + s M N^T) - N M^T / s`` for any number s.

    References
    ----------
    Ben-Israel and Greville, Generalized Inverses (2nd ed. 2003), section 2.8; Higham, Accuracy and
    Stability of Numerical Algorithms (2nd ed. 2002), chapter 9.
    """
    if not matrix.any():
        return np.zeros_like(matrix.T)
    factors = _Factors(matrix, epsilon)
    if factors.rank == len(matrix):
        return factors.inverse()
    right = _orthonormal(factors.null())
    left = _orthonormal(_Factors(matrix.T, epsilon, factors.rank).null())
    size = _power(float(np.abs(matrix).max()))
    filled, back = matrix.copy(), np.zeros_like(matrix.T)
    for m, n in zip(left, right, strict=True):
        filled += np.multiply.outer(size * m, n)
        back += np.multiply.outer(n / size, m)
    return _Factors(filled, 0.0).inverse() - back


def apply(matrix: Array, x: Array) -> Array:
    """Return the product of a matrix and a vector; the terms are added column by column."""
    terms = np.multiply(matrix.T, x[:, None], order="C")
    total: Array = np.add.reduce(terms, axis=0)
    return total


class _Factors:
    """The triangular factors of a matrix, with complete pivoting.

    The matrix is scaled by powers of two before. Below the diagonal ``both`` holds L, else U.

    Parameters
    ----------
    matrix
        The square matrix.
    epsilon
        The relative error of the entries, which decides the rank.
    rank
        The rank, if it is known.
    """

    def __init__(self, matrix: Array, epsilon: float, rank: int | None = None) -> None:
        count = len(matrix)
        self.row_scale, self.col_scale = _scales(matrix)
        self.both = a = matrix * self.row_scale[:, None] * self.col_scale
        self.rows, self.cols = np.arange(count), np.arange(count)
        self.rank, limit = count if rank is None else rank, 0.0
        largest = np.abs(a).max(axis=1)
        for k in range(self.rank):
            i = k + int(largest[k:].argmax())
            pivot = float(largest[i])
            limit = max(limit, (count + ROUNDED) * epsilon * pivot)
            if rank is None and pivot <= limit:
                self.rank = k
                break
            j = k + int(np.abs(a[i, k:]).argmax())
            for swapped, place in (self.rows, i), (largest, i), (a, i), (self.cols, j), (a.T, j):
                swapped[[k, place]] = swapped[[place, k]]
            changed = k + 1 + a[k + 1 :, k].nonzero()[0]
            a[changed, k] /= a[k, k]
            rest = a[changed, k + 1 :] - np.multiply.outer(a[changed, k], a[k, k + 1 :])
            a[changed, k + 1 :] = rest
            largest[changed] = np.abs(rest).max(axis=1, initial=0.0)

    def inverse(self) -> Array:
        """Return the inverse of a matrix of full rank."""
        found = np.zeros_like(self.both)
        found[np.arange(len(found)), self.rows] = self.row_scale[self.rows]
        for k, column in enumerate(self.both.T):
            rows = k + 1 + column[k + 1 :].nonzero()[0]
            found[rows] -= np.multiply.outer(column[rows], found[k])
        _substitute_back(self.both, found)
        solution = np.empty_like(found)
        solution[self.cols] = self.col_scale[self.cols, None] * found
        return solution

    def null(self) -> list[Array]:
        """Return vectors that span the null space."""
        rank, count = self.rank, len(self.both)
        found = np.zeros((count, count - rank))
        found[:rank] = -self.both[:rank, rank:]
        found[np.arange(rank, count), np.arange(count - rank)] = 1.0
        _substitute_back(self.both[:rank, :rank], found[:rank])
        vectors = np.empty_like(found)
        vectors[self.cols] = self.col_scale[self.cols, None] * found
        return list(vectors.T.copy())


def _substitute_back(upper: Array, right: Array) -> None:
    """Solve with an upper triangle for several right sides, in place."""
    for k in reversed(range(len(upper))):
        right[k] /= upper[k, k]
        rows = upper[:k, k].nonzero()[0]
        right[rows] -= np.multiply.outer(upper[rows, k], right[k])


def _orthonormal(vectors: list[Array]) -> list[Array]:
    """Return an orthonormal basis of the span of linearly independent vectors."""
    basis = list[Array]()
    for vector in vectors:
        vector = vector / _power(float(np.abs(vector).max()))
        for _ in range(2):
            for known in basis:
                vector = vector - _dot(known, vector) * known
        basis.append(vector / math.sqrt(_dot(vector, vector)))
    return basis


def _dot(x: Array, y: Array) -> float:
    return math.fsum((x * y).tolist())


def _scales(matrix: Array) -> tuple[Array, Array]:
    """Return powers of two by which rows and columns are multiplied to have entries of size one."""
    rows = _powers(np.abs(matrix).max(axis=1))
    cols = _powers((np.abs(matrix) * rows[:, None]).max(axis=0))
    return rows, cols


def _powers(sizes: Array) -> Array:
    """Return powers of two near the reciprocals of sizes; 1 for 0."""
    return np.ldexp(1.0, np.where(sizes > 0.0, -np.frexp(sizes)[1], 0))


def _power(size: float) -> float:
    return math.ldexp(1.0, math.frexp(size)[1])
