"""How a kernel for boxes with memory of their own goes through the steps of a schedule.

A step is a row of integers, the first of which says what it is. A kernel does by itself

``RUN``
    a part of its own work: the row says which (`ssr.distributed.step_tables`);
``BEGIN``
    a call of a function of C, ``int begin(int count, void *things)``: the row has its address, the
    count, and the address of the things;
``ASK``
    calls of ``int ask(int count, void *things, int *done, void *notes)``, until it is done: the row
    has the address of the notes, too.

The functions return zero unless they fail. Their addresses are data, so that a kernel can be kept
on disk. At each other step, ``LEAVE``, the kernel returns `LEFT`, and is called again behind it. It
also returns if a function has `FAILED`, and if one is asked for longer than `PATIENCE`, `LATE`: the
caller may then run handlers of signals, and find out what is wrong.

What it goes through is a table of steps, for each row of a table of numbers; `AT` says where it is.
Called from plain Python, `follow` leaves each step to its caller.
"""

from __future__ import annotations

import os
from typing import Any

from .constants import LEFT
from .intrinsics import ld, st

PATIENCE = 200_000_000
"""Nanoseconds for which a function is asked."""

SPINS = 2000
"""How often it is asked before the processor is given to others each time."""

YIELDS = hasattr(os, "sched_yield")
"""Whether the C library has a function for that."""


def follow(steps: Any, at: Any) -> int:
    """Call the function of a step; return `FINISHED`, or why the kernel returns."""
    return LEFT


def copy(target: Any, to: int, source: Any, of: int, count: int) -> None:
    """Copy elements from a flat offset on; those that are read and written do not overlap."""
    for n in range(count):
        st(target, to + n, ld(source, of + n))


def copy_column(
    target: Any, to: int, apart: int, source: Any, of: int, further: int, count: int
) -> None:
    """Copy elements that lie apart; those that are read and written do not overlap."""
    for n in range(count):
        st(target, to + n * apart, ld(source, of + n * further))
