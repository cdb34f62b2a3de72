"""Machine code of generated functions, made by the pipeline of `reduced` and kept on disk."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import numba
from numba.core.serialize import dumps

from ..kernel import ir
from ..runtime import shared_code
from ..runtime.machine_code import Work
from .kernel_ir import attach
from .reduced import KernelCompiler, OverlappingCompiler, translated


class Code:
    """The machine code of one kernel, where Numba looks for it before it compiles.

    Parameters
    ----------
    data
        The bytes that `begin` has made of the kernel.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return what Numba once made."""
        functions, rebuild, parts = pickle.loads(self.data)
        shared_code.load(context, functions)
        return rebuild(context, *parts)

    def save_overload(self, signature: Any, made: Any) -> None:
        """Numba saves here what it has compiled; all that is here was loaded."""


def jit(
    function: FunctionType, found: ir.Function | None, *, overlapping: bool, inside: bool
) -> Any:
    """Return a function of a kernel as one that Numba compiles; see `machine.jit`."""
    if found is not None:
        attach(function, found)
    if inside:
        vars(function)["inside"] = True
    return numba.njit(
        nogil=True,
        error_model="numpy",
        boundscheck=False,
        pipeline_class=OverlappingCompiler if overlapping else KernelCompiler,
    )(function)


def begin(made: Any, signature: Any) -> Callable[[], bytes]:
    """Translate a generated function, and return the function that makes its machine code."""
    return partial(_kept, translated(made, signature))


def _kept(made: Any) -> bytes:
    """Return what is kept of a function that Numba has made, after LLVM's work on it."""
    functions = shared_code.called(made.library._final_module.functions)
    data: bytes = dumps((functions, type(made)._rebuild, made._reduce()))
    return data


def compiled(made: Any, signature: Any, data: bytes | None) -> Any:
    """Return a generated function compiled for one signature."""
    made._cache = Code(begin(made, signature)() if data is None else data)
    made.compile(signature)
    made.disable_compile()
    return made


def optimised(made: Any, signature: Any) -> str:
    """Return a generated function in LLVM's language, as LLVM optimises it."""
    return str(translated(made, signature).library.work.text())


def assembly(made: Any, signature: Any) -> str:
    """Return a generated function in the assembly of the target."""
    library = translated(made, signature).library
    return Work(library.codegen, library._final_module, assembly=True).code().decode()
