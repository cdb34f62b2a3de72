"""Heat in a wall of two materials, one of which conducts a hundred times better: implicit steps.

u_t = div(k grad u). The left side is 1 K warmer than the right side, and nothing passes through the
others. A step of Euler's implicit method solves (I - dt H) u_new = u, where H is affine: a matrix
and the values on the sides.
"""

import numpy as np

import boundary as bc
import ssr

n = ssr.size("n")
cells = ssr.Space(n, n)
sides = bc.dirichlet(1.0, axis=1, side="low"), bc.dirichlet(0.0, axis=1, side="high")
fill = bc.fill(cells.grow(1), *sides, bc.neumann(0.0, axis=0))


def conduction(k, h):
    """Return H for conductivities of cells; faces have the harmonic mean of both sides."""
    H = []
    for axis in (0, 1):
        faces, ends = cells.faces(axis), [(int(a == axis), int(a == axis)) for a in (0, 1)]
        resistance = 1 / np.pad(k, ends, mode="edge")
        both = np.delete(resistance, 0, axis), np.delete(resistance, -1, axis)
        flux = ssr.difference(faces, cells.grow(1), axis, spacing=h)
        K = ssr.diagonal(faces, 2 / (both[0] + both[1]))
        H.append(ssr.difference(cells, faces, axis, spacing=h) @ K @ flux)
    return (H[0] + H[1]) @ fill


def run(size=120, dt=20.0, times=(100, 400, 4000)):
    """Return the diffusivity in m^2/s, and the temperature after some seconds; 0.1 m x 0.1 m."""
    y, x = (np.indices((size, size)) + 0.5) / size
    k = np.where((abs(5 * x % 1 - 0.5) < 0.25) & (abs(5 * y % 1 - 0.5) < 0.25), 1e-4, 1e-6)
    A = ssr.identity(cells) - dt * conduction(k, 0.1 / size)
    solve = ssr.solvers.CG(A.linear, M=ssr.solvers.IC())
    offset = A.bind(n=size).offset
    u, found = np.zeros((size, size)), []
    for step in range(1, round(max(times) / dt) + 1):
        u = solve(u - offset, u, rtol=1e-8).x
        found += [u] if step * dt in times else []
    return k, times, found
