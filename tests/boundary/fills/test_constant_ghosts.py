"""Constant ghosts of a program's own arrays are written once, and stay right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr

from ...ssr import plain

cells = ssr.Space(*ssr.sizes("ny nx"))
wide = cells.grow(1)
cross = ssr.stencil(
    cells, wide, {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
)
ONCE = "constant and written once"


def applied(u: Any, low: Any, high: Any) -> Any:
    """Return the matrix applied to a field, periodic in x, with rows below and above."""
    w = np.concatenate([low, u, high])
    w = np.concatenate([w[:, -1:], w, w[:, :1]], axis=1)
    return w[1:-1, :-2] + w[1:-1, 2:] + w[:-2, 1:-1] + w[2:, 1:-1] - 4 * u


def program(fill: bc.Fill) -> ssr.Program:
    @ssr.program(u=cells, v=cells)
    def step(u: Any, v: Any) -> None:
        v[:] = cross @ (fill @ (2 * u))
        u[:] = cross @ (fill @ (v - u))

    return step


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_are_right_at_every_run(once: bool, compiled: bool, dtype: Any) -> None:
    run = ssr.Program.__call__ if compiled else plain.run
    fill = bc.fill(wide, bc.ghost_value(3.0, axis=0), bc.periodic(1), once=once)
    step = program(fill)
    close = {"rtol": 1e-5, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-13, "atol": 1e-12}
    for shape in (4, 5), (4, 5), (1, 1), (3, 1), (4, 5), (1, 1):
        rows = np.full((1, shape[1]), 3.0, dtype)
        u, v = np.random.default_rng(0).random((2, *shape)).astype(dtype)
        first = applied(2 * u, rows, rows)
        second = applied(first - u, rows, rows)
        run(step, u, v)
        np.testing.assert_allclose(v, first, **close)
        np.testing.assert_allclose(u, second, **close)
    made = bc.explain(step, ny=4, nx=5)
    assert made.count(f"10 more are {ONCE}") == 2 * once
    assert made.count("8 of 22" if once else "18 of 22") == 2


def test_values_that_differ_from_point_to_point() -> None:
    low, high = np.arange(5.0), np.array([2.0, 7.0, 1.0, 8.0, 2.0])
    fill = bc.fill(
        ssr.Space(4, 5).grow(1),
        bc.ghost_value(low, axis=0, side="low"),
        bc.ghost_value(high, axis=0, side="high"),
        bc.periodic(1),
    )
    A = ssr.stencil(ssr.Space(4, 5), ssr.Space(4, 5).grow(1), {(-1, 0): 1.0, (1, 0): 10.0})

    @ssr.program(u=ssr.Space(4, 5))
    def step(u: Any) -> None:
        u[:] = A @ (fill @ (0.5 * u))

    u = np.random.default_rng(1).random((4, 5))
    assert f"10 more are {ONCE}" in bc.explain(step)
    for _ in range(3):
        w = np.concatenate([[low], 0.5 * u, [high]])
        step(u)
        np.testing.assert_allclose(u, w[:-2] + 10 * w[2:], rtol=1e-14)


def test_parameters_are_written_at_every_run() -> None:
    fill = bc.fill(wide, bc.ghost_value(bc.parameter("level"), axis=0), bc.periodic(1))

    @ssr.program(u=cells, v=cells, level=ssr.scalar)
    def step(u: Any, v: Any, level: Any) -> None:
        v[:] = cross @ (fill.bind(level=level) @ (2 * u))

    u, v = np.random.default_rng(2).random((2, 3, 4))
    for level in (1.0, -5.0):
        plain.run(step, u, v, level)
        rows = np.full((1, 4), level)
        np.testing.assert_allclose(v, applied(2 * u, rows, rows), rtol=1e-13, atol=1e-13)
    assert ONCE not in bc.explain(step, ny=4, nx=5)


def test_arrays_of_the_caller_are_filled_at_every_run() -> None:
    fill = bc.fill(wide, bc.ghost_value(3.0, axis=0), bc.periodic(1))

    @ssr.program(u=wide)
    def step(u: Any) -> None:
        u[:] = fill @ u[cells]

    u = np.zeros((5, 6))
    for _ in range(2):
        u[:] = np.random.default_rng(3).random(u.shape)
        plain.run(step, u)
        assert np.all(u[[0, -1]] == 3)
    assert ONCE not in bc.explain(step, ny=3, nx=4)


def test_two_fills_of_one_field() -> None:
    ones = bc.fill(wide, bc.ghost_value(1.0, axis=0), bc.periodic(1))
    twos = bc.fill(wide, bc.ghost_value(2.0), owned=cells)

    @ssr.program(u=cells, v=cells)
    def step(u: Any, v: Any) -> None:
        filled = ones @ (2 * u)
        v[:] = cross @ (twos @ filled[cells]) + cross @ filled

    u, v = np.random.default_rng(4).random((2, 3, 4))
    rows = np.ones((1, 4))
    for _ in range(3):
        plain.run(step, u, v)
        around = np.pad(2 * u, 1, constant_values=2.0)
        inner = around[1:-1, :-2] + around[1:-1, 2:] + around[:-2, 1:-1] + around[2:, 1:-1]
        expected = inner - 8 * u + applied(2 * u, rows, rows)
        np.testing.assert_allclose(v, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("rule", "arrays"), [(bc.periodic(), 2), (bc.ghost_value(0.5), 3)])
def test_temporaries_share_memory_but_those_with_constants(rule: Any, arrays: int) -> None:
    fill = bc.fill(wide, rule)

    @ssr.program(u=cells)
    def step(u: Any) -> None:
        u[:] = cross @ (fill @ (2 * u))
        u[:] = cross @ (fill @ (3 * u))
        u[:] = cross @ (fill @ (4 * u))

    assert len(step.kernel().meta.temporaries) == arrays
