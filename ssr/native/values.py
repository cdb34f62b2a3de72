"""Values of the kernel IR as LLVM values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from llvmlite import ir as llvm

from ..kernel import ir
from ..kernel.types import BYTES, INTEGER, TRUTH, Opaque, Tuple, Type, TypeMismatch, Vector
from .builder import BIT, DOUBLE, NUMBER, SINGLE, WORD, WORDS, Builder, known

ELEMENTS = {"f8": DOUBLE, "f4": SINGLE, "i8": WORD, "i4": NUMBER, "b1": BIT}
"""The types of numbers, and of elements of arrays."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value: its type and LLVM's value; for an array `Memory`, for a tuple its parts."""

    type: Type
    held: Held

    @property
    def bits(self) -> llvm.Value:
        """LLVM's value of a scalar, a predicate, a vector or memory of an operation."""
        assert isinstance(self.held, llvm.Value)
        return self.held

    @property
    def known(self) -> int:
        """The integer that is a constant."""
        found = known(self.bits)
        assert found is not None
        return found

    @property
    def memory(self) -> Memory:
        """The parts of an array."""
        assert isinstance(self.held, Memory)
        return self.held


@dataclass(frozen=True, slots=True)
class Memory:
    """An array: the address of its first element, elements along its axes, bytes between them.

    A contiguous array has no strides here: they follow from its shape.
    """

    data: llvm.Value
    shape: tuple[llvm.Value, ...]
    strides: tuple[llvm.Value, ...] = ()


@dataclass(frozen=True, slots=True)
class TranslatedFunction:
    """A translated function, and whether it may return because Python has raised an exception."""

    function: llvm.Function
    raises: bool


Held: TypeAlias = "llvm.Value | Memory | tuple[Held, ...] | None"

Writer: TypeAlias = Callable[[Builder, Sequence[Value], Type], llvm.Value | Memory | None]
"""A function that emits an operation on values and returns the LLVM value of the given type."""


def llvm_type(type_: Type) -> llvm.Type:
    """Return the type of LLVM's values of a type that is neither an array nor a tuple."""
    match type_:
        case ir.Scalar(element):
            return ELEMENTS[element]
        case Vector(element, lanes):
            return llvm.VectorType(ELEMENTS[element], lanes)
        case Opaque():
            return WORDS
    raise TypeMismatch(f"No variable can have the type {type_}.")


def flat_types(type_: Type) -> list[llvm.Type]:
    """Return the types by which a function is given a value of a type."""
    match type_:
        case ir.Array(element, axes, contiguous):
            numbers = axes if contiguous else 2 * axes
            return [ELEMENTS[element].as_pointer(), *[WORD] * numbers]
        case Tuple(parts):
            return [kind for part in parts for kind in flat_types(part)]
    return [llvm_type(type_)]


def flat(value: Value) -> list[llvm.Value]:
    """Return LLVM's values by which a function is given a value."""
    match value.held:
        case Memory(data, shape, strides):
            return [data, *shape, *strides]
        case tuple():
            return [bits for part in parts_of(value) for bits in flat(part)]
    return [value.bits]


def whole(type_: Type, given: Sequence[llvm.Value]) -> Value:
    """Return the value of which a function is given LLVM's values."""
    match type_:
        case ir.Array(_, axes):
            data, *numbers = given
            return Value(type_, Memory(data, tuple(numbers[:axes]), tuple(numbers[axes:])))
        case Tuple(parts):
            values, rest = [], list(given)
            for part in parts:
                count = len(flat_types(part))
                values.append(whole(part, rest[:count]).held)
                del rest[:count]
            return Value(type_, tuple(values))
    (bits,) = given
    return Value(type_, bits)


def parts_of(value: Value) -> list[Value]:
    """Return the parts of a tuple."""
    assert isinstance(value.type, Tuple)
    assert isinstance(value.held, tuple)
    return [Value(t, bits) for t, bits in zip(value.type.parts, value.held, strict=True)]


def size_of(value: Value) -> int:
    """Return the bytes of an element of an array."""
    assert isinstance(value.type, ir.Array)
    return BYTES[value.type.element]


def strides_of(b: Builder, array: Value) -> list[llvm.Value]:
    """Return the bytes between neighbours along each axis of an array."""
    memory = array.memory
    if memory.strides:
        return list(memory.strides)
    found = [WORD(size_of(array))]
    for length in reversed(memory.shape[1:]):
        found.insert(0, b.mul(found[0], length))
    return found


def element_address(b: Builder, array: Value, index: Sequence[Value]) -> llvm.Value:
    """Write the address of the element of an array at an index, which is not negative."""
    memory = array.memory
    places = [each.bits for each in index]
    if not memory.strides:
        offset = places[0]
        for length, place in zip(memory.shape[1:], places[1:], strict=True):
            offset = b.add(b.mul(offset, length), place)
        return b.gep(memory.data, [offset], inbounds=True)
    start = b.bitcast(memory.data, llvm.IntType(8).as_pointer())
    for place, stride in zip(places, memory.strides, strict=True):
        start = b.gep(start, [b.mul(place, stride)], inbounds=True)
    return b.bitcast(start, memory.data.type)


def converted(b: Builder, value: Value, type_: Type) -> llvm.Value:
    """Write the conversion of a value to a type that holds all of its type; return LLVM's value."""
    if value.type == type_:
        return value.bits
    match value.type, type_:
        case ir.Scalar(element), Vector(wanted, lanes) if element == wanted:
            return b.spread(value.bits, lanes)
        case ir.Scalar("b1"), ir.Scalar("i8"):
            return b.zext(value.bits, WORD)
        case ir.Scalar("b1"), ir.Scalar("f4" | "f8" as wanted):
            return b.uitofp(value.bits, ELEMENTS[wanted])
        case ir.Scalar("i8"), ir.Scalar("f4" | "f8" as wanted):
            return b.sitofp(value.bits, ELEMENTS[wanted])
        case ir.Scalar("f4"), ir.Scalar("f8"):
            return b.fpext(value.bits, DOUBLE)
    raise TypeMismatch(f"A value of the type {value.type} is wanted as one of {type_}.")


def rounded(b: Builder, value: Value, type_: Type) -> llvm.Value:
    """Write the conversion of a number to a type, which may be narrower."""
    if value.type == ir.Scalar("f8") and type_ == ir.Scalar("f4"):
        return b.fptrunc(value.bits, SINGLE)
    return converted(b, value, type_)


def loaded(b: Builder, array: Value, pointer: llvm.Value) -> llvm.Value:
    """Write the load of an element; integers are of 64 bits then."""
    found = b.load(pointer)
    assert isinstance(array.type, ir.Array)
    return b.sext(found, WORD) if array.type.element == "i4" else found


def integer(number: int) -> Value:
    """Return a known integer."""
    return Value(INTEGER, WORD(number))


def truth(found: llvm.Value) -> Value:
    """Return a truth."""
    return Value(TRUTH, found)
