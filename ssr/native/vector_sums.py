"""Sums of terms that loops over vectors make, in LLVM's language.

`ssr.kernel.vectorize.sums` says how loops use them. A sum has memory on the stack: the line that is
being made by its place and length, the number of terms that the state has not got yet, the most
terms that it has room for and the bits of the largest magnitude that fits, and vectors: the sums of
parts of terms with the present line, those without it, the numbers that they began with, the bits
of the largest magnitudes of the line, and the factor of terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from llvmlite import ir as llvm

from ..kernel.types import Opaque, Type
from . import reductions
from .builder import WORD, WORDS, Builder
from .reductions import DOUBLES, INTEGERS, LANES
from .values import Value, Writer

NONE = WORD(-1)
"""The length of no line."""

SQUARES = Opaque("squares")
"""The type of sums of squares, for norms, of those lines that need no scaling."""


class _Sum:
    """The memory of a sum."""

    def __init__(self, b: Builder, value: Value) -> None:
        self.b, self.words = b, value.bits
        self.squares = value.type == SQUARES
        self.place, self.count, self.open, self.room, self.limit = (
            b.at(self.words, n) for n in range(5)
        )
        vectors = [b.at(self.words, LANES * n) for n in range(1, 12)]
        self.largest = b.bitcast(vectors[0], INTEGERS.as_pointer())
        self.scale, *rest = (b.bitcast(place, DOUBLES.as_pointer()) for place in vectors[1:])
        self.sums, self.kept, self.anchors = rest[:3], rest[3:6], rest[6:9]

    def copy(self, sources: Sequence[Any], targets: Sequence[Any]) -> None:
        """Write the copy of vectors."""
        for source, target in zip(sources, targets, strict=True):
            self.b.store(self.b.load(source), target)

    def close(self, state: Any) -> None:
        """Write the addition of all terms to the state; a line that is being made is dropped."""
        b = self.b
        b.store(NONE, self.count)
        count = b.load(self.open)
        with b.if_then(b.icmp_signed(">", count, WORD(0))):
            reductions.add_lanes(b, state, count, self.kept, self.anchors)
            b.store(WORD(0), self.open)


def _open(b: Builder, given: Sequence[Value], type_: Type) -> Any:
    room = b.room(llvm.ArrayType(WORD, 12 * LANES))
    room.align = 8 * LANES
    words = b.bitcast(room, WORDS)
    found = _Sum(b, Value(type_, words))
    for pointer in found.place, found.open, found.room, found.limit:
        b.store(WORD(0), pointer)
    b.store(NONE, found.count)
    b.store(llvm.Constant(INTEGERS, None), found.largest)
    for pointer in found.scale, *found.sums, *found.kept, *found.anchors:
        b.store(llvm.Constant(DOUBLES, None), pointer)
    return words


def _begin_line(b: Builder, given: Sequence[Value], type_: Type) -> None:
    sum_, state, row, place, count = given
    found = _Sum(b, sum_)
    with b.if_then(b.icmp_signed("==", b.load(found.open), WORD(0))):
        begun = reductions.begin(b, reductions.state_of(b, state, row))
        b.store(begun.scale, found.scale)
        b.store(begun.limit, found.limit)
        b.store(begun.room, found.room)
        for pointer, kept, anchor in zip(found.anchors, found.kept, begun.anchors, strict=True):
            b.store(anchor, pointer)
            b.store(anchor, kept)
    found.copy(found.kept, found.sums)
    b.store(llvm.Constant(INTEGERS, None), found.largest)
    b.store(place.bits, found.place)
    b.store(count.bits, found.count)


def _take_terms(b: Builder, given: Sequence[Value], type_: Type) -> None:
    sum_, value, *mask = given
    found, terms = _Sum(b, sum_), value.bits
    if mask:
        terms = b.select(mask[0].bits, terms, llvm.Constant(terms.type, None))
    terms = b.fmul(terms, terms) if found.squares else terms
    reductions.take_apart(b, terms, b.load(found.scale), found.sums, found.largest)


def _end_line(b: Builder, given: Sequence[Value], type_: Type) -> None:
    """Write the addition of a line: of the vectors that were taken, or of the buffer."""
    sum_, state, row, _, place, count = given
    found = _Sum(b, sum_)
    made, left, done = (b.append_basic_block(f"sum.{name}") for name in ("made", "left", "end"))
    is_line = (
        b.icmp_signed("==", value.bits, b.load(pointer))
        for value, pointer in ((place, found.place), (count, found.count))
    )
    total = b.add(b.load(found.open), count.bits)
    fits = reductions.are_within(b, found.largest, b.load(found.limit))
    if found.squares:
        fits = b.and_(fits, reductions.are_usual(b, found.largest))
    has_room = b.icmp_signed("<=", total, b.load(found.room))
    b.store(NONE, found.count)
    b.cbranch(reduce(b.and_, (*is_line, fits, has_room)), made, left)
    b.position_at_end(made)
    found.copy(found.sums, found.kept)
    b.store(total, found.open)
    b.branch(done)
    b.position_at_end(left)
    found.close(reductions.state_of(b, state, row))
    name = "accumulate_squares" if found.squares else "accumulate"
    reductions.WRITERS[name](b, given[1:], None)
    b.branch(done)
    b.position_at_end(done)


def _close(b: Builder, given: Sequence[Value], type_: Type) -> None:
    sum_, state, row = given
    _Sum(b, sum_).close(reductions.state_of(b, state, row))


WRITERS: Mapping[str, Writer] = {
    "open_sum": _open,
    "open_squares": _open,
    "begin_line": _begin_line,
    "take_terms": _take_terms,
    "end_line": _end_line,
    "close_sum": _close,
}
