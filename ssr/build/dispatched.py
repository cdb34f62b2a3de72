"""Kernels that Numba's dispatcher calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..points.numbers import Array


class Dispatched:
    """A kernel as a function of arrays of any layout.

    Parameters
    ----------
    dispatcher
        The compiled function.
    """

    def __init__(self, dispatcher: Callable[..., int]) -> None:
        self._dispatcher = dispatcher

    def __call__(self, *args: Any) -> int:
        """Call it; Numba would refuse arrays that are read-only."""
        return self._dispatcher(*map(_writeable, args))


class _Memory:
    """The memory of an array, as NumPy takes it from objects of others."""

    def __init__(self, array: Array) -> None:
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}
        self.array = array


def _writeable(given: Any) -> Any:
    """Return an array that is not marked as read-only, with the same memory."""
    if not isinstance(given, np.ndarray) or given.flags.writeable:
        return given
    return np.asarray(_Memory(given))
