"""Columns of the step table of a schedule: the ranges of tables that a step runs.

The row of a step that runs a part of the kernel contains, after its kind, the first and the end
index of the boxes in ``tables`` for each nest, and the same indices of links and weights for each
call. The kernel receives the flat index of the row, ``step``.
"""

from __future__ import annotations

from ..kernel import ir as kernel
from ..kernel.building import call, compare, load, plus


def nest_range(
    number: int, width: int
) -> tuple[kernel.Expression, kernel.Expression, kernel.Expression]:
    """Return the bounds and the step of the places at which the rows of a nest's boxes begin."""
    return *_places(2 * number), kernel.Integer(width)


def call_runs(nests: int, number: int) -> kernel.Expression:
    """Return the condition that a call has links."""
    start, stop = _places(2 * nests + 4 * number)
    return compare(start, "<", stop)


def call_slices(nests: int, number: int) -> list[kernel.Expression]:
    """Return the links and the weights of a call."""
    first = 2 * nests + 4 * number
    return [
        call("between", name, *_places(first + 2 * n))
        for n, name in enumerate(("links", "weights"))
    ]


def _places(first: int) -> tuple[kernel.Expression, kernel.Expression]:
    return load("steps", plus("step", 1 + first)), load("steps", plus("step", 2 + first))
