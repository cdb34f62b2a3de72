"""Lid-driven cavity: viscous flow in a box whose lid moves, on a staggered (MAC) grid.

Cells are small at the walls. Viscosity is implicit, along one axis at a time, so that steps may be
far longer than h^2 / (4 nu). The pressure makes each step free of divergence, and is kept for the
next one (van Kan, SIAM J. Sci. Stat. Comput. 7, 1986). Profiles at Re = 1000 are compared with
those of Ghia, Ghia and Shin (1982), and of Botella and Peyret (1998).
"""

import numpy as np

import boundary as bc
import ssr
from ssr.coordinates import Axis, Coordinates

m = ssr.size("m", at_least=2)
cells = ssr.Space(2 * m, 2 * m)
faces, nodes = (cells.faces(1), cells.faces(0)), cells.nodes()  # faces of u and of v
inner = faces[0].grow(0, -1), faces[1].grow(-1, 0)  # those that are not walls
wide = faces[0].grow(1, 0), faces[1].grow(0, 1)
lid = bc.dirichlet(1.0, axis=0, side="high"), bc.dirichlet(0.0, axis=0, side="low")
fills = bc.fill(wide[0], *lid), bc.fill(wide[1], bc.dirichlet(0.0, axis=1))
centers, corners = ([ssr.average(to, f) for f in of] for to, of in ((cells, faces), (nodes, wide)))
side = Axis(0.0, 1.0, stretching=lambda s: 0.5 + np.tanh(4 * s - 2) / np.tanh(2) / 2)
box = Coordinates(cells, y=side, x=side)
P = ssr.solvers.interpolation(cells, ssr.Space(m, m), centering="cell")
state = {"u": faces[0], "v": faces[1], "p": cells}


def pressure(n):
    """Return a grid, gradients, integrals of divergences over cells, and the Poisson matrix."""
    grid = box.bind(m=n // 2)
    grad = [grid.gradient(q)[to, cells] for q, to in zip("xy", inner)]
    flux = [grid.volumes() @ grid.divergence(q) for q in "xy"]
    return grid, grad, flux, -sum(F[:, to] @ G for F, to, G in zip(flux, inner, grad))


def run(n=96, time=50.0, dt=2e-2, nu=1e-3, levels=4):
    """Return the grid and the velocity."""
    grid, grad, flux, A = pressure(n)
    matrices = [A, *(pressure(n >> level)[-1] for level in range(1, levels))]
    poisson = ssr.solvers.CG(A, M=ssr.solvers.Multigrid(matrices, [P] * (levels - 1)))

    def d(k, cols, axis, derivative=1):
        return ssr.difference(inner[k], cols, axis, derivative=derivative, coordinates=grid)

    def viscosity(axis):
        bend = [nu * (d(k, wide[k], axis, 2) @ fills[k]) for k in (0, 1)]
        return ssr.integrate.rhs(**state)(lambda t, u, v, p: (bend[0] @ u, bend[1] @ v))

    @ssr.integrate.rhs(**state)
    def advection(t, u, v, p):
        uv = ssr.materialize((corners[0] @ fills[0] @ u) * (corners[1] @ fills[1] @ v))
        own = (centers[0] @ u) ** 2, (centers[1] @ v) ** 2
        flows = [d(k, cells, 1 - k) @ own[k] + d(k, nodes, k) @ uv for k in (0, 1)]
        return tuple(-flow - slope @ p for flow, slope in zip(flows, grad))

    @ssr.program(u=faces[0], v=faces[1], b=cells)
    def leave(u, v, b):
        b[:] = -(flux[0] @ u + flux[1] @ v)

    @ssr.program(**state, q=cells, dt=ssr.scalar)
    def project(u, v, p, q, dt):
        u[inner[0]] = u[inner[0]] - grad[0] @ q
        v[inner[1]] = v[inner[1]] - grad[1] @ q
        p[:] = p + q / dt

    u, v, p, b = (np.zeros(shape) for shape in ((n, n + 1), (n + 1, n), (n, n), (n, n)))
    parts = [viscosity(0), viscosity(1)]
    flow = ssr.integrate.ADI(parts, 0.0, (u, v), dt, "CraigSneyd", (p,), explicit=advection)
    for _ in range(round(time / dt)):
        flow.step()
        leave(u, v, b)
        project(u, v, p, poisson(b, rtol=1e-2).x, dt)
    return grid, u, v
