"""Run a pseudo-application as the benchmarks prescribe, verify it and report."""

import argparse
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ssr

from .flow import changes, initial, spatial, states

TOLERANCE = 1e-8


@dataclass(frozen=True)
class Class:
    """A class: points along an axis, time step, steps; norms of residual and error at the end."""

    size: int
    dt: float
    steps: int
    xcr: tuple[float, ...]
    xce: tuple[float, ...]


@ssr.program(R=changes, U=states, h=ssr.scalar)
def operator(R: Any, U: Any, h: Any) -> None:
    """Assign L(U) to R."""
    R[:] = spatial(U, h)


@ssr.program(R=changes, F=changes, U=states, V=states)
def squares(R: Any, F: Any, U: Any, V: Any) -> list[Any]:
    """Return the sums of the squares of R + F and of U - V, component by component."""
    return [ssr.dot(x, x) for difference in (R + F, U - V) for x in difference]


def run(step: ssr.Program, chosen: Class) -> dict[str, Any]:
    """Run a class and return its report.

    The program makes one time step of ``U`` with the forcing ``F``, for numbers ``dt`` and ``h``.
    """
    h = 1.0 / (chosen.size - 1)
    start, exact = initial(chosen.size)
    U, F = start.copy(), np.empty((5, *[chosen.size - 2] * 3))
    R = np.empty_like(F)
    operator(F, exact, h)
    np.negative(F, out=F)
    advance = step.bind(U=U, F=F, dt=chosen.dt, h=h)
    advance()
    U[:] = start
    begun = time.perf_counter()
    for _ in range(chosen.steps):
        advance()
    seconds = time.perf_counter() - begun
    operator(R, U, h)
    norms = [math.sqrt(s / (chosen.size - 2) ** 3) for s in squares(R, F, U, exact)]
    close = np.isclose(norms, chosen.xcr + chosen.xce, rtol=TOLERANCE, atol=0.0)
    found = {"verified": bool(close.all()), "xcr": norms[:5], "xce": norms[5:]}
    return {**found, "seconds": seconds, "steps": chosen.steps, "ranks": 1}


def main(
    name: str,
    step: ssr.Program,
    classes: Mapping[str, Class],
    operations: Sequence[float],
    arguments: Sequence[str] | None = None,
) -> None:
    """Run the command of an application.

    The operations of a step that the benchmark counts are a polynomial of the points along an axis.
    """
    parser = argparse.ArgumentParser(f"python -m apps.{name.lower()}")
    parser.add_argument("--class", dest="letter", choices=[*classes], default="S")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to this file")
    given = parser.parse_args(arguments)
    chosen = classes[given.letter]
    found = run(step, chosen)
    count = float(np.polyval(operations, chosen.size)) * chosen.steps
    found |= {"class": given.letter, "mops": 1e-6 * count / found["seconds"]}
    for m in range(5):
        print(f"component {m + 1}: residual {found['xcr'][m]:.13e}, error {found['xce'][m]:.13e}")
    verdict = "verified" if found["verified"] else "NOT verified"
    print(f"{name} class {given.letter}, {chosen.size}^3 points, {chosen.steps} steps: {verdict}")
    print(f"{found['seconds']:.3f} s, {found['mops']:.1f} Mop/s")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
