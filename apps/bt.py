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

from .npb.flow import DIRECTIONS, change, convection, flow, inner, spatial, viscosity
from .npb.run import Class, main


def implicit(axis: int, D: float) -> ssr.BlockMatrix:
    """Return I - dt L_d' for the direction of an axis, with its dissipation."""
    convected = ssr.jacobian(partial(convection, axis=axis))
    diffused = ssr.jacobian(partial(viscosity, axis=axis))
    identity = np.eye(5)

    @ssr.matrix(rows=change, cols=change, U=flow, dt=ssr.scalar, h=ssr.scalar)
    def factor(*row: Any, U: Any, dt: Any, h: Any) -> Iterator[Any]:
        for step in -1, 0, 1:
            c = (*row[:axis], row[axis] + step, *row[axis + 1 :])
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
    "S": Class(12, 0.01, 60, (0.17034283709541312, 0.012975252070034096, 0.032527926989486054, 0.0264364212751668, 0.1921178413174443), (0.0004997691334581158, 4.519566678296193e-05, 7.397376517292135e-05, 7.382123863243973e-05, 0.0008926963098749145)),
    "W": Class(24, 0.0008, 200, (112.5590409344, 11.80007595731, 27.10329767846, 24.69174937669, 263.8427874317), (4.419655736008, 0.4638531260002, 1.011551749967, 0.9235878729944, 10.18045837718)),
    "A": Class(64, 0.0008, 200, (108.06346714637264, 11.319730901220813, 25.974354511582465, 23.66562254467891, 252.78963211748345), (4.2348416040525025, 0.443902824969957, 0.9669248013634565, 0.8830206303976548, 9.737990177082928)),
    "B": Class(102, 0.0003, 200, (1423.3597229287254, 99.33052259015024, 356.46025644535285, 324.8544795908409, 3270.7541254659363), (52.96984714093686, 4.463289611567067, 13.122573342210174, 12.006925323559145, 124.59576151035986)),
    "C": Class(162, 0.0001, 200, (6239.8116551764615, 507.93239190423964, 1542.3530093013596, 1330.238792929119, 11604.087428436455), (164.62008369091265, 11.497107903824313, 41.20744620746151, 37.08765105969417, 362.11053051841265)),
}  # fmt: skip

if __name__ == "__main__":
    main("BT", step, CLASSES, (3478.8, -17655.7, 28023.7, 0.0))
