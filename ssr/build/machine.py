"""Machine code of generated functions, made by Numba.

With the versions of Numba whose internals are known the pipeline of `reduced` makes it, otherwise
Numba's own: that takes longer, and the kernels compute the same bits.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable
from typing import Any

import numba
from numba.core.compiler import Compiler

from ..runtime import shared

KNOWN = (0, 61), (0, 68)
"""The first and the last version of Numba whose internals are known."""


def is_known() -> bool:
    """Whether the internals of the installed Numba are known."""
    first, last = KNOWN
    return bool(first <= numba.version_info.short <= last)


class Code:
    """The machine code of one kernel: Numba takes it from here, or makes it and leaves it here.

    Parameters
    ----------
    data
        What `data` was when the kernel was compiled before.
    """

    def __init__(self, data: bytes | None = None) -> None:
        self.data = data

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return what Numba once made, or None."""
        if self.data is None:
            return None
        functions, rebuild, parts = pickle.loads(self.data)
        shared.load(context, functions)
        return rebuild(context, *parts)

    def save_overload(self, signature: Any, made: Any) -> None:
        """Take what Numba made, unless it holds addresses of this process."""
        with contextlib.suppress(ImportError, AttributeError):  # a Numba that writes it otherwise
            from numba.core.serialize import dumps

            if not made.library.has_dynamic_globals:
                functions = shared.called(made.library._final_module.functions)
                self.data = dumps((functions, type(made)._rebuild, made._reduce()))


class Separate(Compiler):
    """Numba's own pipeline, with the promise that arrays do not overlap."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        self.state.flags.noalias = True
        return list(super().define_pipelines())


def _pipeline(overlapping: bool) -> type[Any]:
    if not is_known():
        return Compiler if overlapping else Separate
    from . import reduced

    return reduced.OverlappingCompiler if overlapping else reduced.KernelCompiler


def jit(
    signature: Any, code: Code | None = None, *, overlapping: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator of generated functions: compiled once, for one signature.

    Parameters
    ----------
    signature
        Types of the arguments and the result. Without one the function is a part of a kernel,
        which is compiled where it is called.
    code
        Where the machine code comes from, or goes.
    overlapping
        Whether arrays may share memory; otherwise LLVM is promised that they do not.
    """
    pipeline = _pipeline(overlapping)

    def compiled(function: Callable[..., Any]) -> Any:
        made: Any = numba.njit(
            nogil=True, error_model="numpy", boundscheck=False, pipeline_class=pipeline
        )(function)
        if signature is not None:
            if code is not None:
                made._cache = code
            made.compile(signature)
            made.disable_compile()
        return made

    return compiled
