"""Results as text in the form of the official report, and as JSON."""

from typing import Any

from .benchmark import Result

NOTICE = {
    "staged": "matrix-free: the operator is a rule; this is not an official HPCG result",
    "csr": "stored matrix, natural order of rows; this is not an official HPCG result",
}


def document(result: Result) -> dict[str, Any]:
    """Return the numbers of a run under the keys of its JSON file."""
    flops = result.counts.timed
    seconds = {**result.seconds, "total": result.total}
    rates = {kind: flops[kind] / result.seconds[kind] / 1e9 for kind in flops}
    rates["total"] = sum(flops.values()) / result.total / 1e9
    return {
        "notice": NOTICE[result.problem.matrix],
        "matrix": result.problem.matrix,
        "shape": list(reversed(result.problem.shape)),
        "ranks": result.problem.ranks,
        "threads": len(result.problem.on.world.here),
        "grid": list(reversed(result.problem.grid)),
        "box": list(reversed(result.problem.box)),
        "residuals": list(result.residuals),
        "iterations": result.counts.iterations,
        "sets": result.counts.sets,
        "valid": result.valid,
        "rating_gflops": result.rating,
        "seconds": seconds,
        "gflops": rates,
        "ms_per_iteration": 1e3 * result.total / (result.counts.sets * result.counts.iterations),
        "bytes_per_row": result.bytes_per_row,
        "compilation_seconds": result.compilation,
        "setup_seconds": result.setup,
        "optimisation_seconds": result.optimisation,
    }


def text(result: Result) -> str:
    """Return the report."""
    return "\n".join(_lines(_report(result), 0))


def _report(result: Result) -> dict[str, Any]:
    problem, counts, tests, made = result.problem, result.counts, result.tests, document(result)
    read, write = counts.traffic
    flops, seconds = counts.flops, made["seconds"]
    return {
        "HPCG problem": {"Notice": made["notice"], "Version": "problem of HPCG 3.1"},
        "Machine Summary": {
            "Distributed Processes": made["ranks"] // made["threads"],
            "Threads per process": made["threads"],
        },
        "Global Problem Dimensions": _dimensions("n", made["shape"]),
        "Processor Dimensions": _dimensions("np", made["grid"]),
        "Local Domain Dimensions": _dimensions("n", made["box"]),
        "Setup Information": {
            "Setup Time": result.setup,
            "Kernels made before, not counted": result.compilation,
        },
        "Linear System Information": {
            "Number of Equations": problem.rows[0],
            "Number of Nonzero Terms": problem.entries[0],
        },
        "Multigrid Information": {
            "Number of coarse grid levels": len(problem.rows) - 1,
            "Equations on each level": ", ".join(map(str, problem.rows)),
            "Number of Presmoother Steps": 1,
            "Number of Postsmoother Steps": 1,
        },
        "Memory Use Information": {"Bytes per equation": result.bytes_per_row},
        "Spectral Convergence Tests": {
            "Result": _passed(tests.converged),
            "Unpreconditioned": {"Iterations": max(tests.plain), "Limit": 12},
            "Preconditioned": {"Iterations": max(tests.preconditioned), "Limit": 2},
        },
        "Departure from Symmetry": {
            "Result": _passed(tests.symmetric),
            "Departure for SpMV": tests.spmv,
            "Departure for MG": tests.mg,
            "Largest residual of the exact solution": tests.error,
        },
        "Iteration Count Information": {
            "Result": _passed(result.converged),
            "Reference CG iterations per set": 50,
            "Optimized CG iterations per set": counts.iterations,
            "Total number of optimized iterations": counts.sets * counts.iterations,
        },
        "Reproducibility Information": {
            "Result": _passed(result.reproducible),
            "Scaled residual of the reference": result.tolerance,
            "Scaled residual mean": sum(result.finals) / counts.sets,
            "Scaled residual variance": result.variance,
        },
        "Benchmark Time Summary": {
            "Optimization phase": result.optimisation,
            "WAXPBY (x, r, and the product r r)": seconds["waxpby"],
            "SpMV (p, A p, and the product p A p)": seconds["spmv"],
            "MG (V-cycle, and the product r z)": seconds["mg"],
            "Total": seconds["total"],
        },
        "Floating Point Operations Summary": {
            **{f"Raw {kind.upper()}": count for kind, count in flops.items()},
            "Total": sum(flops.values()),
        },
        "GB/s Summary, nominal": {
            "Raw Read B/W": read / result.total / 1e9,
            "Raw Write B/W": write / result.total / 1e9,
            "Raw Total B/W": (read + write) / result.total / 1e9,
        },
        "GFLOP/s Summary, nominal": {
            **{f"Raw {kind.upper()}": rate for kind, rate in made["gflops"].items()},
            "Total with convergence and preparation overhead": result.rating,
        },
        "User Optimization Overheads": {
            "Optimization phase time": result.optimisation,
            "Optimization phase time vs reference iteration": result.optimisation
            / result.reference,
        },
        "Final Summary": {
            "Result": "VALID" if result.valid else "INVALID",
            "Rating in GFLOP/s, not official": result.rating,
        },
    }


def _dimensions(name: str, numbers: list[int]) -> dict[str, int]:
    return {f"{name}{axis}": number for axis, number in zip("xyz", numbers, strict=True)}


def _passed(good: bool) -> str:
    return "PASSED" if good else "FAILED"


def _lines(content: dict[str, Any], depth: int) -> list[str]:
    found = []
    for name, value in content.items():
        if isinstance(value, dict):
            found += [f"{'  ' * depth}{name}:", *_lines(value, depth + 1)]
        else:
            shown = f"{value:.6g}" if isinstance(value, float) else value
            found.append(f"{'  ' * depth}{name}: {shown}")
    return found
