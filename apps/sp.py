"""SP of the NAS Parallel Benchmarks: ``python -m apps.sp --class {S,W,A,B,C} [--json FILE]``.

Time steps of Beam and Warming, diagonalised after Pulliam and Chaussee, for the flow problem of
`apps.npb.flow`. In the eigenvectors of the flux along a direction the components are transported by
the speeds u, u, u, u + a and u - a, so that each line has five scalar equations with five
diagonals. Pointwise transformations lead from one basis to the next.
"""

from collections.abc import Iterator
from typing import Any

import ssr

from .npb import flow
from .npb.run import Class, main

ROOT = 0.5**0.5


def implicit(axis: int, D: float) -> ssr.Matrix:
    """Return I - dt times transport and diffusion along an axis."""

    @ssr.matrix(
        rows=flow.inner,
        cols=flow.inner,
        speed=flow.points,
        t=flow.points,
        dt=ssr.scalar,
        h=ssr.scalar,
    )
    def factor(*row: Any, speed: Any, t: Any, dt: Any, h: Any) -> Iterator[Any]:
        for step in -1, 0, 1:
            c = flow.beside(row, axis, step)
            if c in flow.inner:
                diffusion = (
                    (3.0 * (step == 0) - 1.0) * dt / h**2 * (D + flow.C1C5 * flow.C3C4 * t[c])
                )
                yield c, diffusion + (step * (0.5 * dt / h) * speed[c] if step else 1.0)

    return factor


def to_x(r: Any, u: Any, qs: Any, a: Any, t: Any) -> tuple[Any, ...]:
    """Return changes of the state in the eigenvectors of the flux along x."""
    g1 = flow.C2 / a**2 * (qs * r[0] - u[0] * r[1] - u[1] * r[2] - u[2] * r[3] + r[4])
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
    energy = rho * (u[1] * r[0] - u[0] * r[1]) + qs * g2 + a**2 / flow.C2 * g1 + u[2] * g3
    return g2, u[0] * g2 - rho * r[1], u[1] * g2 + rho * r[0], u[2] * g2 + g3, energy


FACTORS = {axis: implicit(axis, D) for axis, D in flow.DIRECTIONS.items()}


@ssr.program(U=flow.states, F=flow.changes, dt=ssr.scalar, h=ssr.scalar)
def step(U: Any, F: Any, dt: Any, h: Any) -> None:
    """Advance U by a time step."""
    *speeds, pressure, _, _ = flow.derived(U)
    t = ssr.let(1.0 / U[0])
    u, a = ssr.let(ssr.vector(*speeds)), ssr.let(ssr.sqrt(flow.C1 * t * pressure))
    here = [x[flow.inner] for x in u], 0.5 * sum(x[flow.inner] ** 2 for x in u), a[flow.inner]

    def solved(axis: int, r: Any) -> Any:
        within = flow.along(axis, (1, -2, 1), flow.inner)
        smoothing = (0.25 * dt) * (within @ within)
        waves = (0.0, slice(0, 3)), (1.0, slice(3, 4)), (-1.0, slice(4, 5))
        found: list[Any] = []
        for sign, which in waves:
            speed = u[2 - axis] + sign * a if sign else u[2 - axis]
            A = FACTORS[axis].bind(speed=speed, t=t, dt=dt, h=h) + smoothing
            found.extend(A.solve(ssr.vector(*r[which])))
        return found

    R = to_x(dt * (F + flow.spatial(U, h)), *here, t[flow.inner])
    R = to_z(solved(1, to_y(solved(2, R))))
    U[flow.inner] = U[flow.inner] + ssr.vector(*to_state(solved(0, R), *here, U[0][flow.inner]))


CLASSES = {
    "S": Class(
        12, 0.015, 100,
        (0.0274703154513, 0.0103607467053, 0.0162357450651, 0.0158405572245, 0.0348490406094),
        (2.7289258557e-05, 1.0364446641e-05, 1.6154798287e-05, 1.5750704994e-05, 3.4177666183e-05),
    ),
    "W": Class(
        36, 0.0015, 400,
        (0.00189325373358, 1.7170754478e-04, 2.7781533509e-04, 2.8874754100e-04, 0.00314361116124),
        (7.5420885995e-05, 6.5128522531e-06, 1.0490922857e-05, 1.1288386715e-05, 1.2128456398e-04),
    ),
    "A": Class(
        64, 0.0015, 400,
        (2.47998223993, 1.12763379644, 1.50289778888, 1.42178162117, 2.12921130351),
        (1.0900140298e-04, 3.7343951769e-05, 5.0092785407e-05, 4.7671093940e-05, 1.3621613399e-04),
    ),
    "B": Class(
        102, 0.001, 400,
        (69.0329358, 30.9513448808, 41.0333664702, 38.647690096, 56.434822726),
        (0.00981000619019, 0.00102282790567, 0.00172059791169, 0.00169447942823, 0.0184745626398),
    ),
    "C": Class(
        162, 0.00067, 400,
        (588.169158183, 245.441760357, 329.382919185, 308.192497189, 459.722379918),
        (0.259812050018, 0.0259088892231, 0.0513288641632, 0.0480607341945, 0.54833774913),
    ),
}  # fmt: skip

if __name__ == "__main__":
    main("SP", step, CLASSES, (881.174, -4683.91, 11484.5, -19272.4))
