"""LU of the NAS Parallel Benchmarks: ``python -m apps.lu --class {S,W,A,B,C} [--json FILE]``.

Pseudo-time steps by symmetric successive over-relaxation for the flow problem of `apps.npb.flow`,

    (D + w L) D^-1 (D + w U) V = dt (F + L(U)),    U = U + V / (w (2 - w)),

with the diagonal D and the triangles L and U of I - dt L', and L' the derivative of the spatial
operator without its fourth-order part: blocks of 5 x 5 at a point and its six neighbours.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

import ssr

from . import commands
from .npb import flow
from .npb.run import main

OMEGA = 1.2

CONVECTED, DIFFUSED = (
    {axis: ssr.jacobian(lambda q, a=axis, f=flux: f(q, flow.derived(q), a)) for axis in range(3)}
    for flux in (flow.convection, lambda q, more, axis: flow.viscosity(more, axis))
)
"""The derivatives of the convective flux and of the viscous terms along each axis."""


@ssr.matrix(rows=flow.changes, cols=flow.changes, U=flow.states, dt=ssr.scalar, h=ssr.scalar)
def relaxed(*row: Any, U: Any, dt: Any, h: Any) -> Iterator[Any]:
    """Yield w L + D + w U."""
    identity, centre = np.eye(5), np.eye(5)
    for axis, D in flow.DIRECTIONS.items():
        centre = centre + 2.0 * dt / h**2 * (D * identity + DIFFUSED[axis](U[:, *row]))
        for step in -1, 1:
            c = (*row[:axis], row[axis] + step, *row[axis + 1 :])
            if c in flow.inner:
                second = dt / h**2 * (D * identity + DIFFUSED[axis](U[:, *c]))
                yield c, OMEGA * (step * (0.5 * dt / h) * CONVECTED[axis](U[:, *c]) - second)
    yield row, centre


@ssr.program(R=flow.changes, U=flow.states, S=flow.changes, dt=ssr.scalar, h=ssr.scalar)
def step(R: Any, U: Any, S: Any, dt: Any, h: Any) -> None:
    """Advance U by a time step."""
    A = relaxed.bind(U=U, dt=dt, h=h)
    V = A.tril().solve(ssr.materialize(dt * (flow.spatial(U, h) - S)))
    R[:] = A.triu().solve(A.diagonal() @ V)
    U[flow.inner] = U[flow.inner] + R / (OMEGA * (2.0 - OMEGA))


def integral(U: np.ndarray, h: float) -> dict[str, Any]:
    """Return the integral of the pressure over the six sides of a box."""
    box, total = flow.derived(U)[3][2:-1, 1:-2, 1:-1], 0.0
    for axis in range(3):
        for side in np.take(box, 0, axis), np.take(box, -1, axis):
            lines = side[1:] + side[:-1]
            total += 0.25 * h**2 * float((lines[:, 1:] + lines[:, :-1]).sum())
    return {"xci": total}


if __name__ == "__main__":
    commands.run(lambda: main("LU", step, integral))
