"""Machine code of generated functions: by the package's own compiler, or by `numba.njit` alone.

`ssr.runtime.internals` chooses; the kernels of both compute the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from ..kernel import ir
from ..runtime import internals


def _compiler() -> ModuleType:
    if internals.are_known():
        from . import reduced_code

        return reduced_code
    from . import numba_alone

    return numba_alone


def jit(
    function: FunctionType,
    found: ir.Function | None,
    *,
    overlapping: bool = False,
    inside: bool = False,
) -> Any:
    """Return a function of a kernel as one that Numba compiles.

    A part of a kernel is compiled where it is called; one that is to be ``inside`` is written into
    what calls it. Arrays may share memory that are ``overlapping``; otherwise LLVM is promised that
    they do not.

    Parameters
    ----------
    function
        The function as Python compiles it, which Numba alone reads.
    found
        The function in kernel IR, which the package's own compiler reads; not needed where its
        machine code is known.
    overlapping, inside
        As above.
    """
    return _compiler().jit(function, found, overlapping=overlapping, inside=inside)


def begin(made: Any, signature: Any) -> Callable[[], bytes | None]:
    """Translate a function of a kernel, and return the function that makes its machine code.

    `numba.njit` makes no machine code that can be kept: there it returns None.

    Parameters
    ----------
    made
        The function, as `jit` returns it.
    signature
        Types of the arguments and the result.
    """
    translated: Callable[[], bytes | None] = _compiler().begin(made, signature)
    return translated


def compiled(made: Any, signature: Any, data: bytes | None = None) -> Callable[..., Any]:
    """Return a generated function compiled for one signature, from its machine code if it is known.

    The parameters are those of `begin`, and the machine code that it has made.
    """
    run: Callable[..., Any] = _compiler().compiled(made, signature, data)
    return run


def compares_arrays(run: Callable[..., Any]) -> bool:
    """Whether a kernel refuses arrays of other types by itself, as `python_wrapper` has it."""
    return hasattr(run, "overloads")


def optimised(made: Any, signature: Any) -> str:
    """Return a generated function in LLVM's language, as LLVM optimises it.

    The parameters are those of `begin`.
    """
    text: str = _compiler().optimised(made, signature)
    return text


def assembly(made: Any, signature: Any) -> str:
    """Return a generated function in the assembly of the target.

    The parameters are those of `begin`.
    """
    text: str = _compiler().assembly(made, signature)
    return text
