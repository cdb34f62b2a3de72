"""The problems in Devito: one operator each, on one thread, with its own search for blocks.

Devito pads fields with ghosts, which hold zeros; for periodic sides equations fill them.
"""

from __future__ import annotations

from typing import Any

import devito
import numpy as np

from benchmarks.cases import Candidate
from benchmarks.peers.problems import (
    BUOYANCY,
    DU,
    DV,
    FEED,
    KILL,
    LAME,
    SHEAR,
    STEPS,
    TABLES,
    reach_of,
    values,
)
from benchmarks.processor import march
from benchmarks.references import Shape

devito.configuration["log-level"] = "ERROR"
_COMPILER = devito.configuration["compiler"]
_COMPILER.cflags = [march() if f.startswith("-march=") else f for f in _COMPILER.cflags]


def _grid(shape: Shape, dtype: Any) -> Any:
    return devito.Grid(shape=shape, extent=tuple(n - 1.0 for n in shape), dtype=dtype)


def _stepping(operator: Any, field: Any, levels: int, **given: Any) -> Candidate:
    """Return the call of an operator that continues from its last time level."""
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


def varying(shape: Shape, dtype: Any) -> Candidate:
    """Return steps; the coefficients have ghosts of their own values."""
    grid = _grid(shape, dtype)
    u = devito.TimeFunction(name="u", grid=grid, space_order=2)
    c = devito.Function(name="c", grid=grid, space_order=2)
    start, coefficients = values(shape, dtype, 2)
    c.data_with_halo[:] = np.pad(coefficients, 2, mode="edge")
    flux = 0
    for a in grid.dimensions:
        for beside in (a - a.spacing, a + a.spacing):
            flux += 0.5 * (c + c.subs(a, beside)) * (u.subs(a, beside) - u)
    made = _stepping(devito.Operator([devito.Eq(u.forward, u + 0.1 * flux)]), u, 2)
    u.data[:] = start
    return made


def _staggered(grid: Any, name: str, axes: str) -> Any:
    """Return a field at half points of some axes, whose names are those of our programs."""
    z, y, x = grid.dimensions
    at = tuple({"z": z, "y": y, "x": x}[axis] for axis in axes) or devito.NODE
    return devito.TimeFunction(name=name, grid=grid, space_order=4, time_order=1, staggered=at)


def _along(field: Any, axis: int) -> Any:
    """Return a difference; Devito determines from the equation on which side its points are."""
    return getattr(field, f"d{'xyz'[axis]}")


def acoustic(shape: Shape, dtype: Any) -> Candidate:
    """Return steps of pressure and velocities."""
    grid = _grid(shape, dtype)
    p, *v = (_staggered(grid, n, a) for n, a in (("p", ""), ("vz", "z"), ("vy", "y"), ("vx", "x")))
    m = devito.Function(name="m", grid=grid)
    *starts, m.data[:] = values(shape, dtype, 5)
    moved = [devito.Eq(v.forward, v - BUOYANCY * _along(p, a)) for a, v in enumerate(v)]
    change = sum(_along(one.forward, a) for a, one in enumerate(v))
    pressure = devito.Eq(p.forward, p - m * change)
    made = _stepping(devito.Operator([*moved, pressure]), p, 2)
    for field, start in zip((p, *v), starts, strict=True):
        field.data[:] = start
    return made


def elastic(shape: Shape, dtype: Any) -> Candidate:
    """Return steps of velocities and stresses."""
    grid = _grid(shape, dtype)
    v = [_staggered(grid, f"v{a}", a) for a in "zyx"]
    diagonal = [_staggered(grid, f"s{a}{a}", "") for a in "zyx"]
    shear = {
        (a, b): _staggered(grid, f"s{'zyx'[a]}{'zyx'[b]}", "zyx"[a] + "zyx"[b])
        for a, b in ((0, 1), (0, 2), (1, 2))
    }
    equations = []
    for a, one in enumerate(v):
        beside = sum(_along(shear[min(a, b), max(a, b)], b) for b in range(3) if b != a)
        force = _along(diagonal[a], a) + beside
        equations.append(devito.Eq(one.forward, one + BUOYANCY * force))
    strains = [_along(one.forward, a) for a, one in enumerate(v)]
    for s, strain in zip(diagonal, strains, strict=True):
        equations.append(devito.Eq(s.forward, s + LAME * sum(strains) + 2 * SHEAR * strain))
    for (a, b), s in shear.items():
        sheared = _along(v[a].forward, b) + _along(v[b].forward, a)
        equations.append(devito.Eq(s.forward, s + SHEAR * sheared))
    made = _stepping(devito.Operator(equations), v[0], 2)
    for field, start in zip((*v, *diagonal, *shear.values()), values(shape, dtype, 9), strict=True):
        field.data[:] = start
    return made
