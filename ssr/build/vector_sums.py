"""Sums of what loops over vectors make, added up where it is made, in LLVM's language.

The terms of a sum are made in a line buffer, and `accumulate` adds up the line. Where a loop over
vectors makes the whole line, it takes each vector of terms apart while it has them: loops that wait
for memory have time for it. What is added to the state is found out at the call, which knows the
line by its place and length: nothing else stores lines of this buffer. If it is another one, or
does not fit the state, the call adds up the buffer as it always does. The bits of a sum do not
depend on it (docs/decisions/0009-sums-without-order.md).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir as llvm
from numba.core.cgutils import alloca_once

from ..runtime import lanes
from .vector_plans import Access, Translation

WORD = llvm.IntType(64)
NONE = WORD(-1)
"""The length of no line."""


class Sum:
    """The sum of a line that one loop of a function makes, and one call adds up.

    Parameters
    ----------
    translation
        The function, at its beginning.
    state
        Writes the address of the state.
    """

    def __init__(self, translation: Translation, state: Callable[[], Any]) -> None:
        self._builder = builder = translation.builder
        self._state = state
        self._place, self._count, self._level = (alloca_once(builder, WORD) for _ in range(3))
        self._sums = [alloca_once(builder, lanes.DOUBLES) for _ in range(3)]
        self._largest = alloca_once(builder, lanes.WORDS)
        self._scale: Any = None
        builder.store(NONE, self._count)

    def begin(self, place: Any, count: Any) -> None:
        """Begin a line of so many terms at a place of the buffer."""
        b = self._builder
        level = b.load(b.gep(self._state(), [WORD(1)]))
        self._scale, anchors = lanes.begin(b, level)
        for pointer, anchor in zip(self._sums, anchors, strict=True):
            b.store(anchor, pointer)
        b.store(llvm.Constant(lanes.WORDS, None), self._largest)
        for value, pointer in (place, self._place), (count, self._count), (level, self._level):
            b.store(value, pointer)

    def take(self, terms: Any, mask: Any) -> None:
        """Take a vector of terms; those without a mask are none."""
        if mask is not None:
            terms = self._builder.select(mask, terms, llvm.Constant(terms.type, None))
        lanes.take_apart(self._builder, terms, self._scale, self._sums, self._largest)

    def end(self, place: Any, count: Any, otherwise: Callable[[], object]) -> None:
        """Add a line to the state: that which was made, or ``otherwise`` what the buffer has."""
        b = self._builder
        state = self._state()
        level = b.load(b.gep(state, [WORD(1)]))
        known = b.icmp_signed("<=", count, WORD(lanes.MOST))
        for value, pointer in (place, self._place), (count, self._count), (level, self._level):
            known = b.and_(known, b.icmp_signed("==", value, b.load(pointer)))
        made, left, done = (b.append_basic_block(f"sum.{name}") for name in ("made", "left", "end"))
        b.cbranch(known, made, left)
        b.position_at_end(made)
        fits = lanes.add_lanes(b, state, count, self._sums, self._largest)
        b.cbranch(fits, done, left)
        b.position_at_end(left)
        otherwise()
        b.branch(done)
        b.position_at_end(done)


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


def summed(node: ast.stmt) -> tuple[str, ast.Call] | None:
    """Return the buffer that a statement adds up, and its call, if it is such a call.

    >>> found = summed(ast.parse("accumulate(state, 0, t, t_0, n)").body[0])
    >>> found and found[0]
    't'
    """
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Name(id="accumulate"), args=[_, _, ast.Name(id=buffer), _, _]
            ) as call
        ):
            return buffer, call
    return None
