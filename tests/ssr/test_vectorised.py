"""Every loop that may be vectorised is, in the kernels that are benchmarked."""

from __future__ import annotations

import ast
import re

import pytest

from benchmarks import operators
from benchmarks.vectors import vector_loops
from ssr.build.reduced import KernelCompiler
from ssr.runtime import target
from tests.ssr import plain

SMALL = """\
from numba.types import f8, i8

from ssr.runtime.intrinsics import ld, st


def kernel(x, y, z, places, n):
    for i in range(n):
        st(y, i, ld(x, i) + ld(x, i + 1))
    for i in range(n):
        st(z, i, ld(z, i - 1) * ld(x, i))
    for clear in range(n):
        st(y, n + clear, 0.0)
    for i in range(n):
        st(z, n + i, 0.0)
    for i in range(n):
        st(x, i, ld(z, ld(places, i)))
    return 0


SIGNATURE = i8(f8[::1], f8[::1], f8[::1], i8[::1], i8)
"""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", list(operators.PROGRAMS))
def test_loops_without_dependences_are_vectorised(name: str, dtype: str) -> None:
    source = plain.source(operators.PROGRAMS[name](), dtype)
    loops = vector_loops(source, KernelCompiler)
    lines = source.splitlines()
    scalar = [lines[loop.line - 1].strip() for loop in loops if not loop.vectorised]
    assert len(loops) - len(scalar) == expected(source), scalar
    assert not any(loop.gathers for loop in loops)


@pytest.mark.parametrize(("dtype", "bits"), [("float64", 64), ("float32", 32)])
def test_a_sweep_along_the_line_is_one_scalar_loop(dtype: str, bits: int) -> None:
    source = plain.source(operators.gauss_seidel5(), dtype)
    loops = vector_loops(source, KernelCompiler)
    assert [loop.how for loop in loops].count("scalar") == len(loops) - expected(source) == 1
    assert all(loop.bits >= 4 * bits // 2 for loop in loops if loop.vectorised)


def test_loops_are_told_apart() -> None:
    loops = vector_loops(SMALL, KernelCompiler)
    assert [loop.how for loop in loops] == ["vector", "scalar", "fill", "vector"]
    assert [loop.gathers for loop in loops] == [False, False, False, target.current().masks]
    assert [SMALL.splitlines()[loop.line - 1].strip()[:5] for loop in loops] == ["for i"] * 4


def expected(source: str) -> int:
    """Return how many innermost loops the compiler expects to be vectorised."""
    found = re.search(r"^META = (.*)$", source, re.MULTILINE)
    assert found
    return int(ast.literal_eval(found[1])["loops"])
