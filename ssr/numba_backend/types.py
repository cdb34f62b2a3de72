"""Conversion of types and values between kernel IR and Numba."""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir as llvm
from numba.core import cgutils
from numba.extending import models, register_model
from numba.np.arrayobj import make_array, populate_array

from ..kernel import ir
from ..kernel.types import BYTES, DOUBLE, INTEGER, TRUTH, Opaque, Text, Tuple, Type, Vector
from ..native.builder import WORD
from ..native.values import ELEMENTS, Memory, Value

types: Any = numba.types

_NAMES = {"f8": types.float64, "f4": types.float32, "i8": types.int64, "i4": types.int32}
_ELEMENTS = {found: name for name, found in _NAMES.items()}


class VectorType(types.Type):  # type: ignore[misc]
    """The type of a vector of numbers."""

    def __init__(self, element: str, lanes: int) -> None:
        self.element, self.lanes = element, lanes
        super().__init__(f"Vector({element}, {lanes})")


class OpaqueType(types.Type):  # type: ignore[misc]
    """The type of memory of an operation."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(f"Opaque({kind})")


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    """A vector in machine code."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, llvm.VectorType(ELEMENTS[kind.element], kind.lanes))


@register_model(OpaqueType)
class _OpaqueModel(models.PrimitiveModel):
    """The address of memory of an operation."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, WORD.as_pointer())


def of_numba(kind: Any) -> Type:
    """Return a type of Numba's as the kernel IR has it."""
    match kind:
        case types.Array():
            element = _ELEMENTS[kind.dtype]
            return ir.Array(element, kind.ndim, kind.layout == "C", kind.mutable)
        case types.StringLiteral():
            return Text(kind.literal_value)
        case types.Boolean() | types.BooleanLiteral():
            return TRUTH
        case types.Integer():
            return INTEGER
        case types.Float():
            return DOUBLE if kind == types.float64 else ir.Scalar("f4")
        case types.BaseTuple():
            return Tuple(tuple(map(of_numba, kind.types)))
        case VectorType():
            return Vector(kind.element, kind.lanes)
        case OpaqueType():
            return Opaque(kind.kind)
    raise KeyError(kind)


def to_numba(type_: Type) -> Any:
    """Return a type of the kernel IR as Numba has it."""
    match type_:
        case None:
            return types.void
        case ir.Scalar("b1"):
            return types.boolean
        case ir.Scalar(element):
            return _NAMES[element]
        case ir.Array(element, axes, contiguous, written):
            layout = "C" if contiguous else "A"
            return types.Array(_NAMES[element], axes, layout, readonly=not written)
        case Vector(element, lanes):
            return VectorType(element, lanes)
        case Opaque(kind):
            return OpaqueType(kind)
    raise KeyError(type_)


def memory(context: Any, builder: Any, kind: Any, array: Any) -> Memory:
    """Return the parts of an array; ``builder`` writes them."""
    found = make_array(kind)(context, builder, array)
    shape, strides = (cgutils.unpack_tuple(builder, each) for each in (found.shape, found.strides))
    return Memory(found.data, tuple(shape), () if kind.layout == "C" else tuple(strides))


def value(context: Any, builder: Any, kind: Any, given: Any) -> Value:
    """Return a value of Numba's as one of the kernel IR."""
    type_ = of_numba(kind)
    match kind:
        case types.Array():
            return Value(type_, memory(context, builder, kind, given))
        case types.BaseTuple():
            parts = cgutils.unpack_tuple(builder, given, len(kind.types))
            found = (value(context, builder, *each) for each in zip(kind.types, parts, strict=True))
            return Value(type_, tuple(each.held for each in found))
        case types.StringLiteral():
            return Value(type_, None)
        case types.Integer():
            return Value(type_, context.cast(builder, given, types.unliteral(kind), types.int64))
    return Value(type_, given)


def returned(context: Any, builder: Any, kind: Any, bits: Any) -> Any:
    """Return LLVM's value of a result as Numba has it."""
    if kind == types.void:
        return context.get_dummy_value()
    if not isinstance(bits, Memory):
        return bits
    found = make_array(kind)(context, builder)
    size = WORD(BYTES[_ELEMENTS[kind.dtype]])
    strides = list(bits.strides) or [size]
    for length in reversed(bits.shape[1:] if not bits.strides else ()):
        strides.insert(0, builder.mul(strides[0], length))
    populate_array(found, bits.data, list(bits.shape), strides, size, None)
    return found._getvalue()
