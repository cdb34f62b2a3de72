"""Flow past two cylinders, which a mask cuts out of a Cartesian grid.

A staggered grid as in `cavity.py`; steps of Adams and Bashforth. Faces that touch an obstacle are
closed. The fluid enters on the left with speed 1; lengths are in widths of the channel.
"""

import numpy as np

import boundary as bc
import ssr

cells = ssr.Space(*ssr.sizes("ny nx", at_least=2))
more = cells.grow(0, (0, 1))  # one cell beyond the outlet
faces = cells.faces(1), cells.faces(0)  # of u and v
inner = faces[0].grow(0, (-1, 0)), faces[1].grow(-1, 0)  # all but the inlet and the walls
wide = faces[0].grow(1, (0, 1)), faces[1].grow(0, 1)
outlet = bc.extrapolate(1, axis=1, side="high")
fill_u = bc.fill(wide[0], bc.symmetric(axis=0), outlet, owned=faces[0])  # no friction at walls
fill_v = bc.fill(wide[1], bc.dirichlet(0.0, axis=1, side="low"), outlet)
d, mean = ssr.difference, ssr.average
level = bc.fill(more, bc.dirichlet(0.0, axis=1, side="high"), owned=cells)  # of pressure
grad = (d(inner[0], more, 1) @ level).linear, d(inner[1], cells, 0)
fields = {"u": faces[0], "v": faces[1], "open_u": inner[0], "open_v": inner[1]}
numbers = {"dt": ssr.scalar, "h": ssr.scalar, "nu": ssr.scalar}


@ssr.program(**fields, old_u=inner[0], old_v=inner[1], b=cells, **numbers)
def predict(u, v, open_u, open_v, old_u, old_v, b, dt, h, nu):
    U, V = fill_u @ u, fill_v @ v
    uu, vv = (mean(more, wide[0], 1) @ U) ** 2, (mean(cells, faces[1]) @ v) ** 2
    uv = (mean(cells.nodes(), wide[0]) @ U) * (mean(cells.nodes(), wide[1]) @ V)
    loss = d(inner[0], more, 1) @ uu + d(inner[0], cells.nodes(), 0) @ uv
    loss_v = d(inner[1], cells.nodes(), 1) @ uv + d(inner[1], cells, 0) @ vv
    each = (u, U, loss, old_u, open_u), (v, V, loss_v, old_v, open_v)
    for k, (w, W, flux, before, is_open) in enumerate(each):
        bend = sum(d(inner[k], wide[k], axis, derivative=2) @ W for axis in (0, 1))
        now = ssr.let(nu / h**2 * bend - flux / h)
        w[inner[k]] = is_open * (w[inner[k]] + dt * (1.5 * now - 0.5 * before))
        before[:] = now
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
    D = [d(cells, space, 1 - k, outside="drop") for k, space in enumerate(inner)]
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
