"""The problems in Numba, as good users write them: loops over arrays with ghosts, fastmath."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numba
import numpy as np

from benchmarks.cases import Candidate
from benchmarks.peers.problems import (
    BUOYANCY,
    DU,
    DV,
    FEED,
    HALF,
    KILL,
    LAME,
    PLANES,
    SECOND,
    SHEAR,
    STEPS,
    TABLES,
    reach_of,
    values,
)
from benchmarks.references import Shape


@numba.njit(fastmath=True)
def _heat(v: Any, u: Any) -> None:
    tenth, six = u.dtype.type(0.1), u.dtype.type(6)
    for k in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            for i in range(1, u.shape[2] - 1):
                v[k, j, i] = u[k, j, i] + tenth * (
                    u[k - 1, j, i] + u[k + 1, j, i] + u[k, j - 1, i] + u[k, j + 1, i]
                    + u[k, j, i - 1] + u[k, j, i + 1] - six * u[k, j, i]
                )  # fmt: skip


@numba.njit(fastmath=True)
def _wave(new: Any, u: Any, m: Any, w: Any) -> None:
    w0, w1, w2, w3, w4 = w
    two = u.dtype.type(2)
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
                new[k, j, i] = two * u[k, j, i] - new[k, j, i] + m[k - 4, j - 4, i - 4] * total


@numba.njit(fastmath=True)
def _points27(y: Any, x: Any, w: Any) -> None:
    w0, w1, w2, w3 = w
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
def _different27(y: Any, x: Any, w: Any) -> None:
    for k in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            for i in range(1, x.shape[2] - 1):
                y[k - 1, j - 1, i - 1] = (
                    w[0] * x[k - 1, j - 1, i - 1] + w[1] * x[k - 1, j - 1, i]
                    + w[2] * x[k - 1, j - 1, i + 1]
                    + w[3] * x[k - 1, j, i - 1] + w[4] * x[k - 1, j, i]
                    + w[5] * x[k - 1, j, i + 1]
                    + w[6] * x[k - 1, j + 1, i - 1] + w[7] * x[k - 1, j + 1, i]
                    + w[8] * x[k - 1, j + 1, i + 1]
                    + w[9] * x[k, j - 1, i - 1] + w[10] * x[k, j - 1, i]
                    + w[11] * x[k, j - 1, i + 1]
                    + w[12] * x[k, j, i - 1] + w[13] * x[k, j, i]
                    + w[14] * x[k, j, i + 1]
                    + w[15] * x[k, j + 1, i - 1] + w[16] * x[k, j + 1, i]
                    + w[17] * x[k, j + 1, i + 1]
                    + w[18] * x[k + 1, j - 1, i - 1] + w[19] * x[k + 1, j - 1, i]
                    + w[20] * x[k + 1, j - 1, i + 1]
                    + w[21] * x[k + 1, j, i - 1] + w[22] * x[k + 1, j, i]
                    + w[23] * x[k + 1, j, i + 1]
                    + w[24] * x[k + 1, j + 1, i - 1] + w[25] * x[k + 1, j + 1, i]
                    + w[26] * x[k + 1, j + 1, i + 1]
                )  # fmt: skip


@numba.njit(fastmath=True)
def _star13(y: Any, x: Any, w: Any) -> None:
    w0, w1, w2 = w
    for k in range(2, x.shape[0] - 2):
        for j in range(2, x.shape[1] - 2):
            for i in range(2, x.shape[2] - 2):
                y[k - 2, j - 2, i - 2] = (
                    w0 * x[k, j, i]
                    + w1 * (x[k - 1, j, i] + x[k + 1, j, i] + x[k, j - 1, i]
                            + x[k, j + 1, i] + x[k, j, i - 1] + x[k, j, i + 1])
                    + w2 * (x[k - 2, j, i] + x[k + 2, j, i] + x[k, j - 2, i]
                            + x[k, j + 2, i] + x[k, j, i - 2] + x[k, j, i + 2])
                )  # fmt: skip


@numba.njit(fastmath=True)
def _star25(y: Any, x: Any, w: Any) -> None:
    w0, w1, w2, w3, w4 = w
    for k in range(4, x.shape[0] - 4):
        for j in range(4, x.shape[1] - 4):
            for i in range(4, x.shape[2] - 4):
                y[k - 4, j - 4, i - 4] = (
                    w0 * x[k, j, i]
                    + w1 * (x[k - 1, j, i] + x[k + 1, j, i] + x[k, j - 1, i]
                            + x[k, j + 1, i] + x[k, j, i - 1] + x[k, j, i + 1])
                    + w2 * (x[k - 2, j, i] + x[k + 2, j, i] + x[k, j - 2, i]
                            + x[k, j + 2, i] + x[k, j, i - 2] + x[k, j, i + 2])
                    + w3 * (x[k - 3, j, i] + x[k + 3, j, i] + x[k, j - 3, i]
                            + x[k, j + 3, i] + x[k, j, i - 3] + x[k, j, i + 3])
                    + w4 * (x[k - 4, j, i] + x[k + 4, j, i] + x[k, j - 4, i]
                            + x[k, j + 4, i] + x[k, j, i - 4] + x[k, j, i + 4])
                )  # fmt: skip


@numba.njit(fastmath=True)
def _plane13(y: Any, x: Any, w: Any) -> None:
    w0, w1, w2, w3 = w
    for j in range(3, x.shape[0] - 3):
        for i in range(3, x.shape[1] - 3):
            y[j - 3, i - 3] = (
                w0 * x[j, i]
                + w1 * (x[j - 1, i] + x[j + 1, i] + x[j, i - 1] + x[j, i + 1])
                + w2 * (x[j - 2, i] + x[j + 2, i] + x[j, i - 2] + x[j, i + 2])
                + w3 * (x[j - 3, i] + x[j + 3, i] + x[j, i - 3] + x[j, i + 3])
            )  # fmt: skip


@numba.njit(fastmath=True)
def _gray_scott(p: Any, q: Any, u: Any, v: Any) -> None:
    ny, nx = u.shape
    one, four = u.dtype.type(1), u.dtype.type(4)
    du, dv = u.dtype.type(DU), u.dtype.type(DV)
    feed, lost = u.dtype.type(FEED), u.dtype.type(FEED + KILL)
    for a in (u, v):
        for i in range(nx):
            a[0, i], a[ny - 1, i] = a[ny - 2, i], a[1, i]
        for j in range(ny):
            a[j, 0], a[j, nx - 1] = a[j, nx - 2], a[j, 1]
    for j in range(1, ny - 1):
        for i in range(1, nx - 1):
            rate = u[j, i] * v[j, i] * v[j, i]
            lu = u[j - 1, i] + u[j + 1, i] + u[j, i - 1] + u[j, i + 1] - four * u[j, i]
            lv = v[j - 1, i] + v[j + 1, i] + v[j, i - 1] + v[j, i + 1] - four * v[j, i]
            p[j, i] = u[j, i] + du * lu - rate + feed * (one - u[j, i])
            q[j, i] = v[j, i] + dv * lv + rate - lost * v[j, i]


@numba.njit(fastmath=True)
def _varying(v: Any, u: Any, c: Any) -> None:
    part = u.dtype.type(0.05)
    for k in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            for i in range(1, u.shape[2] - 1):
                here, own = u[k, j, i], c[k, j, i]
                v[k, j, i] = here + part * (
                    (own + c[k - 1, j, i]) * (u[k - 1, j, i] - here)
                    + (own + c[k + 1, j, i]) * (u[k + 1, j, i] - here)
                    + (own + c[k, j - 1, i]) * (u[k, j - 1, i] - here)
                    + (own + c[k, j + 1, i]) * (u[k, j + 1, i] - here)
                    + (own + c[k, j, i - 1]) * (u[k, j, i - 1] - here)
                    + (own + c[k, j, i + 1]) * (u[k, j, i + 1] - here)
                )  # fmt: skip


@numba.njit(fastmath=True)
def _acoustic(p: Any, vz: Any, vy: Any, vx: Any, m: Any, b: Any, w: Any) -> None:
    n, f = w
    for k in range(2, p.shape[0] - 2):
        for j in range(2, p.shape[1] - 2):
            for i in range(2, p.shape[2] - 2):
                vz[k, j, i] -= b * (
                    n * (p[k + 1, j, i] - p[k, j, i]) + f * (p[k + 2, j, i] - p[k - 1, j, i])
                )
            for i in range(2, p.shape[2] - 2):
                vy[k, j, i] -= b * (
                    n * (p[k, j + 1, i] - p[k, j, i]) + f * (p[k, j + 2, i] - p[k, j - 1, i])
                )
            for i in range(2, p.shape[2] - 2):
                vx[k, j, i] -= b * (
                    n * (p[k, j, i + 1] - p[k, j, i]) + f * (p[k, j, i + 2] - p[k, j, i - 1])
                )
    for k in range(2, p.shape[0] - 2):
        for j in range(2, p.shape[1] - 2):
            for i in range(2, p.shape[2] - 2):
                p[k, j, i] -= m[k - 2, j - 2, i - 2] * (
                    n * (vz[k, j, i] - vz[k - 1, j, i]) + f * (vz[k + 1, j, i] - vz[k - 2, j, i])
                    + n * (vy[k, j, i] - vy[k, j - 1, i]) + f * (vy[k, j + 1, i] - vy[k, j - 2, i])
                    + n * (vx[k, j, i] - vx[k, j, i - 1]) + f * (vx[k, j, i + 1] - vx[k, j, i - 2])
                )  # fmt: skip


@numba.njit(inline="always")
def _ahead(a: Any, k: int, j: int, i: int, dk: int, dj: int, di: int, w: Any) -> Any:
    n, f = w
    return n * (a[k + dk, j + dj, i + di] - a[k, j, i]) + f * (
        a[k + 2 * dk, j + 2 * dj, i + 2 * di] - a[k - dk, j - dj, i - di]
    )


@numba.njit(inline="always")
def _back(a: Any, k: int, j: int, i: int, dk: int, dj: int, di: int, w: Any) -> Any:
    return _ahead(a, k - dk, j - dj, i - di, dk, dj, di, w)


@numba.njit(fastmath=True)
def _elastic(
    vz: Any, vy: Any, vx: Any, szz: Any, syy: Any, sxx: Any, szy: Any, szx: Any, syx: Any,
    material: Any, w: Any,
) -> None:  # fmt: skip
    b, lame, shear = material
    nz, ny, nx = vz.shape
    for k in range(2, nz - 2):
        for j in range(2, ny - 2):
            for i in range(2, nx - 2):
                force = _ahead(szz, k, j, i, 1, 0, 0, w) + _back(szy, k, j, i, 0, 1, 0, w)
                vz[k, j, i] += b * (force + _back(szx, k, j, i, 0, 0, 1, w))
            for i in range(2, nx - 2):
                force = _back(szy, k, j, i, 1, 0, 0, w) + _ahead(syy, k, j, i, 0, 1, 0, w)
                vy[k, j, i] += b * (force + _back(syx, k, j, i, 0, 0, 1, w))
            for i in range(2, nx - 2):
                force = _back(szx, k, j, i, 1, 0, 0, w) + _back(syx, k, j, i, 0, 1, 0, w)
                vx[k, j, i] += b * (force + _ahead(sxx, k, j, i, 0, 0, 1, w))
    for k in range(2, nz - 2):
        for j in range(2, ny - 2):
            for i in range(2, nx - 2):
                ez = _back(vz, k, j, i, 1, 0, 0, w)
                ey = _back(vy, k, j, i, 0, 1, 0, w)
                ex = _back(vx, k, j, i, 0, 0, 1, w)
                pressure = lame * (ez + ey + ex)
                szz[k, j, i] += pressure + (shear + shear) * ez
                syy[k, j, i] += pressure + (shear + shear) * ey
                sxx[k, j, i] += pressure + (shear + shear) * ex
            for i in range(2, nx - 2):
                sheared = _ahead(vz, k, j, i, 0, 1, 0, w) + _ahead(vy, k, j, i, 1, 0, 0, w)
                szy[k, j, i] += shear * sheared
            for i in range(2, nx - 2):
                sheared = _ahead(vz, k, j, i, 0, 0, 1, w) + _ahead(vx, k, j, i, 1, 0, 0, w)
                szx[k, j, i] += shear * sheared
            for i in range(2, nx - 2):
                sheared = _ahead(vy, k, j, i, 0, 0, 1, w) + _ahead(vx, k, j, i, 0, 1, 0, w)
                syx[k, j, i] += shear * sheared


PRODUCTS: Mapping[str, tuple[Any, Sequence[float]]] = MappingProxyType(
    {
        "points27": (_points27, PLANES),
        "different27": (_different27, tuple(TABLES["different27"].values())),
        "star13": (_star13, (3 * SECOND[2][0], *SECOND[2][1:])),
        "star25": (_star25, (3 * SECOND[4][0], *SECOND[4][1:])),
        "plane13": (_plane13, (2 * SECOND[3][0], *SECOND[3][1:])),
    }
)
"""The loop of each product, and the weights that it takes."""


def _typed(weights: Sequence[float], dtype: Any) -> tuple[Any, ...]:
    """Return weights of a type: an integer or another float would make all arithmetic double."""
    return tuple(map(np.dtype(dtype).type, weights))


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
    u, new, weights = np.pad(u, 4), np.pad(new, 4), _typed(PRODUCTS["star25"][1], dtype)

    def call() -> None:
        for _ in range(STEPS // 2):
            _wave(new, u, m, weights)
            _wave(u, new, m, weights)

    return Candidate(call, lambda: u[4:-4, 4:-4, 4:-4])


def product(name: str, shape: Shape, dtype: Any) -> Candidate:
    """Return products."""
    multiply, weights = PRODUCTS[name]
    x, y = values(shape, dtype, 2)
    x, weights = np.pad(x, reach_of(TABLES[name])), _typed(weights, dtype)

    def call() -> None:
        for _ in range(STEPS):
            multiply(y, x, weights)

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


def varying(shape: Shape, dtype: Any) -> Candidate:
    """Return steps from one array to the other."""
    u, c = values(shape, dtype, 2)
    u, c = np.pad(u, 1), np.pad(c, 1, mode="edge")
    v = u.copy()

    def call() -> None:
        for _ in range(STEPS // 2):
            _varying(v, u, c)
            _varying(u, v, c)

    return Candidate(call, lambda: u[1:-1, 1:-1, 1:-1])


def acoustic(shape: Shape, dtype: Any) -> Candidate:
    """Return steps of pressure and velocities."""
    *fields, m = values(shape, dtype, 5)
    fields = [np.pad(field, 2) for field in fields]
    step: Any = _acoustic
    (b,), w = _typed((BUOYANCY,), dtype), _typed((HALF[1], HALF[2]), dtype)

    def call() -> None:
        for _ in range(STEPS):
            step(*fields, m, b, w)

    return Candidate(call, lambda: fields[0][2:-2, 2:-2, 2:-2])


def elastic(shape: Shape, dtype: Any) -> Candidate:
    """Return steps of velocities and stresses."""
    fields = [np.pad(field, 2) for field in values(shape, dtype, 9)]
    step: Any = _elastic
    material, w = _typed((BUOYANCY, LAME, SHEAR), dtype), _typed((HALF[1], HALF[2]), dtype)

    def call() -> None:
        for _ in range(STEPS):
            step(*fields, material, w)

    return Candidate(call, lambda: fields[0][2:-2, 2:-2, 2:-2])
