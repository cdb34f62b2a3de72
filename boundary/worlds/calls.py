"""Calls of MPI by compiled code: the addresses of its functions, and requests as it keeps them.

A kernel calls ``MPI_Startall`` and ``MPI_Testall`` by their addresses in the library that mpi4py
uses. Nothing of it is compiled in, so kernels are the same for all MPI libraries.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Function

from ..errors import MessageError
from .node import is_possible

CALLS = "BOUNDARY_CALLS"
"""The environment variable that says what carries messages."""

WAYS = {
    "shared": "memory that ranks of one node share, and MPI, which compiled code calls",
    "compiled": "MPI, which compiled code calls",
    "python": "MPI, which Python calls",
}
"""What it may say, and what that means; the first one is what is done without it."""


class Requests:
    """Persistent requests in one array, as MPI's functions take them.

    Parameters
    ----------
    requests
        The requests, which must live as long.

    Attributes
    ----------
    starting, waiting
        The functions that start them all, and that tell whether all have finished.
    """

    def __init__(self, requests: Sequence[Any]) -> None:
        from mpi4py import MPI

        addresses = _addresses()
        assert addresses is not None
        start, test = addresses
        count, size = len(requests), MPI._sizeof(MPI.Request)
        self._handles = np.empty(max(count, 1) * size, np.uint8)
        for number, request in enumerate(requests):
            handle = ctypes.string_at(MPI._addressof(request), size)
            self._handles[number * size : (number + 1) * size] = np.frombuffer(handle, np.uint8)
        self._statuses = np.zeros((max(count, 1), MPI._sizeof(MPI.Status)), np.uint8)
        things = self._handles.ctypes.data
        self.starting = Function(start, count, things)
        self.waiting = Function(test, count, things, self._statuses.ctypes.data)

    def failure(self, code: int) -> Exception:
        """Return the error behind a code that one of the functions has returned."""
        from mpi4py import MPI

        if MPI.Get_error_class(code) == MPI.ERR_IN_STATUS:
            for kept in self._statuses:
                status = MPI.Status()
                ctypes.memmove(MPI._addressof(status), kept.ctypes.data, kept.size)
                if status.error not in (MPI.SUCCESS, MPI.ERR_PENDING):
                    code = status.error
        return MessageError(
            "Messages do not arrive.", note=f"MPI says: {MPI.Get_error_string(code)}"
        )


def way() -> str:
    """Return what carries messages: the first of `WAYS` that is possible from what `CALLS` says on.

    Raises
    ------
    ArgumentError
        If the variable has another value than those.
    """
    wanted = os.environ.get(CALLS, next(iter(WAYS)))
    if wanted not in WAYS:
        raise ArgumentError(f"{CALLS} is {wanted!r}, none of {', '.join(map(repr, WAYS))}.")
    if wanted == "python" or _addresses() is None:
        return "python"
    return "compiled" if not is_possible() else wanted


@cache
def _addresses() -> tuple[int, int] | None:
    """Return the addresses of MPI's functions in the library that mpi4py is linked with."""
    from mpi4py import MPI

    try:
        library = ctypes.CDLL(MPI.__file__)
        found = [getattr(library, name) for name in ("MPI_Startall", "MPI_Testall")]
    except (OSError, AttributeError):
        return None
    start, test = (ctypes.cast(function, ctypes.c_void_p).value for function in found)
    return (start, test) if start and test else None
