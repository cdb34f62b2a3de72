"""Time our Fortran references against each other and against the memory.

``python -m benchmarks.references [--json FILE] [CASE ...]`` prints, for each build of each version,
the time of a point and its ratio to that of a triad on arrays of as many doubles, timed in the same
rounds.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
from scipy import sparse

from apps import commands
from benchmarks import fortran, timing
from benchmarks.fortran import Array, Call

Shape = tuple[int, ...]


def field(shape: Shape, ghosts: int = 0, seed: int = 1) -> Array:
    """Return random numbers in [0, 1) surrounded by ghosts that hold zeros."""
    return fortran.aligned(np.pad(np.random.default_rng(seed).random(shape), ghosts))


def operator27(shape: Shape) -> sparse.csr_array:
    """Return the 27-point operator as a matrix: 27 I less a product of three sums of three.

    Examples
    --------
    >>> operator27((1, 1, 3)).toarray()
    array([[26., -1.,  0.],
           [-1., 26., -1.],
           [ 0., -1., 26.]])
    """
    sums = [sparse.diags_array([1.0] * 3, offsets=(-1, 0, 1), shape=(n, n)) for n in shape]
    near = sparse.kron(sparse.kron(sums[0], sums[1]), sums[2])
    matrix = sparse.csr_array(27 * sparse.eye_array(math.prod(shape)) - near)
    matrix.sort_indices()
    return matrix


def spmv27(shape: Shape) -> dict[str, Call]:
    return fortran.variants(fortran.spmv27, field(shape, 1), field(shape))


def symgs27(shape: Shape) -> dict[str, Call]:
    return fortran.variants(fortran.symgs27, field(shape), field(shape, 1))


def symgs_csr(shape: Shape) -> dict[str, Call]:
    matrix = operator27(shape)
    indptr, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    vectors = matrix.diagonal(), field(shape).ravel(), field(shape).ravel()
    data = indptr, indices, matrix.data, *vectors
    return fortran.variants(fortran.symgs_csr, *data, versions=("natural",))


def spmv7(shape: Shape) -> dict[str, Call]:
    taps = [field(shape) for _ in range(7)]
    return fortran.variants(fortran.spmv7, taps, field(shape, 1), field(shape))


def jacobi5(shape: Shape) -> dict[str, Call]:
    return fortran.variants(fortran.jacobi5, field(shape), field(shape, 1), field(shape))


def triad(shape: Shape) -> dict[str, Call]:
    data = 3.0, field(shape), field(shape), field(shape)
    return fortran.variants(fortran.triad, *data, versions=("natural",))


CASES: Mapping[str, tuple[Callable[[Shape], dict[str, Call]], Shape]] = MappingProxyType(
    {
        "spmv27-128": (spmv27, (128, 128, 128)),
        "spmv27-256": (spmv27, (256, 256, 256)),
        "symgs27-104": (symgs27, (104, 104, 104)),
        "symgs_csr-104": (symgs_csr, (104, 104, 104)),
        "spmv7-256": (spmv7, (256, 256, 256)),
        "jacobi5-2048": (jacobi5, (2048, 2048)),
    }
)
"""A function that binds a reference, and its size."""

COLUMNS = ("version, build", "min ms", "median ms", "min ns/point", "ns/point", "over triad")


def run(name: str, rounds: int) -> tuple[timing.Timing, ...]:
    """Time all variants of a case, and last a triad of the same size."""
    bind, shape = CASES[name]
    return timing.measure({**bind(shape), "triad": triad(shape)["natural O3"]}, rounds)


def rows(timings: tuple[timing.Timing, ...], points: int) -> list[list[str]]:
    """Return the cells of each variant under `COLUMNS`."""
    return [
        [
            one.name,
            f"{1e3 * one.minimum:.2f}",
            f"{1e3 * one.median:.2f}",
            f"{1e9 * one.minimum / points:.2f}",
            f"{1e9 * one.median / points:.2f}",
            f"{one.over(timings[-1]).median:.2f}",
        ]
        for one in timings
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the Fortran references.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="write all samples to this file")
    options = parser.parse_args()
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    results: dict[str, timing.Json] = {}
    for name in options.cases or CASES:
        timings = run(name, options.rounds)
        results[name] = {one.name: one.samples for one in timings}
        print(f"{name}\n{timing.table(COLUMNS, rows(timings, math.prod(CASES[name][1])))}\n")
    if options.json:
        timing.write_json(options.json, {"machine": timing.machine(), "seconds": results})


if __name__ == "__main__":
    commands.run(main)
