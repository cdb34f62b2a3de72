"""A log of events with their times, which compiled code writes as well as Python."""

from __future__ import annotations

import time
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ssr.extension import Array, Function, builder_of, compiled

ROOM = 1 << 16
"""How many events a log has room for."""


class Stamps:
    """Events that are identified by integers, each with the nanosecond at which it happened."""

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
        return Function(_noting(), event, self._log.ctypes.data)

    def read(self) -> tuple[Array, Array]:
        """Return the events, and their times in seconds."""
        found = self._log[1 : 1 + 3 * int(self._log[0])].reshape(-1, 3)
        return found[:, 0].copy(), found[:, 1] + 1e-9 * found[:, 2]


@cache
def _noting() -> int:
    """Return the address of the compiled function ``int note(int event, void *log)``."""
    return compiled("stamps", {"note": _write})["note"]


def _write(module: Any) -> None:
    llvm: Any = import_module("llvmlite.ir")
    number, word = llvm.IntType(32), llvm.IntType(64)
    kind = llvm.FunctionType(number, [number, word.as_pointer()])
    function = llvm.Function(module, kind, "note")
    event, log = function.args
    b = builder_of(function)
    count = b.get(log, 0)
    with b.if_then(b.icmp_signed("==", count, word(ROOM))):
        b.ret(number(1))
    row = b.at(log, b.mul(count, word(3)))
    b.store(b.sext(event, word), b.at(row, 1))
    clock = b.external("clock_gettime", number, number, log.type)
    b.call(clock, [number(time.CLOCK_MONOTONIC), b.at(row, 2)])
    b.store(b.add(count, word(1)), log)
    b.ret(number(0))
