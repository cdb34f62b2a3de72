"""The problem of docs/comparison.md in every tool: a step on 1024 x 1024 points, and a first one.

``python -m benchmarks.peers --only comparison``. The programs are those of the page. A step is the
shortest of some rounds in which the tools take turns, each with a call of `STEPS` steps. A first
step is that of a fresh process with empty caches: the import of the tool, and all that follows
until one step is taken.
"""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np

from benchmarks import timing
from benchmarks.cases import Candidate, disagreement
from benchmarks.timing import ROOT, Json, fresh, table

PROGRAMS = ROOT / "docs" / "comparison"
TOOLS = "ssr", "numpy", "numba", "jax", "devito", "pde"
STEPS = 50
AVX2 = "x86-64-v3"
RATIO = 0.2
"""The time step times the diffusivity, divided by the square of the spacing."""

FIRST = """
import json, sys, time
import numpy as np
start = time.perf_counter()
import {module}
imported = time.perf_counter()
np.asarray({module}.solver(np.ones(({size}, {size})), 0.2)(1))
print(json.dumps([imported - start, time.perf_counter() - imported]))
"""


def program(tool: str) -> ModuleType:
    """Return a program of the page as a new module."""
    spec = importlib.util.spec_from_file_location(f"in_{tool}", PROGRAMS / f"in_{tool}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def candidate(module: ModuleType, size: int, steps: int = STEPS) -> Candidate:
    """Return calls of some steps from random values."""
    u = np.random.default_rng(0).random((size, size))
    advance: Callable[[int], Any] = module.solver(u, RATIO)
    found: list[Any] = [None]

    def call() -> None:
        found[0] = advance(steps)

    return Candidate(call, lambda: np.array(found[0]))


def _for_avx2(one: Candidate) -> Candidate:
    """Return the candidate with kernels for AVX2."""

    def call() -> None:
        with mock.patch.dict(os.environ, SSR_CPU=AVX2):
            one.call()

    return Candidate(call, one.result)


def candidates(size: int) -> dict[str, Candidate]:
    """Return the tools that are installed; this package for AVX2 too."""
    made = {}
    for tool in TOOLS:
        try:
            made["ours" if tool == "ssr" else tool] = candidate(program(tool), size)
        except ModuleNotFoundError:
            print(f"{tool} is not installed, and left out")
        if tool == "ssr":
            made[f"ours {AVX2}"] = _for_avx2(candidate(program(tool), size))
    return made


def first(tool: str, size: int) -> tuple[float, float]:
    """Return the seconds of the import and of the first step in a process with empty caches."""
    with tempfile.TemporaryDirectory(prefix="ssr-first-") as folder:
        script = Path(folder, "first.py")
        script.write_text(FIRST.format(module=f"in_{tool}", size=size))
        paths = os.pathsep.join([str(PROGRAMS), str(ROOT)])
        caches = dict.fromkeys(("SSR_CACHE_DIR", "NUMBA_CACHE_DIR", "TMPDIR"), folder)
        imported, stepped = json.loads(fresh(str(script), PYTHONPATH=paths, **caches))
    return imported, stepped


def compared(quick: bool) -> Json:
    """Return, and print, the times of each tool."""
    size = 48 if quick else 1024
    made = candidates(size)
    distances = disagreement(made)
    calls = {name: one.call for name, one in made.items()}
    step = {t.name: t.minimum / STEPS for t in timing.measure(calls, 3 if quick else 7)}
    found: dict[str, dict[str, float]] = {}
    for name, seconds in step.items():
        found[name] = {"step": seconds, "distance": distances[name]}
    for name in filter(lambda name: name != f"ours {AVX2}", made):
        imported, stepped = first("ssr" if name == "ours" else name, size)
        found[name] |= {"import": imported, "first step": stepped}
    columns = "step", "import", "first step", "distance"
    rows = [
        [name, *(f"{one[c]:.3g}" if c in one else "" for c in columns)]
        for name, one in found.items()
    ]
    print(table((f"heat on {size}^2, seconds", *columns), rows))
    return found
