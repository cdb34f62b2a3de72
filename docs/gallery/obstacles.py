"""Flow past two cylinders, which a mask cuts out of a Cartesian grid.

A staggered grid as in `cavity.py`; fluxes of third order, from the side where the fluid comes from
(QUICK), since those of second order oscillate on wide cells; steps of Adams and Bashforth. Faces
that touch an obstacle are closed. Fluid enters with speed 1; lengths are in widths of the channel.
"""

import numpy as np

import boundary as bc
import ssr

cells = ssr.Space(*ssr.sizes("ny nx", at_least=2))
more = cells.grow(0, (0, 1))  # one cell beyond the outlet
faces = cells.faces(1), cells.faces(0)  # of u and v
inner = faces[0].grow(0, (-1, 0)), faces[1].grow(-1, 0)  # all but the inlet and the walls
wide = faces[0].grow(2, (1, 2)), faces[1].grow(1, 2)
ends = bc.ghost_value(1.0, axis=1, side="low"), bc.dirichlet(0.0, axis=1, side="low")
walls = bc.symmetric(axis=0), bc.symmetric(axis=0, sign=-1)  # without friction
rules = [(walls[k], ends[k], bc.extrapolate(1, axis=1, side="high")) for k in (0, 1)]
fills = [bc.fill(wide[k], *rules[k], owned=faces[k]) for k in (0, 1)]
d, mean, corners = ssr.difference, ssr.average, cells.nodes()
level = bc.fill(more, bc.dirichlet(0.0, axis=1, side="high"), owned=cells)  # of pressure
grad = (d(inner[0], more, 1) @ level).linear, d(inner[1], cells, 0)
fields = {"u": faces[0], "v": faces[1], "open_u": inner[0], "open_v": inner[1]}
numbers = {"dt": ssr.scalar, "h": ssr.scalar, "nu": ssr.scalar}


@ssr.program(**fields, old_u=inner[0], old_v=inner[1], b=cells, **numbers)
def predict(u, v, open_u, open_v, old_u, old_v, b, dt, h, nu):
    W = fills[0] @ u, fills[1] @ v
    for k, (w, before, is_open) in enumerate(((u, old_u, open_u), (v, old_v, open_v))):
        rate = 0.0
        for axis in (0, 1):  # what is carried along an axis passes through cells, or corners
            rows = corners if axis == k else (more, cells)[k]
            by = mean(rows, wide[1 - axis], 1 - k) @ W[1 - axis]
            cubic, third = mean(rows, wide[k], axis, order=4), d(rows, wide[k], axis, derivative=3)
            flux = by * (cubic @ W[k]) + abs(by) / 16 * (third @ W[k])
            bend = d(inner[k], wide[k], axis, derivative=2) @ W[k]
            rate += nu / h**2 * bend - (d(inner[k], rows, axis) @ flux) / h
        w[inner[k]] = is_open * (w[inner[k]] + dt * (1.5 * ssr.materialize(rate) - 0.5 * before))
        before[:] = rate
    b[:] = -(d(cells, faces[0], 1) @ u + d(cells, faces[1], 0) @ v)


@ssr.program(**fields, p=cells)
def project(u, v, open_u, open_v, p):
    u[inner[0]] = u[inner[0]] - open_u * (grad[0] @ p)
    v[inner[1]] = v[inner[1]] - open_v * (grad[1] @ p)


def run(ny=64, time=16.0, diameter=0.18, reynolds=120.0):
    """Return u, v and the mask of the obstacles."""
    h, nx = 1 / ny, 4 * ny
    y, x = (np.indices((ny, nx)) + 0.5) * h
    centres = (0.8, 0.36), (1.3, 0.66)
    free = np.prod([np.hypot(x - a, y - b) > diameter / 2 for a, b in centres], axis=0) * 1.0
    opened = free * np.append(free[:, 1:], np.ones((ny, 1)), axis=1), free[1:] * free[:-1]
    K = [ssr.diagonal(space, mask) for space, mask in zip(inner, opened)]
    D = [d(cells, space, 1 - k, outside="zero") for k, space in enumerate(inner)]
    A = ssr.diagonal(cells, 1 - free) - sum(D[k] @ K[k] @ grad[k] for k in (0, 1))
    poisson = ssr.solvers.CG(A, M=ssr.solvers.IC())
    u, v, p, b = (np.zeros(shape) for shape in ((ny, nx + 1), (ny + 1, nx), (ny, nx), (ny, nx)))
    old, dt = [np.zeros_like(mask) for mask in opened], 0.25 * h
    u[:, 0], u[:, 1:] = 1.0, opened[0]
    for _ in range(round(time / dt)):
        predict(u, v, *opened, *old, b, dt, h, diameter / reynolds)
        p = poisson(b, p, rtol=1e-3).x
        project(u, v, *opened, p)
    return u, v, free
