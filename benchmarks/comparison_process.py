"""The process of one tool of `benchmarks.comparison`, which imports no package but NumPy before it.

``python -m benchmarks.comparison_process PROGRAM SIZE FIELD`` runs a program of docs/comparison.md.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np

PROGRAMS = Path(__file__).resolve().parent.parent / "docs" / "comparison"
RATIO = 0.2
"""The time step times the diffusivity, divided by the square of the spacing."""


def program(name: str) -> ModuleType:
    """Return a program of the page as a new module."""
    spec = importlib.util.spec_from_file_location(f"in_{name}", PROGRAMS / f"in_{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def processor_time() -> float:
    """Return the seconds that this process and its children, such as compilers, have computed."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def serve(name: str, size: int, field: Path) -> None:
    """Answer each line of standard input, a number of steps, by their seconds.

    The first answer has the seconds of the import and of the first step; after the first line the
    field is written. Standard output carries the answers alone.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    u = np.random.default_rng(0).random((size, size))
    start = processor_time()
    try:
        module = program(name)
    except ModuleNotFoundError as error:
        print(json.dumps({"missing": error.name}), file=answers, flush=True)
        return
    imported = processor_time()
    advance = module.solver(u, RATIO)
    np.asarray(advance(1))
    first = {"import": imported - start, "first": processor_time() - imported}
    print(json.dumps(first), file=answers, flush=True)
    for count, line in enumerate(sys.stdin):
        begun = time.process_time()
        found = advance(int(line))
        seconds = time.process_time() - begun
        if count == 0:
            np.save(field, np.asarray(found))
        print(seconds / int(line), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
