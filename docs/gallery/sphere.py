"""A bell carried once around the sphere by a solid rotation, over panels and their edges.

q_t + div(u q) = 0 on the six panels of a cubed sphere. The flux of the wind through a face is the
difference of a stream function between its ends, so that constants stay constant; q on a face is
interpolated upwind, to third order (Williamson et al., J. Comput. Phys. 102, 1992, case 1).
"""

import numpy as np

import boundary as bc
import ssr

n = ssr.size("n", at_least=4)
cells = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere()).cells  # [panel, y, x]
wide, faces = cells.grow(2), (cells.faces(-2), cells.faces(-1))
shared = bc.synchronize(*faces)  # what leaves a panel enters the next
upwind = {-2: -1 / 6, -1: 5 / 6, 0: 1 / 3}, {1: -1 / 6, 0: 5 / 6, -1: 1 / 3}
sides = [[ssr.axis_stencil(faces[a], wide, a, weights) for weights in upwind] for a in (-2, -1)]
across = [ssr.difference(cells, faces[a], a) for a in (-2, -1)]


def sphere(angle):
    """Return points of all panels, [panel, xyz, y, x], from the angles along a panel."""
    X, Y = np.meshgrid(np.tan(angle), np.tan(angle))
    one = np.ones_like(X)
    r = (one, X, Y), (-X, one, Y), (-one, -X, Y), (X, -one, Y), (-Y, X, one), (Y, X, -one)
    return np.array(r) / np.sqrt(1 + X**2 + Y**2)


def ghosts(size):
    """Return the fill of two layers, each ghost from four points of a line of a neighbour."""
    beyond, along = np.pi / 4 + (np.arange(2)[:, None] + 0.5) * np.pi / 2 / size, np.arange(size)
    there = np.tan((along + 0.5) * np.pi / 2 / size - np.pi / 4) / np.tan(beyond)
    x = (np.arctan(there) + np.pi / 4) * 2 * size / np.pi - 0.5
    first = np.clip(np.floor(x).astype(int) - 1, 0, size - 4)
    lagrange = [[(x - first - m) / (r - m) for m in range(4) if m != r] for r in range(4)]
    weights = np.stack([np.prod(factors, axis=0) for factors in lagrange], axis=-1)
    return bc.fill(wide, bc.interpolate(first, weights) @ bc.linked())


def run(size=64, turns=(1 / 8, 1 / 4, 1)):
    """Return the angles of faces, the areas of cells, and the bell at the start and later."""
    fill, edges = ghosts(size), np.linspace(-np.pi / 4, np.pi / 4, size + 1)

    @ssr.program(q=cells, y=faces[0], x=faces[1], dt=cells)
    def advance(q, y, x, dt):  # the winds through faces, and the time step divided by areas
        def moved(q):
            Q, winds = fill @ q, ((y, *sides[0]), (x, *sides[1]))
            F = (w * ssr.where(w > 0, low @ Q, high @ Q) for w, low, high in winds)
            return q - dt * sum(D @ f for D, f in zip(across, shared @ tuple(F)))

        q[:] = q / 3 + 2 / 3 * moved(0.75 * q + 0.25 * moved(moved(q)))

    psi = np.einsum("c,pcji->pji", [0.5**0.5, 0.0, 0.5**0.5], sphere(edges))
    wind, (X, Y) = (-np.diff(psi, axis=2), np.diff(psi, axis=1)), np.meshgrid(*2 * [np.tan(edges)])
    corner = np.arctan(X * Y / np.sqrt(1 + X**2 + Y**2))  # the solid angle up to a point
    area = np.diff(np.diff(corner, axis=0), axis=1) + np.zeros((6, 1, 1))
    distance = np.arccos(sphere((edges[1:] + edges[:-1]) / 2)[:, 1])
    q = np.where(distance < 1 / 3, 0.5 + 0.5 * np.cos(3 * np.pi * distance), 0.0)
    steps, found = 12 * size, [q.copy()]
    for k in range(1, steps + 1):
        advance(q, *wind, 2 * np.pi / steps / area)
        found += [q.copy()] if k / steps in turns else []
    return edges, area, found
