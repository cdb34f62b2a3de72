"""Solve a Poisson problem: ``python -m apps.poisson [--n 255] [--sweeps 200] [--plot FILE]``.

On the unit square, ``-(u_xx + u_yy) = f`` with u = 0 on the boundary, where f is chosen such that
``u = exp(x - y) sin(pi x) sin(2 pi y)``. One matrix, A = -h^2 times the five-point Laplacian on
n x n inner points at distances h = 1/(n + 1), serves symmetric Gauss-Seidel, conjugate gradients
(CG), CG preconditioned by one symmetric Gauss-Seidel sweep, and CG preconditioned by multigrid.

The same on many ranks, with the same bits: ``mpiexec -n 4 python -m apps.poisson``. Gauss-Seidel is
left out there, because each of its rows waits for the ones before it.
"""

import argparse
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import boundary as bc
import ssr
from apps import commands
from apps.ranks import add_threads, ranks_of

(m,) = ssr.sizes("m")
points, coarse = ssr.Space(2 * m + 1, 2 * m + 1), ssr.Space(m, m)


@ssr.matrix(rows=points, cols=points)
def A(j: Any, i: Any) -> Iterator[Any]:
    """Yield the entries of one row; u is zero at neighbours outside the grid."""
    yield (j, i), 4.0
    for neighbour in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
        if neighbour in points:
            yield neighbour, -1.0


P = ssr.solvers.interpolation(points, coarse)
multigrid = ssr.solvers.Multigrid(A, P, P.T, smoother=ssr.solvers.Jacobi())
"""V-cycles: on a coarse grid A, which has no divisor, is four times the rediscretized operator."""


@ssr.program(u=points, b=points)
def sweep(u: Any, b: Any) -> None:
    """Do one symmetric Gauss-Seidel sweep: all rows in order, then all in reverse."""
    u[:] = A.tril().solve(b - A.triu(1) @ u)
    u[:] = A.triu().solve(b - A.tril(-1) @ u)


@ssr.program(u=points, b=points, exact=points)
def measure(u: Any, b: Any, exact: Any) -> Any:
    """Return the norm of the residual, relative to that of b, and the largest error."""
    return ssr.norm(b - A @ u) / ssr.norm(b), ssr.max(abs(u - exact))


def problem(size: int) -> tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]:
    """Return the solution u and the right side h^2 f on size x size points, by indices [j, i]."""

    def waves(j: np.ndarray, i: np.ndarray) -> tuple[np.ndarray, ...]:
        y, x = (j + 1) / (size + 1), (i + 1) / (size + 1)
        turns = np.pi * x, 2 * np.pi * y
        return np.exp(x) * np.exp(-y), *(f(t) for t in turns for f in (np.sin, np.cos))

    def solution(j: np.ndarray, i: np.ndarray) -> np.ndarray:
        e, s, _, s2, _ = waves(j, i)
        u: np.ndarray = e * s * s2
        return u

    def right_side(j: np.ndarray, i: np.ndarray) -> np.ndarray:
        e, s, c, s2, c2 = waves(j, i)
        f = (5 * np.pi**2 - 2) * s * s2 - 2 * np.pi * c * s2 + 4 * np.pi * s * c2
        b: np.ndarray = e * f / (size + 1) ** 2
        return b

    return solution, right_side


class Run:
    """The history of a method that starts at zero, and its last iterate u."""

    def __init__(self, method: str, on: bc.Distribution) -> None:
        self.method = method
        self.size = 2 * on.sizes["m"] + 1
        self.exact, self.b, self.u = (on.zeros(points) for _ in range(3))
        for field, values in zip((self.exact, self.b), problem(self.size), strict=True):
            field.fill(values)
        self.residuals, self.errors = list[float](), list[float]()
        self.seconds, self.resumed = 0.0, time.perf_counter()

    def record(self, u: bc.Field) -> None:
        """Record an iterate; the clock is stopped meanwhile."""
        self.seconds += time.perf_counter() - self.resumed
        self.u = u
        residual, error = measure(u, self.b, self.exact)
        self.residuals.append(residual)
        self.errors.append(error)
        self.resumed = time.perf_counter()


def gauss_seidel(on: bc.Distribution, sweeps: int) -> Run:
    """Return the run of symmetric Gauss-Seidel."""
    run = Run("symmetric Gauss-Seidel", on)
    for _ in range(sweeps):
        sweep(run.u, run.b)
        run.record(run.u)
    return run


def conjugate_gradients(
    on: bc.Distribution, method: str = "CG", M: Any = None, most: int | None = None
) -> Run:
    """Return the run of CG, perhaps with a preconditioner, of a number of iterations at most."""
    run = Run(method, on)
    ssr.solvers.cg(A, run.b, rtol=1e-10, maxiter=most, M=M, callback=run.record)
    return run


def compare(on: bc.Distribution, sweeps: int, most: int | None = None, *, alone: bool) -> list[Run]:
    """Return the runs of all methods, or of the methods that run on several ranks."""
    runs = [conjugate_gradients(on, most=most)]
    if alone:
        runs.insert(0, gauss_seidel(on, sweeps))
        by_rows = ssr.solvers.GaussSeidel()
        runs.append(conjugate_gradients(on, "CG with Gauss-Seidel", by_rows, most))
    return [*runs, conjugate_gradients(on, "CG with multigrid", multigrid, most)]


def table(runs: Sequence[Run]) -> str:
    """Return the convergence of runs as text."""
    lines = ["method                  iteration  residual  largest error  ms/iteration"]
    for run in runs:
        for k, (residual, error) in enumerate(zip(run.residuals, run.errors, strict=True), 1):
            if k in (1, 10, 100, len(run.errors)):
                lines.append(f"{run.method:22} {k:10} {residual:9.1e} {error:14.1e}")
        lines[-1] += f" {1e3 * run.seconds / len(run.errors):13.3f}"
    return "\n".join(lines)


def digest(u: bc.Field) -> str:
    """Return a hash of the bits of a field, which the first rank collects row by row."""
    found, (ny, nx) = hashlib.sha256(), u.shape
    for j in range(ny):
        row = u.gather(root=0, box=((j, j + 1), (0, nx)))
        found.update(b"" if row is None else row.tobytes())
    return found.hexdigest()


def plot(runs: Sequence[Run], u: np.ndarray, exact: np.ndarray, path: Path) -> None:
    """Draw a solution, its error, and the residuals of all runs into a file."""
    from matplotlib.figure import Figure  # not pyplot: needs no display, and Agg writes the file

    figure = Figure(figsize=(13, 3.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3, subplot_kw={"box_aspect": 1})
    for axes, values, title in (left, u, "solution $u_h$"), (middle, u - exact, "error $u_h - u$"):
        image = axes.imshow(values, "RdBu_r", origin="lower", extent=(0, 1, 0, 1))
        image.set_clim(-np.abs(values).max(), np.abs(values).max())
        figure.colorbar(image, ax=axes).ax.ticklabel_format(scilimits=(-2, 3))
        axes.set(title=f"{title}, {len(u)} x {len(u)} points", xlabel="x", ylabel="y")
    for run, style in zip(runs, ("-", "--", "-.", ":"), strict=False):
        right.semilogy(np.arange(len(run.residuals)) + 1, run.residuals, style, label=run.method)
    right.set(xlabel="iteration", ylabel="residual / right side (2-norms)", ylim=(None, 1e8))
    right.grid(alpha=0.3)
    right.legend(loc="upper right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser("python -m apps.poisson", description="Poisson solvers.")
    parser.add_argument("--n", type=int, default=255, help="inner points along an axis, 2 m + 1")
    parser.add_argument("--sweeps", type=int, default=200, help="Gauss-Seidel sweeps")
    parser.add_argument("--plot", type=Path, default=Path("build/poisson.png"), metavar="FILE")
    parser.add_argument("--digest", action="store_true", help="print a SHA-256 of the solution")
    add_threads(parser)
    given = parser.parse_args(arguments)
    ranks = ranks_of(parser, given)
    if given.n < 3 or given.n % 2 == 0:
        bc.abort(f"--n {given.n} is not an odd number from 3 on", status=2)
    alone, middle = ranks is None, given.n // 2
    on, small = (bc.distribute(points, ranks, m=k) for k in (middle, max(1, middle // 2)))
    say = print if on.is_root else lambda *_: None
    first = compare(on, 1, 1, alone=alone)
    say(f"kernels ready after {sum(run.seconds for run in first):.1f} s\n")
    runs = compare(on, given.sweeps, alone=alone)
    last = runs[-1]
    say(table(runs), "\n")
    for run in conjugate_gradients(small, M=multigrid), last:
        e = run.errors[-1]
        say(f"discretisation error, n = {run.size}: {e:.2e} = {e * (run.size + 1) ** 2:.3f} h^2")
    if given.digest:
        say(f"\ndigest: {digest(last.u)}")
    u, exact = last.u.gather(root=0), last.exact.gather(root=0)
    if u is None or exact is None:
        return
    try:
        plot(runs, u, exact, given.plot)
        print(f"\npicture: {given.plot}")
    except ImportError:
        print("\nno picture: matplotlib is missing; install it with `pip install matplotlib`")


if __name__ == "__main__":
    commands.run(main)
