"""Draw the error of both shallow-water solvers over the cost.

``python -m benchmarks.swe_cost [FILE]`` runs the steady flow of Williamson et al. (tc2, 45 degrees)
for five days on finer and finer grids, and draws the error of the depth in l2 over the processor
seconds of the steps, as in ``docs/images/swe-cost.png``.
"""

import sys
import time
from pathlib import Path
from typing import Any

from apps.swe.cases import DAY, case
from apps.swe.checkpoint import Setting
from apps.swe.diagnostics import Gauges
from apps.swe.run import time_step
from apps.swe.solvers import SOLVERS, make

DAYS = 5.0
GRIDS = {"fv": (12, 16, 24, 32, 48, 64, 96), "sem": (4, 6, 8, 12, 16, 24, 32)}
TITLES = {"fv": "finite volumes, n cells", "sem": "spectral elements, n elements"}


def cost(solver: str, n: int) -> tuple[float, float]:
    """Return the seconds of a run's steps, and its error."""
    flow = case("tc2", 45.0)
    dt = time_step(DAYS * DAY, SOLVERS[solver].step(flow, n))
    made = make(Setting("tc2", n, dt, 45.0, solver=solver))
    made.step(0.0)  # kernels are ready then
    began = time.process_time()
    for _ in range(round(DAYS * DAY / dt)):
        made.step(dt)
    seconds = time.process_time() - began
    norms = Gauges(made).norms(DAYS * DAY)
    assert norms is not None
    return seconds, norms.l2


def main(path: Path) -> None:
    """Run all grids and draw the picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes: Any = figure.subplots()
    for (solver, grids), mark in zip(GRIDS.items(), "os", strict=True):
        found = [cost(solver, n) for n in grids]
        seconds, errors = zip(*found, strict=True)
        axes.loglog(seconds, errors, f"{mark}-", label=TITLES[solver])
        for n, (x, y) in zip(grids, found, strict=True):
            axes.annotate(str(n), (x, y), xytext=(4, 4), textcoords="offset points", fontsize=8)
            print(f"{solver:<4} n = {n:<3} {x:8.2f} s   l2 {y:.3e}")
    axes.set(xlabel="processor seconds of five days", ylabel="error of the depth, l2")
    axes.set_title("Steady flow of Williamson et al. (tc2), 45°")
    axes.grid(True, which="major", alpha=0.4)
    axes.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/swe-cost.png"))
