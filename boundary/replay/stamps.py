"""A log of events with their times, which compiled code writes as well as Python."""

from __future__ import annotations

import time
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ssr.extension import Array, Function

ROOM = 1 << 16
"""How many events a log has room for."""


class Stamps:
    """Events that are told by integers, each with the nanosecond at which it happened."""

    def __init__(self) -> None:
        self._log = np.zeros(1 + 3 * ROOM, np.int64)  # a count; event, seconds, nanoseconds

    def clear(self) -> None:
        """Forget all events."""
        self._log[0] = 0

    def note(self, event: int) -> None:
        """Note that something happens now."""
        count = int(self._log[0])
        assert count < ROOM, "there is no room for more events"
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self._log[1 + 3 * count : 4 + 3 * count] = event, *divmod(now, 10**9)
        self._log[0] = count + 1

    def function(self, event: int) -> Function:
        """Return what a kernel calls to note an event by itself."""
        return Function(_noting().address, event, self._log.ctypes.data)

    def read(self) -> tuple[Array, Array]:
        """Return the events, and their times in seconds."""
        found = self._log[1 : 1 + 3 * int(self._log[0])].reshape(-1, 3)
        return found[:, 0].copy(), found[:, 1] + 1e-9 * found[:, 2]


@cache
def _noting() -> Any:
    """Return the compiled function ``int note(int event, void *log)``."""
    numba: Any = import_module("numba")
    functions: Any = import_module("numba.core.types.functions")
    signature = numba.types.int32(numba.types.int32, numba.types.voidptr)
    clock = functions.ExternalFunction("clock_gettime", signature)
    carray = numba.carray
    monotonic, room, length = time.CLOCK_MONOTONIC, ROOM, 1 + 3 * ROOM

    def note(event: Any, given: Any) -> Any:
        log = carray(given, length, np.int64)
        count = log[0]
        if count == room:
            return 1
        log[1 + 3 * count] = event
        clock(monotonic, log[2 + 3 * count :].ctypes)
        log[0] = count + 1
        return 0

    return numba.cfunc(signature)(note)
