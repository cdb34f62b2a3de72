"""How a kernel lets Python run its signal handlers, so that Ctrl-C ends a kernel that runs long.

Kernels run without Python's global lock. They count the points that they pass; after many they look
at the clock, and after a tenth of a second they take the lock and let Python run the handlers of
signals that have come. If a handler raises, as that of Ctrl-C does, the kernel ends and the
exception goes to its caller. A kernel that takes less time never asks for the lock.

Called from plain Python the functions do nothing: there Python runs handlers by itself.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

INTERVAL = 100_000_000
"""Nanoseconds between two times at which Python may run handlers."""

POINTS = 2**16
"""Points between two looks at the clock."""

CLOCK = getattr(time, "CLOCK_MONOTONIC", None)
"""The number of the C library's clock; where there is none, kernels do not poll."""

KEEPING = {"x86_64", "AMD64", "aarch64", "arm64"}
"""Processors on which a function can be told to keep its caller's registers."""

WORD, NUMBER = llvm.IntType(64), llvm.IntType(32)


def stopwatch() -> None:
    """Return what a kernel remembers between polls.

    These are the points until it looks, a time, and whether a handler has raised.
    """


def poll(watch: Any, points: int) -> None:
    """Count points; leave the kernel if that makes Python run a handler that raises."""


@type_callable(stopwatch)
def _type_stopwatch(context: Any) -> Callable[..., Any]:
    return lambda: types.CPointer(types.int64)


@lower_builtin(stopwatch)
def _lower_stopwatch(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    watch = cgutils.alloca_once(builder, WORD, 3)
    builder.store(WORD(POINTS), watch)
    builder.store(WORD(0), builder.gep(watch, [WORD(1)]))
    return watch


@type_callable(poll)
def _type_poll(context: Any) -> Callable[..., Any]:
    return lambda watch, points: types.void


@lower_builtin(poll, types.CPointer, types.Integer)
def _lower_poll(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    if CLOCK is None:
        return context.get_dummy_value()
    watch, points = args
    left = builder.sub(builder.load(watch), builder.sext(points, WORD))
    builder.store(left, watch)
    with cgutils.if_unlikely(builder, builder.icmp_signed("<", left, WORD(0))):
        asked = signal_check(builder.module)
        builder.call(asked, [watch], cconv=asked.calling_convention)
        raised = builder.load(builder.gep(watch, [WORD(2)]))
        with cgutils.if_unlikely(builder, builder.icmp_signed("!=", raised, WORD(0))):
            context.call_conv.return_exc(builder)
    return context.get_dummy_value()


def signal_check(module: Any) -> Any:
    """Return the function that looks at the clock, and lets Python run handlers when it is time.

    It leaves a number other than zero in the watch if a handler has raised. It is called rarely, so
    it keeps all registers: loops around the call are then as fast as without it. In LLVM 15 those
    are all indeed, that of results among them, so that it returns nothing.
    """
    known = module.globals.get("ssr_poll")
    if known is not None:
        return known
    kind = llvm.FunctionType(llvm.VoidType(), [WORD.as_pointer()])
    asked = llvm.Function(module, kind, "ssr_poll")
    asked.linkage = "linkonce_odr"
    asked.calling_convention = "preserve_mostcc" if platform.machine() in KEEPING else ""
    for attribute in "cold", "noinline", "nounwind":
        asked.attributes.add(attribute)
    (watch,) = asked.args
    builder = llvm.IRBuilder(asked.append_basic_block("entry"))
    builder.store(WORD(POINTS), watch)
    place, result = (builder.gep(watch, [WORD(n)]) for n in (1, 2))
    builder.store(WORD(0), result)
    now = nanoseconds(builder)
    last = builder.load(place)
    first = builder.icmp_signed("==", last, WORD(0))
    with builder.if_then(first):
        builder.store(now, place)
    soon = builder.icmp_signed("<", builder.sub(now, last), WORD(INTERVAL))
    with builder.if_then(builder.or_(first, soon)):
        builder.ret_void()
    builder.store(now, place)
    lock = builder.call(external(module, "PyGILState_Ensure", NUMBER), [])
    raised = builder.call(external(module, "PyErr_CheckSignals", NUMBER), [])
    builder.call(external(module, "PyGILState_Release", llvm.VoidType(), NUMBER), [lock])
    builder.store(builder.sext(raised, WORD), result)
    builder.ret_void()
    return asked


def nanoseconds(builder: Any) -> Any:
    """Return the time of a clock that only goes forward."""
    pair = cgutils.alloca_once(builder, WORD, 2)
    clock = external(builder.module, "clock_gettime", NUMBER, NUMBER, pair.type)
    builder.call(clock, [NUMBER(CLOCK), pair])
    seconds, rest = (builder.load(builder.gep(pair, [WORD(n)])) for n in range(2))
    return builder.add(builder.mul(seconds, WORD(10**9)), rest)


def external(module: Any, name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of Python or of the C library."""
    return cgutils.get_or_insert_function(module, llvm.FunctionType(result, arguments), name)
