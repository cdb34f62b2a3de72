"""The types of values in the kernel IR."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

from . import ir

BYTES = {"i4": 4, "i8": 8, "f4": 4, "f8": 8}
"""The bytes of an element of an array."""


@dataclass(frozen=True, slots=True)
class Vector:
    """Numbers or truths (``b1``) of neighbouring rows or lines, with which one computes at once."""

    element: str
    lanes: int


@dataclass(frozen=True, slots=True)
class Tuple:
    """Several values."""

    parts: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A known text."""

    text: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """Memory of an operation, such as a stopwatch, by the name of its kind."""

    kind: str


Type: TypeAlias = "ir.Scalar | ir.Array | Vector | Tuple | Text | Opaque | None"
"""The type of a value; None for operations without a result."""

INTEGER, TRUTH, DOUBLE = ir.Scalar("i8"), ir.Scalar("b1"), ir.Scalar("f8")
NUMBERS = "f4", "f8"
"""The elements that are floating-point numbers."""


class TypeMismatch(Exception):
    """An operation on values of types that it has not: a fault of the compiler."""


def number(element: str) -> ir.Scalar:
    """Return the type of an element of an array as a value: all integers have 64 bits."""
    return INTEGER if element == "i4" else ir.Scalar(element)


@cache
def common(types: tuple[Type, ...]) -> ir.Scalar | Vector:
    """Return the type in which an operation computes: the widest of some numbers, or vectors.

    >>> common((ir.Scalar("f4"), DOUBLE)), common((Vector("f4", 8), ir.Scalar("f4")))
    (Scalar(element='f8'), Vector(element='f4', lanes=8))
    """
    vectors = {each for each in types if isinstance(each, Vector)}
    scalars = {each for each in types if isinstance(each, ir.Scalar)}
    if len(vectors) == 1:
        (vector,) = vectors
        if all(each in (vector, ir.Scalar(vector.element)) for each in types):
            return vector
    elif not vectors and len(scalars) == len(set(types)):
        if len(scalars) == 1:
            return scalars.pop()
        if scalars <= {INTEGER, TRUTH}:
            return INTEGER
        return ir.Scalar("f4") if scalars == {ir.Scalar("f4"), TRUTH} else DOUBLE
    raise TypeMismatch(f"No operation has operands of the types {list(types)}.")


def compared(types: tuple[Type, ...]) -> ir.Scalar | Vector:
    """Return the type of a comparison."""
    match common(types):
        case Vector(_, lanes):
            return Vector("b1", lanes)
    return TRUTH


def component(array: ir.Array) -> ir.Array:
    """Return the type of a part of an array that has an index along its first axis."""
    return replace(array, axes=array.axes - 1)
