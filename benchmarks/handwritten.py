"""Two kernels written by hand for Numba, with ordinary indexing, to compare start-up times with.

As in the Fortran references, x has a layer of ghosts that hold zeros; the other arrays have none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from numba import njit

Array = Any


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator, unused-ignore]
def jacobi5(y: Array, x: Array, b: Array) -> None:
    for j in range(y.shape[0]):
        for i in range(y.shape[1]):
            near = x[j, i + 1] + x[j + 1, i] + x[j + 1, i + 2] + x[j + 2, i + 1]
            y[j, i] = 0.25 * (b[j, i] + near)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator, unused-ignore]
def spmv27(y: Array, x: Array) -> None:
    for k in range(y.shape[0]):
        for j in range(y.shape[1]):
            for i in range(y.shape[2]):
                below = (
                    (x[k, j, i] + x[k, j, i + 1] + x[k, j, i + 2])
                    + (x[k, j + 1, i] + x[k, j + 1, i + 1] + x[k, j + 1, i + 2])
                    + (x[k, j + 2, i] + x[k, j + 2, i + 1] + x[k, j + 2, i + 2])
                )
                beside = (
                    (x[k + 1, j, i] + x[k + 1, j, i + 1] + x[k + 1, j, i + 2])
                    + (x[k + 1, j + 1, i] + x[k + 1, j + 1, i + 2])
                    + (x[k + 1, j + 2, i] + x[k + 1, j + 2, i + 1] + x[k + 1, j + 2, i + 2])
                )
                above = (
                    (x[k + 2, j, i] + x[k + 2, j, i + 1] + x[k + 2, j, i + 2])
                    + (x[k + 2, j + 1, i] + x[k + 2, j + 1, i + 1] + x[k + 2, j + 1, i + 2])
                    + (x[k + 2, j + 2, i] + x[k + 2, j + 2, i + 1] + x[k + 2, j + 2, i + 2])
                )
                y[k, j, i] = 26.0 * x[k + 1, j + 1, i + 1] - below - beside - above


KERNELS: Mapping[str, Callable[..., None]] = MappingProxyType(
    {"jacobi5": jacobi5, "spmv27": spmv27}
)
