"""Lid-driven cavity: viscous flow in a box whose lid moves, on a staggered (MAC) grid.

A step predicts the velocity (u, v) by advection and diffusion, then subtracts the gradient of the
pressure that makes it free of divergence (Chorin 1968). Profiles at Re = 1000 are compared with
those of Ghia, Ghia and Shin, J. Comput. Phys. 48 (1982).
"""

import numpy as np

import boundary as bc
import ssr

m = ssr.size("m", at_least=2)
cells, coarse = ssr.Space(2 * m, 2 * m), ssr.Space(m, m)
faces = cells.faces(1), cells.faces(0)  # of u and v: face i lies before cell i
inner = faces[0].grow(0, -1), faces[1].grow(-1, 0)  # those that are not walls
wide = faces[0].grow(1, 0), faces[1].grow(0, 1)
lid = bc.dirichlet(1.0, axis=0, side="high"), bc.dirichlet(0.0, axis=0, side="low")
fills = bc.fill(wide[0], *lid), bc.fill(wide[1], bc.dirichlet(0.0, axis=1))
d, mean = ssr.difference, ssr.average
grad = d(inner[0], cells, 1), d(inner[1], cells, 0)
A = grad[0].T @ grad[0] + grad[1].T @ grad[1]  # -h^2 times the Laplacian, in a closed box
P = ssr.solvers.interpolation(cells, coarse, centring="cells")
poisson = ssr.solvers.CG(A, M=ssr.solvers.Multigrid(A, P, P.T))


@ssr.program(u=faces[0], v=faces[1], b=cells, dt=ssr.scalar, h=ssr.scalar, nu=ssr.scalar)
def predict(u, v, b, dt, h, nu):
    U, V = fills[0] @ u, fills[1] @ v
    uu, vv = (mean(cells, faces[0]) @ u) ** 2, (mean(cells, faces[1]) @ v) ** 2
    uv = (mean(cells.nodes(), wide[0]) @ U) * (mean(cells.nodes(), wide[1]) @ V)
    for w, W, k, along, across in (u, U, 0, uu, 1), (v, V, 1, vv, 0):
        bend = [d(inner[k], wide[k], axis, derivative=2) @ W for axis in (0, 1)]
        flux = d(inner[k], cells, across) @ along + d(inner[k], cells.nodes(), 1 - across) @ uv
        w[inner[k]] = w[inner[k]] + dt * (nu / h**2 * (bend[0] + bend[1]) - flux / h)
    b[:] = -(d(cells, faces[0], 1) @ u + d(cells, faces[1], 0) @ v)


@ssr.program(u=faces[0], v=faces[1], p=cells)
def project(u, v, p):
    u[inner[0]] = u[inner[0]] - grad[0] @ p
    v[inner[1]] = v[inner[1]] - grad[1] @ p


def run(n=128, time=50.0, nu=1e-3):
    h = 1 / n
    dt = 0.8 * min(h**2 / (4 * nu), h)
    u, v, p, b = np.zeros((n, n + 1)), np.zeros((n + 1, n)), np.zeros((n, n)), np.zeros((n, n))
    for _ in range(round(time / dt)):
        predict(u, v, b, dt, h, nu)
        p = poisson(b, p, rtol=1e-3).x
        project(u, v, p)
    return u, v
