"""The time to a first result in fresh processes.

``python -m benchmarks.startup KIND NAME`` is one such process: it prints its times as JSON. The
kinds are *ours* (declare a program, get its kernel, call it), *hand* (the same with a kernel
written for Numba), *lower* (declare, and lower to source without compiling), *sizes* (call one
program on arrays of many shapes) and *build* (where the seconds of `benchmarks.builds` go). All of
them import NumPy, which is not counted.

``python -m benchmarks.startup builds`` measures all programs of `benchmarks.builds`, each in fresh
processes with empty caches, and prints a table.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.timing import fresh, table

clock = time.process_time
"""Seconds of the processor, as in `benchmarks.timing`: time that others take is left out."""

Times = dict[str, float]
SIZES = ((1, 1), (2, 1), (1, 9), (4, 4), (5, 7), (33, 64), (100, 300), (257, 1025))


def ours(name: str) -> Times:
    """Return the seconds from the import of the compiler to the end of the first call."""
    start = clock()
    from benchmarks import operators

    imported = clock()
    program = operators.PROGRAMS[name]()
    declared = clock()
    kernel = program.kernel()
    built = clock()
    program(*_arrays(name, len(program.ir.fields)))
    done = clock()
    return {
        "import": imported - start,
        "declare": declared - imported,
        "build": built - declared,
        "call": done - built,
        "total": done - start,
        "cached": float(kernel.from_cache),
    }


def hand(name: str) -> Times:
    """Return the same for the kernel written by hand, which its first call compiles."""
    start = clock()
    from benchmarks import handwritten

    imported = clock()
    kernel = handwritten.KERNELS[name]
    count = {"jacobi5": 3, "spmv27": 2}[name]
    y, *rest = _arrays(name, count)
    kernel(y, np.pad(rest[0], 1), *rest[1:])
    done = clock()
    return {"import": imported - start, "build": done - imported, "total": done - start}


def lower(name: str) -> Times:
    """Return the seconds of the declaration and of all stages before machine code."""
    from benchmarks import operators

    start = clock()
    program = operators.PROGRAMS[name]()
    declared = clock()
    program.explain("source")
    done = clock()
    return {"declare": declared - start, "lower": done - declared, "total": done - start}


def sizes(name: str) -> Times:
    """Return how many kernels the sizes need, and the seconds of the first call at a size.

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
    kernels = len(list(Path(os.environ["SSR_CACHE_DIR"]).glob("*.kernel")))
    if kernels != 1:
        raise AssertionError(f"{name} has {kernels} kernels for {len(SIZES)} sizes.")
    return {"kernels": kernels, "sizes": len(SIZES), "first": sorted(seconds)[len(seconds) // 2]}


def build(name: str) -> Times:
    """Return where the seconds of building go: tracing, lowering, LLVM."""
    from benchmarks.builds import seconds

    return seconds(name)


def builds(repeat: int = 3) -> None:
    """Print where the seconds of all slow builds go, of the fastest of some processes each."""
    from benchmarks.builds import BUILDS

    header = ("trace", "lower", "llvm", "total")
    rows, totals = [], dict.fromkeys(header, 0.0)
    for name in BUILDS:
        times = measure(["build"], name, repeat)["build cold"]
        rows.append([name, *(f"{times[part]:.2f}" for part in header)])
        totals = {part: totals[part] + times[part] for part in header}
    rows.append(["all", *(f"{totals[part]:.2f}" for part in header)])
    print(table(("seconds of the processor", *header), rows))


KINDS: Mapping[str, Callable[[str], Times]] = {
    "ours": ours, "hand": hand, "lower": lower, "sizes": sizes, "build": build,
}  # fmt: skip


def measure(kinds: Sequence[str], name: str, cold: int, warm: int = 0) -> dict[str, Times]:
    """Return the times of the fastest of some fresh processes, by names such as ``ours cold``.

    The kinds take turns. Processes named cold start with empty caches, those named warm with the
    caches of the last cold one.

    Raises
    ------
    AssertionError
        If a kernel was compiled where it should not be, or not where it should.
    """
    found: dict[str, list[Times]] = {}
    with tempfile.TemporaryDirectory(prefix="ssr-startup-") as folder:
        for turn in range(cold + warm):
            state = "cold" if turn < cold else "warm"
            for kind in kinds:
                cache = Path(folder, f"{kind}-{min(turn, cold - 1)}")
                times = _process(kind, name, cache)
                if times.get("cached", turn >= cold) != (turn >= cold):
                    raise AssertionError(f"The cache of {name} was not {state}.")
                found.setdefault(f"{kind} {state}", []).append(times)
    return {key: _fastest(times) for key, times in found.items()}


def _fastest(found: Sequence[Times]) -> Times:
    return min(found, key=lambda times: times.get("total", 0.0))


def _process(kind: str, name: str, cache: Path) -> Times:
    """Run this module in a new process with a separate cache."""
    cache.mkdir(exist_ok=True)
    command = "-m", "benchmarks.startup", kind, name
    done = fresh(*command, SSR_CACHE_DIR=str(cache), NUMBA_CACHE_DIR=str(cache))
    times: Times = json.loads(done)
    return times


def _arrays(name: str, count: int) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Return small arrays for a program in two or three dimensions."""
    shape = (8, 8) if name.endswith("5") else (8, 8, 8)
    return [np.ones(shape) for _ in range(count)]


def _timed(call: Callable[[], object]) -> float:
    start = clock()
    call()
    return clock() - start


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time a first result in this process.")
    parser.add_argument("kind", choices=[*KINDS, "builds"])
    parser.add_argument("name", nargs="?", default="")
    options = parser.parse_args()
    if options.kind == "builds":
        builds()
    else:
        print(json.dumps(KINDS[options.kind](options.name)))
