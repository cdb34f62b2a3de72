"""Diffusion through random grains by Galerkin multigrid, beside other preconditioners.

-div(k grad u) = 1 with u = 0 on the boundary. The coefficient k of a face is that of the grain
that it lies in; it jumps by a factor of a hundred. The coarse matrices are products P.T A P.
"""

import numpy as np

import ssr

n = ssr.size("n")
points = ssr.Space(n, n)  # inner points of a square
kinds = {"kx": ssr.Space(n, n + 1), "ky": ssr.Space(n + 1, n)}  # faces before and behind them


@ssr.matrix(rows=points, cols=points, **kinds)
def diffusion(j, i, *, kx, ky):
    yield (j, i), kx[j, i] + kx[j, i + 1] + ky[j, i] + ky[j + 1, i]
    above, right = ((j + 1, i), ky[j + 1, i]), ((j, i + 1), kx[j, i + 1])
    for column, k in ((j - 1, i), ky[j, i]), ((j, i - 1), kx[j, i]), right, above:
        if column in points:
            yield column, -k


def run(size=255, levels=6):
    """Return the coefficients, the solution, and the residuals of each method."""
    rng = np.random.default_rng(0)
    grains = 10.0 ** rng.uniform(-1, 1, (17, 17))
    at = np.arange(size + 1) * 16 // size
    k = grains[np.ix_(at, at)]
    A = diffusion.bind(kx=k[1:].copy(), ky=k[:, 1:].copy())
    b = np.full((size, size), 1 / (size + 1) ** 2)
    galerkin = ssr.solvers.Multigrid.galerkin(A, levels)
    methods = {"none": None, "Gauss-Seidel": ssr.solvers.GaussSeidel(), "IC(0)": ssr.solvers.IC()}
    histories = {}
    for name, M in {**methods, "multigrid": galerkin}.items():
        found = ssr.solvers.cg(A, b, rtol=1e-8, M=M)
        histories[name] = found.history
    return k, found.x, histories
