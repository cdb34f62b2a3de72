"""Functions of a text, which have a source as those of kernels have, and machine code of them."""

from __future__ import annotations

import inspect
import itertools
import linecache
import sys
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any

from ssr.build import machine
from ssr.kernel.from_python import functions_of

_COUNT = itertools.count()


def functions(text: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a text defines, and the names that it may use."""
    number, text = next(_COUNT), textwrap.dedent(text)
    file = f"<generated {number}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"__name__": f"generated_{number}", **names}
    sys.modules.setdefault(scope["__name__"], ModuleType(scope["__name__"]))  # Numba looks for it
    exec(compile(text, file, "exec"), scope)
    return scope


def jit(function: FunctionType, *, overlapping: bool = False) -> Any:
    """Return a function with a source as one that Numba compiles."""
    (found,) = functions_of(textwrap.dedent(inspect.getsource(function)))
    return machine.jit(function, found, overlapping=overlapping)


def compiled(function: Any, signature: Any, *, overlapping: bool = False) -> Callable[..., Any]:
    """Return a function compiled for a signature."""
    return machine.compiled(jit(function, overlapping=overlapping), signature)


def optimised(function: Any, signature: Any, *, overlapping: bool = False) -> str:
    """Return a function in LLVM's language, as LLVM leaves it."""
    return machine.optimised(jit(function, overlapping=overlapping), signature)
