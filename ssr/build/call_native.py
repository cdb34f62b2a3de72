"""The function of C that calls a native program (`ssr.run.native_program`), the same for all.

Its first argument is the address of a *handle*, integers that do not change: the members of
`Handle`; for each array and then for each scalar the index where it goes in a table of arguments
(`enter`); and the shape and the strides of each array.

The handle leads to a list of *slots*, each with scratch memory for one call: the members of `Slot`,
and a table of arguments. A call takes the first slot that is free. If none is, by calls of other
threads, a function of Python appends one. Slots stay in the list as long as the handle.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils

from ..runtime import polling
from ..runtime.constants import FINISHED, NO_MEMORY, RAISED
from .native import compiled

WORD = llvm.IntType(64)


class Handle(IntEnum):
    """The first integers of a handle."""

    CALL = 0
    """The address of the function that calls the program."""
    ENTER = 1
    """The address of the function that calls the kernel with a table."""
    FIRST = 2
    """The address of the first slot."""
    APPEND = 3
    """The address of the function that appends a slot and returns its address, or 0."""
    ARRAYS = 4
    """How many arrays a call takes."""
    SCALARS = 5
    """How many scalars a call takes."""
    RESULTS = 6
    """How many values a call returns."""


class Slot(IntEnum):
    """The first integers of a slot."""

    TAKEN = 0
    """1 during a call."""
    NEXT = 1
    """The address of the next slot, or 0."""
    RESULTS = 2
    """The address of the values that the kernel returns."""
    WATCH = 3
    """What `polling.stopwatch` describes, for all calls: a kernel that is short never polls."""
    TABLE = 6
    """Here the table of arguments begins."""


CALL_POINTS = polling.POINTS // 16
"""The points that a call counts as, besides those that the kernel counts itself."""


@cache
def call_address() -> int:
    """Return the address of the function.

    In C it is ``int64_t call(int64_t *handle, int64_t *arrays, int64_t *scalars, int64_t
    *results)``, with the addresses of arrays, and scalars and results as the bits of doubles.
    """
    return compiled("ssr_call_native", {"call": _write})["call"]


def _write(module: Any) -> None:
    words = WORD.as_pointer()
    function = llvm.Function(module, llvm.FunctionType(WORD, [words] * 4), "call")
    handle, arrays, scalars, results = function.args
    builder = llvm.IRBuilder(function.append_basic_block("entry"))

    def at(table: Any, index: Any) -> Any:
        return builder.gep(table, [index if isinstance(index, llvm.Value) else WORD(index)])

    def member(index: int) -> Any:
        return builder.load(at(handle, index))

    slot = _take(builder, handle)
    _poll(builder, slot)
    table = at(slot, Slot.TABLE)
    count = member(Handle.ARRAYS)
    places = at(handle, len(Handle))
    for given, length, first in (arrays, count, WORD(0)), (scalars, member(Handle.SCALARS), count):
        with cgutils.for_range(builder, length) as one:
            place = builder.load(at(places, builder.add(first, one.index)))
            builder.store(builder.load(at(given, one.index)), at(table, place))
    kind = llvm.FunctionType(WORD, [words]).as_pointer()
    code = builder.call(builder.inttoptr(member(Handle.ENTER), kind), [table])
    with builder.if_then(builder.icmp_signed("==", code, WORD(FINISHED))):
        found = builder.inttoptr(builder.load(at(slot, Slot.RESULTS)), words)
        with cgutils.for_range(builder, member(Handle.RESULTS)) as one:
            builder.store(builder.load(at(found, one.index)), at(results, one.index))
    _leave(builder, slot, code)


def _leave(builder: Any, slot: Any, code: Any) -> None:
    """Write the end of a call, after which its slot is free."""
    builder.store_atomic(WORD(0), builder.gep(slot, [WORD(Slot.TAKEN)]), "release", 8)
    builder.ret(code)


def _poll(builder: Any, slot: Any) -> None:
    """Write the poll of a call, which ends the call if a handler of signals raises."""
    if polling.CLOCK is None:
        return
    watch, raised = (builder.gep(slot, [WORD(Slot.WATCH + n)]) for n in (0, 2))
    left = builder.sub(builder.load(watch), WORD(CALL_POINTS))
    builder.store(left, watch)
    with cgutils.if_unlikely(builder, builder.icmp_signed("<", left, WORD(0))):
        check = polling.signal_check(builder.module)
        builder.call(check, [watch], cconv=check.calling_convention)
        with cgutils.if_unlikely(builder, builder.icmp_signed("!=", builder.load(raised), WORD(0))):
            _leave(builder, slot, WORD(RAISED))


def _take(builder: Any, handle: Any) -> Any:
    """Write the search for a free slot; return its address."""
    words = WORD.as_pointer()
    first = builder.load(builder.gep(handle, [WORD(Handle.FIRST)]))
    start = builder.block
    look, onward, append, full, found = map(
        builder.append_basic_block, ("look", "onward", "append", "full", "found")
    )
    builder.branch(look)

    builder.position_at_end(look)
    address = builder.phi(WORD)
    slot = builder.inttoptr(address, words)
    taken = builder.gep(slot, [WORD(Slot.TAKEN)])
    swapped = builder.cmpxchg(taken, WORD(0), WORD(1), "acquire", "monotonic")
    builder.cbranch(builder.extract_value(swapped, 1), found, onward)

    builder.position_at_end(onward)
    following = builder.load_atomic(builder.gep(slot, [WORD(Slot.NEXT)]), "acquire", 8)
    builder.cbranch(builder.icmp_signed("==", following, WORD(0)), append, look)
    address.add_incoming(first, start)
    address.add_incoming(following, onward)

    builder.position_at_end(append)
    kind = llvm.FunctionType(WORD, []).as_pointer()
    appending = builder.load(builder.gep(handle, [WORD(Handle.APPEND)]))
    appended = builder.call(builder.inttoptr(appending, kind), [])
    builder.cbranch(builder.icmp_signed("==", appended, WORD(0)), full, found)

    builder.position_at_end(full)
    builder.ret(WORD(NO_MEMORY))

    builder.position_at_end(found)
    mine = builder.phi(WORD)
    mine.add_incoming(address, look)
    mine.add_incoming(appended, append)
    return builder.inttoptr(mine, words)
