"""Enter kernels for boxes with memory of their own: their arguments in order."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssr.extension import At, KernelMeta, Step, layout_of, step_tables

Array = np.ndarray[Any, Any]


def start(rows: int = 1, step: int = 0) -> Array:
    """Return where a kernel begins: the first row of numbers, and a step."""
    at = np.zeros(len(At), np.int64)
    at[At.ROWS], at[At.STEP] = rows, step
    return at


def arguments(
    meta: KernelMeta,
    arrays: Sequence[Array],
    steps: Sequence[Step],
    at: Array,
    *,
    buffers: Sequence[Array] = (),
    scalars: Any = ((),),
    state: Array | None = None,
    results: Array | None = None,
    scratch: int = 0,
    messages: Array | None = None,
    fields: Sequence[Array] | None = None,
) -> list[Any]:
    """Return the arguments of a kernel whose arrays, temporaries included, may overlap.

    The ``fields`` are those of the arrays that are fields, with vector fields whole.
    """
    count = len(meta.fields)
    dtype = arrays[0].dtype
    laid = step_tables(meta, steps, dtype)
    return [
        *(arrays[:count] if fields is None else fields),
        *arrays[count:],
        *buffers,
        np.array(scalars, np.float64),
        *([state] if meta.reductions else []),
        *([results] if meta.results else []),
        layout_of(meta.written_first(arrays[:count]), 0),
        laid.tables,
        laid.links,
        laid.weights,
        np.empty(scratch, dtype),
        np.empty(0, dtype) if messages is None else messages,
        laid.steps,
        at,
    ]
