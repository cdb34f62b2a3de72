"""The function by which compiled code calls kernels.

Kernels expect their arguments as Numba hands them over.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core.registry import cpu_target

from ..runtime.constants import RAISED
from ..runtime.descriptors import described
from .instructions import Builder
from .native import compiled

WORD = llvm.IntType(64)


@cache
def enter(signature: Any) -> int:
    """Return the address of the function that calls kernels of a signature.

    Its argument begins with the address of the kernel; for each array follow the address of its
    first element, its shape and its strides, and for each number its bits.
    """
    return compiled("ssr_enter", {"enter": lambda module: _write(module, signature)})["enter"]


def _write(module: Any, signature: Any) -> None:
    context = cpu_target.target_context
    function = llvm.Function(module, llvm.FunctionType(WORD, [WORD.as_pointer()]), "enter")
    builder = Builder(function.append_basic_block("entry"))
    (given,) = function.args
    place = 1

    def word(number: int) -> Any:
        return builder.load(builder.gep(given, [WORD(number)]))

    arguments = []
    for kind in signature.args:
        if kind == types.float64:
            arguments.append(builder.bitcast(word(place), llvm.DoubleType()))
            place += 1
            continue
        assert isinstance(kind, types.Array)
        shape = [word(place + 1 + axis) for axis in range(kind.ndim)]
        strides = [word(place + 1 + kind.ndim + axis) for axis in range(kind.ndim)]
        first = builder.inttoptr(word(place), context.get_data_type(kind.dtype).as_pointer())
        arguments.append(described(context, builder, kind, first, shape, strides))
        place += 1 + 2 * kind.ndim
    called = context.call_conv.get_function_type(signature.return_type, signature.args)
    kernel = builder.inttoptr(word(0), called.as_pointer())
    status, code = context.call_conv.call_function(
        builder, kernel, signature.return_type, signature.args, arguments
    )
    builder.ret(builder.select(status.is_ok, code, WORD(RAISED)))
