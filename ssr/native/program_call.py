"""The C function that calls a native program (`ssr.run.native_program`); all programs share it.

Its first argument is the address of a *handle*, integers that do not change: the members of
`Handle`; for each array and then for each scalar its index in a table of arguments (`translate`);
and the shape and the strides of each array.

The handle refers to a list of *slots*, each with scratch memory for one call: the members of
`Slot`, and a table of arguments. A call takes the first free slot. If calls of other threads occupy
all slots, a Python function appends one. Slots live as long as the handle.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache

from llvmlite import ir as llvm

from ..runtime.constants import FINISHED, NO_MEMORY, RAISED
from ..runtime.polling import POINTS
from .builder import WORD, WORDS, Builder
from .control import poll
from .machine_code import functions_of_c


class Handle(IntEnum):
    """The first integers of a handle."""

    CALL = 0
    """The address of the function that calls the program."""
    KERNEL = 1
    """The address of the kernel, which takes a table (`translate`)."""
    FIRST = 2
    """The address of the first slot."""
    APPEND = 3
    """The address of the function that appends a slot and returns its address, or 0."""
    ARRAYS = 4
    """The number of arrays of a call."""
    SCALARS = 5
    """The number of scalars of a call."""
    RESULTS = 6
    """The number of results of a call."""


class Slot(IntEnum):
    """The first integers of a slot."""

    TAKEN = 0
    """1 during a call."""
    NEXT = 1
    """The address of the next slot, or 0."""
    RESULTS = 2
    """The address of the values that the kernel returns."""
    WATCH = 3
    """The stopwatch of `polling`, shared by all calls: a single short kernel never polls."""
    TABLE = 6
    """The index of the table of arguments."""


CALL_POINTS = POINTS // 16
"""The number of points by which polling counts a call, in addition to the kernel's points."""


@cache
def call_address() -> int:
    """Return the address of the function.

    In C it is ``int64_t call(int64_t *handle, int64_t *arrays, int64_t *scalars, int64_t
    *results)``, with the addresses of arrays, and scalars and results as the bits of doubles.
    """
    return functions_of_c("ssr_call_native", {"call": _write})["call"]


def _write(module: llvm.Module) -> None:
    function = llvm.Function(module, llvm.FunctionType(WORD, [WORDS] * 4), "call")
    handle, arrays, scalars, results = function.args
    b = Builder.beginning(function)
    slot = _take(b, handle)
    watch = b.at(slot, Slot.WATCH)
    poll(b, watch, WORD(CALL_POINTS), lambda: _leave(b, slot, WORD(RAISED)))
    table = b.at(slot, Slot.TABLE)
    count = b.get(handle, Handle.ARRAYS)
    places = b.at(handle, len(Handle))
    for given, length, first in (
        (arrays, count, WORD(0)),
        (scalars, b.get(handle, Handle.SCALARS), count),
    ):
        with b.count_to(length) as number:
            place = b.get(places, b.add(first, number))
            b.store(b.get(given, number), b.at(table, place))
    kind = llvm.FunctionType(WORD, [WORDS]).as_pointer()
    code = b.call(b.inttoptr(b.get(handle, Handle.KERNEL), kind), [table])
    with b.if_then(b.icmp_signed("==", code, WORD(FINISHED))):
        found = b.inttoptr(b.get(slot, Slot.RESULTS), WORDS)
        with b.count_to(b.get(handle, Handle.RESULTS)) as number:
            b.store(b.get(found, number), b.at(results, number))
    _leave(b, slot, code)


def _leave(b: Builder, slot: llvm.Value, code: llvm.Value) -> None:
    """Write the end of a call, after which its slot is free."""
    b.store_atomic(WORD(0), b.at(slot, Slot.TAKEN), "release", 8)
    b.ret(code)


def _take(b: Builder, handle: llvm.Value) -> llvm.Value:
    """Write the search for a free slot; return its address."""
    first = b.get(handle, Handle.FIRST)
    start = b.block
    look, onward, append, full, found = map(
        b.append_basic_block, ("look", "onward", "append", "full", "found")
    )
    b.branch(look)

    b.position_at_end(look)
    address = b.phi(WORD)
    slot = b.inttoptr(address, WORDS)
    swapped = b.cmpxchg(b.at(slot, Slot.TAKEN), WORD(0), WORD(1), "acquire", "monotonic")
    b.cbranch(b.extract_value(swapped, 1), found, onward)

    b.position_at_end(onward)
    following = b.load_atomic(b.at(slot, Slot.NEXT), "acquire", 8)
    b.cbranch(b.icmp_signed("==", following, WORD(0)), append, look)
    address.add_incoming(first, start)
    address.add_incoming(following, onward)

    b.position_at_end(append)
    kind = llvm.FunctionType(WORD, []).as_pointer()
    appended = b.call(b.inttoptr(b.get(handle, Handle.APPEND), kind), [])
    b.cbranch(b.icmp_signed("==", appended, WORD(0)), full, found)

    b.position_at_end(full)
    b.ret(WORD(NO_MEMORY))

    b.position_at_end(found)
    mine = b.phi(WORD)
    mine.add_incoming(address, look)
    mine.add_incoming(appended, append)
    return b.inttoptr(mine, WORDS)
