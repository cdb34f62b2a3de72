"""Heat with cold walls, periodic along x, in this package."""

import boundary as bc
import ssr

cells = ssr.Space(*ssr.sizes("ny nx"))
wide = cells.grow(1)
fill = bc.fill(wide, bc.dirichlet(0.0, axis=0), bc.periodic(axis=1))
lap = ssr.stencil(cells, wide, {(0, 0): -4, (0, 1): 1, (0, -1): 1, (1, 0): 1, (-1, 0): 1})


@ssr.program(u=cells, r=ssr.scalar)
def step(u, r):
    u[:] = u + r * (lap @ (fill @ u))


def solver(u, r):
    u = u.copy()

    def advance(steps):
        for _ in range(steps):
            step(u, r)
        return u

    return advance
