"""Ranks that are processes, with messages by MPI."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ssr.extension import Array, merged

from .world import Channel, Letter, World

TAG = 7101


class Mpi(World):
    """The ranks of a communicator of mpi4py."""

    def __init__(self, comm: Any) -> None:
        self.comm = _duplicate(comm)
        self.ranks = self.comm.Get_size()
        self.here = (self.comm.Get_rank(),)

    def channel(self, outgoing: Sequence[Letter], incoming: Sequence[Letter]) -> Channel:
        """Return the channel of this rank: a persistent request for each message."""
        receives = [self.comm.Recv_init(i.values, i.source, TAG) for i in incoming]
        sends = [self.comm.Send_init(o.values, o.target, TAG) for o in outgoing]
        return _Requests([*receives, *sends])

    def reduced(self, kind: str, states: Sequence[Array]) -> Array:
        """Return the state of a reduction over all ranks."""
        (mine,) = states
        every = np.empty((self.ranks, len(mine)), mine.dtype)
        self.comm.Allgather(np.ascontiguousarray(mine), every)
        return np.asarray(merged(kind, list(every)))

    def broadcast(self, values: Array, root: int) -> None:
        """Copy the values of one rank to all others."""
        self.comm.Bcast(values, root)

    def shared(self, value: Any) -> Any:
        """Return the object of the first rank on all ranks."""
        return self.comm.bcast(value, root=0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mpi) and bool(self.comm == other.comm)

    def __hash__(self) -> int:
        return hash(self.comm.py2f())


_DUPLICATES: dict[int, Any] = {}
"""Communicators of our own, by the handles of those of users: their messages never meet ours."""


def _duplicate(comm: Any) -> Any:
    """Return the communicator of our own for one of a user's; all ranks ask for it together."""
    handle = comm.py2f()
    if handle not in _DUPLICATES:
        _DUPLICATES[handle] = comm.Dup()
    return _DUPLICATES[handle]


class _Requests(Channel):
    """Persistent requests of MPI."""

    def __init__(self, requests: Sequence[Any]) -> None:
        self._requests = tuple(requests)
        weakref.finalize(self, _free, self._requests)

    def start(self) -> None:
        for request in self._requests:
            request.Start()

    def wait(self) -> None:
        for request in self._requests:
            request.Wait()


def _free(requests: Iterable[Any]) -> None:
    for request in requests:
        request.Free()
