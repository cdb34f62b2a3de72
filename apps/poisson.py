"""Solve a Poisson problem: ``python -m apps.poisson [--n 256] [--sweeps 200] [--plot FILE]``.

On the unit square, ``-(u_xx + u_yy) = f`` with u = 0 on the boundary, where f is chosen such that
``u = exp(x - y) sin(pi x) sin(2 pi y)``. One matrix, A = -h^2 times the five-point Laplacian on
n x n inner points at distances h = 1/(n + 1), serves symmetric Gauss-Seidel, SciPy's conjugate
gradients (CG), and CG preconditioned by one symmetric Gauss-Seidel sweep.
"""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # threads would slow down vectors as short as these

import numpy as np
from scipy.sparse.linalg import cg

import ssr

(n,) = ssr.sizes("n")
points = ssr.Space(n, n)


@ssr.matrix(rows=points, cols=points)
def A(j: Any, i: Any) -> Iterator[Any]:
    """Yield the entries of one row; u is zero at neighbours outside the grid."""
    yield (j, i), 4.0
    for neighbour in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
        if neighbour in points:
            yield neighbour, -1.0


@ssr.program(u=points, b=points)
def sweep(u: Any, b: Any) -> None:
    """Do one symmetric Gauss-Seidel sweep: all rows in order, then all in reverse."""
    u[:] = A.tril().solve(b - A.triu(1) @ u)
    u[:] = A.triu().solve(b - A.tril(-1) @ u)


def problem(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the solution u and the right side h^2 f on size x size points, indexed [y, x]."""
    y, x = np.mgrid[1 : size + 1, 1 : size + 1] / (size + 1)
    s, c = np.sin(np.pi * x), np.cos(np.pi * x)
    s2, c2 = np.sin(2 * np.pi * y), np.cos(2 * np.pi * y)
    f = (5 * np.pi**2 - 2) * s * s2 - 2 * np.pi * c * s2 + 4 * np.pi * s * c2
    return np.exp(x - y) * s * s2, np.exp(x - y) * f / (size + 1) ** 2


class Run:
    """The history of a method that starts at zero, and its last iterate u."""

    def __init__(self, method: str, size: int) -> None:
        self.method = method
        self.exact, self.b = problem(size)
        self.u = np.zeros_like(self.b)
        self.residuals, self.errors = list[float](), list[float]()
        self.seconds, self.resumed = 0.0, time.perf_counter()

    def record(self, u: np.ndarray) -> None:
        """Record an iterate; the clock is stopped meanwhile."""
        self.seconds += time.perf_counter() - self.resumed
        self.u = u.reshape(self.b.shape)
        self.residuals.append(float(np.linalg.norm(self.b - A @ self.u) / np.linalg.norm(self.b)))
        self.errors.append(float(np.abs(self.u - self.exact).max()))
        self.resumed = time.perf_counter()


def gauss_seidel(size: int, sweeps: int) -> Run:
    """Return the run of symmetric Gauss-Seidel."""
    run = Run("symmetric Gauss-Seidel", size)
    for _ in range(sweeps):
        sweep(run.u, run.b)
        run.record(run.u)
    return run


def conjugate_gradients(size: int, *, preconditioned: bool) -> Run:
    """Return the run of SciPy's CG, or of our CG preconditioned by a symmetric sweep."""
    run = Run("CG with Gauss-Seidel" if preconditioned else "CG", size)
    named: dict[str, Any] = {"rtol": 1e-10, "callback": run.record}
    if preconditioned:
        ssr.solvers.cg(A, run.b, M=ssr.solvers.GaussSeidel(), **named)
    else:
        cg(A.bind(n=size).aslinearoperator(), run.b.ravel(), **named)
    return run


def table(runs: Sequence[Run]) -> str:
    """Return the convergence of runs as text."""
    lines = ["method                  iteration  residual  largest error  ms/iteration"]
    for run in runs:
        for k, (residual, error) in enumerate(zip(run.residuals, run.errors, strict=True), 1):
            if k in (1, 10, 100, len(run.errors)):
                lines.append(f"{run.method:22} {k:10} {residual:9.1e} {error:14.1e}")
        lines[-1] += f" {1e3 * run.seconds / len(run.errors):13.3f}"
    return "\n".join(lines)


def plot(runs: Sequence[Run], path: Path) -> None:
    """Draw the solution and error of the last run, and the residuals of all runs, into a file."""
    from matplotlib.figure import Figure  # not pyplot: needs no display, and Agg writes the file

    figure = Figure(figsize=(13, 3.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3, subplot_kw={"box_aspect": 1})
    u, exact = runs[-1].u, runs[-1].exact
    for axes, values, title in (left, u, "solution $u_h$"), (middle, u - exact, "error $u_h - u$"):
        image = axes.imshow(values, "RdBu_r", origin="lower", extent=(0, 1, 0, 1))
        image.set_clim(-np.abs(values).max(), np.abs(values).max())
        figure.colorbar(image, ax=axes).ax.ticklabel_format(scilimits=(-2, 3))
        axes.set(title=f"{title}, {len(u)} x {len(u)} points", xlabel="x", ylabel="y")
    for run, style in zip(runs, ("-", "--", "-."), strict=True):
        right.semilogy(np.arange(len(run.residuals)) + 1, run.residuals, style, label=run.method)
    right.set(xlabel="iteration", ylabel="residual / right side (2-norms)", ylim=(None, 1e5))
    right.grid(alpha=0.3)
    right.legend(loc="upper right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser("python -m apps.poisson", description="Three Poisson solvers.")
    parser.add_argument("--n", type=int, default=256, help="inner points along an axis")
    parser.add_argument("--sweeps", type=int, default=200, help="Gauss-Seidel sweeps")
    parser.add_argument("--plot", type=Path, default=Path("build/poisson.png"), metavar="FILE")
    given = parser.parse_args(arguments)
    first = gauss_seidel(8, 1), conjugate_gradients(8, preconditioned=True)
    print(f"kernels ready after {sum(run.seconds for run in first):.1f} s\n")
    runs = [gauss_seidel(given.n, given.sweeps)]
    runs += [conjugate_gradients(given.n, preconditioned=p) for p in (False, True)]
    print(table(runs), "\n")
    for run in conjugate_gradients(given.n // 2, preconditioned=True), runs[-1]:
        size, e = len(run.u), run.errors[-1]
        print(f"discretisation error, n = {size}: {e:.2e} = {e * (size + 1) ** 2:.3f} h^2")
    try:
        plot(runs, given.plot)
        print(f"\npicture: {given.plot}")
    except ImportError:
        print("\nno picture: matplotlib is missing; install it with `pip install matplotlib`")


if __name__ == "__main__":
    main()
