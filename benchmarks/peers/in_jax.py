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
    DU,
    DV,
    FEED,
    KILL,
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
