"""BT of the NAS Parallel Benchmarks: ``python -m apps.bt --class {S,W,A,B,C} [--json FILE]``.

Time steps of Beam and Warming for the flow problem of `apps.npb.flow`,

    (I - dt L_x') (I - dt L_y') (I - dt L_z') R = dt (F + L(U)),    U = U + R,

with the derivatives L_d' of the second-order part of L along each direction: blocks of 5 x 5 on
three diagonals, solved with along lines. ``mpiexec -n 4 python -m apps.bt`` has the same bits.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

import ssr

from . import commands
from .npb import flow
from .npb.run import factored, main


def implicit(axis: int, D: float) -> ssr.BlockMatrix:
    """Return I - dt L_d' for the direction of an axis, with its dissipation."""
    convected = ssr.jacobian(lambda q: flow.convection(q, flow.derived(q), axis))
    diffused = ssr.jacobian(lambda q: flow.viscosity(flow.derived(q), axis))
    identity = np.eye(5)

    @ssr.matrix(rows=flow.changes, cols=flow.changes, U=flow.states, dt=ssr.scalar, h=ssr.scalar)
    def factor(*row: Any, U: Any, dt: Any, h: Any) -> Iterator[Any]:
        for step, weight in (-1, 1.0), (0, -2.0), (1, 1.0):
            c = (*row[:axis], row[axis] + step, *row[axis + 1 :])
            if c in flow.inner:
                second = weight * dt / h**2 * (D * identity + diffused(U[:, *c]))
                first = step * (0.5 * dt / h) * convected(U[:, *c]) if step else identity
                yield c, first - second

    return factor


FACTORS = {axis: implicit(axis, D) for axis, D in flow.DIRECTIONS.items()}


def solved(R: Any, axes: tuple[int, ...], U: Any, dt: Any, h: Any) -> Any:
    """Return the solution with the factors of some axes."""
    for axis in axes:
        R = FACTORS[axis].bind(U=U, dt=dt, h=h).solve(R)
    return R


step = factored(solved)

if __name__ == "__main__":
    commands.run(lambda: main("BT", step))
