"""Machine code of generated functions, made by Numba.

With the versions of Numba whose internals are known the pipeline of `reduced` makes it, otherwise
Numba's own: that takes longer, and the kernels compute the same bits.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable
from functools import partial
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
        What `begin` has made of the kernel.
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
        """Take what Numba's own pipeline made, unless it holds addresses of this process."""
        with contextlib.suppress(ImportError, AttributeError):  # a Numba that writes it otherwise
            if not made.library.has_dynamic_globals:
                self.data = _kept(made)


def _kept(made: Any) -> bytes:
    """Return what is kept of a function that Numba has made, after LLVM's work on it."""
    from numba.core.serialize import dumps

    functions = shared.called(made.library._final_module.functions)
    data: bytes = dumps((functions, type(made)._rebuild, made._reduce()))
    return data


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


def jit(function: Callable[..., Any], *, overlapping: bool = False, inside: bool = False) -> Any:
    """Return a generated function as one that Numba compiles.

    A part of a kernel is compiled where it is called; one that is to be ``inside`` is written into
    what calls it. Arrays may share memory that are ``overlapping``; otherwise LLVM is promised that
    they do not.
    """
    if inside:
        vars(function)["inside"] = True
    return numba.njit(
        nogil=True,
        error_model="numpy",
        boundscheck=False,
        pipeline_class=_pipeline(overlapping),
    )(function)


def begin(made: Any, signature: Any) -> Callable[[], bytes | None]:
    """Translate a generated function, and return what makes its machine code.

    Parameters
    ----------
    made
        What `jit` returned.
    signature
        Types of the arguments and the result.
    """
    if is_known():
        from .reduced import translated

        return partial(_kept, translated(made, signature))
    code = Code()
    _compile(made, signature, code)
    return lambda: code.data


def compiled(made: Any, signature: Any, data: bytes | None = None) -> Callable[..., Any]:
    """Return a generated function compiled for one signature, from its machine code if it is known.

    The parameters are those of `begin`, and what that returned has made.
    """
    if data is None and is_known():
        data = begin(made, signature)()
    return _compile(made, signature, Code(data))


def compares_arrays(run: Callable[..., Any]) -> bool:
    """Whether a kernel refuses arrays of other types by itself, as `python_wrapper` has it."""
    return is_known() and hasattr(run, "overloads")


def optimised(made: Any, signature: Any) -> str:
    """Return a generated function in LLVM's language, as LLVM optimises it.

    The parameters are those of `begin`.
    """
    if is_known():
        from .reduced import KernelCompiler

        return KernelCompiler.optimised(made, signature)
    made.compile(signature)
    (text,) = made.inspect_llvm().values()
    return str(text)


def _compile(made: Any, signature: Any, code: Code) -> Callable[..., Any]:
    made._cache = code
    made.compile(signature)
    made.disable_compile()
    run: Callable[..., Any] = made
    return run
