"""LLVM IR of arithmetic on numbers, booleans and vectors of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from llvmlite import ir as llvm

from ..elementary import FUNCTIONS
from ..kernel import ir
from ..kernel.types import INTEGER, NUMBERS, TRUTH, Type, TypeMismatch, Vector, common, compared
from .builder import DOUBLE, WORD, Builder, known
from .values import Value, Writer, converted, llvm_type

_WHOLE = {"+": "add", "-": "sub", "*": "mul"}
_SHIFTS = {"<<": "shl", ">>": "ashr"}
_REAL = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_BOTH = {"&": "and_", "|": "or_"}


def element_of(type_: Type) -> str:
    """Return the element of a number or a vector."""
    if isinstance(type_, ir.Scalar | Vector):
        return type_.element
    raise TypeMismatch(f"There is no arithmetic on values of the type {type_}.")


def _operands(b: Builder, values: Sequence[Value]) -> tuple[ir.Scalar | Vector, list[llvm.Value]]:
    """Return the type in which an operation computes, and its operands in that type."""
    found = common(tuple(value.type for value in values))
    return found, [converted(b, value, found) for value in values]


def binary(b: Builder, operator: ir.Infix, left: Value, right: Value) -> Value:
    """Write an operation on two numbers or truths."""
    found, (x, y) = _operands(b, (left, right))
    element = element_of(found)
    if element in NUMBERS and operator in _REAL:
        return Value(found, getattr(b, _REAL[operator])(x, y))
    if operator in _BOTH and element not in NUMBERS:
        return Value(found, getattr(b, _BOTH[operator])(x, y))
    if found == INTEGER:
        if operator in _WHOLE:
            return Value(found, getattr(b, _WHOLE[operator])(x, y, flags=["nsw"]))
        if operator in _SHIFTS:
            return Value(found, getattr(b, _SHIFTS[operator])(x, y))
        if operator in ("//", "%"):
            return Value(found, _divided(b, operator, x, y))
    raise TypeMismatch(f"There is no {operator} of values of the type {found}.")


def _divided(b: Builder, operator: str, x: llvm.Value, y: llvm.Value) -> llvm.Value:
    """Write the quotient of integers, rounded down, or their remainder; y is not zero."""
    zero, rest = WORD(0), b.srem(x, y)
    below = b.icmp_signed("<", rest, zero)
    divisor = known(y)
    if divisor is None:  # the remainder has the sign of the divisor
        other = b.icmp_signed("<", y, zero)
        below = b.and_(b.icmp_signed("!=", rest, zero), b.xor(below, other))
    elif divisor < 0:
        below = b.icmp_signed(">", rest, zero)
    if operator == "%":
        return b.select(below, b.add(rest, y), rest)
    return b.add(b.sdiv(x, y), b.sext(below, WORD))


def compare(b: Builder, relation: ir.Relation, left: Value, right: Value) -> Value:
    """Write a comparison of two numbers."""
    type_ = compared((left.type, right.type))
    found, (x, y) = _operands(b, (left, right))
    if element_of(found) in NUMBERS:
        write = b.fcmp_unordered if relation == "!=" else b.fcmp_ordered
        return Value(type_, write(relation, x, y))
    return Value(type_, b.icmp_signed(relation, x, y))


def negative(b: Builder, value: Value) -> Value:
    """Write a number with the other sign."""
    if element_of(value.type) in NUMBERS:
        return Value(value.type, b.fneg(value.bits))
    return Value(value.type, b.sub(WORD(0), value.bits))


def is_true(b: Builder, value: Value) -> llvm.Value:
    """Write whether a value is a truth that holds, or a number other than zero."""
    if value.type == TRUTH or isinstance(value.type, Vector):
        return value.bits
    if value.type == INTEGER:
        return b.icmp_signed("!=", value.bits, WORD(0))
    return b.fcmp_unordered("!=", value.bits, value.bits.type(0.0))


def _intrinsic(name: str) -> Writer:
    """Return the writer of a function of LLVM."""

    def write(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
        return b.elementwise(name, *(converted(b, value, type_) for value in given))

    return write


def _of_library(name: str) -> Writer:
    """Return the writer of a function of the C library, which has one for single precision too."""

    def write(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
        values = [converted(b, value, type_) for value in given]
        kind = llvm_type(type_)
        whole = name if kind == DOUBLE else f"{name}f"
        return b.call(b.external(whole, kind, *[kind] * len(values)), values)

    return write


def _extreme(order: str) -> Writer:
    """Return the writer of the smaller or the larger of two numbers; NaN if one is NaN."""

    def write(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
        x, y = (converted(b, value, type_) for value in given)
        chosen = b.fcmp_ordered(order, x, y)
        return b.select(b.or_(chosen, b.fcmp_unordered("uno", x, x)), x, y)

    return write


def _least(pick: Callable[..., llvm.Value]) -> Writer:
    """Return the writer of the least or the largest of some integers."""
    return lambda b, given, type_: pick(b, *(value.bits for value in given))


def _sign(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    """Write the sign of a number; NaN of NaN."""
    x = given[0].bits
    kind = x.type

    def number(value: float) -> llvm.Value:
        return kind([value] * kind.count) if isinstance(kind, llvm.VectorType) else kind(value)

    found = b.select(b.fcmp_ordered("==", x, number(0.0)), number(0.0), x)
    found = b.select(b.fcmp_ordered("<", x, number(0.0)), number(-1.0), found)
    return b.select(b.fcmp_ordered(">", x, number(0.0)), number(1.0), found)


def _absolute(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    (value,) = given
    if element_of(value.type) in NUMBERS:
        return b.elementwise("fabs", value.bits)
    below = b.icmp_signed("<", value.bits, WORD(0))
    return b.select(below, b.sub(WORD(0), value.bits), value.bits)


def _double(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    return converted(b, given[0], type_)


WRITERS: Mapping[str, Writer] = {
    "fma": _intrinsic("fma"),
    "minimum": _extreme("<"),
    "maximum": _extreme(">"),
    "sign": _sign,
    "abs": _absolute,
    "min": _least(Builder.smallest),
    "max": _least(Builder.largest),
    "np.power": _intrinsic("pow"),
    **{
        function.printed: _intrinsic(function.of_llvm)
        if function.of_llvm
        else _of_library(function.library)
        for function in FUNCTIONS.values()
    },
    "np.float64": _double,
}
