"""Scalars of programs on fields of ranks and threads: in double precision, with the bits of one."""

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr

m, n = ssr.sizes("m n")
cells = ssr.Space(m, n)
wide = cells.grow(1)
DTYPES = "float64", "float32"
fill = bc.fill(wide, bc.dirichlet(bc.parameter("g"), axis=1), bc.neumann(0.0, axis=0))
A = ssr.stencil(cells, wide, {(0, 0): 4, (0, 1): -1, (1, 0): -1, (0, -1): -1, (-1, 0): -1})


@ssr.program(u=cells, t=ssr.scalar, dt=ssr.scalar)
def step(u: Any, t: Any, dt: Any) -> Any:
    r = A @ (fill.bind(g=t * dt) @ u)
    total = ssr.dot(r, u)
    u[:] = u + dt * dt * (r + m * dt) - ssr.where(t > 390 * 86400, t / 3e9 * u, total * dt)
    return t + dt, total, total + dt, n * t


def found(world: Any, dtype: str) -> tuple[list[Any], bytes]:
    on = bc.distribute(cells, world, m=6, n=7)
    u = on.scatter(cells, np.random.default_rng(1).random((6, 7)).astype(dtype))
    t, made = 390 * 86400 + 0.3, []
    for _ in range(3):
        made.append(step(u, t, 1e-7))
        t = made[-1][0]
    made += step.bind(u).repeat([(t, 1e-7), (-t, 1e-7)]).tolist()
    made += ssr.sequence(step.bind(u, dt=0.1), step.bind(u.copy(), t=0.7))(t, 0.2)
    return [tuple(each) for each in made], u.gather().tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_numbers_and_bits_of_one_rank(dtype: str) -> None:
    whole = found(None, dtype)
    t = 390 * 86400 + 0.3
    assert whole[0][0][0] == t + 1e-7
    assert whole[0][0][3] == 7 * t
    assert whole[0][0][2] == whole[0][0][1] + 1e-7
    for world in bc.simulated_ranks(2), bc.simulated_ranks(6), bc.threads(2):
        assert found(world, dtype) == whole


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_of_rules(dtype: str) -> None:
    """The value of a ghost is rounded once, whether it is folded into what reads it or stored."""

    @ssr.program(u=cells, t=ssr.scalar, dt=ssr.scalar)
    def apply(u: Any, t: Any, dt: Any) -> None:
        u[:] = t / 3 * (dt * (A @ (fill.bind(g=t * dt) @ u)))

    u = np.random.default_rng(2).random((6, 7)).astype(dtype)
    other = u.copy()
    apply(u, 0.1, 0.3)
    apply.with_options(ssr.Options(fold=False))(other, 0.1, 0.3)
    assert u.tobytes() == other.tobytes()
