"""Run kernels as plain Python without compiling them, and compare results with a bound.

Checked sources are kept in the cache on disk, so a program is lowered once for all tests.
"""

from dataclasses import replace
from typing import Any

import numpy as np

import ssr
from ssr.spaces.space import Box

Array = np.ndarray[Any, Any]


def run(program: ssr.Program, *args: Any, boxes: tuple[Box, ...] | None = None) -> Any:
    """Run a program's emitted source as checked Python; Numba takes no part."""
    return program.run_plain(*args, boxes=boxes)


def source(program: ssr.Program, dtype: str = "float64") -> str:
    """Return the emitted source of a program, not compiled."""
    return program.explain("source", dtype)


def uncached(program: ssr.Program) -> ssr.Program:
    """Return a program whose kernels are not kept on disk."""
    return program.with_options(replace(program.options, cache=False))


def variant(program: ssr.Program, **options: bool) -> ssr.Program:
    """Return a program with other choices of the compiler."""
    return program.with_options(ssr.Options(**options))


def apply(matrix: ssr.Matrix, x: Array, shape: tuple[int, ...]) -> Array:
    """Return ``matrix @ x``, by plain Python; memory nobody wrote stays NaN."""
    y = np.full(shape, np.nan, x.dtype)
    run(eager(matrix, "apply"), y, x)
    return y


def solve(matrix: ssr.Matrix, b: Array) -> Array:
    """Return ``matrix.solve(b)``, by plain Python."""
    x = np.full(b.shape, np.nan, b.dtype)
    run(eager(matrix, "solve"), x, b)
    return x


def eager(matrix: ssr.Matrix, what: Any, **options: bool) -> ssr.Program:
    """Return the program behind an operation on arrays, one object for each matrix."""
    programs = matrix.__dict__.setdefault("_plain_programs", {})
    key = (what, *options.items())
    if key not in programs:
        programs[key] = variant(matrix.program(what), **options)
    return programs[key]


def same(a: Array, b: Array) -> bool:
    """Whether two arrays hold the same bits (all NaN are one)."""
    return (
        a.dtype == b.dtype
        and np.array_equal(a, b, equal_nan=True)
        and np.array_equal(np.signbit(a[a == 0]), np.signbit(b[b == 0]))
    )


def check_same(a: Array, b: Array) -> None:
    """Fail if two arrays do not hold the same bits."""
    assert a.shape == b.shape
    assert same(a, b), f"bits differ:\n{a}\n{b}\n{a - b}"


def check_close(actual: Array, expected: Array, scale: Array | float, relative: float) -> None:
    """Fail if two arrays differ by more than a fraction of a scale, element by element."""
    error = np.abs(actual.ravel().astype(float) - np.ravel(expected))
    bound = relative * np.maximum(np.ravel(scale), np.finfo(float).tiny)
    assert np.all(error <= bound), f"off by {np.nanmax(error)}:\n{actual}\n{expected}"


def sweep(matrix: ssr.Matrix, direction: str) -> ssr.Program:
    """Return a Gauss-Seidel sweep in place."""

    def forward(x: Any, b: Any) -> None:
        x[:] = matrix.tril().solve(b - matrix.triu(1) @ x)

    def backward(x: Any, b: Any) -> None:
        x[:] = matrix.triu().solve(b - matrix.tril(-1) @ x)

    body = forward if direction == "forward" else backward
    return ssr.program(x=matrix.rows, b=matrix.rows)(body)


def swept(program: ssr.Program, x: Array, b: Array, **more: Any) -> Array:
    """Return what a sweep makes of ``x``, which is left alone."""
    result = x.copy()
    run(program, result, b, **more)
    return result
