"""Gray and Scott's reaction of two substances that diffuse: spots that divide.

u_t = Du Laplace(u) - u v^2 + F (1 - u), v_t = Dv Laplace(v) + u v^2 - (F + k) v, in a periodic box
(J. E. Pearson, Science 261, 1993). Lengths are in cells, times in steps.
"""

import numpy as np

import boundary as bc
import ssr

cells = ssr.Space(*ssr.sizes("ny nx"))
wide = cells.grow(1)
star = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
laplace = ssr.stencil(cells, wide, star) @ bc.fill(wide, bc.periodic())


@ssr.program(u=cells, v=cells, F=ssr.scalar, k=ssr.scalar)
def react(u, v, F, k):
    rate = ssr.materialize(u * v**2)
    du = 0.16 * (laplace @ u) - rate + F * (1.0 - u)
    dv = 0.08 * (laplace @ v) + rate - (F + k) * v
    u[:] = u + du
    v[:] = v + dv


def run(n=256, steps=10000, F=0.0367, k=0.0649):
    u, v = np.ones((n, n)), np.zeros((n, n))
    rng = np.random.default_rng(0)
    for y, x in rng.integers(0, n - 8, (12, 2)):
        u[y : y + 8, x : x + 8], v[y : y + 8, x : x + 8] = 0.5, 0.25
    for _ in range(steps):
        react(u, v, F, k)
    return u, v
