"""The time to a first solution with empty caches, compared with the setup and solve of pyamg.

``python -m benchmarks.peers.first_solutions PROBLEM TOOL SIZE`` is one fresh process, which prints
its times as JSON: the import of the tool (that of NumPy and SciPy is not counted), all until the
solver is made, and the solution; and the time of all processors together. Ours compiles its kernels
when they are first called. The problems are *poisson*, on a square with a fixed right side, and
*lognormal*, diffusion in a cube whose coefficients are exp(N(0, 1)). Ours solves them by multigrid
and by conjugate gradients with IC(0); pyamg by its classical and its smoothed hierarchy with
conjugate gradients, as its users do.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.timing import Json, fresh, table

Array = np.ndarray[Any, Any]
Solve = Callable[[Array], Array]
Times = dict[str, float]

RTOL = 1e-8
SIZES = {"poisson": (1023, 63), "lognormal": (64, 12)}
"""Points along an axis, and those of a quick run."""

clock = time.perf_counter


def coefficients(size: int) -> list[Array]:
    """Return the coefficients of faces normal to each axis: means of those of cells."""
    k = np.exp(np.random.default_rng(0).standard_normal((size + 1,) * 3))

    def faces(axis: int) -> Array:
        wide = tuple(slice(0, size + (a == axis)) for a in range(3))
        return np.ascontiguousarray(0.5 * (k + np.roll(k, 1, axis))[wide])

    return [faces(axis) for axis in range(3)]


def assembled(problem: str, size: int) -> Any:
    """Return the matrix of a problem for SciPy."""
    if problem == "poisson":
        import pyamg

        return pyamg.gallery.poisson((size, size), format="csr")
    total: Any = 0
    for axis, k in enumerate(coefficients(size)):
        steps = [scipy.sparse.identity(size, format="csr") for _ in range(3)]
        steps[axis] = scipy.sparse.diags([1.0, -1.0], [0, -1], (size + 1, size), format="csr")
        gradient = scipy.sparse.kron(scipy.sparse.kron(steps[0], steps[1]), steps[2])
        total = total + gradient.T @ scipy.sparse.diags(k.ravel()) @ gradient
    return total.tocsr()


def in_pyamg(problem: str, size: int) -> Iterator[Solve | None]:
    """Yield None when pyamg is imported, then the function that solves."""
    import pyamg

    yield None
    A = assembled(problem, size)
    make = pyamg.ruge_stuben_solver
    if problem == "lognormal":
        make = pyamg.smoothed_aggregation_solver
    hierarchy = make(A)

    def solve(b: Array) -> Array:
        found: Array = hierarchy.solve(b.ravel(), tol=RTOL, accel="cg", maxiter=200)
        return found.reshape(b.shape)

    yield solve


def ours(problem: str, size: int) -> Iterator[Solve | None]:
    """Yield None when our packages are imported, then the function that solves."""
    import ssr
    import ssr.solvers

    yield None
    if problem == "poisson":
        n = ssr.size("n")
        fine, coarse = ssr.Space(2 * n + 1, 2 * n + 1), ssr.Space(n, n)
        star = {(-1, 0): -1.0, (0, -1): -1.0, (0, 0): 4.0, (0, 1): -1.0, (1, 0): -1.0}
        laplacian = ssr.stencil(fine, fine, star, outside="zero")
        cycle = ssr.solvers.Multigrid(laplacian, ssr.solvers.interpolation(fine, coarse))
        yield lambda b: cycle.solve(b, rtol=RTOL).x
        return
    n = ssr.size("n")
    cells = ssr.Space(n, n, n)
    faces = {"kz": cells.faces(0), "ky": cells.faces(1), "kx": cells.faces(2)}

    @ssr.matrix(rows=cells, cols=cells, **faces)
    def diffusion(k: Any, j: Any, i: Any, *, kz: Any, ky: Any, kx: Any) -> Iterator[Any]:
        columns = (
            ((k - 1, j, i), kz[k, j, i]), ((k, j - 1, i), ky[k, j, i]),
            ((k, j, i - 1), kx[k, j, i]), ((k, j, i + 1), kx[k, j, i + 1]),
            ((k, j + 1, i), ky[k, j + 1, i]), ((k + 1, j, i), kz[k + 1, j, i]),
        )  # fmt: skip
        yield (k, j, i), sum(weight for _, weight in columns)
        for column, weight in columns:
            if column in cells:
                yield column, -weight

    kz, ky, kx = coefficients(size)
    solver = ssr.solvers.CG(diffusion.bind(kz=kz, ky=ky, kx=kx), M=ssr.solvers.IC())
    yield lambda b: solver(b, rtol=RTOL).x


TOOLS = {"ours": ours, "pyamg": in_pyamg}


def first(problem: str, tool: str, size: int) -> Times:
    """Return the seconds of a first solution in this process, and its relative residual."""
    start, used = clock(), time.process_time()
    parts = TOOLS[tool](problem, size)
    next(parts)
    imported = clock()
    solve = next(parts)
    assert solve is not None
    b = np.ones((size,) * (2 if problem == "poisson" else 3))
    made = clock()
    x = solve(b)
    done = clock()
    processors = time.process_time() - used
    residual = b.ravel() - assembled(problem, size) @ x.ravel()
    return {
        "import": imported - start,
        "setup": made - imported,
        "solve": done - made,
        "total": done - start,
        "processors": processors,
        "residual": float(np.linalg.norm(residual) / np.linalg.norm(b)),
    }


def process(problem: str, tool: str, size: int) -> Times:
    """Return the times of a fresh process with an empty cache."""
    with tempfile.TemporaryDirectory(prefix="ssr-first-") as folder:
        module = "benchmarks.peers.first_solutions"
        done = fresh("-m", module, problem, tool, str(size), SSR_CACHE_DIR=folder)
    times: Times = json.loads(done)
    return times


def compared(quick: bool, repeat: int = 3) -> Json:
    """Return, and print, the times of the fastest of some processes of each tool, in turns."""
    found: dict[str, dict[str, Times]] = {}
    for problem, sizes in SIZES.items():
        size = sizes[quick]
        for _ in range(1 if quick else repeat):
            for tool in TOOLS:
                times = process(problem, tool, size)
                best = found.setdefault(problem, {}).setdefault(tool, times)
                if times["total"] < best["total"]:
                    found[problem][tool] = times
    header = ("import", "setup", "solve", "total", "processors", "residual")
    rows = [
        [f"{problem}, {tool}", *(f"{times[part]:.3g}" for part in header)]
        for problem, tools in found.items()
        for tool, times in tools.items()
    ]
    print(table(("first solution, seconds", *header), rows))
    for problem, tools in found.items():
        other = tools["pyamg"]["setup"] + tools["pyamg"]["solve"]
        print(f"{problem}: {tools['ours']['total'] / other:.2f} of pyamg's setup and solution")
    return found


if __name__ == "__main__":
    print(json.dumps(first(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
