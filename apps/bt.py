"""BT of the NAS Parallel Benchmarks: ``python -m apps.bt --class {S,W,A,B,C} [--json FILE]``.

Time steps of Beam and Warming for the flow problem of `apps.npb.flow`,

    (I - dt L_x') (I - dt L_y') (I - dt L_z') R = dt (F + L(U)),    U = U + R,

with the derivatives L_d' of the second-order part of L along each direction: blocks of 5 x 5 on
three diagonals, solved with along lines.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

import ssr

from .npb import flow
from .npb.run import Class, main


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
            second = (1.0 - 3.0 * (step == 0)) * dt / h**2
            block = (step == 0) * identity - second * (D * identity + diffused(U[:, *c]))
            yield c, block + step * (0.5 * dt / h) * convected(U[:, *c]) if step else block

    return factor


FACTORS = [implicit(axis, D) for axis, D in flow.DIRECTIONS.items()]


@ssr.program(U=flow.states, F=flow.changes, dt=ssr.scalar, h=ssr.scalar)
def step(U: Any, F: Any, dt: Any, h: Any) -> None:
    """Advance U by a time step."""
    R = dt * (F + flow.spatial(U, h))
    for factor in FACTORS:
        R = factor.bind(U=U, dt=dt, h=h).solve(R)
    U[flow.inner] = U[flow.inner] + R


CLASSES = {
    "S": Class(
        12, 0.01, 60,
        (0.170342837095, 0.01297525207, 0.0325279269895, 0.0264364212752, 0.192117841317),
        (4.9976913346e-04, 4.5195666783e-05, 7.3973765173e-05, 7.3821238632e-05, 8.9269630987e-04),
    ),
    "W": Class(
        24, 0.0008, 200,
        (112.559040934, 11.8000759573, 27.1032976785, 24.6917493767, 263.842787432),
        (4.41965573601, 0.463853126, 1.01155174997, 0.923587872994, 10.1804583772),
    ),
    "A": Class(
        64, 0.0008, 200,
        (108.063467146, 11.3197309012, 25.9743545116, 23.6656225447, 252.789632117),
        (4.23484160405, 0.44390282497, 0.966924801363, 0.883020630398, 9.73799017708),
    ),
    "B": Class(
        102, 0.0003, 200,
        (1423.35972293, 99.3305225902, 356.460256445, 324.854479591, 3270.75412547),
        (52.9698471409, 4.46328961157, 13.1225733422, 12.0069253236, 124.59576151),
    ),
    "C": Class(
        162, 0.0001, 200,
        (6239.81165518, 507.932391904, 1542.3530093, 1330.23879293, 1.1604087428e+04),
        (164.620083691, 11.4971079038, 41.2074462075, 37.0876510597, 362.110530518),
    ),
}  # fmt: skip

if __name__ == "__main__":
    main("BT", step, CLASSES, (3478.8, -17655.7, 28023.7, 0.0))
