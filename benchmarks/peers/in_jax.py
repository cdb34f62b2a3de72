"""The problems in JAX: slices of padded arrays, a compiled loop over steps, arrays given away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.cases import Candidate
from benchmarks.peers.problems import (
    BUOYANCY,
    DU,
    DV,
    FEED,
    HALF,
    KILL,
    LAME,
    SHEAR,
    STEPS,
    TABLES,
    Table,
    laplacian,
    reach_of,
    values,
)
from benchmarks.references import Shape

jax.config.update("jax_enable_x64", True)


def _sum(weights: Table, wide: Any, reach: int) -> Any:
    """Return the weighted sum of shifted parts of an array with ghosts."""
    found = 0.0
    for offset, weight in weights.items():
        place = tuple(
            slice(reach + o, n - reach + o) for o, n in zip(offset, wide.shape, strict=True)
        )
        found = found + weight * wide[place]
    return found


def _steps(step: Callable[..., Any], arrays: Sequence[Any], result: int = 0) -> Candidate:
    """Return the call of a compiled loop over steps that keeps its state."""

    @partial(jax.jit, donate_argnums=0)
    def run(state: Any) -> Any:
        return jax.lax.fori_loop(0, STEPS, lambda _, s: step(*s), state)

    state = [tuple(map(jnp.asarray, arrays))]

    def call() -> None:
        state[0] = run(state[0])
        state[0][result].block_until_ready()

    return Candidate(call, lambda: np.asarray(state[0][result]))


def heat(shape: Shape, dtype: Any) -> Candidate:
    """Return steps."""
    weights = laplacian(3)
    return _steps(lambda u: (u + 0.1 * _sum(weights, jnp.pad(u, 1), 1),), values(shape, dtype, 1))


def wave(shape: Shape, dtype: Any) -> Candidate:
    """Return leapfrog steps."""
    weights = laplacian(3, 4)

    def step(u: Any, old: Any, m: Any) -> Any:
        return 2.0 * u - old + m * _sum(weights, jnp.pad(u, 4), 4), u, m

    return _steps(step, values(shape, dtype, 3))


def product(name: str, shape: Shape, dtype: Any) -> Candidate:
    """Return products."""
    weights = TABLES[name]
    reach = reach_of(weights)
    multiply = jax.jit(lambda x: _sum(weights, x, reach))
    x = jnp.asarray(np.pad(values(shape, dtype, 1)[0], reach))
    found: list[Any] = []

    def call() -> None:
        for _ in range(STEPS):
            found[:] = [multiply(x).block_until_ready()]

    return Candidate(call, lambda: np.asarray(found[0]))


def gray_scott(shape: Shape, dtype: Any) -> Candidate:
    """Return steps; `jnp.roll` is how its users write periodic sides."""

    def around_of(a: Any) -> Any:
        shifted = [jnp.roll(a, s, axis) for axis in (0, 1) for s in (1, -1)]
        return sum(shifted[1:], shifted[0]) - 4.0 * a

    def step(u: Any, v: Any) -> Any:
        rate = u * v * v
        return (
            u + DU * around_of(u) - rate + FEED * (1.0 - u),
            v + DV * around_of(v) + rate - (FEED + KILL) * v,
        )

    return _steps(step, values(shape, dtype, 2))


def varying(shape: Shape, dtype: Any) -> Candidate:
    """Return steps; the coefficients keep their ghosts."""
    u, c = values(shape, dtype, 2)

    def step(u: Any, c: Any) -> Any:
        wide, total = jnp.pad(u, 1), 0.0
        for axis in range(3):
            inner = tuple(slice(None) if a == axis else slice(1, -1) for a in range(3))
            along, mean = wide[inner], c[inner]
            low = [slice(None)] * 3
            low[axis] = slice(None, -1)
            high = [slice(None)] * 3
            high[axis] = slice(1, None)
            less, more = tuple(low), tuple(high)
            flux = 0.5 * (mean[less] + mean[more]) * (along[more] - along[less])
            total = total + flux[more] - flux[less]
        return u + 0.1 * total, c

    return _steps(step, (u, np.pad(c, 1, mode="edge")))


def _half(field: Any, axis: int, back: int = 0) -> Any:
    """Return the difference half a point ahead along an axis, or back."""
    sides = [(2, 2) if a == axis else (0, 0) for a in range(3)]
    wide, count = jnp.pad(field, sides), field.shape[axis]
    found: Any = 0.0
    for offset, weight in HALF.items():
        start = 2 + offset - back
        place = tuple(slice(start, start + count) if a == axis else slice(None) for a in range(3))
        found = found + weight * wide[place]
    return found


def acoustic(shape: Shape, dtype: Any) -> Candidate:
    """Return steps of pressure and velocities."""

    def step(p: Any, vz: Any, vy: Any, vx: Any, m: Any) -> Any:
        vz, vy, vx = (v - BUOYANCY * _half(p, a) for a, v in enumerate((vz, vy, vx)))
        p = p - m * (_half(vz, 0, 1) + _half(vy, 1, 1) + _half(vx, 2, 1))
        return p, vz, vy, vx, m

    return _steps(step, values(shape, dtype, 5))


def elastic(shape: Shape, dtype: Any) -> Candidate:
    """Return steps of velocities and stresses."""

    def step(
        vz: Any, vy: Any, vx: Any, szz: Any, syy: Any, sxx: Any, szy: Any, szx: Any, syx: Any
    ) -> Any:
        vz = vz + BUOYANCY * (_half(szz, 0) + _half(szy, 1, 1) + _half(szx, 2, 1))
        vy = vy + BUOYANCY * (_half(szy, 0, 1) + _half(syy, 1) + _half(syx, 2, 1))
        vx = vx + BUOYANCY * (_half(szx, 0, 1) + _half(syx, 1, 1) + _half(sxx, 2))
        ez, ey, ex = _half(vz, 0, 1), _half(vy, 1, 1), _half(vx, 2, 1)
        pressure = LAME * (ez + ey + ex)
        szz, syy, sxx = (s + pressure + 2 * SHEAR * e for s, e in ((szz, ez), (syy, ey), (sxx, ex)))
        szy = szy + SHEAR * (_half(vz, 1) + _half(vy, 0))
        szx = szx + SHEAR * (_half(vz, 2) + _half(vx, 0))
        syx = syx + SHEAR * (_half(vy, 2) + _half(vx, 1))
        return vz, vy, vx, szz, syy, sxx, szy, szx, syx

    return _steps(step, values(shape, dtype, 9))
