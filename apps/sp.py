"""SP of the NAS Parallel Benchmarks: ``python -m apps.sp --class {S,W,A,B,C} [--json FILE]``.

Time steps of Beam and Warming, diagonalised after Pulliam and Chaussee, for the flow problem of
`apps.npb.flow`. Along a direction with the velocity u, entropy and the velocities across are
transported at the speed u, and sound, ``p / (rho c) + u`` and ``p / (rho c) - u``, at u + c and
u - c. So each line has five scalar equations with five diagonals.
"""

from typing import Any

import ssr

from . import commands
from .npb.flow import C1, C1C5, C2, C3C4, DIRECTIONS, changes, derived, inner
from .npb.run import factored, main


def conserved(w: Any) -> tuple[Any, ...]:
    """Return the state with a density, velocities and a pressure."""
    rho, u, v, w, p = w
    return rho, rho * u, rho * v, rho * w, p / C2 + 0.5 * rho * (u**2 + v**2 + w**2)


def solved(R: Any, axes: tuple[int, ...], U: Any, dt: Any, h: Any) -> Any:
    """Return the solution with the factors of some axes; that of x comes first, and that of z last.

    Between them stand changes of entropy, of the velocities, that along the axis first, and of
    sound, ``p / (rho c)``. T makes changes of the state of those of density, velocities, pressure.
    """
    rho = U[inner][0]
    t, *u, p = ssr.materialize(ssr.vector(1.0 / rho, *derived(U[inner])[:4]))
    c = ssr.materialize(ssr.sqrt(C1 * p * t))
    T = ssr.diagonal(changes, ssr.jacobian(conserved)((rho, *u, p)))

    def moved(along: Any, axis: int, speed: Any) -> Any:
        """Return the solution for the components that are transported along an axis at a speed."""
        first = ssr.difference(inner, inner, axis, outside="zero") @ ssr.diagonal(inner, speed)
        second = ssr.difference(inner, inner, axis, derivative=2, outside="zero")
        diffused = second @ ssr.diagonal(inner, DIRECTIONS[axis] + C1C5 * C3C4 * t)
        still = ssr.identity(inner) + 0.25 * dt * (second @ second)
        return (still + dt / h * first - dt / h**2 * diffused).solve(along)

    if 2 in axes:
        density, *v, pressure = T.solve(R)
        R = ssr.materialize(ssr.vector(density - pressure / c**2, *v, t / c * pressure))
    for axis in axes:
        entropy, normal, *across, sound = R
        speed = u[2 - axis]
        entropy, *across = moved(ssr.vector(entropy, *across), axis, speed)
        right = moved(sound + normal, axis, speed + c)
        left = moved(sound - normal, axis, speed - c)
        R = ssr.vector(entropy, *across, 0.5 * (right - left), 0.5 * (right + left))
    if 0 in axes:
        entropy, *v, sound = R
        R = T @ ssr.vector(entropy + rho / c * sound, *v, rho * c * sound)
    return R


step = factored(solved)

if __name__ == "__main__":
    commands.run(lambda: main("SP", step))
