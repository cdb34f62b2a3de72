"""BT of the NAS Parallel Benchmarks: ``python -m apps.bt --class {S,W,A,B,C} [--json FILE]``.

Time steps of Beam and Warming for the flow problem of `apps.npb.flow`,

    (I - dt L_x') (I - dt L_y') (I - dt L_z') R = dt (F + L(U)),    U = U + R,

with the derivatives L_d' of the second-order part of L along each direction: blocks of 5 x 5 on
three diagonals, solved with along lines.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import ssr

from .npb.flow import DIRECTIONS, beside, change, convection, flow, inner, spatial, viscosity
from .npb.run import Class, main


def implicit(axis: int, D: float) -> ssr.BlockMatrix:
    """Return I - dt L_d' for the direction of an axis, with its dissipation."""
    convected = ssr.jacobian(partial(convection, axis=axis))
    diffused = ssr.jacobian(partial(viscosity, axis=axis))
    identity = np.eye(5)

    @ssr.matrix(rows=change, cols=change, U=flow, dt=ssr.scalar, h=ssr.scalar)
    def factor(*row: Any, U: Any, dt: Any, h: Any) -> Iterator[Any]:
        for step in -1, 0, 1:
            c = beside(row, axis, step)
            if c not in inner:
                continue
            second = (1.0 - 3.0 * (step == 0)) * dt / h**2
            block = (step == 0) * identity - second * (D * identity + diffused(U[:, *c]))
            yield c, block + step * (0.5 * dt / h) * convected(U[:, *c]) if step else block

    return factor


FACTORS = [implicit(axis, D) for axis, D in DIRECTIONS.items()]


@ssr.program(U=flow, F=change, dt=ssr.scalar, h=ssr.scalar)
def step(U: Any, F: Any, dt: Any, h: Any) -> None:
    """Advance U by a time step."""
    R = dt * (F + spatial(U, h))
    for factor in FACTORS:
        R = factor.bind(U=U, dt=dt, h=h).solve(R)
    U[inner] = U[inner] + R


CLASSES = {
    "S": Class(
        12, 0.01, 60,
        (0.1703428371, 0.01297525207, 0.032527926989, 0.026436421275, 0.19211784132),
        (0.00049976913346, 4.5195666783e-05, 7.3973765173e-05, 7.3821238632e-05, 0.00089269630987),
    ),
    "W": Class(
        24, 0.0008, 200,
        (112.55904093, 11.800075957, 27.103297678, 24.691749377, 263.84278743),
        (4.419655736, 0.463853126, 1.01155175, 0.92358787299, 10.180458377),
    ),
    "A": Class(
        64, 0.0008, 200,
        (108.06346715, 11.319730901, 25.974354512, 23.665622545, 252.78963212),
        (4.2348416041, 0.44390282497, 0.96692480136, 0.8830206304, 9.7379901771),
    ),
    "B": Class(
        102, 0.0003, 200,
        (1423.3597229, 99.33052259, 356.46025645, 324.85447959, 3270.7541255),
        (52.969847141, 4.4632896116, 13.122573342, 12.006925324, 124.59576151),
    ),
    "C": Class(
        162, 0.0001, 200,
        (6239.8116552, 507.9323919, 1542.3530093, 1330.2387929, 11604.087428),
        (164.62008369, 11.497107904, 41.207446207, 37.08765106, 362.11053052),
    ),
}  # fmt: skip

if __name__ == "__main__":
    main("BT", step, CLASSES, (3478.8, -17655.7, 28023.7, 0.0))
