"""LLVM IR of operations on vectors of rows; `ssr.runtime.vectors` implements them in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from llvmlite import ir as llvm

from ..kernel import ir
from ..kernel.operations import LANES
from ..kernel.types import Type, Vector
from .builder import BIT, BYTE, WORD, Builder
from .bundles import between, load, masked_load, masked_store, shuffled, store
from .values import ELEMENTS, Memory, Value, Writer, converted, llvm_type, strides_of

ALIGNED = 64
"""Alignment in bytes of memory on the stack."""


def _address(b: Builder, array: Value, offset: Value, mask: Sequence[Value]) -> llvm.Value:
    """Write the address of an element, which need not be in the array if it has a mask."""
    return b.gep(array.memory.data, [offset.bits], inbounds=not mask)


def _load(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    array, offset, *mask = given
    place = _address(b, array, offset, mask)
    assert isinstance(type_, Vector)
    if type_.element == "b1":
        return b.trunc(_bytes(b, place, type_.lanes), llvm_type(type_))
    if mask:
        return masked_load(b, llvm_type(type_), place, mask[0].bits)
    return load(b, place, type_.lanes)


def _bytes(b: Builder, place: llvm.Value, lanes: int) -> llvm.Value:
    """Write the load of truths, each of which is in a byte."""
    return b.load(b.bitcast(place, llvm.VectorType(BYTE, lanes).as_pointer()), align=1)


def _store(b: Builder, given: Sequence[Value], type_: Type) -> None:
    array, offset, value, *mask = given
    place = _address(b, array, offset, mask)
    assert isinstance(value.type, Vector)
    if value.type.element == "b1":
        vector = llvm.VectorType(BYTE, value.type.lanes)
        b.store(b.zext(value.bits, vector), b.bitcast(place, vector.as_pointer()), align=1)
    elif mask:
        masked_store(b, value.bits, place, mask[0].bits)
    else:
        store(b, value.bits, place)


def _spread(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    return converted(b, given[0], type_)


def _rows_between(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    assert isinstance(type_, Vector)
    low, high = given
    return between(b, type_.lanes, low.bits, high.bits)


def _shuffle(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    first, second, *places = given
    return shuffled(b, first.bits, second.bits, [value.known for value in places])


def _blend(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    mask, first, second = given
    return b.select(mask.bits, converted(b, first, type_), converted(b, second, type_))


def _complement(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    return b.not_(given[0].bits)


def _request(b: Builder, given: Sequence[Value], type_: Type) -> None:
    array, offset, soon, written = given
    place = b.at(array.memory.data, offset.bits)
    b.request(place, soon=bool(soon.known), written=bool(written.known))


def _elements(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    return reduce(b.mul, given[0].memory.shape)


def _line_steps(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    return reduce(b.or_, strides_of(b, given[0])[:-1], WORD(0))


def _seldom(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    return b.call(b.external("llvm.expect.i1", BIT, BIT, BIT), [given[0].bits, BIT(0)])


def _scratch_numbers(b: Builder, given: Sequence[Value], type_: Type) -> Memory:
    assert isinstance(type_, ir.Array)
    return _scratch(b, ELEMENTS[type_.element], given[1])


def _scratch_truths(b: Builder, given: Sequence[Value], type_: Type) -> Memory:
    return _scratch(b, BYTE, given[0])


def _scratch(b: Builder, element: llvm.Type, count: Value) -> Memory:
    room = b.room(llvm.ArrayType(element, count.known))
    room.align = ALIGNED
    return Memory(b.bitcast(room, element.as_pointer()), (count.bits,))


def _of_lanes(name: str, write: Writer) -> dict[str, Writer]:
    return {f"{name}{lanes}": write for lanes in LANES}


WRITERS: Mapping[str, Writer] = {
    **_of_lanes("vector_load", _load),
    **_of_lanes("spread", _spread),
    **_of_lanes("rows_between", _rows_between),
    "vector_store": _store,
    "shuffle": _shuffle,
    "blend": _blend,
    "complement": _complement,
    "request": _request,
    "elements": _elements,
    "line_steps": _line_steps,
    "seldom": _seldom,
    "scratch_numbers": _scratch_numbers,
    "scratch_truths": _scratch_truths,
}
