"""LLVM IR of the reproducible reductions of `ssr.runtime.sums`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from llvmlite import ir as llvm

from ..kernel.types import Type
from ..runtime.sums import SCALE, SMALL, STATE
from .builder import DOUBLE, WORD, Builder
from .line_sums import POSITIVE, extreme_function, sum_function, value_of
from .values import Value, Writer

MOST = 2**24
"""Limit of the terms of a line that are added in one call."""


def _state_of(b: Builder, state: Value, row: Value) -> llvm.Value:
    """Return the address of a row of states."""
    return b.at(state.memory.data, b.mul(row.bits, WORD(STATE)))


def _accumulate(b: Builder, given: Sequence[Value], type_: Type) -> None:
    def add(element: llvm.Type, line: Sequence[llvm.Value]) -> None:
        b.call(sum_function(b, element), line)

    _each_part(b, given, add)


def _accumulate_squares(b: Builder, given: Sequence[Value], type_: Type) -> None:
    def add(element: llvm.Type, whole: Sequence[llvm.Value]) -> None:
        *line, state = whole
        functions = {
            terms: sum_function(b, element, terms)
            for terms in ("squares", "usual", "large", "small")
        }

        def of(terms: str, row: int) -> llvm.Value:
            return b.call(functions[terms], [*line, b.at(state, row * STATE)])

        unusual = of("squares", 0)
        with b.unlikely(b.icmp_signed("!=", unusual, WORD(0))):
            of("usual", 0)
            with b.if_else(b.icmp_signed("==", unusual, WORD(1))) as (large, small):
                with large:
                    of("large", 1)
                with small:
                    of("small", 2)

    _each_part(b, given, add)


def _each_part(
    b: Builder, given: Sequence[Value], add: Callable[[llvm.Type, Sequence[llvm.Value]], None]
) -> None:
    """Write the addition of parts of a line, each of at most `MOST` elements, to a state."""
    state, row, buffer, start, count = given
    data = b.at(buffer.memory.data, start.bits)
    place = _state_of(b, state, row)
    with b.count_to(count.bits, step=WORD(MOST)) as first:
        some = b.smallest(WORD(MOST), b.sub(count.bits, first))
        add(data.type.pointee, [b.at(data, first), some, place])


def _extreme(b: Builder, given: Sequence[Value], type_: Type) -> None:
    state, row, sign, buffer, start, count = given
    data = b.at(buffer.memory.data, start.bits)
    line = data, count.bits, _state_of(b, state, row)
    functions = [extreme_function(b, data.type.pointee, order) for order in (1, -1)]
    with b.if_else(b.icmp_signed(">", sign.bits, WORD(0))) as (then, otherwise):
        with then:
            b.call(functions[0], line)
        with otherwise:
            b.call(functions[1], line)


def _found(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    key = b.get(_state_of(b, *given), 1)
    negative = b.icmp_signed("<", key, WORD(0))
    return b.bitcast(b.select(negative, b.xor(key, WORD(POSITIVE)), key), DOUBLE)


def _total(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    return value_of(b, _state_of(b, *given))


def _root(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    row = _state_of(b, *given)
    usual, large, small = (value_of(b, b.at(row, n * STATE)) for n in range(3))
    up, down = DOUBLE(SCALE), DOUBLE(1.0 / SCALE)
    squares = [b.fadd(large, b.fmul(b.fmul(usual, down), down)), small, usual]
    roots = [b.elementwise("sqrt", square) for square in squares]
    is_large = b.fcmp_ordered(">", large, DOUBLE(0.0))
    is_small = b.fcmp_ordered("<", usual, DOUBLE(SMALL))
    found = b.select(is_small, b.fmul(roots[1], down), roots[2])
    return b.select(is_large, b.fmul(roots[0], up), found)


WRITERS: Mapping[str, Writer] = {
    "accumulate": _accumulate,
    "accumulate_squares": _accumulate_squares,
    "extreme": _extreme,
    "found": _found,
    "total": _total,
    "root": _root,
}
