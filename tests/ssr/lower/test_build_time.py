"""Lowering asks isl in proportion to the number of statements: calls are counted, not seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import ssr
from ssr.compiler.pipeline import lower
from ssr.points import sets

ny, nx = ssr.sizes("ny nx")
cells = ssr.Space(ny, nx)
L = ssr.stencil(
    cells, cells, {(0, 0): -4, (-1, 0): 1, (0, -1): 1, (0, 1): 1, (1, 0): 1}, outside="zero"
)


def chain(count: int) -> ssr.Program:
    """Return stages of a stencil and a function of its values, each of the one before."""

    @ssr.program(u=cells, v=cells)
    def stages(u: Any, v: Any) -> None:
        for _ in range(count):
            s = L @ u
            u = s / (1.0 + s * s)
        v[:] = u

    return stages


def jacobi(count: int) -> ssr.Program:
    """Return damped Jacobi steps on one field."""

    @ssr.program(u=cells, b=cells)
    def steps(u: Any, b: Any) -> None:
        for _ in range(count):
            u[:] = u + 0.2 * (b + L @ u)

    return steps


def work(program: ssr.Program) -> tuple[int, int]:
    """Return the calls of functions on sets that lower a program, and the lines of its source."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename == sets.__file__

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        source = lower(program.ir, program.options, "float64", "program").source
    finally:
        sys.setprofile(before)
    return calls, len(source.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("make", [chain, jacobi])
def test_lowering_is_linear_in_statements(make: Callable[[int], ssr.Program]) -> None:
    work(make(8))  # fills the caches
    few, more, many = (work(make(count)) for count in (8, 16, 32))
    calls, lines = ((c - b) / (b - a) for a, b, c in zip(few, more, many, strict=True))
    assert calls < 2.2  # 2 if linear, 4 if quadratic
    assert lines < 2.2
