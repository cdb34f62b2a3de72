"""Sums of what loops over vectors make, added up where it is made, in LLVM's language.

The terms of a sum are made in a line buffer, and `accumulate` adds up the line. Where a loop over
vectors makes the whole line, it takes each vector of terms apart while it has them: loops that wait
for memory have time for it. Whether they count is found out at the call, which knows the line by
its place and length: nothing else stores lines of this buffer. If it is another one, or does not
fit the state, the call adds up the buffer as it always does. The bits of a sum do not depend on it
(docs/decisions/0009-sums-without-order.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from llvmlite import ir as llvm
from numba.core.cgutils import alloca_once

from ..kernel import ir
from ..runtime import lanes
from .vector_plans import Access, Translation

WORD = llvm.IntType(64)
NONE = WORD(-1)
"""The length of no line."""


class Sum:
    """The sum of lines of a buffer that one loop of a function makes, and one call adds up.

    It stays open from line to line: the sums of parts that `lanes.begin` has begun go on, and the
    state gets them where the function asks for it, or where a line needs the state itself. Only
    lines that have been added up are ``kept``; what is made of a line that nobody adds is dropped.

    Parameters
    ----------
    translation
        The function, at its beginning.
    state
        The name of the array that has its state, and the row as an expression.
    address
        Writes the address of the state.
    squares
        Whether it is one of squares, for a norm, of those lines that need no scaling.
    """

    def __init__(
        self,
        translation: Translation,
        state: tuple[str, ir.Expression],
        address: Callable[[], Any],
        *,
        squares: bool,
    ) -> None:
        self._builder = builder = translation.builder
        self.state = state
        self._address, self._squares = address, squares
        self._place, self._count = (alloca_once(builder, WORD) for _ in range(2))
        self._open, self._room, self._limit = (alloca_once(builder, WORD) for _ in range(3))
        self._sums, self._kept, self._anchors = (
            [alloca_once(builder, lanes.DOUBLES) for _ in range(3)] for _ in range(3)
        )
        self._largest = alloca_once(builder, lanes.WORDS)
        self._scale = alloca_once(builder, lanes.DOUBLES)
        for pointer in self._open, self._room, self._limit:
            builder.store(WORD(0), pointer)
        for pointer in *self._sums, *self._kept, *self._anchors, self._scale:
            builder.store(llvm.Constant(lanes.DOUBLES, None), pointer)
        builder.store(llvm.Constant(lanes.WORDS, None), self._largest)
        builder.store(WORD(0), self._place)
        builder.store(NONE, self._count)

    def begin(self, place: Any, count: Any) -> None:
        """Begin a line of so many terms at a place of the buffer."""
        b = self._builder
        with b.if_then(b.icmp_signed("==", b.load(self._open), WORD(0))):
            found = lanes.begin(b, self._address())
            b.store(found.scale, self._scale)
            b.store(found.limit, self._limit)
            b.store(found.room, self._room)
            for pointer, kept, anchor in zip(self._anchors, self._kept, found.anchors, strict=True):
                b.store(anchor, pointer)
                b.store(anchor, kept)
        self._copy(self._kept, self._sums)
        b.store(llvm.Constant(lanes.WORDS, None), self._largest)
        b.store(place, self._place)
        b.store(count, self._count)

    def take(self, terms: Any, mask: Any) -> None:
        """Take a vector of terms; those without a mask are none."""
        b = self._builder
        if mask is not None:
            terms = b.select(mask, terms, llvm.Constant(terms.type, None))
        terms = b.fmul(terms, terms) if self._squares else terms
        lanes.take_apart(b, terms, b.load(self._scale), self._sums, self._largest)

    def end(self, place: Any, count: Any, otherwise: Callable[[], object]) -> None:
        """Add a line: that which was made, or ``otherwise`` what the buffer has."""
        b = self._builder
        made, left, done = (b.append_basic_block(f"sum.{name}") for name in ("made", "left", "end"))
        known = [
            b.icmp_signed("==", value, b.load(pointer))
            for value, pointer in ((place, self._place), (count, self._count))
        ]
        whole = b.add(b.load(self._open), count)
        fits = lanes.are_within(b, self._largest, b.load(self._limit))
        if self._squares:
            fits = b.and_(fits, lanes.are_usual(b, self._largest))
        has_room = b.icmp_signed("<=", whole, b.load(self._room))
        b.store(NONE, self._count)
        b.cbranch(reduce(b.and_, (*known, fits, has_room)), made, left)
        b.position_at_end(made)
        self._copy(self._sums, self._kept)
        b.store(whole, self._open)
        b.branch(done)
        b.position_at_end(left)
        self.close()
        otherwise()
        b.branch(done)
        b.position_at_end(done)

    def close(self) -> None:
        """Give the state what it has not got yet; a line that is being made is dropped."""
        b = self._builder
        b.store(NONE, self._count)
        count = b.load(self._open)
        with b.if_then(b.icmp_signed(">", count, WORD(0))):
            lanes.add_lanes(b, self._address(), count, self._kept, self._anchors)
            b.store(WORD(0), self._open)

    def _copy(self, sources: Sequence[Any], targets: Sequence[Any]) -> None:
        for source, target in zip(sources, targets, strict=True):
            self._builder.store(self._builder.load(source), target)


def begin(
    translation: Translation, stores: Sequence[Access], name: str, start: Any, stop: Any
) -> None:
    """Begin the sums of the lines that a loop with some variable and range stores."""
    for access in stores:
        found = translation.sums.get(access.array)
        if found is not None and access.step == 1:
            translation.counts(name, start)
            place = translation.integer_of(access.offset)
            found.begin(place, translation.builder.sub(stop, start))


def apart(calls: Mapping[str, ir.Call]) -> dict[str, ir.Call]:
    """Return the calls, by the buffers that they add up, each of which has a state of its own."""
    states = {name: call.arguments[:2] for name, call in calls.items()}
    if len(calls) > 1 and not all(isinstance(row, ir.Integer) for _, row in states.values()):
        return {}
    count = Counter(states.values())
    return {name: call for name, call in calls.items() if count[states[name]] == 1}


def states(nodes: Sequence[ir.Expression]) -> set[tuple[str, ir.Integer | None]]:
    """Return the names of arrays that are read, each with the row if a call is given one.

    >>> from ssr.kernel.from_python import expression
    >>> sorted(states([expression("n + total(state, 0)")]), key=str)
    [('n', None), ('state', Integer(value=0))]
    """
    return {one for node in nodes for one in _read(node)}


def _read(node: ir.Expression) -> Iterator[tuple[str, ir.Integer | None]]:
    match node:
        case ir.Call(_, (ir.Name(name), ir.Integer() as row, *_)):
            yield name, row
            parts = node.arguments[1:]
        case ir.Name(name) | ir.Extent(name):
            yield name, None
            parts = ()
        case _:
            parts = ir.parts(node)
    for part in parts:
        yield from _read(part)


def summed(node: ir.Statement) -> tuple[str, ir.Call] | None:
    """Return the buffer that a statement adds up, and its call, if it is such a call.

    >>> from ssr.kernel.from_python import functions_of
    >>> (function,) = functions_of("def f(state, t, n): accumulate(state, 0, t, 0, n)")
    >>> found = summed(function.body[0])
    >>> found and found[0]
    't'
    """
    match node:
        case ir.Do(ir.Call("accumulate" | "accumulate_squares", arguments) as call):
            match arguments:
                case (_, _, ir.Name(buffer), _, _):
                    return buffer, call
    return None
