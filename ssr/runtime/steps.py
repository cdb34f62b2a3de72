"""Execution of the steps of a schedule by the kernel of a distributed program.

A step is a row of integers, the first of which is its kind. A kernel executes these kinds itself:

``RUN``
    a unit of the kernel, selected by the row (`ssr.distributed.step_tables`);
``BEGIN``
    a call of a C function, ``int begin(int count, void *things)``: the row holds its address, the
    count, and the address of the things;
``ASK``
    calls of ``int ask(int count, void *things, int *done, void *notes)`` until it is done: the row
    also holds the address of the notes.

The functions return zero on success. Their addresses are data, so that a kernel can be cached on
disk. At each other step, ``LEAVE``, the kernel returns `LEFT`, and is called again to continue
after the step. It also returns if a function has `FAILED`, and if a function was polled for longer
than `PATIENCE`, `LATE`: the caller may then run signal handlers, and diagnose the failure.

A kernel runs a table of steps once for each row of a table of scalars; `AT` holds its position. In
plain Python, `follow` leaves each step to its caller.
"""

from __future__ import annotations

import os

from ..points.numbers import Array
from .constants import LEFT
from .intrinsics import Memory, ld, st

PATIENCE = 200_000_000
"""Limit in nanoseconds of the polling of a function."""

SPINS = 2000
"""Number of polls before each poll yields the processor."""

YIELDS = hasattr(os, "sched_yield")
"""Whether the C library has a function that yields the processor."""


def follow(steps: Array, at: Array) -> int:
    """Call the function of a step; return `FINISHED`, or why the kernel returns."""
    return LEFT


def copy(target: Memory, to: int, source: Memory, of: int, count: int) -> None:
    """Copy elements from a flat offset on; source and target do not overlap."""
    for n in range(count):
        st(target, to + n, ld(source, of + n))


def copy_column(
    target: Memory, to: int, apart: int, source: Memory, of: int, further: int, count: int
) -> None:
    """Copy strided elements; source and target do not overlap."""
    for n in range(count):
        st(target, to + n * apart, ld(source, of + n * further))
