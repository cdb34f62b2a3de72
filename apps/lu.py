"""LU of the NAS Parallel Benchmarks: ``python -m apps.lu --class {S,W,A,B,C} [--json FILE]``.

Pseudo-time steps by symmetric successive over-relaxation for the flow problem of `apps.npb.flow`,

    (D + w L) D^-1 (D + w U) V = dt (F + L(U)),    U = U + V / (w (2 - w)),

with the diagonal D and the triangles L and U of I - dt L', the derivative of the second-order part
of the spatial operator: blocks of 5 x 5 at a point and its six neighbours.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

import ssr

from .npb import flow
from .npb.run import main

OMEGA = 1.2


@ssr.matrix(rows=flow.changes, cols=flow.changes, U=flow.states, dt=ssr.scalar, h=ssr.scalar)
def relaxed(*row: Any, U: Any, dt: Any, h: Any) -> Iterator[Any]:
    """Yield D + w (L + U): the blocks beside the diagonal are scaled."""
    identity = np.eye(5)
    centre = identity
    for axis, D in flow.DIRECTIONS.items():
        convected = ssr.jacobian(lambda q, a=axis: flow.convection(q, flow.derived(q), a))
        diffused = ssr.jacobian(lambda q, a=axis: flow.viscosity(flow.derived(q), a))
        for step in -1, 0, 1:
            c = flow.beside(row, axis, step)
            if c in flow.inner:
                diffusion = dt / h**2 * (D * identity + diffused(U[:, *c]))
                if step:
                    yield c, OMEGA * (step * 0.5 * dt / h * convected(U[:, *c]) - diffusion)
                else:
                    centre = centre + 2.0 * diffusion
    yield row, centre


@ssr.program(U=flow.states, F=flow.changes, dt=ssr.scalar, h=ssr.scalar)
def step(U: Any, F: Any, dt: Any, h: Any) -> None:
    """Advance U by a time step."""
    A = relaxed.bind(U=U, dt=dt, h=h)
    V = A.tril().solve(ssr.let(dt * (F + flow.spatial(U, h))))
    V = A.triu().solve(A.diagonal() @ V)
    U[flow.inner] = U[flow.inner] + V / (OMEGA * (2.0 - OMEGA))


if __name__ == "__main__":
    main("LU", step)
