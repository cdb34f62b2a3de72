"""The problem of docs/comparison.md in every tool, each in a separate process.

``python -m benchmarks.comparison --json docs/data/comparison.json`` runs the programs of the page
that are installed, compares their fields after some steps, and writes the table of the page. Every
process has one core, one thread and empty caches. Its import and its first step are timed, then its
steps, a call in each round, while the other processes wait. Times are those of the processor, which
on a shared machine leave out the time of others; the shortest one counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import ssr
from apps import commands
from benchmarks import timing
from benchmarks.comparison_process import PROGRAMS
from benchmarks.timing import ROOT, environment, table

TOLERANCE = 1e-12
"""The largest difference of two fields, relative to the largest value."""

ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


@dataclass(frozen=True)
class Tool:
    """A program of the page: its title, its package, and variables of its environment."""

    title: str
    program: str
    package: str
    variables: Mapping[str, str]


TOOLS: Mapping[str, Tool] = {
    "ssr": Tool("this package", "ssr", "staged-sparse-row", {"SSR_CPU": ""}),
    "ssr-avx2": Tool(
        "this package, AVX2 only", "ssr", "staged-sparse-row", {"SSR_CPU": "x86-64-v3"}
    ),
    "numba": Tool("Numba", "numba", "numba", {}),
    "devito": Tool("Devito", "devito", "devito", {}),
    "jax": Tool("JAX", "jax", "jax", {}),
    "numpy": Tool("NumPy", "numpy", "numpy", {}),
    "pde": Tool("py-pde", "pde", "py-pde", {}),
    "petsc": Tool("PETSc", "petsc", "petsc4py", {}),
}
COLUMNS = {
    "tool": "tool",
    "version": "version",
    "lines": "lines of code",
    "step": "one step, ms",
    "import": "import, s",
    "first": "first step after the import, s",
}


def lines(tool: str) -> int:
    """Return the lines of a program, without its docstring and blank lines."""
    text = (PROGRAMS / f"in_{tool}.py").read_text(encoding="utf-8").partition('"""\n\n')[2]
    return sum(bool(line.strip()) for line in text.splitlines())


class Worker:
    """The process of a tool, which waits for lines.

    Attributes
    ----------
    tool
        The name of the tool.
    times
        The seconds of its import and of its first step; or the missing package.
    """

    def __init__(self, tool: str, size: int, folder: Path) -> None:
        self.tool = tool
        self._field = folder / f"{tool}.npy"
        caches = tempfile.mkdtemp(dir=folder)
        places = dict.fromkeys(("SSR_CACHE_DIR", "NUMBA_CACHE_DIR", "TMPDIR"), caches)
        variables = {**ONE_THREAD, **places, **TOOLS[tool].variables}
        arguments = TOOLS[tool].program, str(size), str(self._field)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.comparison_process", *arguments],
            env=environment(**variables),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.times: Mapping[str, Any] = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The program in {TOOLS[self.tool].title} has failed.")
        return json.loads(line)

    def seconds(self, steps: int) -> float:
        """Return the seconds of a step, in a call of some."""
        assert self._process.stdin is not None
        print(steps, file=self._process.stdin, flush=True)
        return float(self._answer())

    def field(self) -> Any:
        """Return the field after the first call."""
        return np.load(self._field)

    def end(self) -> None:
        """End the process."""
        with self._process:  # closes its pipes and waits for it
            pass


def agree(fields: Mapping[str, Any]) -> None:
    """Raise an error unless all fields are the same.

    Raises
    ------
    ArithmeticError
        If a field differs from the first one by more than the tolerance.
    """
    (first, expected), *others = fields.items()
    scale = float(np.abs(expected).max())
    for name, field in others:
        distance = float(np.abs(field - expected).max()) / scale
        if not distance <= TOLERANCE:
            raise ArithmeticError(f"{name} differs from {first} by {distance:.1e}.")


def started(tools: Sequence[str], size: int, starts: int, folder: Path) -> dict[str, Worker]:
    """Return the processes of the tools that are installed, with the least times of some starts."""
    workers: dict[str, Worker] = {}
    for tool in tools:
        worker = Worker(tool, size, folder)
        if "missing" in worker.times:
            print(f"{TOOLS[tool].title}: {worker.times['missing']} is not installed, left out")
            worker.end()
            continue
        for _ in range(starts - 1):
            before = worker.times
            worker.end()
            worker = Worker(tool, size, folder)
            worker.times = {name: min(s, before[name]) for name, s in worker.times.items()}
        workers[tool] = worker
        print(f"{TOOLS[tool].title}: first step taken", flush=True)
    return workers


def timed(workers: Mapping[str, Worker], steps: int, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of a step of each tool in each round; fields are compared before."""
    for worker in workers.values():
        worker.seconds(steps)
    agree({TOOLS[tool].title: worker.field() for tool, worker in workers.items()})
    found: dict[str, list[float]] = {tool: [] for tool in workers}
    names = list(workers)
    for turn in range(rounds):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            found[name].append(workers[name].seconds(steps))
    return found


def rows(
    starts: Mapping[str, Mapping[str, float]], times: Mapping[str, Sequence[float]]
) -> list[dict[str, Any]]:
    """Return the rows of the table, the fastest tool first."""
    order = sorted(TOOLS, key=lambda tool: min(times.get(tool, [float("inf")])))
    made = []
    for tool in order:
        row: dict[str, Any] = {
            "tool": TOOLS[tool].title,
            "lines": str(lines(TOOLS[tool].program)),
            "step": "not measured",
        }
        if tool in times:
            row |= {**starts[tool], "step": 1e3 * min(times[tool])}
            row["version"] = _version(TOOLS[tool].package)
        made.append({key: _rounded(value) for key, value in row.items()})
    return made


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ssr.__version__  # this package, from a checkout


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare the tools, print a table, and write a file if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison", description=__doc__)
    parser.add_argument("--json", type=Path, help="the file for the table of the page")
    parser.add_argument("--size", type=int, default=1024, help="points along each axis")
    parser.add_argument("--steps", type=int, default=50, help="the steps of a call")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--starts", type=int, default=3, help="processes with empty caches")
    parser.add_argument("--only", nargs="+", choices=TOOLS, default=list(TOOLS))
    given = parser.parse_args(arguments)
    facts, load = timing.machine(), [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory(prefix="comparison-") as folder:
        workers = started(given.only, given.size, given.starts, Path(folder))
        try:
            times = timed(workers, given.steps, given.rounds)
        finally:
            for worker in workers.values():
                worker.end()
    load.append(os.getloadavg()[0])
    found = rows({tool: worker.times for tool, worker in workers.items()}, times)
    text = [[f"{row.get(key, '')}" for key in COLUMNS] for row in found]
    print(table(tuple(COLUMNS.values()), text))
    if given.json:
        machine = f"{facts['processor']}, {facts['cores']} cores, shared: load {min(load):.1f} to "
        content = {
            "machine": f"{machine}{max(load):.1f}",
            "date": datetime.now(UTC).date().isoformat(),
            "command": "python -m benchmarks.comparison",
            "points": given.size**2,
            "steps of a call": given.steps,
            "rounds": given.rounds,
            "columns": COLUMNS,
            "rows": found,
            "samples, ms": {t: [_rounded(1e3 * s) for s in each] for t, each in times.items()},
        }
        given.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    commands.run(main)
