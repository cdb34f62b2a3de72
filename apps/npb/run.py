"""Run a pseudo-application as the benchmarks prescribe, verify it and report.

The state is that of `apps.npb.flow`. On the boundary it is the exact solution U*, a polynomial, and
the forcing -L(U*) makes that the steady state.

``problem.json`` has the exact solution: for each component coefficients of 1, x, y, z, x^2, y^2,
and so on. For each application and class it has the points along an axis, the time step, the steps,
and the norms of residual and error at the end; and the operations of a step that the benchmark
counts, as a polynomial of the points along an axis.
"""

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from timeit import timeit
from typing import Any

import numpy as np

import boundary as bc
import ssr
from apps.commands import as_json, tell
from apps.ranks import add_threads, ranks_of

from .flow import changes, inner, points, spatial, states

KNOWN = json.loads((Path(__file__).parent / "problem.json").read_text())


def exact(*xyz: Any) -> Any:
    """Return the exact solution at given coordinates."""
    constant, *powers = np.array(KNOWN["solution"]).T.reshape(13, 5, 1, 1, 1)
    return constant + sum(x * np.polyval(powers[9 + d :: -3], x) for d, x in enumerate(xyz))


def initial(*xyz: Any) -> Any:
    """Return the initial state, interpolated between the faces where it is not exact."""
    ends = [[exact(*xyz[:d], end, *xyz[d + 1 :]) for end in (0.0, 1.0)] for d in range(3)]
    between = (x * high + (1.0 - x) * low for x, (low, high) in zip(xyz, ends, strict=True))
    within = math.prod(x * (1.0 - x) for x in xyz) > 0.0
    return np.where(within, 1.0 - math.prod(1.0 - values for values in between), exact(*xyz))


@ssr.program(R=changes, U=states, S=changes, V=states, h=ssr.scalar)
def residual(R: Any, U: Any, S: Any, V: Any, h: Any) -> list[Any]:
    """Assign L(U) - S to R; return sums of squares of R and of U - V, component by component."""
    R[:] = spatial(U, h) - S
    return [ssr.dot(x, x) for difference in (R, U - V) for x in difference]


def factored(solved: Callable[..., Any]) -> Any:
    """Return a time step that solves with the factors of x, y and z in turn.

    ``solved(R, axes, U, dt, h)`` solves with the factors of some axes, in order. The factor of z
    is a separate program: a decomposition that leaves lines along x and y whole cuts those of z.
    """

    @ssr.program(R=changes, U=states, S=changes, dt=ssr.scalar, h=ssr.scalar)
    def along_x_and_y(R: Any, U: Any, S: Any, dt: Any, h: Any) -> None:
        R[:] = solved(ssr.materialize(dt * (spatial(U, h) - S)), (2, 1), U, dt, h)

    @ssr.program(R=changes, U=states, dt=ssr.scalar, h=ssr.scalar)
    def along_z(R: Any, U: Any, dt: Any, h: Any) -> None:
        U[inner] = U[inner] + solved(R, (0,), U, dt, h)

    return bc.alternating(along_x_and_y, along_z)


def begun(size: int, ranks: Any = None) -> tuple[bc.Field, bc.Field]:
    """Return the initial state and the exact solution, in slabs with whole lines along x and y."""
    on = bc.distribute(points, ranks, n=size).undivided(1, 2)
    U, V = on.empty(states), on.empty(states)
    for field, values in (U, initial), (V, exact):
        field.fill(lambda *kji, f=values: f(*(index / (size - 1) for index in reversed(kji))))
    return U, V


def run(step: Any, name: str, letter: str, ranks: Any = None, more: Any = None) -> dict[str, Any]:
    """Run a class of an application and return its report.

    Parameters
    ----------
    step
        The program of a time step, of R, U, S, dt and h: it advances U, where S is L(U*).
    more
        Further results to be verified: numbers by name, from the state and the distance of points.
    """
    known = KNOWN[name][letter]
    size, steps, dt, h = known["size"], known["steps"], known["dt"], 1 / (known["size"] - 1)
    U, V = begun(size, ranks)
    R, S, start = U.distribution.zeros(changes), U.distribution.zeros(changes), U.copy()
    residual(S, V, R, U, h)
    advance = step.bind(R=R, U=U, S=S, dt=dt, h=h)
    advance()
    U.set(start)
    seconds = timeit(advance, number=steps)
    norms = np.sqrt(np.array(residual(R, U, S, V, h)) / (size - 2) ** 3).tolist()
    found = {"xcr": norms[:5], "xce": norms[5:]} | (more(np.array(U.gather()), h) if more else {})
    near = [np.allclose(v, known[what], rtol=1e-8, atol=0.0) for what, v in found.items()]
    mops = 1e-6 * steps * float(np.polyval(KNOWN[name]["operations"], size)) / seconds
    timed = {"seconds": seconds, "mops": mops, "steps": steps, "ranks": U.distribution.world.ranks}
    return {"class": letter, "verified": all(near), **found, **timed}


def main(name: str, step: Any, more: Any = None) -> int:
    """Run the command of an application; return its exit status, 1 if norms are wrong."""
    parser = argparse.ArgumentParser(f"python -m apps.{name.lower()}")
    parser.add_argument("--class", dest="letter", choices="SWABC", default="S")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to this file")
    add_threads(parser)
    given = parser.parse_args()
    ranks = ranks_of(parser, given)
    report = run(step, name, given.letter, ranks, more)
    if ranks is None or ranks.rank == 0:
        text = as_json(report)
        print(text, end="")
        if given.json:
            given.json.write_text(text)
        if not report["verified"]:
            tell(f"error: The norms of {name}, class {given.letter}, are not those prescribed.")
    return 0 if report["verified"] else 1
