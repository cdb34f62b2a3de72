"""Kernels compiled from their source by `numba.njit`, in each process."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import FunctionType

import numba
import numpy as np

from ..compiling import compiling
from ..errors import ArgumentError
from ..kernel.types import Type
from ..points.numbers import Array
from ..runtime import target
from .operations import register
from .types import to_numba


class Dispatched:
    """A kernel that Numba calls.

    Parameters
    ----------
    dispatcher
        The compiled function.
    """

    def __init__(self, dispatcher: Callable[..., int]) -> None:
        self.dispatcher = dispatcher

    def __call__(self, *args: Array | float) -> int:
        """Call it; Numba would refuse arrays that are read-only."""
        return self.dispatcher(*map(_writeable, args))


class _Memory:
    """The memory of an array, in the array interface of NumPy."""

    def __init__(self, array: Array) -> None:
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}
        self.array = array


def _writeable(given: Array | float) -> Array | float:
    """Return an array that is not marked as read-only, with the same memory."""
    if not isinstance(given, np.ndarray) or given.flags.writeable:
        return given
    return np.asarray(_Memory(given))


def compiled(
    scope: dict[str, object], main: str, parts: Sequence[str], types: Sequence[Type]
) -> Dispatched:
    """Return a kernel compiled for arguments of some types."""
    check_processor()
    register()
    with compiling():
        for name in parts:
            scope[name] = _jitted(_in_scope(scope, name))
        signature = numba.types.int64(*map(to_numba, types))
        return Dispatched(_jitted(_in_scope(scope, main), signature))


def _in_scope(scope: dict[str, object], name: str) -> FunctionType:
    """Return a function of a scope, which calls the functions that the scope has now."""
    function = scope[name]
    assert isinstance(function, FunctionType)
    return FunctionType(function.__code__, scope)


def _jitted(function: FunctionType, signature: object = None) -> Callable[..., int]:
    """Return a function that Numba compiles, at once if its signature is given."""
    compiler = numba.njit(signature, nogil=True, error_model="numpy", boundscheck=False)
    made: Callable[..., int] = compiler(function)
    return made


def check_processor() -> None:
    """Check that kernels are to be for the processor that Numba compiles for."""
    wanted, own = target.processor().name, os.environ.get("NUMBA_CPU_NAME") or target.host().name
    if wanted != own:
        raise ArgumentError(
            f"Kernels cannot be compiled for {wanted} by numba.njit, which does so for {own}.",
            hint="Set NUMBA_CPU_NAME and NUMBA_CPU_FEATURES before Python starts.",
        )
