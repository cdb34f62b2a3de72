"""The flow problem of the NAS Parallel Benchmarks: compressible Navier-Stokes in the unit cube.

At each of n^3 points, indices k, j, i for z, y, x, stand density, momenta and energy,
``U = (rho, rho u, rho v, rho w, E)``. The spatial operator is a sum over the three directions d,

    L(U) = sum of  delta2(D U + G(U)) / h^2 - delta(F(U)) / 2h - 1/4 Q U,

with second and central differences delta2 and delta, the convective flux F along the direction, the
viscous terms G, a dissipation D, and one of fourth order, Q = delta2^2, within the inner points.

References
----------
Bailey et al., The NAS Parallel Benchmarks, NAS-95-020 (1995), chapter 3.
"""

from typing import Any

import ssr

C1, C2, C3C4, C1C5 = 1.4, 0.4, 0.1, 1.96
DIRECTIONS = {2: 0.75, 1: 0.75, 0: 1.0}
"""The axes of x, y and z, each with its dissipation."""

(n,) = ssr.sizes("n")
points = ssr.Space(n, n, n)
inner = points.grow(-1)
states, changes = points.vector(5), inner.vector(5)


def derived(q: Any) -> tuple[Any, ...]:
    """Return velocities, pressure, the enthalpy that is convected, and the heat that diffuses."""
    rho, *momenta, energy = q
    t = 1.0 / rho
    u, v, w = (m * t for m in momenta)
    kinetic = 0.5 * (momenta[0] * u + momenta[1] * v + momenta[2] * w)
    heat = C3C4 * ((1.0 - C1C5) * kinetic + C1C5 * energy) * t
    return u, v, w, C2 * (energy - kinetic), C1 * energy - C2 * kinetic, heat


def convection(q: Any, more: Any, axis: int) -> tuple[Any, ...]:
    """Return the flux along an axis, from a state and its derived quantities."""
    along = 2 - axis
    speed, pressure, enthalpy = more[along], more[3], more[4]
    momenta = (q[1 + m] * speed + (pressure if m == along else 0.0) for m in range(3))
    return q[1 + along], *momenta, enthalpy * speed


def viscosity(more: Any, axis: int) -> tuple[Any, ...]:
    """Return the terms of which second differences are taken along an axis."""
    along = 2 - axis
    stress = (C3C4 * (4 / 3 if m == along else 1.0) * more[m] for m in range(3))
    return 0.0, *stress, more[5] + C3C4 / 6 * more[along] ** 2


def spatial(U: Any, h: Any) -> Any:
    """Return L(U) at the inner points."""
    W, total = ssr.materialize(ssr.vector(*derived(U))), 0.0
    for axis, D in DIRECTIONS.items():
        shifts = [ssr.axis_stencil(inner, points, axis, {step: 1}) for step in (-1, 0, 1)]
        F = [ssr.vector(*convection(S @ U, S @ W, axis)) for S in shifts]
        G = [D * (S @ U) + ssr.vector(*viscosity(S @ W, axis)) for S in shifts]
        second = ssr.difference(inner, inner, axis, derivative=2, outside="zero")
        total = total + (1.0 / h**2) * (G[0] - 2.0 * G[1] + G[2]) - (0.5 / h) * (F[2] - F[0])
        total = total - 0.25 * ((second @ second) @ U[inner])
    return total
