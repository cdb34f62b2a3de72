"""Descriptors of arrays in LLVM's language: where their elements are, their shape and strides.

Numba has them put into memory and read again. Here members are taken out and put in as values, so
that who reads a member that was just put in has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir as llvm


def member(context: Any, builder: Any, kind: Any, array: Any, name: str) -> Any:
    """Return a member of an array's descriptor; ``shape`` and ``strides`` are structures.

    Parameters
    ----------
    context, builder
        Numba's context, and what writes instructions.
    kind, array
        The type of the array as Numba names it, and its descriptor.
    name
        The name of the member.
    """
    place = context.data_model_manager[kind].get_field_position(name)
    return builder.extract_value(array, place)


def numbers(context: Any, builder: Any, kind: Any, array: Any, name: str) -> list[Any]:
    """Return the shape of an array, or its strides in bytes, axis by axis."""
    whole = member(context, builder, kind, array, name)
    return [builder.extract_value(whole, axis) for axis in range(kind.ndim)]


def itemsize(kind: Any) -> int:
    """Return the bytes of an element of an array of numbers."""
    size: int = kind.dtype.bitwidth // 8
    return size


def described(
    context: Any, builder: Any, kind: Any, data: Any, shape: Sequence[Any], strides: Sequence[Any]
) -> Any:
    """Return the descriptor of an array of which Numba keeps no count of references.

    Parameters
    ----------
    context, builder, kind
        As in `member`.
    data
        The address of the first element.
    shape, strides
        Elements along each axis, and bytes between neighbours.
    """
    model = context.data_model_manager[kind]
    count = shape[0].type(1)
    for length in shape:
        count = builder.mul(count, length)
    known = {"data": data, "nitems": count, "itemsize": count.type(itemsize(kind))}
    array = llvm.Constant(model.get_value_type(), llvm.Undefined)
    for name in "meminfo", "parent":
        place = model.get_field_position(name)
        array = builder.insert_value(array, array.type.elements[place](None), place)
    for name, value in known.items():
        array = builder.insert_value(array, value, model.get_field_position(name))
    for name, values in ("shape", shape), ("strides", strides):
        place = model.get_field_position(name)
        whole = llvm.Constant(array.type.elements[place], llvm.Undefined)
        for axis, value in enumerate(values):
            whole = builder.insert_value(whole, value, axis)
        array = builder.insert_value(array, whole, place)
    return array
