"""Measure first programs against Numba, Devito and JAX, each as its own users would write them.

The part ``first-steps`` is the time of processes that take one step, ``first-solutions`` the time
to solutions from empty caches, compared with pyamg.

``python -m benchmarks.peers [--json FILE] [--quick] [--only PART...]``. Tools that are not
installed are left out: ``pip install -e ".[peers]"`` installs all. Every candidate starts from the
same numbers, and its result after a call is compared with ours before timing. One thread each.
All are compiled for the processor of ``SSR_CPU``, by default the one at hand.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import processor, report
from benchmarks.cases import Candidate, Case
from benchmarks.peers import first_solutions, first_steps, problems
from benchmarks.references import Shape

LIMIT = 0.90
"""Limit of the ratio of our time to that of any other tool."""

ROWS: tuple[tuple[str, str, str, Shape, Shape, int], ...] = (
    ("heat, 7 points", "heat", "in place", (192,) * 3, (9, 10, 11), 16),
    ("heat, 7 points", "heat", "fill", (192,) * 3, (9, 10, 11), 16),
    ("heat, 7 points", "heat", "two arrays", (192,) * 3, (9, 10, 11), 24),
    ("wave, 25 points", "wave", "ghosts", (192,) * 3, (9, 10, 11), 32),
    ("wave, 25 points", "wave", "fill", (192,) * 3, (9, 10, 11), 32),
    ("wave, 25 points", "wave", "drop", (192,) * 3, (9, 10, 11), 32),
    ("27 points, four weights", "product", "points27", (128,) * 3, (9, 10, 11), 24),
    ("27 points, four weights", "product", "points27", (256,) * 3, (9, 10, 11), 24),
    ("27 different weights", "product", "different27", (192,) * 3, (9, 10, 11), 24),
    ("13 points", "product", "star13", (192,) * 3, (9, 10, 11), 24),
    ("25 points", "product", "star25", (192,) * 3, (9, 10, 11), 24),
    ("13 points", "product", "plane13", (2048,) * 2, (12, 13), 24),
    ("heat, 7 points, coefficients", "varying", "fluxes", (192,) * 3, (9, 10, 11), 32),
    ("heat, 7 points, coefficients", "varying", "matrix", (192,) * 3, (9, 10, 11), 32),
    ("acoustic waves, staggered", "acoustic", "ghosts", (160,) * 3, (9, 10, 11), 72),
    ("elastic waves, nine fields", "elastic", "ghosts", (144,) * 3, (9, 10, 11), 144),
    ("Gray-Scott, periodic", "gray_scott", "in place", (1024,) * 2, (12, 13), 32),
    ("Gray-Scott, periodic", "gray_scott", "two arrays", (1024,) * 2, (12, 13), 48),
)
"""Title, problem, form, shape, small shape, and bytes that must be moved for a point and step."""


def installed() -> dict[str, ModuleType]:
    """Return the modules of the installed tools, by name."""
    processor.restrict_others()
    found = {}
    for name in "numba", "devito", "jax":
        try:
            importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed, and left out")
        else:
            found[name] = importlib.import_module(f"benchmarks.peers.in_{name}")
    return found


def binding(
    problem: str, form: str, dtype: Any, others: Mapping[str, ModuleType]
) -> Callable[[Shape], dict[str, Candidate]]:
    """Return a function that binds the candidates of a row."""

    def bind(shape: Shape) -> dict[str, Candidate]:
        which = (form,) if problem == "product" else ()  # of the others each has one form
        ours = getattr(problems, problem)(form, shape, dtype)
        made = {n: getattr(m, problem)(*which, shape, dtype) for n, m in others.items()}
        return {"ours": ours, **made}

    return bind


def cases(others: Mapping[str, ModuleType]) -> Iterator[tuple[str, Case]]:
    """Yield all rows in double precision, and most in single precision."""
    for title, problem, form, shape, small, moved in ROWS:
        for dtype, part in (np.float64, 1), (np.float32, 2):
            kind = f"{form}-{shape[0]}" if problem == "product" else f"{problem}-{form}"
            name = f"{kind}-{np.dtype(dtype).name}".replace(" ", "-")
            yield (
                name,
                Case(
                    f"{title}, {form}, {np.dtype(dtype).name}",
                    binding(problem, form, dtype, others),
                    shape,
                    small,
                    moved // part,
                    goals=dict.fromkeys(others, LIMIT),
                    count=lambda shape: problems.STEPS * math.prod(shape),
                    tolerance=1e-8 if part == 1 else 2e-5,  # Devito rounds weights
                ),
            )


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)  # sums of many terms, in Devito
    found = installed()
    parts = {"first-steps": first_steps.compared}
    if find_spec("pyamg"):
        parts["first-solutions"] = first_solutions.compared
    report.main(dict(cases(found)), parts)
