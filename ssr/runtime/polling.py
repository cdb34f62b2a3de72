"""Polling for signals: long-running kernels let Python run its signal handlers, such as Ctrl-C.

Kernels run without Python's global interpreter lock. They count points, and read the clock after
a certain number of points. After a tenth of a second they acquire the lock and let Python run the
handlers of pending signals. If a handler raises, as that of Ctrl-C does, the kernel ends and the
exception propagates to its caller. A shorter kernel never acquires the lock.

In plain Python the functions have no effect, since the interpreter runs handlers itself.
"""

from __future__ import annotations

import time

INTERVAL = 100_000_000
"""Interval in nanoseconds at which Python may run handlers."""

POINTS = 2**16
"""Number of points between two readings of the clock."""

CLOCK = getattr(time, "CLOCK_MONOTONIC", None)
"""The clock id of the C library; without one, kernels do not poll."""


def stopwatch() -> None:
    """Return the state of a kernel between polls.

    It holds the points until the next check, a time, and whether a handler has raised.
    """


def poll(watch: None, points: int) -> None:
    """Count points; leave the kernel if that makes Python run a handler that raises."""
