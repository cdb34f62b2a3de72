"""What Python calls to run a kernel, in LLVM's language.

Callers give NumPy arrays where the kernel takes arrays, and numbers of Python where it takes
numbers (`ssr.run.launcher`). All else about arrays of any strides, such as a user's, is compared
here, before any element is read: number of axes, type and byte order of elements, alignment, and
whether arrays that are written may be. The kernel then compares shapes and strides
(`ssr.runtime.refusals`). Contiguous arguments are those that a launch has made itself.

The tuple that Python hands over keeps the arguments alive, so no references are counted. The
members of arrays are read where NumPy keeps them. Numba's own wrapper has two calls and some ten
blocks for each array, which for short kernels are most of what LLVM has to work on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.np.numpy_support import as_dtype

from ..runtime.constants import ALIGNED, REFUSED, WRITEABLE
from ..runtime.descriptors import described
from .instructions import Builder

WORD, INT, BYTE, BIT = (llvm.IntType(bits) for bits in (64, 32, 8, 1))

HEAD = object.__basicsize__
"""Bytes of an object of Python before its own members."""

DATA, AXES, SHAPE, STRIDES, DTYPE, FLAGS = (HEAD + place for place in (0, 8, 16, 24, 40, 48))
"""Where an array of NumPy has the address of its elements, the number of its axes, the addresses of
its shape, strides and dtype, and its flags.

They are part of NumPy's binary interface (``PyArrayObject_fields``).
"""

ORDER, NUMBER = HEAD + 10, HEAD + 12
"""Where a dtype of NumPy has its byte order, a character, and its number (``PyArray_Descr``)."""


def write(context: Any, function: Any, fndesc: Any, *, may_raise: bool) -> None:
    """Write what Python calls into the module of a function.

    Parameters
    ----------
    context
        Numba's context.
    function, fndesc
        The function, and what Numba knows of it.
    may_raise
        Whether it raises exceptions of its own, and not only what Python has raised meanwhile.
    """
    objects = context.get_argument_type(types.pyobject)
    kind = llvm.FunctionType(objects, [objects] * 3)
    wrapper = llvm.Function(function.module, kind, fndesc.llvm_cpython_wrapper_name)
    builder = Builder(wrapper.append_basic_block("entry"))
    convention, python = context.call_conv, context.get_python_api(builder)
    _, arguments, _ = wrapper.args
    given = [python.tuple_getitem(arguments, place) for place in range(len(fndesc.argtypes))]
    with builder.if_then(builder.not_(_fit(builder, fndesc.argtypes, given)), likely=False):
        if isinstance(fndesc.restype, types.Integer):
            builder.ret(python.from_native_value(fndesc.restype, WORD(REFUSED)))
        else:
            python.err_set_string("PyExc_TypeError", "arrays of other types")
            builder.ret(python.get_null_object())
    values = [
        _native(context, builder, python, *each)
        for each in zip(fndesc.argtypes, given, strict=True)
    ]
    thread = python.save_thread()
    status, found = convention.call_function(
        builder, function, fndesc.restype, fndesc.argtypes, values, attrs=("noinline",)
    )
    python.restore_thread(thread)
    with builder.if_then(status.is_error, likely=False):
        if may_raise:
            convention.raise_error(builder, python, status)
        builder.ret(python.get_null_object())
    builder.ret(python.from_native_value(fndesc.restype, found))


def _fit(builder: Any, kinds: Sequence[Any], given: Sequence[Any]) -> Any:
    """Return whether arrays of any strides among the arguments are of the types that are taken."""
    fit = BIT(1)
    for kind, value in zip(kinds, given, strict=True):
        if isinstance(kind, types.Array) and kind.layout == "A":
            for one in _conditions(builder, kind, value):
                fit = builder.and_(fit, one)
    return fit


def _conditions(builder: Any, kind: Any, given: Any) -> list[Any]:
    """Return the conditions that an array of NumPy is of a type."""
    needed = ALIGNED | (WRITEABLE if kind.mutable else 0)
    dtype = _held(builder, given, DTYPE, BYTE.as_pointer())
    flags = builder.and_(_held(builder, given, FLAGS, INT), INT(needed))
    swapped = ">" if sys.byteorder == "little" else "<"
    return [
        builder.icmp_signed("==", _held(builder, given, AXES, INT), INT(kind.ndim)),
        builder.icmp_signed("==", flags, INT(needed)),
        builder.icmp_signed(
            "==", _held(builder, dtype, NUMBER, INT), INT(as_dtype(kind.dtype).num)
        ),
        builder.icmp_signed("!=", _held(builder, dtype, ORDER, BYTE), BYTE(ord(swapped))),
    ]


def _held(builder: Any, thing: Any, place: int, kind: Any) -> Any:
    """Return a member of an object of Python."""
    start = builder.bitcast(thing, BYTE.as_pointer())
    member = builder.gep(start, [WORD(place)])
    return builder.load(builder.bitcast(member, kind.as_pointer()))


def _native(context: Any, builder: Any, python: Any, kind: Any, given: Any) -> Any:
    """Return the value of an argument: an array, or a number."""
    if not isinstance(kind, types.Array):
        return python.to_native_value(kind, given).value
    words = WORD.as_pointer()
    shape, strides = (
        [builder.load(builder.gep(first, [WORD(axis)])) for axis in range(kind.ndim)]
        for first in (_held(builder, given, place, words) for place in (SHAPE, STRIDES))
    )
    data = _held(builder, given, DATA, context.get_data_type(kind.dtype).as_pointer())
    return described(context, builder, kind, data, shape, strides)
