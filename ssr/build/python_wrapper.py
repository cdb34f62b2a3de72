"""What Python calls to run a kernel, in LLVM's language.

Numba's dispatcher has looked at the types of all arguments before, and the tuple that Python hands
over keeps them alive. So nothing is checked and nothing counted: the members of arrays are read
where NumPy keeps them. Numba's own wrapper has two calls and some ten blocks for each array, which
for short kernels are most of what LLVM has to work on.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba.core import types

from ..runtime.descriptors import described
from .instructions import Builder

WORD, BYTE = llvm.IntType(64), llvm.IntType(8)

HEAD = object.__basicsize__
"""Bytes of an object of Python before its own members."""

DATA, SHAPE, STRIDES = HEAD, HEAD + 16, HEAD + 24
"""Where an array of NumPy has three addresses: of its elements, its shape and its strides.

They are part of NumPy's binary interface (``PyArrayObject_fields``).
"""


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
    given = [
        _native(context, builder, python, kind, python.tuple_getitem(arguments, place))
        for place, kind in enumerate(fndesc.argtypes)
    ]
    thread = python.save_thread()
    status, found = convention.call_function(
        builder, function, fndesc.restype, fndesc.argtypes, given, attrs=("noinline",)
    )
    python.restore_thread(thread)
    with builder.if_then(status.is_error, likely=False):
        if may_raise:
            convention.raise_error(builder, python, status)
        builder.ret(python.get_null_object())
    builder.ret(python.from_native_value(fndesc.restype, found))


def _native(context: Any, builder: Any, python: Any, kind: Any, given: Any) -> Any:
    """Return the value of an argument: an array, or a number."""
    if not isinstance(kind, types.Array):
        return python.to_native_value(kind, given).value
    start = builder.bitcast(given, BYTE.as_pointer())
    words = WORD.as_pointer()

    def held(place: int, pointed: Any) -> Any:
        member = builder.gep(start, [WORD(place)])
        return builder.load(builder.bitcast(member, pointed.as_pointer()))

    shape, strides = (
        [builder.load(builder.gep(first, [WORD(axis)])) for axis in range(kind.ndim)]
        for first in (held(SHAPE, words), held(STRIDES, words))
    )
    data = held(DATA, context.get_data_type(kind.dtype).as_pointer())
    return described(context, builder, kind, data, shape, strides)
