"""What it takes until a first result is there, in fresh processes.

``python -m benchmarks.startup KIND NAME`` is one such process: it prints its times as JSON. The
kinds are *ours* (declare a program, get its kernel, call it), *hand* (the same with a kernel
written for Numba), *lower* (declare, and lower to source without compiling) and *sizes* (call one
program on arrays of many shapes). NumPy's import is in all of them, and is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

Times = dict[str, float]
SIZES = ((1, 1), (2, 1), (1, 9), (4, 4), (5, 7), (33, 64), (100, 300), (257, 1025))


def ours(name: str) -> Times:
    """Return the seconds from the import of the compiler to the end of the first call."""
    start = time.perf_counter()
    from benchmarks import operators

    imported = time.perf_counter()
    program = operators.PROGRAMS[name]()
    declared = time.perf_counter()
    kernel = program.kernel()
    built = time.perf_counter()
    program(*_arrays(name, len(program.ir.fields)))
    done = time.perf_counter()
    return {
        "import": imported - start,
        "declare": declared - imported,
        "build": built - declared,
        "call": done - built,
        "total": done - start,
        "cached": float(kernel.from_cache),
    }


def hand(name: str) -> Times:
    """Return the same for the kernel written by hand; its first call builds it."""
    start = time.perf_counter()
    from benchmarks import handwritten

    imported = time.perf_counter()
    kernel = handwritten.KERNELS[name]
    count = {"jacobi5": 3, "spmv27": 2}[name]
    y, *rest = _arrays(name, count)
    kernel(y, np.pad(rest[0], 1), *rest[1:])
    done = time.perf_counter()
    return {"import": imported - start, "build": done - imported, "total": done - start}


def lower(name: str) -> Times:
    """Return the seconds of declaring and of all that comes before Numba."""
    from benchmarks import operators

    start = time.perf_counter()
    program = operators.PROGRAMS[name]()
    declared = time.perf_counter()
    program.explain("source")
    done = time.perf_counter()
    return {"declare": declared - start, "lower": done - declared, "total": done - start}


def sizes(name: str) -> Times:
    """Return how many kernels many sizes take, and the seconds of the first call at a new size.

    Raises
    ------
    AssertionError
        If there is more than one kernel.
    """
    from benchmarks import operators

    program = operators.PROGRAMS[name]()
    kernel = program.kernel()
    seconds = []
    for plane in SIZES:
        shape = plane if name.endswith("5") else (3, *plane)
        arrays = [np.ones(shape) for _ in program.ir.fields]
        seconds.append(_timed(lambda given=arrays: program(*given)))  # type: ignore[misc]
        if program.kernel() is not kernel:
            raise AssertionError(f"{name} was built again for {shape}.")
    kernels = len(list(Path(os.environ["SSR_CACHE_DIR"]).glob("*.py")))
    if kernels != 1:
        raise AssertionError(f"{name} has {kernels} kernels for {len(SIZES)} sizes.")
    return {"kernels": kernels, "sizes": len(SIZES), "first": sorted(seconds)[len(seconds) // 2]}


KINDS: Mapping[str, Callable[[str], Times]] = {
    "ours": ours, "hand": hand, "lower": lower, "sizes": sizes,
}  # fmt: skip


def measure(kind: str, name: str, cold: int, warm: int = 0) -> tuple[Times, Times]:
    """Return the times of the fastest of some fresh processes, with empty and with filled caches.

    The filled caches are those of the last process that started with empty ones; with none of the
    second kind, their times are empty.
    """
    with tempfile.TemporaryDirectory(prefix="ssr-startup-") as folder:
        caches = [Path(folder, str(turn)) for turn in range(cold)]
        first = [_process(kind, name, cache) for cache in caches]
        again = [_process(kind, name, caches[-1]) for _ in range(warm)]
    for found, cached in (first, 0.0), (again, 1.0):
        if any(times.get("cached", cached) != cached for times in found):
            raise AssertionError(f"{name} was {'' if cached else 'not '}compiled by its process.")
    return _fastest(first), _fastest(again)


def _fastest(found: Sequence[Times]) -> Times:
    return min(found, key=lambda times: times.get("total", 0.0), default={})


def _process(kind: str, name: str, cache: Path) -> Times:
    """Run this module in a new process with a cache of its own."""
    cache.mkdir(exist_ok=True)
    place = "NUMBA_CACHE_DIR" if kind == "hand" else "SSR_CACHE_DIR"
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    command = [sys.executable, "-m", "benchmarks.startup", kind, name]
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(
        command,
        env={**environment, place: str(cache)},
        cwd=root,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    times: Times = json.loads(done.stdout)
    return times


def _arrays(name: str, count: int) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Return small arrays for a program in two or three dimensions."""
    shape = (8, 8) if name.endswith("5") else (8, 8, 8)
    return [np.ones(shape) for _ in range(count)]


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time a first result in this process.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("name")
    options = parser.parse_args()
    print(json.dumps(KINDS[options.kind](options.name)))
