"""BT of the NAS Parallel Benchmarks: ``python -m apps.bt --class {S,W,A,B,C} [--json FILE]``.

Time steps of Beam and Warming for the flow problem of `apps.npb.flow`,

    (I - dt L_x') (I - dt L_y') (I - dt L_z') R = dt (F + L(U)),    U = U + R,

with the derivatives L_d' of the second-order part of L along each direction: blocks of 5 x 5 on
three diagonals, solved with along lines. ``mpiexec -n 4 python -m apps.bt`` has the same bits.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import ssr

from .npb import flow
from .npb.run import factored, main


def implicit(axis: int, D: float) -> ssr.BlockMatrix:
    """Return I - dt L_d' for the direction of an axis, with its dissipation."""
    convected = ssr.jacobian(lambda q: flow.convection(q, flow.derived(q), axis))
    diffused = ssr.jacobian(lambda q: flow.viscosity(flow.derived(q), axis))
    identity = np.eye(5)

    @ssr.matrix(rows=flow.changes, cols=flow.changes, U=flow.states, dt=ssr.scalar, h=ssr.scalar)
    def factor(*row: Any, U: Any, dt: Any, h: Any) -> Iterator[Any]:
        for step in -1, 0, 1:
            c = flow.beside(row, axis, step)
            if c not in flow.inner:
                continue
            second = flow.SECOND[step] * dt / h**2
            block = (step == 0) * identity - second * (D * identity + diffused(U[:, *c]))
            yield c, block + step * (0.5 * dt / h) * convected(U[:, *c]) if step else block

    return factor


FACTORS = {axis: implicit(axis, D) for axis, D in flow.DIRECTIONS.items()}


def factors(U: Any, dt: Any, h: Any) -> Callable[[int, Any], Any]:
    """Return what solves with the factor of an axis."""
    return lambda axis, R: FACTORS[axis].bind(U=U, dt=dt, h=h).solve(R)


step = factored(factors)

if __name__ == "__main__":
    main("BT", step)
