"""How compiled kernels are called: by Python, and by other compiled code as a function of C."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..points.numbers import Array


def entry_point(run: Callable[..., int]) -> Callable[..., int]:
    """Return what Python calls of a kernel, past Numba's choice between types of arguments.

    Its arguments are arrays of NumPy and numbers of Python where the kernel takes these.
    """
    made = _compiled(run)
    found: Callable[..., int] = made[0].entry_point if made else run
    return found


class Entry:
    """How compiled code calls a kernel with some arrays, which live as long.

    Parameters
    ----------
    run
        The kernel.
    arguments
        The arrays.

    Attributes
    ----------
    address
        That of a function ``long long enter(void *given)``.
    given
        The address of its argument: integers that tell where the kernel and the arrays are.
    """

    def __init__(self, run: Callable[..., int], arguments: Sequence[Array]) -> None:
        from ..build.native import enter

        (kernel,) = _compiled(run)
        self.address = enter(kernel.signature)
        words = [kernel.library.get_pointer_to_function(kernel.fndesc.llvm_func_name)]
        self._places = []
        for array in arguments:
            self._places.append(len(words))
            words += _told(array)
        self._words = np.array(words, np.int64)
        self.given: int = self._words.ctypes.data

    def replace(self, number: int, array: Array) -> None:
        """Take another array for the argument with a number."""
        told, place = _told(array), self._places[number]
        self._words[place : place + len(told)] = told


def entry(run: Callable[..., int], arguments: Sequence[Array]) -> Entry | None:
    """Return how compiled code calls a kernel with some arrays; None for one in plain Python."""
    return Entry(run, arguments) if _compiled(run) else None


def _told(array: Array) -> list[int]:
    return [array.__array_interface__["data"][0], *array.shape, *array.strides]


def _compiled(run: Callable[..., int]) -> list[Any]:
    """Return what Numba has compiled of a kernel: nothing of one in plain Python."""
    return list(getattr(run, "overloads", {}).values())
