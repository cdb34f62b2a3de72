"""Ranks that are processes, with messages by MPI."""

from __future__ import annotations

import pickle
import weakref
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Array

from ..schedules.messages import Post
from .calls import Requests, compiled
from .waiting import Awaited, Watch, watch_of
from .world import Channel, Letter, T, World

TAG, TAGS = 8192, 16384
"""The first tag of messages between two ranks, and how many there are; MPI has 32768 at least."""

BROADCAST = 1
"""The tag of messages that all ranks get."""


class Mpi(World):
    """The ranks of a communicator of mpi4py."""

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        self._in_place, self._operations = MPI.IN_PLACE, (MPI.SUM, MPI.MAX)
        self._watch = watch_of(comm)
        self.comm = self._watch.comm
        self.ranks = self.comm.Get_size()
        self.here = (self.comm.Get_rank(),)
        self.carrier = f"MPI, which {'compiled code' if compiled() else 'Python'} calls"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mpi) and bool(self.comm == other.comm)

    def __hash__(self) -> int:
        return hash(self.comm.py2f())

    def channel(
        self,
        outgoing: Sequence[Letter],
        incoming: Sequence[Letter],
        what: str,
        post: Post | None = None,
    ) -> Channel:
        """Return the channel of this rank: a persistent request for each message.

        The name is part of the tags, so that ranks that run different things never mix them up.
        """
        if what in self._watch.interrupted:
            raise ArgumentError(
                f"{what[0].upper()}{what[1:]} was interrupted, and is not begun again.",
                note="Other ranks may have finished it: their messages and ours no longer pair up.",
                hint="Begin a new job, from a file if need be; fields can still be gathered.",
            )
        tag = TAG + zlib.crc32(what.encode()) % TAGS
        receives = [self.comm.Recv_init(i.values, i.source, tag) for i in incoming]
        sends = [self.comm.Send_init(o.values, o.target, tag) for o in outgoing]
        peers = [*(i.source for i in incoming), *(o.target for o in outgoing)]
        return _Requests(self._watch, receives, sends, peers, what)

    def combine(self, added: Array, largest: Array, what: str) -> None:
        """Add rows of integers of all ranks, and take the largest ones of others."""
        pairs = zip((added, largest), self._operations, strict=True)
        rows = [(row, op) for row, op in pairs if row.size]
        requests = [self.comm.Iallreduce(self._in_place, row, op) for row, op in rows]
        self._watch.complete(requests, Awaited(what, self._beside, certain=False))

    def _beside(self) -> list[int]:
        """Return the ranks before and behind this one.

        If only some of all ranks have ended, one of them is beside one that has not.
        """
        (rank,) = self.here
        return sorted({(rank + step) % self.ranks for step in (-1, 1)} - {rank})

    def broadcast(self, values: Array, root: int, what: str, *, forever: bool = False) -> None:
        """Copy the values of one rank to all others, each of which hands them on to two."""
        (rank,) = self.here
        place = (rank - root) % self.ranks
        if place:
            source = (root + (place - 1) // 2) % self.ranks
            arrives = [self.comm.Irecv(values, source, BROADCAST)]
            self._watch.complete(arrives, Awaited(what, lambda: [source]), forever=forever)
        places = [p for p in (2 * place + 1, 2 * place + 2) if p < self.ranks]
        targets = [(root + p) % self.ranks for p in places]
        leave = [self.comm.Isend(values, target, BROADCAST) for target in targets]
        self._watch.complete(leave, Awaited(what, lambda: _missing(leave, targets)))

    def shared(self, value: Any) -> Any:
        """Return the object of the first rank on all ranks."""
        what, first = "what the first rank tells all others", self.here == (0,)
        text = np.frombuffer(pickle.dumps(value), np.uint8).copy() if first else np.empty(0, "u1")
        length = np.array([len(text)], np.int64)
        self.broadcast(length, 0, what)
        text = text if first else np.empty(length[0], np.uint8)
        self.broadcast(text, 0, what)
        return value if first else pickle.loads(text.tobytes())

    def first(self, make: Callable[[], T], kept: Callable[[], bool], what: str) -> T:
        """Return what a function makes, on the first rank before all others unless it is kept."""
        alone = self.here == (0,)
        try:
            alone = not kept() and alone  # all ask, so that no one waits for another's answer
            made = make() if alone else None
        finally:  # others find out for themselves what is wrong
            self.broadcast(np.zeros(1, np.int8), 0, what, forever=True)
        return make() if made is None else made


def _missing(requests: Sequence[Any], peers: Sequence[int]) -> list[int]:
    """Return the ranks whose messages are not there, or are not received."""
    found = (p for request, p in zip(requests, peers, strict=True) if not request.Get_status())
    return sorted(set(found))


class _Requests(Channel):
    """Persistent requests of MPI, each with the rank at its other end."""

    def __init__(
        self,
        watch: Watch,
        receives: Sequence[Any],
        sends: Sequence[Any],
        peers: Sequence[int],
        what: str,
    ) -> None:
        self._watch = watch
        self._requests = requests = (*receives, *sends)
        self._awaited = Awaited(what, lambda: _missing(requests, peers))
        weakref.finalize(self, _free, watch, what, receives, sends)
        if compiled():
            self._known = Requests(self._requests)
            self.starting, self.waiting = self._known.starting, self._known.waiting

    def start(self) -> None:
        for request in self._requests:
            request.Start()

    def wait(self) -> None:
        self._watch.complete(self._requests, self._awaited)

    def failure(self, code: int) -> Exception:
        return self._known.failure(code)


def _free(watch: Watch, what: str, receives: Sequence[Any], sends: Sequence[Any]) -> None:
    """Free requests. Those that an error has left under way no longer touch any memory."""
    for request in receives:
        if not request.Get_status():
            watch.interrupted.add(what)
            request.Cancel()
            request.Wait()
        request.Free()
    for request in sends:
        if request.Get_status():
            request.Free()
        else:
            watch.left.append(request)
