"""The lowest notes of an L-shaped drum: three square blocks, linked.

-Laplace(u) = lambda u with u = 0 on the rim. LOBPCG finds all vectors together; two more than are
wanted make it faster. The first eigenvalue is 9.63972... for unit squares (L. Fox, P. Henrici and
C. Moler, SIAM J. Numer. Anal. 4, 1967).
"""

import numpy as np

import boundary as bc
import ssr

n = ssr.size("n")
up = bc.join(2, bc.Side(0, 0, "high"), bc.Side(1, 0, "low"))  # block 1 lies above block 0
right = bc.join(2, bc.Side(0, 1, "high"), bc.Side(2, 1, "low"))  # and block 2 beside it
cells = bc.Grid(3 * [(n, n)], links=[up, right]).cells
wide = cells.grow(1)
star = {(0, 0, 0): 4.0, (0, 0, 1): -1.0, (0, 0, -1): -1.0, (0, 1, 0): -1.0, (0, -1, 0): -1.0}
A = (ssr.stencil(cells, wide, star) @ bc.fill(wide, bc.linked(), bc.dirichlet(0.0))).linear


def run(size=64, modes=4):
    """Return eigenvalues and eigenvectors, arrays [block, y, x]."""
    guess = np.random.default_rng(0).standard_normal((modes + 2, 3, size, size))
    found = ssr.solvers.lobpcg(A, guess, M=ssr.solvers.IC(), rtol=1e-6)
    return found.eigenvalues[:modes] * size**2, found.eigenvectors[:modes]
