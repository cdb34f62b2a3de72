"""Line buffers on a kernel's stack hold what those of its caller would."""

from __future__ import annotations

import hashlib
import linecache
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.build import machine, stacked

KERNEL = """\
from numba.types import f4, f8, i8

from ssr.runtime.intrinsics import ld, st

META = {{"buffers": {buffers}}}


def kernel(x, a, b):
    count = x.shape[0]
    for i in range(count):
        st(a, i, ld(x, i) + ld(x, i))
    for i in range(count):
        st(b, count - 1 - i, ld(a, i))
    for i in range(count):
        st(x, i, ld(a, i) - ld(b, i))
    return 0


SIGNATURE = i8({kind}[::1], {kind}[::1], {kind}[::1])
"""


def compiled(kind: str, buffers: list[tuple[str, int]], *, overlapping: bool = False) -> Any:
    """Return a kernel of two lines, of which some are buffers."""
    text = KERNEL.format(kind=kind, buffers=buffers)
    file = f"<stacked {hashlib.sha256(text.encode()).hexdigest()}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    module: dict[str, Any] = {"__name__": file}
    exec(compile(text, file, "exec"), module)
    kernel = FunctionType(module["kernel"].__code__, module)
    return machine.jit(module["SIGNATURE"], overlapping=overlapping)(kernel)


@pytest.mark.skipif(not machine.is_known(), reason="Numba's own language is not ours.")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_buffers_that_fit_and_others(dtype: str) -> None:
    """The caller's memory is used for a buffer that is no buffer of the kernel, or too long."""
    kernel = compiled("f8" if dtype == "float64" else "f4", [("b", 0)])
    most = stacked.ROOM // np.dtype(dtype).itemsize
    for count in (0, 1, 7, most - 1, most, most + 1, 3 * most):
        x = np.arange(count, dtype=dtype) ** 2
        a, b = np.full((2, count), -1.0, dtype)
        expected = 2 * (x - x[::-1])
        doubled = 2 * x
        assert kernel(x, a, b) == 0
        np.testing.assert_array_equal(x, expected)
        np.testing.assert_array_equal(a, doubled)
        np.testing.assert_array_equal(b, doubled[::-1] if count > most else np.full(count, -1.0))


@pytest.mark.skipif(not machine.is_known(), reason="Numba's own language is not ours.")
def test_kernels_of_many_buffers_and_of_the_debug_build() -> None:
    many = [("a", 0), *((f"b{n}", 0) for n in range(stacked.MOST))]
    for kernel in (compiled("f8", many), compiled("f8", [("a", 0)], overlapping=True)):
        x, (a, b) = np.arange(9.0), np.zeros((2, 9))
        kernel(x, a, b)
        np.testing.assert_array_equal(a, 2.0 * np.arange(9.0))
        np.testing.assert_array_equal(x, a - b)


n, m = ssr.sizes("n m")
plane = ssr.Space(n, m)
near = {(j, i): 1.0 / (2 + abs(j) + 2 * abs(i)) for j in (-1, 0, 1) for i in (-1, 0, 1)}
A = ssr.stencil(plane, plane, {**near, (0, 0): 3.0}, outside="drop")


@ssr.program(x=plane, r=plane)
def sweep(x: Any, r: Any) -> None:
    x[:] = A.tril().solve(r - A.triu(1) @ x)
    x[:] = A.triu().solve(r - A.tril(-1) @ x)


@pytest.mark.parametrize("width", [5, 640, 660, 672, 700, 2000])
def test_lines_of_any_length(width: int) -> None:
    """A sweep that keeps lines has the bits that it has on lines of another length."""
    rng = np.random.default_rng(3)
    x, r = rng.standard_normal((2, 4, width))
    expected = x.copy()
    matrix = A.bind(n=4, m=width).to_scipy().toarray() if width < 1000 else None
    sweep(expected, r)
    if matrix is not None:
        lower, upper = np.tril(matrix), np.triu(matrix)
        y = np.linalg.solve(lower, r.ravel() - np.triu(matrix, 1) @ x.ravel())
        y = np.linalg.solve(upper, r.ravel() - np.tril(matrix, -1) @ y)
        np.testing.assert_allclose(expected.ravel(), y, rtol=1e-12, atol=1e-12)
    again = np.empty((4, width + 3))[:, 1:-2]
    again[:] = x
    sweep(again, r)
    np.testing.assert_array_equal(again, expected)
