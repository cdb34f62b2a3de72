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


class Entry:
    """A C function with its argument, by which compiled code runs a kernel.

    Parameters
    ----------
    address
        The address of a function ``int64_t enter(void *given)``, which returns `RAISED` if the
        kernel has raised an exception.
    given
        The address of its argument.
    """

    def __init__(self, address: int, given: int) -> None:
        self.address, self.given = address, given
        self._enter = _ENTER(address)

    def __call__(self) -> int:
        """Call the function; return the status of the kernel, or raise its exception."""
        try:
            status: int = self._enter(self.given)
        except SystemError as error:  # a signal handler has raised the cause
            raise error.__cause__ or error from None
        if status == RAISED:
            self.raise_problem()
        return status

    def raise_problem(self) -> None:
        """Raise the exception reported by `RAISED`, unless it is already set in Python."""
        return


class KernelEntry(Entry, ABC):
    """The entry to a kernel with some arrays, which the caller keeps alive."""

    @abstractmethod
    def replace(self, number: int, array: Array) -> None:
        """Take another array for the argument with a number."""


class Direct(KernelEntry):
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
        address, self._words, self._places = argument_table(run, arguments)
        super().__init__(address, self._words.ctypes.data)

    def replace(self, number: int, array: Array) -> None:  # noqa: D102
        words, place = _words(array), self._places[number]
        self._words[place : place + len(words)] = words


class Callback(KernelEntry):
    """An entry through a Python function, which ignores its argument.

    Parameters
    ----------
    run
        The kernel, compiled by Numba or in plain Python.
    arguments
        The arrays.
    """

    def __init__(self, run: Callable[..., int], arguments: Sequence[Array]) -> None:
        self._run, self._arguments = run, list(arguments)
        self._problem: BaseException | None = None
        self._call = _ENTER(self._called)
        super().__init__(ctypes.cast(self._call, ctypes.c_void_p).value or 0, 0)

    def _called(self, given: int | None) -> int:
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


def entry(run: Callable[..., int], arguments: Sequence[Array]) -> KernelEntry:
    """Return the entry to a kernel with some arrays."""
    return Direct(run, arguments) if is_compiled(run) else Callback(run, arguments)


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
