"""How a kernel lets Python run its signal handlers, so that Ctrl-C ends a kernel that runs long.

Kernels run without Python's global lock. They count the points that they pass; after many they look
at the clock, and after a tenth of a second they take the lock and let Python run the handlers of
signals that have come. If a handler raises, as that of Ctrl-C does, the kernel ends and the
exception goes to its caller. A kernel that takes less time never asks for the lock.

Called from plain Python the functions do nothing: there Python runs handlers by itself.
"""

from __future__ import annotations

import time
from typing import Any

INTERVAL = 100_000_000
"""Nanoseconds between two times at which Python may run handlers."""

POINTS = 2**16
"""Points between two looks at the clock."""

CLOCK = getattr(time, "CLOCK_MONOTONIC", None)
"""The number of the C library's clock; where there is none, kernels do not poll."""


def stopwatch() -> None:
    """Return what a kernel remembers between polls.

    These are the points until it looks, a time, and whether a handler has raised.
    """


def poll(watch: Any, points: int) -> None:
    """Count points; leave the kernel if that makes Python run a handler that raises."""
