"""The problems in Devito: one operator each, on one thread, with its own search for blocks.

Devito pads fields with ghosts of its own, which hold zeros; for periodic sides equations copy them.
"""

from __future__ import annotations

from typing import Any

import devito
import numpy as np

from benchmarks.cases import Candidate
from benchmarks.peers.problems import (
    DU,
    DV,
    FEED,
    KILL,
    STEPS,
    TABLES,
    reach_of,
    values,
)
from benchmarks.references import Shape

devito.configuration["log-level"] = "ERROR"


def _grid(shape: Shape, dtype: Any) -> Any:
    return devito.Grid(shape=shape, extent=tuple(n - 1.0 for n in shape), dtype=dtype)


def _stepping(operator: Any, field: Any, levels: int, **given: Any) -> Candidate:
    """Return the call of an operator that goes on from where it was."""
    operator.apply(time_m=0, time_M=0, autotune="aggressive", **given)

    def result() -> Any:
        return np.array(field.data[now[0] % levels])

    now = [0]

    def call() -> None:
        operator.apply(time_m=now[0], time_M=now[0] + STEPS - 1, autotune=False, **given)
        now[0] += STEPS

    return Candidate(call, result)


def heat(shape: Shape, dtype: Any) -> Candidate:
    """Return steps from one buffer of time to the other."""
    u = devito.TimeFunction(name="u", grid=_grid(shape, dtype), space_order=2)
    operator = devito.Operator([devito.Eq(u.forward, u + 0.1 * u.laplace)])
    made = _stepping(operator, u, 2)
    u.data[:] = values(shape, dtype, 1)[0]
    return made


def wave(shape: Shape, dtype: Any) -> Candidate:
    """Return leapfrog steps with three buffers of time."""
    grid = _grid(shape, dtype)
    u = devito.TimeFunction(name="u", grid=grid, space_order=8, time_order=2)
    m = devito.Function(name="m", grid=grid)
    start, old, m.data[:] = values(shape, dtype, 3)
    operator = devito.Operator([devito.Eq(u.forward, 2 * u - u.backward + m * u.laplace)])
    made = _stepping(operator, u, 3)
    u.data[0], u.data[2] = start, old
    return made


def product(name: str, shape: Shape, dtype: Any) -> Candidate:
    """Return products."""
    grid = _grid(shape, dtype)
    x = devito.Function(name="source", grid=grid, space_order=2 * reach_of(TABLES[name]))
    y = devito.Function(name="product", grid=grid)
    x.data[:] = values(shape, dtype, 1)[0]
    axes = grid.dimensions
    total = sum(
        weight * x.subs({a: a + o * a.spacing for a, o in zip(axes, offset, strict=True) if o})
        for offset, weight in TABLES[name].items()
    )
    operator = devito.Operator([devito.Eq(y, total)])
    operator.apply(autotune="aggressive")

    def call() -> None:
        for _ in range(STEPS):
            operator.apply(autotune=False)

    return Candidate(call, lambda: np.array(y.data))


def gray_scott(shape: Shape, dtype: Any) -> Candidate:
    """Return steps; equations copy the ghosts of periodic sides."""
    grid = _grid(shape, dtype)
    t, (y, x) = grid.stepping_dim, grid.dimensions
    u = devito.TimeFunction(name="u", grid=grid, space_order=2)
    v = devito.TimeFunction(name="v", grid=grid, space_order=2)
    ny, nx = shape
    sides = [
        devito.Eq(a[t, *to], a[t, *source])
        for a in (u, v)
        for to, source in (
            ((-1, x), (ny - 1, x)),
            ((ny, x), (0, x)),
            ((y, -1), (y, nx - 1)),
            ((y, nx), (y, 0)),
        )
    ]
    rate = u * v * v
    steps = [
        devito.Eq(u.forward, u + DU * u.laplace - rate + FEED * (1.0 - u)),
        devito.Eq(v.forward, v + DV * v.laplace + rate - (FEED + KILL) * v),
    ]
    made = _stepping(devito.Operator([*sides, *steps]), u, 2)
    u.data[:], v.data[:] = values(shape, dtype, 2)
    return made
