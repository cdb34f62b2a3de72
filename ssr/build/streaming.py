"""Stores of whole cache lines past the caches, where fields are large.

Usually a processor reads a line before it stores to it, which is a third of what a step between two
arrays moves. Streaming stores, also called non-temporal ones, spare it that, but leave nothing in
the caches: they pay if the line would have left them anyway before anything reads it. So a loop
over vectors has them for arrays that its function only stores to, if all fields are `LARGE`. They
need vectors that begin where cache lines do. The lines at both ends of a row may be stored in part,
which takes them through the caches: they are asked for some rows ahead.

A processor may do such stores later than others. So functions wait for them before they return.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir as llvm

from ..points.numbers import CACHE_LINE
from ..runtime import processor
from .vector_plans import Access, Plan, Translation

LARGE = 3 * 2**25
"""Bytes of all fields of a function from which on such stores pay: three third-level caches."""

PROCESSORS = {"znver4"}
"""Those on which such stores were found to pay, as LLVM calls them."""


class Stream(NamedTuple):
    """What a loop may store past the caches: its one store, and whether fields are large enough."""

    store: Access
    large: Any


def is_available() -> bool:
    """Whether such stores pay on this processor."""
    return processor.name() in PROCESSORS


def store_of(translation: Translation, plan: Plan) -> Access | None:
    """Return what a loop may store past the caches, if anything.

    It is the loop's only store, and the loop reads fields only. Where stores of both kinds or to
    several places alternate, and where other loops work on the same line in between, stores wait
    for each other. A loop that computes long sums, two vectors at a time, waits for its loads
    rather than for memory. As functions wait for such stores at their end, they have them within
    loops over lines only.
    """
    if not is_available() or not translation.loops or plan.together > 1 or len(plan.stores) > 1:
        return None
    (store,) = plan.stores
    fields = set(translation.fields)
    possible = store.step == 1 and store.array in translation.unread & fields
    return store if possible and all(load.array in fields for load in plan.loads) else None


def begins_line(translation: Translation, stream: Stream, shift: Any) -> Any:
    """Return whether what is stored some rows behind the loop's variable begins a cache line.

    That is so only where such stores pay.
    """
    builder, within = translation.builder, bytes_before(translation, stream.store, shift)
    return builder.and_(stream.large, builder.icmp_signed("==", within, shift.type(0)))


def bytes_before(translation: Translation, access: Access, shift: Any) -> Any:
    """Return how many bytes of its cache line come before an access of some rows further on."""
    builder, word = translation.builder, shift.type
    element = builder.add(translation.integer_of(access.offset), shift)
    place = builder.gep(translation.start_of(access.array), [element])
    return builder.and_(builder.ptrtoint(place, word), word(CACHE_LINE - 1))


def rows_ahead(translation: Translation, array: str, distance: Any, count: Any) -> Any:
    """Return a distance of about so many elements that is one of whole lines of an array."""
    builder, word = translation.builder, distance.type
    lines = builder.add(builder.sdiv(distance, count), word(1))
    return builder.mul(lines, translation.pitch_of(array))


def write(builder: Any, value: Any, place: Any) -> None:
    """Write the store of a vector to a whole cache line."""
    made = builder.store(value, place, align=CACHE_LINE)
    once = builder.module.add_metadata([llvm.IntType(32)(1)])
    made.set_metadata("nontemporal", once)


def settle(function: Any) -> None:
    """Let a function wait for its streaming stores before it returns, if it has any."""
    blocks = function.blocks
    if not any("nontemporal" in one.metadata for block in blocks for one in block.instructions):
        return
    module, kind = function.module, llvm.FunctionType(llvm.VoidType(), ())
    name = "llvm.x86.sse.sfence"
    fence = module.globals.get(name) or llvm.Function(module, kind, name)
    for block in blocks:
        if block.terminator is not None and block.terminator.opname == "ret":
            builder = llvm.IRBuilder(block)
            builder.position_before(block.terminator)
            builder.call(fence, ())
