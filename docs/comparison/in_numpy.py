"""Heat with cold walls, periodic along x, in NumPy."""

import numpy as np


def solver(u, r):
    wide = np.pad(u, 1)
    u = wide[1:-1, 1:-1]

    def advance(steps):
        for _ in range(steps):
            wide[0], wide[-1] = -wide[1], -wide[-2]
            wide[:, 0], wide[:, -1] = wide[:, -2], wide[:, 1]
            y = wide[2:, 1:-1] + wide[:-2, 1:-1]
            x = wide[1:-1, 2:] + wide[1:-1, :-2]
            u[:] += r * (y + x - 4 * u)
        return u

    return advance
