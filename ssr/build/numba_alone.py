"""Machine code of generated functions, made by `numba.njit`: in each process, for any Numba.

Nothing here and in the functions that kernels call is private to Numba or llvmlite.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba

from ..compiling import compiling
from ..errors import ArgumentError
from ..kernel import ir
from ..runtime import internals, target
from .dispatched import Dispatched

CHOICES: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}


def jit(
    function: FunctionType, found: ir.Function | None, *, overlapping: bool, inside: bool
) -> Any:
    """Return a function of a kernel as one that Numba compiles; LLVM decides what is inlined."""
    return numba.njit(**CHOICES)(function)


def begin(made: Any, signature: Any) -> Callable[[], None]:
    """Leave all work to `compiled`: Numba has no public way to keep machine code."""
    _check_processor()
    return lambda: None


def compiled(made: Any, signature: Any, data: bytes | None) -> Dispatched:
    """Return a generated function compiled for one signature."""
    with compiling():
        return Dispatched(numba.njit(signature, **CHOICES)(made.py_func))


def optimised(made: Any, signature: Any) -> str:
    """Return a generated function in LLVM's language, as LLVM optimises it."""
    (text,) = numba.njit(signature, **CHOICES)(made.py_func).inspect_llvm().values()
    return str(text)


def assembly(made: Any, signature: Any) -> str:
    """Return a generated function in assembly."""
    _check_processor()
    (text,) = numba.njit(signature, **CHOICES)(made.py_func).inspect_asm().values()
    return str(text)


def _check_processor() -> None:
    """Check that kernels are to be for the processor that Numba compiles for.

    Raises
    ------
    ArgumentError
        If they are for another one.
    """
    wanted, own = target.processor().name, os.environ.get("NUMBA_CPU_NAME") or target.host().name
    if wanted != own:
        raise ArgumentError(
            f"Kernels cannot be compiled for {wanted} by numba.njit, which does so for {own}.",
            note=f"The package's own compiler is not used: {internals.objection()}.",
            hint="Set NUMBA_CPU_NAME and NUMBA_CPU_FEATURES before Python starts.",
        )
