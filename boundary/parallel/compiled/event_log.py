"""A log of time-stamped events, written by compiled code and by Python."""

from __future__ import annotations

import time
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ssr.extension import Array, Function, builder_of, compiled

CAPACITY = 1 << 16
"""The largest number of events in a log."""


class EventLog:
    """Events that are identified by integers, each with the nanosecond at which it happened."""

    def __init__(self) -> None:
        self._log = np.zeros(1 + 3 * CAPACITY, np.int64)  # count; (event, seconds, nanoseconds)

    def clear(self) -> None:
        """Remove all events."""
        self._log[0] = 0

    def note(self, event: int) -> None:
        """Append an event that happens now."""
        count = int(self._log[0])
        assert count < CAPACITY, "there is no room for more events"
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self._log[1 + 3 * count : 4 + 3 * count] = event, *divmod(now, 10**9)
        self._log[0] = count + 1

    def function(self, event: int) -> Function:
        """Return the function that a kernel calls to append an event."""
        return Function(_noting(), event, self._log.ctypes.data)

    def read(self) -> tuple[Array, Array]:
        """Return the events, and their times in seconds."""
        found = self._log[1 : 1 + 3 * int(self._log[0])].reshape(-1, 3)
        return found[:, 0].copy(), found[:, 1] + 1e-9 * found[:, 2]


@cache
def _noting() -> int:
    """Return the address of the compiled function ``int note(int event, void *log)``."""
    return compiled("event_log", {"note": _write})["note"]


def _write(module: Any) -> None:
    llvm: Any = import_module("llvmlite.ir")
    number, word = llvm.IntType(32), llvm.IntType(64)
    kind = llvm.FunctionType(number, [number, word.as_pointer()])
    function = llvm.Function(module, kind, "note")
    event, log = function.args
    b = builder_of(function)
    count = b.get(log, 0)
    with b.if_then(b.icmp_signed("==", count, word(CAPACITY))):
        b.ret(number(1))
    row = b.at(log, b.mul(count, word(3)))
    b.store(b.sext(event, word), b.at(row, 1))
    clock = b.external("clock_gettime", number, number, log.type)
    b.call(clock, [number(time.CLOCK_MONOTONIC), b.at(row, 2)])
    b.store(b.add(count, word(1)), log)
    b.ret(number(0))
