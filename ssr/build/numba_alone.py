"""Machine code of generated functions, made by `numba.njit`: in each process, for any Numba.

Nothing here and in the functions that kernels call is private to Numba or llvmlite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from ..compiling import compiling
from .dispatched import Dispatched

CHOICES: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}


def jit(function: Callable[..., Any], *, overlapping: bool, inside: bool) -> Any:
    """Return a generated function as one that Numba compiles; LLVM decides what is inlined."""
    return numba.njit(**CHOICES)(function)


def begin(made: Any, signature: Any) -> Callable[[], None]:
    """Leave all work to `compiled`: Numba has no public way to keep machine code."""
    return lambda: None


def compiled(made: Any, signature: Any, data: bytes | None) -> Dispatched:
    """Return a generated function compiled for one signature."""
    with compiling():
        return Dispatched(numba.njit(signature, **CHOICES)(made.py_func))


def optimised(made: Any, signature: Any) -> str:
    """Return a generated function in LLVM's language, as LLVM optimises it."""
    (text,) = numba.njit(signature, **CHOICES)(made.py_func).inspect_llvm().values()
    return str(text)
