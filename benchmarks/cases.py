"""The work that is timed: our kernels, the candidates they are compared with, and the goals.

Ours run on compact arrays without ghosts, the Fortran references on arrays padded with ghosts. Each
candidate has its own arrays, so that none finds its data in a cache because another one has just
read them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

import ssr
from benchmarks import fortran, operators
from benchmarks.fortran import Array, Call, Version
from benchmarks.references import Shape, field, operator27

COUNTED = ("O3", "Ofast")
"""The builds of a reference of which the better one counts; others are only printed."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A call to be timed, and a function that returns its result."""

    call: Callable[[], object]
    result: Callable[[], Array]


@dataclass(frozen=True, slots=True)
class Case:
    """One piece of work on arrays of one shape.

    ``bind`` makes the candidates, ours first, under the names ``ours``, ``natural O3`` and so on.
    ``moved`` is the number of bytes that must be moved for a point; it includes the cache line that
    a store fills if nothing has read it. ``goals`` limits ours / other for ``natural``, ``tuned``
    (the faster of two builds) and further candidates by name. ``count`` returns the number of
    points that are made, if that is not the number of points of the shape. Results differ from ours
    by less than the ``tolerance``, relative to the largest value.
    """

    title: str
    bind: Callable[[Shape], dict[str, Candidate]]
    shape: Shape
    small: Shape
    moved: int
    goals: Mapping[str, float]
    count: Callable[[Shape], int] = math.prod
    tolerance: float = 1e-12

    def sized(self, quick: bool) -> Shape:
        """Return the shape to run; the small one if it must be quick."""
        return self.small if quick else self.shape


def variants(make: Callable[[Version, str], Candidate]) -> dict[str, Candidate]:
    """Return all builds of both versions of a reference, by names such as ``tuned O3``."""
    versions: tuple[Version, ...] = ("natural", "tuned")
    return {f"{v} {b}": make(v, b) for v in versions for b in fortran.BUILDS}


def inner(x: Array) -> Array:
    """Return a padded array without its ghosts."""
    return x[(slice(1, -1),) * x.ndim]


def spmv27(shape: Shape) -> dict[str, Candidate]:
    A = operators.twenty_seven_point()
    x, y = field(shape), np.empty(shape)

    def reference(version: Version, build: str) -> Candidate:
        x, y = field(shape, 1), np.empty(shape)
        return Candidate(fortran.spmv27(x, y, version=version, build=build), lambda: y)

    return {"ours": Candidate(lambda: A.apply(x, out=y), lambda: y), **variants(reference)}


def spmv27_scipy(shape: Shape) -> dict[str, Candidate]:
    matrix = operator27(shape)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    x = field(shape).ravel()

    def result() -> Array:
        product: Array = matrix @ x
        return product.reshape(shape)

    return {**spmv27(shape), "scipy CSR": Candidate(lambda: matrix @ x, result)}


def symgs27(shape: Shape) -> dict[str, Candidate]:
    forward, backward = operators.forward27(), operators.backward27()
    x, b = field(shape), field(shape, seed=2)

    def sweeps() -> None:
        forward(x, b)
        backward(x, b)

    def reference(version: Version, build: str) -> Candidate:
        x, b = field(shape, 1), field(shape, seed=2)
        return Candidate(fortran.symgs27(b, x, version=version, build=build), lambda: inner(x))

    return {
        "ours": Candidate(sweeps, lambda: x),
        **variants(reference),
        **{f"CSR {build}": symgs_csr(shape, build) for build in COUNTED},
    }


def symgs_csr(shape: Shape, build: str) -> Candidate:
    matrix = operator27(shape)
    indptr, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    x, b = field(shape).ravel(), field(shape, seed=2).ravel()
    data = indptr, indices, matrix.data, matrix.diagonal(), b, x
    return Candidate(fortran.symgs_csr(*data, build=build), lambda: x.reshape(shape))


def stored_spmv27(shape: Shape) -> dict[str, Candidate]:
    cells = ssr.Space(*shape)
    S = ssr.from_scipy(operator27(shape), rows=cells, cols=cells)
    x, y = field(shape), np.empty(shape)

    def reference(build: str) -> Candidate:
        matrix = operator27(shape)
        indptr, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        x, y = field(shape).ravel(), np.empty(shape).ravel()
        call = fortran.spmv_csr(indptr, indices, matrix.data, x, y, build=build)
        return Candidate(call, lambda: y.reshape(shape))

    builds = {f"CSR {build}": reference(build) for build in COUNTED}
    return {"ours": Candidate(lambda: S.apply(x, out=y), lambda: y), **builds}


def stored_symgs27(shape: Shape) -> dict[str, Candidate]:
    cells = ssr.Space(*shape)
    S = ssr.from_scipy(operator27(shape), rows=cells, cols=cells)
    x, b = field(shape), field(shape, seed=2)

    @ssr.program(x=cells, b=cells)
    def sweeps(x: Any, b: Any) -> None:
        x[:] = S.tril().solve(b - S.triu(1) @ x)
        x[:] = S.triu().solve(b - S.tril(-1) @ x)

    builds = {f"CSR {build}": symgs_csr(shape, build) for build in COUNTED}
    return {"ours": Candidate(lambda: sweeps(x, b), lambda: x), **builds}


def spmv7(shape: Shape) -> dict[str, Candidate]:
    taps = [field(shape, seed=seed) for seed in range(2, 9)]
    A = operators.seven_point().bind(**dict(zip(operators.COEFFICIENTS, taps, strict=True)))
    x, y = field(shape), np.empty(shape)

    def reference(version: Version, build: str) -> Candidate:
        x, y = field(shape, 1), np.empty(shape)
        return Candidate(fortran.spmv7(taps, x, y, version=version, build=build), lambda: y)

    return {"ours": Candidate(lambda: A.apply(x, out=y), lambda: y), **variants(reference)}


def jacobi5(shape: Shape) -> dict[str, Candidate]:
    sweep = operators.jacobi5()
    x, b, y = field(shape), field(shape, seed=2), np.empty(shape)

    def reference(version: Version, build: str) -> Candidate:
        x, b, y = field(shape, 1), field(shape, seed=2), np.empty(shape)
        return Candidate(fortran.jacobi5(b, x, y, version=version, build=build), lambda: y)

    return {"ours": Candidate(lambda: sweep(y, x, b), lambda: y), **variants(reference)}


def triad(shape: Shape) -> Call:
    """Return ``a = b + s c`` on arrays of a shape: 32 bytes a point, as `Case.moved` counts."""
    return fortran.triad(3.0, field(shape), field(shape, seed=2), np.empty(shape))


def disagreement(candidates: Mapping[str, Candidate], tolerance: float = 1e-12) -> dict[str, float]:
    """Call each candidate once; return its distance from ours, relative to the largest value.

    Raises
    ------
    ArithmeticError
        If a distance is larger than the tolerance.
    """
    for candidate in candidates.values():
        candidate.call()
    ours = candidates["ours"].result()
    scale = float(np.abs(ours).max())
    found = {
        name: float(np.abs(candidate.result() - ours).max()) / scale
        for name, candidate in candidates.items()
    }
    for name, distance in found.items():
        if not distance < tolerance:
            raise ArithmeticError(f"{name} differs from ours by {distance:.1e}.")
    return found


CASES: Mapping[str, Case] = MappingProxyType(
    {
        "spmv27-128": Case(
            "27-point SpMV, constant coefficients",
            *(spmv27_scipy, (128, 128, 128), (12, 13, 70), 24),
            goals={"natural": 0.60, "tuned": 1.10, "scipy CSR": 0.06},
        ),
        "spmv27-256": Case(
            "27-point SpMV, constant coefficients",
            *(spmv27, (256, 256, 256), (12, 40, 300), 24),
            goals={"natural": 0.60, "tuned": 1.10},
        ),
        "symgs27-104": Case(
            "27-point symmetric Gauss-Seidel, exact lexicographic order",
            *(symgs27, (104, 104, 104), (12, 13, 70), 48),
            goals={"natural": 0.45, "tuned": 1.10, "CSR": 0.10},
        ),
        "stored-spmv27-104": Case(
            "27-point SpMV, the matrix stored",
            *(stored_spmv27, (104, 104, 104), (12, 13, 70), 24 + 27 * 12 + 4),
            goals={"CSR": 1.05},
        ),
        "stored-symgs27-104": Case(
            "27-point symmetric Gauss-Seidel, the matrix stored",
            *(stored_symgs27, (104, 104, 104), (12, 13, 70), 48 + 2 * (27 * 12 + 8)),
            goals={"CSR": 1.10},
        ),
        "spmv7-256": Case(
            "7-point SpMV, seven fields of coefficients",
            *(spmv7, (256, 256, 256), (12, 13, 70), 80),
            goals={"natural": 1.05, "tuned": 1.05},
        ),
        "jacobi5-2048": Case(
            "5-point Jacobi sweep",
            *(jacobi5, (2048, 2048), (60, 70), 32),
            goals={"natural": 1.05, "tuned": 1.05},
        ),
    }
)


def builds(goal: str) -> tuple[str, ...]:
    """Return the candidates that a goal is about, of which the fastest counts.

    Examples
    --------
    >>> builds("tuned"), builds("scipy CSR")
    (('tuned O3', 'tuned Ofast'), ('scipy CSR',))
    """
    if goal in ("natural", "tuned", "CSR"):
        return tuple(f"{goal} {build}" for build in COUNTED)
    return (goal,)


def points(shape: Shape) -> int:
    """Return the number of points of a shape."""
    return math.prod(shape)
