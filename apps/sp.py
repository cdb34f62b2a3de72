"""SP of the NAS Parallel Benchmarks: ``python -m apps.sp --class {S,W,A,B,C} [--json FILE]``.

Time steps of Beam and Warming, diagonalised after Pulliam and Chaussee, for the flow problem of
`apps.npb.flow`. In the eigenvectors of the flux along a direction the components are transported by
the speeds u, u, u, u + a and u - a, so that each line has five scalar equations with five
diagonals. Pointwise transformations lead from one basis to the next.
"""

from typing import Any

import ssr

from .npb.flow import (
    C1,
    C1C5,
    C2,
    C3C4,
    DIRECTIONS,
    along,
    changes,
    derived,
    inner,
    spatial,
    states,
)
from .npb.run import main

ROOT = 0.5**0.5


def to_x(r: Any, u: Any, qs: Any, a: Any, t: Any) -> tuple[Any, ...]:
    """Return changes of the state in the eigenvectors of the flux along x."""
    g1 = C2 / a**2 * (qs * r[0] - u[0] * r[1] - u[1] * r[2] - u[2] * r[3] + r[4])
    g2, g3 = ROOT * t * (u[0] * r[0] - r[1]), ROOT * t * a * g1
    return r[0] - g1, -t * (u[2] * r[0] - r[3]), t * (u[1] * r[0] - r[2]), g3 - g2, g3 + g2


def to_y(r: Any) -> tuple[Any, ...]:
    """Return what is given in the eigenvectors along x in those along y."""
    half, turned = 0.5 * (r[3] + r[4]), ROOT * r[2]
    return -r[1], r[0], ROOT * (r[3] - r[4]), half - turned, half + turned


def to_z(r: Any) -> tuple[Any, ...]:
    """Return what is given in the eigenvectors along y in those along z."""
    half, turned = 0.5 * (r[3] + r[4]), ROOT * r[0]
    return ROOT * (r[3] - r[4]), -r[2], r[1], half - turned, half + turned


def to_state(r: Any, u: Any, qs: Any, a: Any, rho: Any) -> tuple[Any, ...]:
    """Return what is given in the eigenvectors along z as changes of the state."""
    g1, g3 = ROOT * rho * (r[3] + r[4]) / a, ROOT * rho * (r[3] - r[4])
    g2 = r[2] + g1
    energy = rho * (u[1] * r[0] - u[0] * r[1]) + qs * g2 + a**2 / C2 * g1 + u[2] * g3
    return g2, u[0] * g2 - rho * r[1], u[1] * g2 + rho * r[0], u[2] * g2 + g3, energy


@ssr.program(U=states, F=changes, dt=ssr.scalar, h=ssr.scalar)
def step(U: Any, F: Any, dt: Any, h: Any) -> None:
    """Advance U by a time step."""
    rho, more = U[0][inner], ssr.let(ssr.vector(*derived(U[inner])))
    u, a, t = more[:3], ssr.let(ssr.sqrt(C1 * more[3] / rho)), ssr.let(1.0 / rho)
    qs = 0.5 * (u[0] ** 2 + u[1] ** 2 + u[2] ** 2)

    def solved(axis: int, r: Any) -> tuple[Any, ...]:
        speed = u[2 - axis]
        second, central = (along(axis, w, inner) for w in ((1, -2, 1), (-1, 0, 1)))
        diffusion = second @ ssr.diagonal(inner, DIRECTIONS[axis] + C1C5 * C3C4 * t)
        still = ssr.identity(inner) + (0.25 * dt) * (second @ second) - (dt / h**2) * diffusion
        *first, plus, minus = (
            (still + (0.5 * dt / h) * (central @ ssr.diagonal(inner, wave))).solve(side)
            for wave, side in ((speed, ssr.vector(*r[:3])), (speed + a, r[3]), (speed - a, r[4]))
        )
        return *first[0], plus, minus

    R = solved(2, to_x(ssr.let(dt * (F + spatial(U, h))), u, qs, a, t))
    R = solved(0, to_z(solved(1, to_y(R))))
    U[inner] = U[inner] + ssr.vector(*to_state(R, u, qs, a, rho))


if __name__ == "__main__":
    main("SP", step)
