"""The flow problem of the NAS Parallel Benchmarks: compressible Navier-Stokes in the unit cube.

At each of N^3 points, indices k, j, i for z, y, x, stand density, momenta and energy,
``U = (rho, rho u, rho v, rho w, E)``. The spatial operator is a sum over the three directions d,

    L(U) = sum of  delta2(D U + G(U)) / h^2 - delta(F(U)) / 2h - 1/4 Q U,

with second and central differences delta2 and delta, the convective flux F along the direction, the
viscous terms G, a dissipation D, and one of fourth order, Q = delta2^2. On the boundary U is the
exact solution U*, a polynomial, and the forcing -L(U*) makes it the steady state.

References
----------
Bailey et al., The NAS Parallel Benchmarks, NAS-95-020 (1995), chapter 3.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import ssr

KNOWN = json.loads((Path(__file__).parent / "problem.json").read_text())
"""The exact solution: for each component coefficients of 1, x, y, z, x^2, y^2, ...; the classes."""

C1, C2, C3C4, C1C5 = 1.4, 0.4, 0.1, 1.96
DIRECTIONS = {2: 0.75, 1: 0.75, 0: 1.0}
"""The axes of x, y and z, each with its dissipation."""

SECOND, CENTRAL = {-1: 1, 0: -2, 1: 1}, {-1: -1, 1: 1}
"""The differences delta2 and delta: weights of neighbours along an axis."""

(n,) = ssr.sizes("n")
points = ssr.Space(n, n, n)
inner = points.grow(-1)
states, changes = points.vector(5), inner.vector(5)


def exact(*xyz: Any) -> Any:
    """Return the exact solution at given coordinates."""
    constant, *powers = np.array(KNOWN["solution"]).T.reshape(13, 5, 1, 1, 1)
    return constant + sum(x * np.polyval(powers[9 + d :: -3], x) for d, x in enumerate(xyz))


def initial(*xyz: Any) -> Any:
    """Return the initial state, interpolated between the faces where it is not exact."""

    def between(d: int) -> Any:
        low, high = (exact(*xyz[:d], end, *xyz[d + 1 :]) for end in (0.0, 1.0))
        return xyz[d] * high + (1.0 - xyz[d]) * low

    within = math.prod(x * (1.0 - x) for x in xyz) > 0.0
    return np.where(within, 1.0 - math.prod(1.0 - between(d) for d in range(3)), exact(*xyz))


def beside(row: tuple[Any, ...], axis: int, step: int) -> tuple[Any, ...]:
    """Return the point some steps further along an axis."""
    return (*row[:axis], row[axis] + step, *row[axis + 1 :])


def derived(q: Any) -> tuple[Any, ...]:
    """Return velocities, pressure, the enthalpy that is convected, and the heat that diffuses."""
    rho, *momenta, energy = q
    t = 1.0 / rho
    u, v, w = (m * t for m in momenta)
    kinetic = 0.5 * (momenta[0] * u + momenta[1] * v + momenta[2] * w)
    heat = C3C4 * ((1.0 - C1C5) * kinetic + C1C5 * energy) * t
    return u, v, w, C2 * (energy - kinetic), C1 * energy - C2 * kinetic, heat


def convection(q: Any, more: Any, axis: int) -> tuple[Any, ...]:
    """Return the flux along an axis, from a state and what is derived of it."""
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
    W = ssr.let(ssr.vector(*derived(U)))
    total: Any = 0.0
    for axis, D in DIRECTIONS.items():
        shifts = [ssr.along(inner, points, axis, {step: 1}) for step in (-1, 0, 1)]
        F = [ssr.vector(*convection(S @ U, S @ W, axis)) for S in shifts]
        G = [ssr.vector(*viscosity(S @ W, axis)) for S in shifts]
        second = D * (ssr.along(inner, points, axis, SECOND) @ U) + (G[0] - 2.0 * G[1] + G[2])
        total = total + (1.0 / h**2) * second - (0.5 / h) * (F[2] - F[0])
        within = ssr.along(inner, inner, axis, SECOND, outside="drop")
        total = total - 0.25 * ((within @ within) @ U[inner])
    return total
