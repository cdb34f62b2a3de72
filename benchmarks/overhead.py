"""The overhead of a call from Python, measured on arrays of 4 x 4."""

from __future__ import annotations

import timeit
from collections.abc import Mapping

import numpy as np

from benchmarks import operators

GOAL = 2e-6
"""The seconds that a call may take."""


def seconds(calls: int = 20_000) -> Mapping[str, float]:
    """Return the seconds of a call in each form, the minimum over a hundred batches."""
    shape = 4, 4
    x, b, y = np.ones(shape), np.ones(shape), np.empty(shape)
    A = operators.five_point()
    sweep = operators.gauss_seidel5()
    names = {
        "A": A, "x": x, "b": b, "y": y,
        "sweep": sweep, "jacobi": operators.jacobi5(), "bound": sweep.bind(x, b),
    }  # fmt: skip
    forms = {
        "A.apply(x, out=y)": "A.apply(x, out=y)",
        "A @ x": "A @ x",
        "two fields": "sweep(x, b)",
        "three fields": "jacobi(y, x, b)",
        "two fields, bound": "bound()",
    }
    batches = 100
    result = {}
    for name, statement in forms.items():
        timer = timeit.Timer(statement, setup=statement, globals=names)
        result[name] = min(timer.repeat(batches, max(1, calls // batches))) * batches / calls
    return result
