"""Run a pseudo-application as the benchmarks prescribe, verify it and report.

``problem.json`` has for each application and class the points along an axis, the time step, the
steps, and the norms of residual and error at the end; and the operations of a step that the
benchmark counts, as a polynomial of the points along an axis.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import boundary as bc
import ssr

from .flow import KNOWN, changes, exact, initial, inner, points, spatial, states

Step = Callable[..., Callable[[], Any]]
"""Binds a time step to U, the forcing F, dt and h."""

More = Callable[[np.ndarray, float], dict[str, Any]]
"""What else is verified: numbers by name, from the state and the distance of points."""


@ssr.program(R=changes, U=states, h=ssr.scalar, sign=ssr.scalar)
def operator(R: Any, U: Any, h: Any, sign: Any) -> None:
    """Assign L(U), or -L(U), to R."""
    R[:] = sign * spatial(U, h)


@ssr.program(R=changes, F=changes, U=states, V=states)
def squares(R: Any, F: Any, U: Any, V: Any) -> list[Any]:
    """Return the sums of the squares of R + F and of U - V, component by component."""
    return [ssr.dot(x, x) for difference in (R + F, U - V) for x in difference]


def factored(factors: Callable[..., Callable[[int, Any], Any]]) -> Step:
    """Return a time step that solves with the factors of x, y and z in turn.

    ``factors(U, dt, h)`` returns what solves with the factor of an axis, for some right side. The
    last factor is a program of its own: its lines are cut where those along x and y are whole.
    """

    @ssr.program(R=changes, U=states, F=changes, dt=ssr.scalar, h=ssr.scalar)
    def changed(R: Any, U: Any, F: Any, dt: Any, h: Any) -> None:
        solve = factors(U, dt, h)
        R[:] = solve(2, ssr.let(dt * (F + spatial(U, h))))
        R[:] = solve(1, R)

    @ssr.program(R=changes, U=states, dt=ssr.scalar, h=ssr.scalar)
    def advanced(R: Any, U: Any, dt: Any, h: Any) -> None:
        R[:] = factors(U, dt, h)(0, R)
        U[inner] = U[inner] + R

    def bind(U: bc.Field, F: bc.Field, dt: float, h: float) -> Callable[[], Any]:
        return bc.in_turn(changed, advanced).bind(R=F.copy(), U=U, F=F, dt=dt, h=h)

    return bind


def begun(size: int, ranks: Any = None) -> tuple[bc.Field, bc.Field]:
    """Return the initial state and the exact solution, in slabs with whole lines along x and y."""
    on = bc.spread(points, ranks, n=size).whole(1, 2)
    U, V = on.empty(states), on.empty(states)
    for field, values in (U, initial), (V, exact):
        field.fill(lambda *kji, f=values: f(*(index / (size - 1) for index in reversed(kji))))
    return U, V


def run(
    step: Step, name: str, letter: str, ranks: Any = None, more: More = lambda U, h: {}
) -> dict[str, Any]:
    """Run a class of an application and return its report."""
    chosen = KNOWN[name][letter]
    size, steps, dt, h = chosen["size"], chosen["steps"], chosen["dt"], 1 / (chosen["size"] - 1)
    U, V = begun(size, ranks)
    R, F, start = U.spread.empty(changes), U.spread.empty(changes), U.copy()
    operator(F, V, h, -1.0)
    advance = step(U=U, F=F, dt=dt, h=h)
    advance()
    U.set(start)
    clock = time.perf_counter()
    for _ in range(steps):
        advance()
    seconds = time.perf_counter() - clock
    operator(R, U, h, 1.0)
    norms = [(s / (size - 2) ** 3) ** 0.5 for s in squares(R, F, U, V)]
    whole = np.array(U.gather())
    numbers = {"xcr": norms[:5], "xce": norms[5:], **more(whole, h)}
    near = (np.allclose(v, chosen[what], rtol=1e-8, atol=0.0) for what, v in numbers.items())
    mops = 1e-6 * steps * float(np.polyval(KNOWN[name]["operations"], size)) / seconds
    found = {"class": letter, "verified": all(near), **numbers}
    found |= {"seconds": seconds, "mops": mops, "steps": steps, "ranks": U.spread.world.ranks}
    return found | {"digest": hashlib.sha256(whole.tobytes()).hexdigest()}


def main(name: str, step: Step, more: More = lambda U, h: {}) -> None:
    """Run the command of an application."""
    parser = argparse.ArgumentParser(f"python -m apps.{name.lower()}")
    parser.add_argument("--class", dest="letter", choices="SWABC", default="S")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to this file")
    ranks, given = bc.world(), parser.parse_args()
    found = run(step, name, given.letter, ranks, more)
    if ranks is None or ranks.rank == 0:
        print(f"{name}: {'verified' if found['verified'] else 'NOT verified'}")
        print("\n".join(f"  {what:8} {value}" for what, value in found.items()))
        if given.json:
            given.json.write_text(json.dumps(found, indent=1) + "\n")
