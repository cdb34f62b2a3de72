"""Heat in a cylinder whose conductivity grows with the temperature, by implicit steps of order 2.

T_t = div((1 + T) grad T) + Q in r < 1, |z| < 1, with T = 0 on the surface. The source Q is that of
a known solution, T = exp(-t) (1 - r^2) cos(pi z / 2), which shows the order in space and time. The
axis r = 0 needs no condition: faces have no area there.
"""

import numpy as np
import sympy

import boundary as bc
import ssr
from ssr.coordinates import Axis, Coordinates, cylindrical

nr, nz = ssr.sizes("nr nz", at_least=2)
cells = ssr.Space(nr, nz)
uneven = Axis(-1.0, 1.0, stretching=lambda s: s + 0.1 * np.sin(2 * np.pi * s), units="m")
cylinder = Coordinates(cells, cylindrical, r=Axis(0.0, 1.0, units="m"), z=uneven)
surface = bc.fill(cylinder.wide, bc.dirichlet(0.0, axis=0, side="high"), bc.dirichlet(0.0, axis=1))

r, z, t = symbols = sympy.symbols("r z t")
solution = sympy.exp(-t) * (1 - r**2) * sympy.cos(sympy.pi * z / 2)
flux = [(1 + solution) * sympy.diff(solution, q) for q in (r, z)]
source = sympy.diff(solution, t) - sympy.diff(flux[1], z)
source -= sympy.expand(sympy.diff(r * flux[0], r) / r)
exact, Q = ssr.lambdify(symbols, solution), ssr.lambdify(symbols, source)


def solve(size, steps, end):
    """Return the grid of so many cells along the radius, and the temperature at the end."""
    grid = cylinder.bind(nr=size, nz=2 * size)
    slope, mean = ([f(q) for q in "rz"] for f in (grid.gradient, grid.average))
    out, laplace = [grid.divergence(q) for q in "rz"], grid.laplacian(ssr.scalar)
    R, Z = (np.ascontiguousarray(q) for q in np.broadcast_arrays(*grid.mesh()))

    @ssr.integrate.rhs(T=cells, R=cells, Z=cells)
    def conduct(time, T, R, Z):
        u = ssr.materialize(surface @ T)
        flows = zip(out, mean, slope)
        return sum(D @ ((1.0 + A @ u) * (G @ u)) for D, A, G in flows) + Q(R, Z, time)

    def inverse(h):  # that of the linear equation with a conductivity of 1.5
        A = ssr.identity(cells) - (laplace.bind(conductivity=1.5 * h) @ surface).linear
        return ssr.solvers.BiCGStab(A, M=ssr.solvers.ILU())

    T = exact(R, Z, 0.0)
    run = ssr.integrate.ImplicitRungeKutta(
        conduct, 0.0, T, end / steps, "SDIRK2", args=(R, Z), inverse=inverse
    )
    run.advance(end)
    return grid, T, abs(T - exact(R, Z, end)).max()


def run(sizes=(8, 16, 32, 64), end=0.5):
    """Return the finest grid with its temperature, and the error on each grid."""
    found = [solve(size, size // 2, end) for size in sizes]
    return *found[-1][:2], sizes, [error for *_, error in found]
