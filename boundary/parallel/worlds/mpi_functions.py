"""MPI calls from compiled code: function addresses, and persistent requests in C layout.

A kernel calls ``MPI_Startall``, ``MPI_Iallreduce`` and ``MPI_Testall`` by their addresses in the
library that mpi4py uses. No part of MPI is compiled into kernels, which are therefore the same for
all MPI libraries.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Array, Function

from ...errors import MessageError
from ..compiled.reductions import Call, functions
from .shared_pages import is_possible

CALLS = "BOUNDARY_CALLS"
"""The environment variable that selects the transport of messages."""

WAYS = {
    "shared": "memory that ranks of one node share, and MPI, which compiled code calls",
    "compiled": "MPI, which compiled code calls",
    "python": "MPI, which Python calls",
}
"""The values of the variable and their meanings; the first is the default."""


class Requests:
    """Persistent requests in one array, as MPI's functions take them.

    Parameters
    ----------
    requests
        The requests, which must live as long.

    Attributes
    ----------
    functions
        The functions that start all requests, and that test whether all have finished.
    """

    def __init__(self, requests: Sequence[Any]) -> None:
        from mpi4py import MPI

        addresses = _addresses()
        assert addresses is not None
        count, size = len(requests), MPI._sizeof(MPI.Request)
        self._handles = np.empty(max(count, 1) * size, np.uint8)
        for number, request in enumerate(requests):
            handle = np.frombuffer(_handle(request), np.uint8)
            self._handles[number * size : (number + 1) * size] = handle
        self._statuses = _statuses(count)
        things = self._handles.ctypes.data
        self.functions = (
            Function(addresses.start, count, things),
            Function(addresses.test, count, things, self._statuses.ctypes.data),
        )

    def failure(self, code: int) -> Exception:
        """Return the error for a code that one of the functions has returned."""
        return _failure(code, self._statuses)


class Additions:
    """Rows of integers of all ranks that are combined at the same time.

    Parameters
    ----------
    rows
        The contribution of this rank, the array for the combined integers, and the operation.

    Attributes
    ----------
    functions
        The functions that begin, and that test whether all are combined.
    kept
        Objects that must live until all are combined.
    """

    def __init__(self, comm: Any, rows: Sequence[tuple[Array, Array, Any]]) -> None:
        from mpi4py import MPI

        addresses = _addresses()
        assert addresses is not None
        some = [row for row in rows if row[0].size]
        count, size = len(some), MPI._sizeof(MPI.Request)
        handles, statuses = np.zeros(max(count, 1) * size, np.uint8), _statuses(count)
        table = np.zeros((max(count, 1), len(Call)), np.int64)
        for number, (row, (given, found, how)) in enumerate(zip(table, some, strict=False)):
            row[Call.ADDRESS], row[Call.COUNT] = addresses.reduce, given.size
            row[Call.SEND], row[Call.RECEIVE] = given.ctypes.data, found.ctypes.data
            row[Call.KIND], row[Call.OPERATION] = _number(MPI.INT64_T), _number(how)
            row[Call.RANKS], row[Call.REQUEST] = _number(comm), handles.ctypes.data + number * size
        self.functions = (
            Function(functions().add, count, table.ctypes.data),
            Function(addresses.test, count, handles.ctypes.data, statuses.ctypes.data),
        )
        self.kept = (table, handles, statuses, rows)
        self._statuses = statuses

    def failure(self, code: int) -> Exception:
        """Return the error for a code that one of the functions has returned."""
        return _failure(code, self._statuses)


def _handle(thing: Any) -> bytes:
    """Return the bytes of the MPI handle of an mpi4py object."""
    from mpi4py import MPI

    return ctypes.string_at(MPI._addressof(thing), MPI._sizeof(thing))


def _number(thing: Any) -> int:
    """Return the MPI handle of an mpi4py object as an integer."""
    return int.from_bytes(_handle(thing), sys.byteorder, signed=True)


def _statuses(count: int) -> Array:
    """Return memory for the statuses of requests."""
    from mpi4py import MPI

    return np.zeros((max(count, 1), MPI._sizeof(MPI.Status)), np.uint8)


def _failure(code: int, statuses: Array) -> Exception:
    """Return the error for an MPI error code and the statuses of its requests."""
    from mpi4py import MPI

    if MPI.Get_error_class(code) == MPI.ERR_IN_STATUS:
        for kept in statuses:
            status = MPI.Status()
            ctypes.memmove(MPI._addressof(status), kept.ctypes.data, kept.size)
            if status.error not in (MPI.SUCCESS, MPI.ERR_PENDING):
                code = status.error
    return MessageError("Messages do not arrive.", note=f"MPI says: {MPI.Get_error_string(code)}")


def way() -> str:
    """Return the transport of messages: the first possible one of `WAYS` from `CALLS` on."""
    wanted = os.environ.get(CALLS, next(iter(WAYS)))
    if wanted not in WAYS:
        raise ArgumentError(f"{CALLS} is {wanted!r}, not one of {', '.join(map(repr, WAYS))}.")
    if wanted == "python" or _addresses() is None:
        return "python"
    return "compiled" if not is_possible() else wanted


class _Addresses(NamedTuple):
    """The addresses of MPI functions."""

    start: int
    test: int
    reduce: int


@cache
def _addresses() -> _Addresses | None:
    """Return the addresses of MPI's functions in the library that mpi4py is linked with."""
    from mpi4py import MPI

    names = "MPI_Startall", "MPI_Testall", "MPI_Iallreduce"
    try:
        library = ctypes.CDLL(MPI.__file__)
        found = [getattr(library, name) for name in names]
    except (OSError, AttributeError):
        return None
    values = [ctypes.cast(function, ctypes.c_void_p).value for function in found]
    places = [value for value in values if value]
    return _Addresses(*places) if len(places) == len(names) else None
