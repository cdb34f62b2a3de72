"""An ideal gas in two dimensions: ``python -m apps.euler [--n 256] [--steps 500] [--plot FILE]``.

The box is periodic; ``--sides walls`` puts walls around it, and ``--sides open`` lets the gas out.

On many ranks, with bitwise identical results: ``mpiexec -n 4 python -m apps.euler``.

The Euler equations for density, momentum and energy, gamma = 1.4,

    U_t + F(U)_x + G(U)_y = 0,   U = (rho, rho u, rho v, E),   p = (gamma - 1) (E - rho |u|^2 / 2),

by the scheme of MUSCL and Hancock, of second order. In a cell ``W = (rho, u, v, p)`` is linear; its
slope is the smaller of the differences on both sides, or zero where their signs differ:

    X = minmod(W_i - W_i-1, W_i+1 - W_i),    Y likewise,    H = W + dt/2 W_t,

where W_t follows from W, X/dx and Y/dy. The states at a face are ``H + X/2`` of the cell before it
and ``H - X/2`` of the cell after it. With ``a = min(0, u - c)`` and ``b = max(0, u + c)`` over
both, c^2 = gamma p / rho, the flux there is that of Harten, Lax and van Leer,

    (b F(before) - a F(after) + a b (U(after) - U(before))) / (b - a),

and ``U = U - dt/dx (F_i+1/2 - F_i-1/2) - dt/dy (G_j+1/2 - G_j-1/2)``. This reads two layers of
ghost cells around the grid: `sides` takes the rules that fill them, such as those of a `wall`. The
command lets a hot bubble explode in a box.

References
----------
Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics (3rd ed. 2009), chapters 10 and 14.
"""

import argparse
import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

import boundary as bc
import ssr
from apps import commands
from apps.ranks import add_threads, ranks_of

GAMMA = 1.4

ny, nx = ssr.sizes("ny nx")
cells = ssr.Space(ny, nx)
near, wide = cells.grow(1), cells.grow(2)
gas = wide.vector(4)


class Axis:
    """The matrices of an axis: differences of cells, cells next to faces, differences of faces."""

    def __init__(self, axis: int) -> None:
        faces = cells.faces(axis)
        self.below = ssr.axis_stencil(near, wide, axis, {-1: -1.0, 0: 1.0})
        self.above = ssr.axis_stencil(near, wide, axis, {0: -1.0, 1: 1.0})
        self.before = ssr.axis_stencil(faces, near, axis, {-1: 1.0})
        self.behind = ssr.axis_stencil(faces, near, axis, {0: 1.0})
        self.across = ssr.difference(cells, faces, axis)


y, x = Axis(0), Axis(1)
centre = ssr.stencil(near, wide, {(0, 0): 1})


def minmod(a: Any, b: Any) -> Any:
    """Return the smaller of two differences; zero where their signs differ."""
    return ssr.where(a * b > 0.0, ssr.where(abs(a) < abs(b), a, b), 0.0)


def primitive(U: Any) -> Any:
    """Return density, velocities and pressure."""
    rho, mx, my, E = U
    over = 1.0 / rho
    u, v = mx * over, my * over
    return ssr.vector(rho, u, v, (GAMMA - 1.0) * (E - 0.5 * (mx * u + my * v)))


def half_step(W: Any, X: Any, Y: Any, r: Any, s: Any) -> Any:
    """Return the values after half a step; r = dt/dx and s = dt/dy."""
    rho, u, v, p = W
    spread = r * X[1] + s * Y[2]
    push = ssr.vector(rho * spread, r * X[3] / rho, s * Y[3] / rho, GAMMA * p * spread)
    return W - 0.5 * (r * u * X + s * v * Y + push)


def flux(L: Any, R: Any, normal: int) -> Any:
    """Return the HLL flux between two states, in the direction of a velocity's component."""
    cL, cR = (ssr.sqrt(GAMMA * W[3] / W[0]) for W in (L, R))
    a = ssr.minimum(0.0, ssr.minimum(L[normal] - cL, R[normal] - cR))
    b = ssr.maximum(0.0, ssr.maximum(L[normal] + cL, R[normal] + cR))
    (UL, FL), (UR, FR) = (conserved(W, normal) for W in (L, R))
    return (b * FL - a * FR + a * b * (UR - UL)) * (1.0 / (b - a))


def conserved(W: Any, normal: int) -> tuple[Any, Any]:
    """Return density, momentum and energy, and their flux."""
    rho, u, v, p = W
    E = p / (GAMMA - 1.0) + 0.5 * rho * (u * u + v * v)
    U = ssr.vector(rho, rho * u, rho * v, E)
    F = list(W[normal] * U)
    F[normal] += p
    F[3] += p * W[normal]
    return U, ssr.vector(*F)


@ssr.program(r=ssr.scalar, s=ssr.scalar, V=gas, U=gas)
def step(r: Any, s: Any, V: Any, U: Any) -> None:
    """Assign U after a step to V; r = dt/dx, s = dt/dy. U has values in its ghost cells."""
    W = primitive(U)
    X, Y = (minmod(axis.below @ W, axis.above @ W) for axis in (x, y))
    H = half_step(centre @ W, X, Y, r, s)
    F = flux(x.before @ (H + 0.5 * X), x.behind @ (H - 0.5 * X), 1)
    G = flux(y.before @ (H + 0.5 * Y), y.behind @ (H - 0.5 * Y), 2)
    V[cells] = U[cells] - r * (x.across @ F) - s * (y.across @ G)


def wall(axis: int | None = None, side: Literal["low", "high", "both"] = "both") -> list[bc.Rule]:
    """Return the rules of walls: the gas is reflected, and its velocity normal to them is odd.

    Parameters
    ----------
    axis, side
        The axis normal to the walls, 0 for y and 1 for x, and its ends; all sides by default.
    """
    axes = (0, 1) if axis is None else (axis,)
    signs = {0: [1, 1, -1, 1], 1: [1, -1, 1, 1]}
    return [bc.symmetric(a, side, sign=signs[a]) for a in axes]


def inflow(
    axis: int, side: Literal["low", "high"], rho: float, u: float, v: float, p: float
) -> list[bc.Rule]:
    """Return the rule of a side beyond which the gas has a given density, velocity and pressure.

    Where the side meets a wall, the velocity along the side must be zero.
    """
    E = p / (GAMMA - 1.0) + 0.5 * rho * (u * u + v * v)
    return [bc.ghost_value([rho, rho * u, rho * v, E], axis, side)]


def outflow(
    axis: int | None = None, side: Literal["low", "high", "both"] = "both"
) -> list[bc.Rule]:
    """Return the rules of sides through which the gas leaves: ghosts are the cells next to them."""
    return [bc.extrapolate(1, a, side) for a in ((0, 1) if axis is None else (axis,))]


def sides(*rules: bc.Rule | Sequence[bc.Rule]) -> ssr.Program:
    """Return a program that fills ghost cells.

    Parameters
    ----------
    *rules
        Rules of `boundary`, or lists of them, such as `wall`, `inflow` and `outflow` return; each
        side has one.

    Examples
    --------
    A channel along x, with a jet of gas from the left:

    >>> channel = sides(
    ...     wall(axis=0), inflow(1, "low", rho=1.0, u=2.0, v=0.0, p=1.0), outflow(1, "high")
    ... )
    """
    each = [[rule] if isinstance(rule, bc.Rule) else rule for rule in rules]
    ghosts = bc.fill(gas, *(rule for some in each for rule in some))

    @ssr.program(U=gas)
    def fill(U: Any) -> None:
        U[:] = ghosts @ U[cells]

    return fill


periodic = sides(bc.periodic())

SIDES: Mapping[str, Callable[[], ssr.Program]] = {
    "periodic": lambda: periodic,
    "walls": lambda: sides(wall()),
    "open": lambda: sides(outflow()),
}
"""Boundary conditions that the command offers, by name."""


@ssr.program(U=gas)
def fastest(U: Any) -> Any:
    """Return the largest sum of the wave speeds along both axes."""
    rho, u, v, p = primitive(U[cells])
    return ssr.max(abs(u) + abs(v) + 2.0 * ssr.sqrt(GAMMA * p / rho))


@ssr.program(U=gas)
def totals(U: Any) -> Any:
    """Return mass and energy."""
    return ssr.sum(U[0][cells]), ssr.sum(U[3][cells])


def run(
    U: bc.Field,
    width: float,
    steps: int,
    *,
    until: float = math.inf,
    fill: ssr.Program = periodic,
) -> tuple[bc.Field, float]:
    """Return the gas after some steps, or at a given time if that comes first, and the time.

    Parameters
    ----------
    U
        The gas at the start: density, momentum and energy. It is overwritten.
    width
        The width of a cell.
    fill
        Sets the ghost cells, as `periodic` does; made by `sides`.
    """
    old, new, t = U, U.copy(), 0.0
    for _ in range(steps):
        if t >= until:
            break
        dt = min(0.8 * width / fastest(old), until - t)
        fill(old)
        step(dt / width, dt / width, new, old)
        old, new, t = new, old, t + dt
    return old, t


def bubble(n: int) -> Callable[..., np.ndarray]:
    """Return gas at rest in the unit square: pressure 10 in a disc of radius 0.2, else 0.1."""

    def at(j: np.ndarray, i: np.ndarray) -> np.ndarray:
        y, x = (j + 0.5) / n, (i + 0.5) / n
        inside = (x - 0.4) ** 2 + (y - 0.5) ** 2 < 0.2**2
        rest = 0.0 * (x + y)
        return np.stack([rest + 1.0, rest, rest, np.where(inside, 10.0, 0.1) / (GAMMA - 1.0)])

    return at


def digest(U: bc.Field) -> str:
    """Return a hash of the bits of the gas, which the first rank collects row by row."""
    found, (_, ny, nx) = hashlib.sha256(), U.shape
    for j in range(ny - 4):
        row = U.gather(root=0, box=((j, j + 1), (0, nx - 4)))
        found.update(b"" if row is None else row.tobytes())
    return found.hexdigest()


def plot(U: np.ndarray, t: float, path: Path) -> None:
    """Draw density and pressure into a file."""
    from matplotlib.figure import Figure  # not pyplot: needs no display, and Agg writes the file

    rho, mx, my, E = U
    pressure = (GAMMA - 1.0) * (E - 0.5 * (mx**2 + my**2) / rho)
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    for axes, values, name in zip(
        figure.subplots(1, 2), (rho, pressure), ("density", "pressure"), strict=True
    ):
        image = axes.imshow(values, "magma", origin="lower", extent=(0, 1, 0, 1))
        figure.colorbar(image, ax=axes)
        axes.set(title=f"{name}, t = {t:.3f}", xlabel="x", ylabel="y")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser("python -m apps.euler", description="An explosion in a box.")
    parser.add_argument("--n", type=int, default=256, help="cells along an axis")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--sides", choices=SIDES, default="periodic", help="boundary condition")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a picture")
    parser.add_argument("--digest", action="store_true", help="print a SHA-256 of the gas")
    add_threads(parser)
    given = parser.parse_args(arguments)
    n, steps = given.n, given.steps
    for name, value in ("n", n), ("steps", steps):
        if value < 1:
            parser.error(f"--{name} is {value}; it must be at least 1.")
    on = bc.distribute(cells, ranks_of(parser, given), ny=n, nx=n)
    say = print if on.is_root else lambda _: None
    U, start = on.empty(gas), time.perf_counter()
    U.fill(bubble(n))
    fill = SIDES[given.sides]()
    run(U, 1 / n, 1, fill=fill)
    say(f"kernels ready after {time.perf_counter() - start:.1f} s")
    U.fill(bubble(n))
    before, start = totals(U), time.perf_counter()
    U, t = run(U, 1 / n, steps, fill=fill)
    seconds = (time.perf_counter() - start) / (steps * n**2)
    say(f"t = {t:.4f} after {steps} steps, {1e9 * seconds:.1f} ns for a cell and step")
    for name, old, new in zip(("mass", "energy"), before, totals(U), strict=True):
        say(f"{name} has changed by {new / old - 1.0:.1e} of itself")
    if given.digest:
        say(f"digest: {digest(U)}")
    if given.plot:
        whole = U.gather(root=0, box=((0, n), (0, n)))
        if whole is not None:
            plot(whole, t, given.plot)
        say(f"picture: {given.plot}")


if __name__ == "__main__":
    commands.run(main)
