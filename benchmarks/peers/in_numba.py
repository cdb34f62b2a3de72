"""The problems in Numba, as good users write them: loops over arrays with ghosts, fastmath."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from benchmarks.cases import Candidate
from benchmarks.peers.problems import (
    DU,
    DV,
    FEED,
    KILL,
    PLANES,
    SECOND,
    STEPS,
    values,
)
from benchmarks.references import Shape

W = np.array(SECOND[4])


@numba.njit(fastmath=True)
def _heat(v: Any, u: Any) -> None:
    tenth = u.dtype.type(0.1)
    for k in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            for i in range(1, u.shape[2] - 1):
                v[k, j, i] = u[k, j, i] + tenth * (
                    u[k - 1, j, i] + u[k + 1, j, i] + u[k, j - 1, i] + u[k, j + 1, i]
                    + u[k, j, i - 1] + u[k, j, i + 1] - 6 * u[k, j, i]
                )  # fmt: skip


@numba.njit(fastmath=True)
def _wave(new: Any, u: Any, m: Any, w: Any) -> None:
    w0, w1, w2, w3, w4 = 3 * w[0], w[1], w[2], w[3], w[4]
    for k in range(4, u.shape[0] - 4):
        for j in range(4, u.shape[1] - 4):
            for i in range(4, u.shape[2] - 4):
                total = (
                    w0 * u[k, j, i]
                    + w1 * (u[k - 1, j, i] + u[k + 1, j, i] + u[k, j - 1, i] + u[k, j + 1, i]
                            + u[k, j, i - 1] + u[k, j, i + 1])
                    + w2 * (u[k - 2, j, i] + u[k + 2, j, i] + u[k, j - 2, i] + u[k, j + 2, i]
                            + u[k, j, i - 2] + u[k, j, i + 2])
                    + w3 * (u[k - 3, j, i] + u[k + 3, j, i] + u[k, j - 3, i] + u[k, j + 3, i]
                            + u[k, j, i - 3] + u[k, j, i + 3])
                    + w4 * (u[k - 4, j, i] + u[k + 4, j, i] + u[k, j - 4, i] + u[k, j + 4, i]
                            + u[k, j, i - 4] + u[k, j, i + 4])
                )  # fmt: skip
                new[k, j, i] = 2 * u[k, j, i] - new[k, j, i] + m[k - 4, j - 4, i - 4] * total


@numba.njit(fastmath=True)
def _points27(y: Any, x: Any, w: Any) -> None:
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    for k in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            for i in range(1, x.shape[2] - 1):
                faces = (
                    x[k - 1, j, i] + x[k + 1, j, i] + x[k, j - 1, i]
                    + x[k, j + 1, i] + x[k, j, i - 1] + x[k, j, i + 1]
                )  # fmt: skip
                edges = (
                    x[k - 1, j - 1, i] + x[k - 1, j + 1, i] + x[k + 1, j - 1, i]
                    + x[k + 1, j + 1, i] + x[k - 1, j, i - 1] + x[k - 1, j, i + 1]
                    + x[k + 1, j, i - 1] + x[k + 1, j, i + 1] + x[k, j - 1, i - 1]
                    + x[k, j - 1, i + 1] + x[k, j + 1, i - 1] + x[k, j + 1, i + 1]
                )  # fmt: skip
                corners = (
                    x[k - 1, j - 1, i - 1] + x[k - 1, j - 1, i + 1] + x[k - 1, j + 1, i - 1]
                    + x[k - 1, j + 1, i + 1] + x[k + 1, j - 1, i - 1] + x[k + 1, j - 1, i + 1]
                    + x[k + 1, j + 1, i - 1] + x[k + 1, j + 1, i + 1]
                )  # fmt: skip
                y[k - 1, j - 1, i - 1] = w0 * x[k, j, i] + w1 * faces + w2 * edges + w3 * corners


@numba.njit(fastmath=True)
def _gray_scott(p: Any, q: Any, u: Any, v: Any) -> None:
    ny, nx = u.shape
    for a in (u, v):
        for i in range(nx):
            a[0, i], a[ny - 1, i] = a[ny - 2, i], a[1, i]
        for j in range(ny):
            a[j, 0], a[j, nx - 1] = a[j, nx - 2], a[j, 1]
    for j in range(1, ny - 1):
        for i in range(1, nx - 1):
            rate = u[j, i] * v[j, i] * v[j, i]
            lu = u[j - 1, i] + u[j + 1, i] + u[j, i - 1] + u[j, i + 1] - 4 * u[j, i]
            lv = v[j - 1, i] + v[j + 1, i] + v[j, i - 1] + v[j, i + 1] - 4 * v[j, i]
            p[j, i] = u[j, i] + DU * lu - rate + FEED * (1 - u[j, i])
            q[j, i] = v[j, i] + DV * lv + rate - (FEED + KILL) * v[j, i]


def heat(shape: Shape, dtype: Any) -> Candidate:
    """Return steps from one array to the other."""
    u = np.pad(values(shape, dtype, 1)[0], 1)
    v = u.copy()

    def call() -> None:
        for _ in range(STEPS // 2):
            _heat(v, u)
            _heat(u, v)

    return Candidate(call, lambda: u[1:-1, 1:-1, 1:-1])


def wave(shape: Shape, dtype: Any) -> Candidate:
    """Return leapfrog steps."""
    u, new, m = values(shape, dtype, 3)
    u, new, weights = np.pad(u, 4), np.pad(new, 4), W.astype(dtype)

    def call() -> None:
        for _ in range(STEPS // 2):
            _wave(new, u, m, weights)
            _wave(u, new, m, weights)

    return Candidate(call, lambda: u[4:-4, 4:-4, 4:-4])


def points27(shape: Shape, dtype: Any) -> Candidate:
    """Return products."""
    x, y = values(shape, dtype, 2)
    x, weights = np.pad(x, 1), np.array(PLANES, dtype)

    def call() -> None:
        for _ in range(STEPS):
            _points27(y, x, weights)

    return Candidate(call, lambda: y)


def gray_scott(shape: Shape, dtype: Any) -> Candidate:
    """Return steps from two arrays to the other two."""
    u, v = (np.pad(a, 1) for a in values(shape, dtype, 2))
    p, q = u.copy(), v.copy()

    def call() -> None:
        for _ in range(STEPS // 2):
            _gray_scott(p, q, u, v)
            _gray_scott(u, v, p, q)

    return Candidate(call, lambda: u[1:-1, 1:-1])
