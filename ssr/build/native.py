"""Functions of C written in LLVM's language, and one that calls kernels.

Kernels expect their arguments as Numba hands them over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from llvmlite import ir as llvm
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from ..runtime.descriptors import described
from .instructions import Builder

RAISED = -1
"""What is returned if the kernel has raised an exception."""

WORD = llvm.IntType(64)


def compiled(name: str, functions: Mapping[str, Callable[[Any], None]]) -> dict[str, int]:
    """Return the addresses of functions, each written into a module by a function; they stay."""
    with global_compiler_lock:
        library = cpu_target.target_context.codegen().create_library(name)
        module = library.create_ir_module(name)
        for write in functions.values():
            write(module)
        library.add_ir_module(module)
        library.finalize()
        _kept.append(library)
        return {name: library.get_pointer_to_function(name) for name in functions}


@cache
def enter(signature: Any) -> int:
    """Return the address of the function that calls kernels of a signature.

    Its argument begins with the address of the kernel; for each array follow the address of its
    first element, its shape and its strides.
    """
    return compiled("ssr_enter", {"enter": lambda module: _write(module, signature)})["enter"]


_kept: list[Any] = []
"""Machine code that lives as long as the process."""


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
