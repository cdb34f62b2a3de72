"""LLVM IR of operations on arrays and slices of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from llvmlite import ir as llvm

from ..kernel.operations import BUNDLE
from ..kernel.types import Type
from ..points.numbers import CACHE_LINE
from .builder import WORD, Builder
from .machine_code import declared
from .values import Memory, Value, Writer, size_of, strides_of

ASKED = 8
"""Prefetch distance of stores to a column, in elements."""


def _address(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    return b.ptrtoint(given[0].memory.data, WORD)


def _apart(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    array, count = given
    return b.icmp_signed("==", array.memory.shape[0], count.bits)


def _component(b: Builder, given: Sequence[Value], type_: Type) -> Memory:
    array, number = given
    memory = array.memory
    step, *_ = strides_of(b, array)
    start = b.bitcast(memory.data, llvm.IntType(8).as_pointer())
    data = b.bitcast(b.gep(start, [b.mul(number.bits, step)]), memory.data.type)
    return Memory(data, memory.shape[1:], memory.strides[1:])


def _between(b: Builder, given: Sequence[Value], type_: Type) -> Memory:
    array, start, stop = given
    return Memory(b.at(array.memory.data, start.bits), (b.sub(stop.bits, start.bits),))


def _rows(b: Builder, given: Sequence[Value], type_: Type) -> Memory:
    array, start, stop, width = given
    count = b.sdiv(b.sub(stop.bits, start.bits), width.bits)
    return Memory(b.at(array.memory.data, start.bits), (count, width.bits))


def _prefetch(b: Builder, given: Sequence[Value], type_: Type) -> None:
    array, offset = given
    b.request(b.at(array.memory.data, offset.bits))


def _copy(b: Builder, given: Sequence[Value], type_: Type) -> None:
    """Write the copy of contiguous elements; source and target do not overlap."""
    target, to, source, of, count = given
    written, read = b.at(target.memory.data, to.bits), b.at(source.memory.data, of.bits)
    size = size_of(target)
    vector = llvm.VectorType(written.type.pointee, BUNDLE // size)
    block = WORD(2 * vector.count)  # LLVM turns copies of single vectors into memcpy

    def vectors(first: llvm.Value) -> None:
        there, here = (
            b.bitcast(b.at(each, first), vector.as_pointer()) for each in (read, written)
        )
        for place in range(2):
            value = b.load(b.at(there, place), align=size)
            b.store(value, b.at(here, place), align=size)

    with b.if_else(b.icmp_signed(">=", count.bits, block)) as (long, short):
        with long:
            last = b.sub(count.bits, block)
            with b.count_to(last, step=block) as first:
                vectors(first)
            vectors(last)
        with short, b.count_to(count.bits) as n:
            b.store(b.get(read, n), b.at(written, n))


def _copy_column(b: Builder, given: Sequence[Value], type_: Type) -> None:
    target, to, apart, source, of, further, count = given
    written, read = b.at(target.memory.data, to.bits), b.at(source.memory.data, of.bits)
    size = size_of(target)
    kind = llvm.FunctionType(llvm.VoidType(), [written.type, WORD, read.type, WORD, WORD])
    copied = declared(b, f"ssr_copy_column{size}", kind, partial(_write_column, size=size))
    b.call(copied, [written, apart.bits, read, further.bits, count.bits])


def _write_column(function: llvm.Function, size: int) -> None:
    """Write the copy of strided values of some bytes.

    If each value is stored to a different cache line, the lines are prefetched a few values ahead,
    because stores wait for their cache lines one after the other.
    """
    written, apart, read, further, count = function.args
    b = Builder.beginning(function)
    most = b.and_(count, WORD(-4))

    def element(n: llvm.Value, asked: bool) -> None:
        place = b.mul(n, apart)
        if asked:
            ahead = b.add(place, b.mul(WORD(ASKED), apart))
            b.request(b.at(written, ahead), soon=True, written=True)
        b.store(b.get(read, b.mul(n, further)), b.at(written, place))

    def elements(asked: bool) -> None:
        with b.count_to(most, step=WORD(4)) as n:
            for more in range(4):
                element(b.add(n, WORD(more)), asked)
        with b.count_to(count, start=most) as n:
            element(n, asked)

    with b.if_else(b.icmp_signed(">=", apart, WORD(CACHE_LINE // size))) as (far, near):
        with far:
            elements(asked=True)
        with near:
            elements(asked=False)
    b.ret_void()


WRITERS: Mapping[str, Writer] = {
    "address": _address,
    "apart": _apart,
    "component": _component,
    "between": _between,
    "rows": _rows,
    "prefetch": _prefetch,
    "copy": _copy,
    "copy_column": _copy_column,
}
