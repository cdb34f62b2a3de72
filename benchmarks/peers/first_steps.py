"""The time of a whole process that takes one step of the heat equation on 64^3.

The processes import their packages, declare the step, and run it once: with an empty cache of
kernels, and with one that has the kernel. Numba's loop is the one that its users would write.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.timing import ROOT, Json, fresh, table

OURS = """
import numpy as np
import boundary as bc
import ssr

cells = ssr.Space(*ssr.sizes("nz ny nx"))
wide = cells.grow(1)
near = {o: 1.0 for d in (-1, 1) for o in ((d, 0, 0), (0, d, 0), (0, 0, d))}
laplacian = ssr.stencil(cells, wide, near | {(0, 0, 0): -6.0}) @ bc.fill(wide, bc.zero())

@ssr.program(u=cells)
def heat(u):
    u[:] = u + 0.1 * (laplacian @ u)

heat(np.ones((64, 64, 64)))
"""

NUMBA = """
import numpy as np
from numba import njit

def step(u, v):
    for k in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            for i in range(1, u.shape[2] - 1):
                v[k, j, i] = u[k, j, i] + 0.1 * (
                    u[k - 1, j, i] + u[k + 1, j, i] + u[k, j - 1, i] + u[k, j + 1, i]
                    + u[k, j, i - 1] + u[k, j, i + 1] - 6.0 * u[k, j, i]
                )

step = njit(cache=True, fastmath=True)(step)
u = np.pad(np.ones((64, 64, 64)), 1)
step(u, np.zeros_like(u))
"""

TOOLS = {"ours": OURS, "numba": NUMBA}


def compared(quick: bool) -> Json:
    """Return, and print, the seconds of the fastest of some processes of each tool, in turns."""
    found: dict[str, dict[str, float]] = {tool: {} for tool in TOOLS}
    for _ in range(1 if quick else 5):
        for tool, text in TOOLS.items():
            with tempfile.TemporaryDirectory(prefix="ssr-first-") as folder:
                script = Path(folder, "step.py")
                script.write_text(text)
                for cache in "empty", "filled":
                    seconds = _process(script)
                    found[tool][cache] = min(seconds, found[tool].get(cache, seconds))
    rows = [[tool, *(f"{s:.2f}" for s in each.values())] for tool, each in found.items()]
    print(table(("process of one step, seconds", "empty cache", "filled cache"), rows))
    return found


def _process(script: Path) -> float:
    folder = str(script.parent)
    start = time.perf_counter()
    fresh(str(script), SSR_CACHE_DIR=folder, NUMBA_CACHE_DIR=folder, PYTHONPATH=str(ROOT))
    return time.perf_counter() - start
