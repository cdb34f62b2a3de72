"""SP of the NAS Parallel Benchmarks: ``python -m apps.sp --class {S,W,A,B,C} [--json FILE]``.

Time steps of Beam and Warming, diagonalised after Pulliam and Chaussee, for the flow problem of
`apps.npb.flow`. Along a direction with the velocity u, entropy and the velocities across are
transported at the speed u, and sound, ``p / (rho c) + u`` and ``p / (rho c) - u``, at u + c and
u - c. So each line has five scalar equations with five diagonals.
"""

from collections.abc import Callable
from typing import Any

import ssr

from .npb.flow import C1, C1C5, C2, C3C4, CENTRAL, DIRECTIONS, SECOND, inner
from .npb.run import factored, main


def factors(U: Any, dt: Any, h: Any) -> Callable[[int, Any], Any]:
    """Return what solves with the factor of an axis; that of x comes first, and that of z last."""
    rho, *momenta, energy = U[inner]
    t = ssr.let(1.0 / rho)
    u = ssr.let(ssr.vector(*(m * t for m in momenta)))
    half = 0.5 * (u[0] ** 2 + u[1] ** 2 + u[2] ** 2)
    c = ssr.let(ssr.sqrt(C1 * C2 * (energy * t - half)))

    def waves(mass: Any, *R: Any) -> tuple[Any, ...]:
        """Return changes of entropy, velocities and pressure for those of the state."""
        work = u[0] * R[0] + u[1] * R[1] + u[2] * R[2]
        sound = C2 / c**2 * (half * mass - work + R[3])
        return mass - sound, *(t * (R[d] - u[d] * mass) for d in range(3)), c * t * sound

    def state(entropy: Any, *R: Any) -> tuple[Any, ...]:
        """Return changes of the state for those of entropy, velocities and pressure."""
        mass = entropy + rho / c * R[3]
        momenta = [rho * R[d] + u[d] * mass for d in range(3)]
        work = u[0] * momenta[0] + u[1] * momenta[1] + u[2] * momenta[2]
        return mass, *momenta, rho * c / C2 * R[3] - half * mass + work

    def solve(axis: int, R: Any) -> Any:
        second, central = (
            ssr.along(inner, inner, axis, weights, outside="drop") for weights in (SECOND, CENTRAL)
        )
        diffusion = second @ ssr.diagonal(inner, DIRECTIONS[axis] + C1C5 * C3C4 * t)
        still = ssr.identity(inner) + 0.25 * dt * (second @ second) - dt / h**2 * diffusion

        def moving(speed: Any, side: Any) -> Any:
            return (still + 0.5 * dt / h * (central @ ssr.diagonal(inner, speed))).solve(side)

        entropy, *v, pressure = ssr.let(ssr.vector(*waves(*R))) if axis == 2 else R
        normal, speed = v.pop(2 - axis), u[2 - axis]
        entropy, *v = moving(speed, ssr.vector(entropy, *v))
        right, left = moving(speed + c, pressure + normal), moving(speed - c, pressure - normal)
        v.insert(2 - axis, 0.5 * (right - left))
        found = entropy, *v, 0.5 * (right + left)
        return ssr.vector(*(state(*found) if axis == 0 else found))

    return solve


step = factored(factors)

if __name__ == "__main__":
    main("SP", step)
