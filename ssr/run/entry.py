"""Entry points of kernels: for Python, and as C functions for compiled code."""

from __future__ import annotations

import ctypes
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from ..points.numbers import Array
from ..runtime.constants import RAISED

if TYPE_CHECKING:
    from ..native.python_entry import Compiled

_ENTER = ctypes.CFUNCTYPE(ctypes.c_longlong, ctypes.c_void_p)


def is_compiled(run: Callable[..., int]) -> TypeGuard[Compiled]:
    """Whether a kernel is machine code; kernels compiled by Numba are called through Python."""
    module = sys.modules.get(f"{__package__.rpartition('.')[0]}.native.python_entry")
    return module is not None and isinstance(run, module.Compiled)


def entry_point(run: Callable[..., int]) -> Callable[..., int]:
    """Return the fastest function by which Python calls a kernel.

    Its arguments are arrays of NumPy and numbers of Python where the kernel takes these.
    """
    return run.call if is_compiled(run) else run


class Entry(ABC):
    """The entry of compiled code to a kernel with some arrays, which it keeps alive.

    Attributes
    ----------
    address
        The address of a function ``int64_t enter(void *given)``, which returns `RAISED` if the
        kernel has raised an exception.
    given
        The address of its argument.
    """

    address: int
    given: int

    @abstractmethod
    def replace(self, number: int, array: Array) -> None:
        """Take another array for the argument with a number."""

    def raise_problem(self) -> None:
        """Raise the exception reported by `RAISED`, unless it is already set in Python."""
        return


class Direct(Entry):
    """An entry that is the kernel itself.

    Parameters
    ----------
    run
        The kernel.
    arguments
        The arrays.
    """

    def __init__(self, run: Compiled, arguments: Sequence[Array]) -> None:
        self._run = run
        self.address, self._words, self._places = argument_table(run, arguments)
        self.given = self._words.ctypes.data

    def replace(self, number: int, array: Array) -> None:  # noqa: D102
        words, place = _words(array), self._places[number]
        self._words[place : place + len(words)] = words


class Callback(Entry):
    """An entry through a Python function, which ignores its argument.

    The kernel itself runs without Python's lock.

    Parameters
    ----------
    run
        The kernel, compiled by Numba.
    arguments
        The arrays.
    """

    given = 0

    def __init__(self, run: Callable[..., int], arguments: Sequence[Array]) -> None:
        self._run, self._arguments = run, list(arguments)
        self._problem: BaseException | None = None
        self._call = _ENTER(self._enter)
        self.address = ctypes.cast(self._call, ctypes.c_void_p).value or 0

    def _enter(self, given: int | None) -> int:
        try:
            return self._run(*self._arguments)
        except BaseException as problem:
            self._problem = problem
            return RAISED

    def replace(self, number: int, array: Array) -> None:  # noqa: D102
        self._arguments[number] = array

    def raise_problem(self) -> None:  # noqa: D102
        problem, self._problem = self._problem, None
        if problem is not None:
            raise problem


def entry(run: Callable[..., int], arguments: Sequence[Array]) -> Entry | None:
    """Return the entry of compiled code to a kernel with some arrays; None in plain Python."""
    if is_compiled(run):
        return Direct(run, arguments)
    return Callback(run, arguments) if hasattr(run, "dispatcher") else None


def argument_table(
    run: Compiled, arguments: Sequence[Array | float]
) -> tuple[int, Array, list[int]]:
    """Return the address of a kernel, and its arguments as the table that it takes."""
    words: list[int] = []
    places = []
    for argument in arguments:
        places.append(len(words))
        words += _words(argument)
    return run.address, np.array(words, np.int64), places


def _words(argument: Array | float) -> list[int]:
    """Return an argument as integers: address, shape and strides, or the bits of a number."""
    if isinstance(argument, np.ndarray):
        start = argument.__array_interface__["data"][0]
        return [start, *argument.shape, *argument.strides]
    return [int(np.float64(argument).view(np.int64))]
