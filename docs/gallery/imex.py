"""Gray and Scott's reaction on a fine grid: implicit diffusion compared with explicit methods.

u_t = 2 D Laplace(u) - u v^2 + F (1 - u), v_t = D Laplace(v) + u v^2 - (F + k) v, in a periodic box.
The finer the grid, the shorter explicit steps must be: about h^2 / (8 D). The methods of Ascher,
Ruuth and Spiteri (1997) take diffusion implicitly, so that the accuracy decides. GMRES solves the
equations of a stage, with solves along lines of both axes as an approximate inverse.
"""

import numpy as np

import boundary as bc
import ssr

D, F, k, width = 1e-5, 0.0367, 0.0649, 0.5
cells = ssr.Space(*ssr.sizes("ny nx", at_least=3))
ring = bc.fill(cells.grow(1), bc.periodic())
bends = [ssr.difference(cells, cells.grow(1), q, derivative=2) @ ring for q in (0, 1)]
eye = ssr.identity(cells)
kinds = {"u": cells, "v": cells, "r": ssr.scalar}  # r = D / h^2


@ssr.integrate.rhs(**kinds)
def react(t, u, v, r):
    rate = ssr.materialize(u * v**2)
    return F * (1.0 - u) - rate, rate - (F + k) * v


@ssr.integrate.rhs(**kinds)
def diffuse(t, u, v, r):
    return 2.0 * r * ((bends[0] + bends[1]) @ u), r * ((bends[0] + bends[1]) @ v)


@ssr.integrate.rhs(**kinds)
def both(t, u, v, r):
    return tuple(map(sum, zip(react(t, u, v, r), diffuse(t, u, v, r))))


@ssr.program(a=cells, b=cells, u=cells, v=cells, s=ssr.scalar)
def invert(a, b, u, v, s):
    for to, w, c in (a, u, 2.0 * s), (b, v, s):
        y, x = (eye - c * bend.linear for bend in bends)
        to[:] = x.solve(y.solve(w))


def solve(method, dt, n, end):
    """Return u and v at the end, and the number of evaluations and products with the Jacobian."""
    x, r = (np.arange(n) + 0.5) / n, D * (n / width) ** 2
    spots = (0.3, 0.3), (0.65, 0.45), (0.4, 0.75)
    shape = sum(np.exp(-(((x - a) / 0.1) ** 4) - ((x[:, None] - b) / 0.1) ** 4) for a, b in spots)
    start, steps = (1.0 - 0.5 * shape, 0.25 * shape), np.ceil(end / dt)
    if method in EXPLICIT:
        run = ssr.integrate.RungeKutta(both, 0.0, start, dt, method, (r,))
        run.advance(end)
        return run.y, steps * EXPLICIT[method]

    def inverse(h):
        return lambda *fields: invert(*fields, h * r)

    run = ssr.integrate.ImexRungeKutta(
        react, diffuse, 0.0, start, dt, method, (r,), rtol=1e-6, inverse=inverse
    )
    run.advance(end)
    return run.y, steps * 2 * len(run.method.implicit.b) + run.iterations + run.products


EXPLICIT = {"RK4": 4, "SSPRK33": 3}  # stages
IMEX = "ARS111", "ARS222", "ARS443"


def run(n=128, end=400.0, lengths=(16.0, 8.0, 4.0, 2.0)):
    """Return v, and for each method lengths of steps, errors of v and numbers of evaluations."""
    limit = (width / n) ** 2 / (8 * D)  # of Euler's method; that of RK4 is 1.39 times as long
    (_, v), _ = solve("RK4", 1.25 * limit, n, end)
    found = {}
    for method, steps in {"SSPRK33": (limit,), **dict.fromkeys(IMEX, lengths)}.items():
        each = [solve(method, dt, n, end) for dt in steps]
        found[method] = steps, [abs(y[1] - v).max() for y, _ in each], [work for _, work in each]
    return v, found
