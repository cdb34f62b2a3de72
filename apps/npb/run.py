"""Run a pseudo-application as the benchmarks prescribe, verify it and report.

``problem.json`` has for each application and class the points along an axis, the time step, the
steps, and the norms of residual and error at the end; and the operations of a step that the
benchmark counts, as a polynomial of the points along an axis.
"""

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

import ssr

from .flow import KNOWN, changes, initial, spatial, states


@ssr.program(R=changes, U=states, h=ssr.scalar)
def operator(R: Any, U: Any, h: Any) -> None:
    """Assign L(U) to R."""
    R[:] = spatial(U, h)


@ssr.program(R=changes, F=changes, U=states, V=states)
def squares(R: Any, F: Any, U: Any, V: Any) -> list[Any]:
    """Return the sums of the squares of R + F and of U - V, component by component."""
    return [ssr.dot(x, x) for difference in (R + F, U - V) for x in difference]


def run(step: ssr.Program, name: str, letter: str) -> dict[str, Any]:
    """Run a class of an application and return its report.

    The program makes a time step of ``U`` with the forcing ``F``, for numbers ``dt`` and ``h``.
    """
    chosen = KNOWN[name][letter]
    size, steps, h = chosen["size"], chosen["steps"], 1.0 / (chosen["size"] - 1)
    start, exact = initial(size)
    U, R = start.copy(), np.empty((5, *[size - 2] * 3))
    operator(R, exact, h)
    F = -R
    advance = step.bind(U=U, F=F, dt=chosen["dt"], h=h)
    advance()
    U[:] = start
    begun = time.perf_counter()
    for _ in range(steps):
        advance()
    seconds = time.perf_counter() - begun
    operator(R, U, h)
    norms = [math.sqrt(s / (size - 2) ** 3) for s in squares(R, F, U, exact)]
    verified = np.allclose(norms, chosen["xcr"] + chosen["xce"], rtol=1e-8, atol=0.0)
    mops = 1e-6 * steps * float(np.polyval(KNOWN[name]["operations"], size)) / seconds
    found = {"class": letter, "verified": verified, "xcr": norms[:5], "xce": norms[5:]}
    return found | {"seconds": seconds, "mops": mops, "steps": steps, "ranks": 1}


def main(name: str, step: ssr.Program) -> None:
    """Run the command of an application."""
    parser = argparse.ArgumentParser(f"python -m apps.{name.lower()}")
    parser.add_argument("--class", dest="letter", choices="SWABC", default="S")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to this file")
    given = parser.parse_args()
    found = run(step, name, given.letter)
    for m, norms in enumerate(zip(found["xcr"], found["xce"], strict=True), 1):
        print("component {}: residual {:.13e}, error {:.13e}".format(m, *norms))
    verdict = f"{name} class {given.letter}: {'verified' if found['verified'] else 'NOT verified'}"
    print(f"{verdict}, {found['seconds']:.3f} s, {found['mops']:.1f} Mop/s")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
