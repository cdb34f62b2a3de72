"""Sums of sums: one chain where they are used once, values of their own where they are shared."""

from __future__ import annotations

from typing import Any

import numpy as np

import ssr
from ssr import ir

from .. import plain

line = ssr.Space(9)
A = ssr.stencil(line, line, {-1: 1.0, 0: -2.0, 1: 1.0}, outside="zero")


def sums(value: ir.Value) -> list[int]:
    """Return how many terms the sums of a value have."""
    return sorted(len(v.terms) for v in ir.walk(value) if isinstance(v, ir.Sum))


def test_a_sum_used_once_is_part_of_the_sum_around_it() -> None:
    @ssr.program(x=line, y=line, z=line)
    def p(x: Any, y: Any, z: Any) -> None:
        y[:] = z - (x - A @ x) + 3.0

    (step,) = p.ir.steps
    assert isinstance(step, ir.Assignment)
    assert sums(step.value) == [6]


def test_a_sum_used_twice_stays_one_value() -> None:
    @ssr.program(x=line, y=line, z=line)
    def p(x: Any, y: Any, z: Any) -> None:
        curved = A @ x
        y[:] = x + curved
        z[:] = ssr.sqrt(curved * curved) - curved

    for step in p.ir.steps:
        assert isinstance(step, ir.Assignment)
        assert sums(step.value) == [2, 3]
    rng = np.random.default_rng(4)
    x, y, z = rng.normal(size=9), np.zeros(9), np.zeros(9)
    plain.run(p, x, y, z)
    curved = A @ x
    np.testing.assert_allclose(y, x + curved, rtol=1e-14)
    np.testing.assert_allclose(z, abs(curved) - curved, atol=1e-14)


def test_equal_sums_of_other_times_are_not_one() -> None:
    @ssr.program(x=line)
    def p(x: Any) -> None:
        x[:] = x + A @ x
        x[:] = x + A @ x

    for step in p.ir.steps:
        assert isinstance(step, ir.Assignment)
        assert sums(step.value) == [4]


def test_a_sum_that_grows_in_a_loop_is_one_chain() -> None:
    @ssr.program(x=line, y=line)
    def p(x: Any, y: Any) -> None:
        total = 0.5 * x
        for _ in range(2000):
            total = total + x
        y[:] = total

    y = np.zeros(9)
    plain.run(p, np.ones(9), y)
    np.testing.assert_array_equal(y, 2000.5)
