"""Small dense symmetric eigenvalue problems, bitwise reproducible on all processors.

As in `dense`, each step is an elementwise NumPy operation or a sum in a fixed order.
"""

from __future__ import annotations

import numpy as np

from ...points.numbers import Array

SWEEPS = 30
"""Limit of the sweeps of Jacobi's method, which usually needs 5 to 10."""


def product(a: Array, b: Array) -> Array:
    """Return the product of two matrices; the terms are added in the order of the inner index."""
    total = np.zeros((len(a), b.shape[1]))
    for column, row in zip(a.T, b, strict=True):
        total += np.multiply.outer(column, row)
    return total


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of a symmetric matrix in ascending order, and orthonormal vectors.

    Jacobi's method in cyclic order: a round has disjoint pairs of indices, as in a tournament in
    which each player meets each other once, and all its rotations are applied together.

    References
    ----------
    Golub and Van Loan, Matrix Computations (4th ed. 2013), sections 8.5.3 and 8.5.6.
    """
    count = len(matrix)
    both = np.concatenate([matrix, np.eye(count)])
    rounds = _rounds(count)
    for _ in range(SWEEPS):
        if not _sweep(both, rounds):
            break
    values = np.diagonal(both)
    order = np.argsort(values, kind="stable")
    return values[order], both[count:, order]


def _rounds(count: int) -> list[tuple[Array, Array]]:
    """Return the pairs of a tournament of some players, round by round."""
    players = list(range(count + count % 2))
    half, found = len(players) // 2, []
    for _ in range(len(players) - 1):
        pairs = zip(players[:half], reversed(players[half:]), strict=True)
        kept = [sorted(pair) for pair in pairs if max(pair) < count]
        if kept:
            p, q = np.array(kept).T
            found.append((p, q))
        players[1:] = [players[-1], *players[1:-1]]
    return found


def _sweep(both: Array, rounds: list[tuple[Array, Array]]) -> bool:
    """Rotate each pair of indices once; return whether any entry was too large to be ignored."""
    a, epsilon, turned = both[: both.shape[1]], float(np.finfo(np.float64).eps), False
    least = epsilon * epsilon * float(np.abs(a).max(initial=0.0))
    for p, q in rounds:
        off, size = a[p, q], np.sqrt(np.abs(a[p, p] * a[q, q]))
        large = np.abs(off) > epsilon * size + least
        if not large.any():
            continue
        turned = True
        p, q, off = p[large], q[large], off[large]
        tau = (a[q, q] - a[p, p]) / (2.0 * off)
        t = np.where(tau < 0.0, -1.0, 1.0) / (np.abs(tau) + np.sqrt(1.0 + tau * tau))
        c = 1.0 / np.sqrt(1.0 + t * t)
        s = t * c
        left, right = both[:, p], both[:, q]
        both[:, p], both[:, q] = c * left - s * right, s * left + c * right
        c, s = c[:, None], s[:, None]
        left, right = a[p], a[q]
        a[p], a[q] = c * left - s * right, s * left + c * right
        a[p, q] = a[q, p] = 0.0
    return turned


def orthonormal(gram: Array, least: float) -> tuple[Array, list[int]]:
    """Return coefficients of an orthonormal basis of some vectors, by the products of these.

    The vectors are taken in order; one of which little is left by the vectors before it is dropped.
    """
    size = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    scaled = gram * scale[:, None] * scale
    basis, images = np.zeros((0, len(gram))), np.zeros((0, len(gram)))
    kept = list[int]()
    for number in np.flatnonzero(size > 0.0).tolist():
        vector = np.zeros(len(gram))
        vector[number] = 1.0
        for _ in range(2):
            vector = vector - _sum(basis, _sum(images.T, vector))
        image = _sum(scaled, vector)
        rest = float(_sum(image[:, None], vector)[0])
        if not rest > least:
            continue
        length = np.sqrt(rest)
        basis = np.vstack([basis, vector / length])
        images = np.vstack([images, image / length])
        kept.append(number)
    return basis.T * scale[:, None], kept


def _sum(rows: Array, weights: Array) -> Array:
    """Return the sum of weighted rows, added one after the other."""
    if not len(rows):
        return np.zeros(rows.shape[1])
    total: Array = np.add.accumulate(rows * weights[:, None], axis=0)[-1]
    return total
