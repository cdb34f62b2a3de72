"""Steps of integrators compared with programs by hand: ``python -m benchmarks.integrate``.

Both make RK4 and SSPRK33 steps of a reaction and diffusion; their runs alternate, and the median of
the ratios of their times is printed. Then the times of a right side on flat vectors for SciPy,
compared with the same in Numba and NumPy.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import boundary as bc
import ssr

cells = ssr.Space(*ssr.sizes("ny nx"))
wide = cells.grow(1)
star = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
near, sides = ssr.stencil(cells, wide, star), bc.fill(wide, bc.symmetric())


@ssr.integrate.rhs(u=cells)
def react(t: Any, u: Any) -> Any:
    """Return diffusion and a reaction."""
    return 0.1 * (near @ (sides @ u)) + u - u**3


@ssr.program(u=cells, t=ssr.scalar, dt=ssr.scalar)
def rk4(u: Any, t: Any, dt: Any) -> None:
    """Advance by the method of Kutta."""
    f = react.function
    a = f(t, u)
    b = f(t, u + 0.5 * dt * a)
    c = f(t, u + 0.5 * dt * b)
    d = f(t, u + dt * c)
    u[:] = u + dt / 6.0 * a + dt / 3.0 * b + dt / 3.0 * c + dt / 6.0 * d


@ssr.program(u=cells, t=ssr.scalar, dt=ssr.scalar)
def ssprk33(u: Any, t: Any, dt: Any) -> None:
    """Advance by the method of Shu and Osher."""
    f = react.function
    a = u + dt * f(t, u)
    rate = f(t, a)  # first: a is stored for its ghost points, and then read
    b = 0.75 * u + 0.25 * a + (0.25 * dt) * rate
    rate = f(t, b)
    u[:] = 1 / 3 * u + 2 / 3 * b + (2 / 3 * dt) * rate


def ratio(one: Callable[[], Any], other: Callable[[], Any], rounds: int) -> float:
    """Return the median time of a call in parts of that of another, which alternate."""
    found = []
    for n in range(2 * rounds + 2):
        times = {}
        for call in (one, other) if n % 2 else (other, one):
            start = time.process_time()
            call()
            times[call] = time.process_time() - start
        found.append(times[one] / times[other])
    return statistics.median(found[2:])


def steps(method: str, by_hand: ssr.Program, n: int, rounds: int) -> float:
    """Return the time of the integrator in parts of that of a program by hand."""
    u = np.random.default_rng(0).random((n, n))
    v = u.copy()
    run = ssr.integrate.RungeKutta(react, 0.0, u, 0.1, method)
    bound, count = by_hand.bind(v), max(4, 2_000_000 // n**2)
    times = [(0.1 * k, 0.1) for k in range(count)]
    return ratio(lambda: run.advance(run.t + 0.1 * count), lambda: bound.repeat(times), rounds)


@numba.njit
def with_numba(t: float, y: Any) -> Any:  # pragma: no cover
    """Return the same rates by loops, on flat vectors."""
    n = round(np.sqrt(y.size))
    found, u = np.empty_like(y), y.reshape((n, n))
    for j in range(n):
        for i in range(n):
            here = u[j, i]
            row = u[max(j - 1, 0), i] + u[min(j + 1, n - 1), i]
            ends = u[j, max(i - 1, 0)] + u[j, min(i + 1, n - 1)]
            found[j * n + i] = 0.1 * (row + ends - 4.0 * here) + here - here * here * here
    return found


def with_numpy(t: float, y: Any) -> Any:
    """Return the same rates by arrays, on flat vectors."""
    n = round(np.sqrt(y.size))
    u = np.pad(y.reshape((n, n)), 1, "edge")
    near = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
    return (0.1 * near).ravel() + y - y * y * y


def flat(n: int, rounds: int) -> None:
    """Print the microseconds of a right side for SciPy, and of the same by hand."""
    u = np.random.default_rng(0).random((n, n))
    f = ssr.integrate.FlatRightSide(react, u)
    y, out = f.pack(u), np.empty_like(u)
    calls: dict[str, Callable[[], Any]] = {
        "flat": lambda: f(0.0, y),
        "arrays": lambda: react.program(out, u, 0.0),
        "Numba": lambda: with_numba(0.0, y),
        "NumPy": lambda: with_numpy(0.0, y),
    }
    assert np.allclose(f(0.0, y), with_numba(0.0, y))
    assert np.allclose(f(0.0, y), with_numpy(0.0, y))
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(100):
                call()
            best[name] = min(best[name], (time.process_time() - start) / 100)
    print(f"right side on {n} x {n} points, us:", {k: round(v * 1e6, 1) for k, v in best.items()})


def main() -> None:
    """Print the ratios and the overhead."""
    for n in 200, 1000:
        for method, by_hand in ("RK4", rk4), ("SSPRK33", ssprk33):
            found = steps(method, by_hand, n, 10)
            print(f"{method} on {n} x {n} points: {found:.3f} of a program by hand", flush=True)
    flat(10, 30)
    flat(300, 10)


if __name__ == "__main__":
    main()
