"""Timeouts and failure detection of waiting ranks.

A waiting rank tests its requests repeatedly, so that signals are handled, and yields the processor.
After `ASK` seconds it sends a query to the ranks whose messages are missing. Running ranks ignore
queries. A rank that has ended stays alive until all ranks have ended, and replies. If a rank
receives such a reply and the message is still missing `ARRIVE` seconds later, it ends the job. A
wait longer than the timeout ends the job as well.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from .agreement import named
from .ending import abort
from .shared_memory import Node

ASK = 1.0
"""Seconds of a wait after which the missing ranks are queried whether they have ended."""

ARRIVE = 2.0
"""Seconds within which all messages arrive that a rank has sent before it ended."""

BUSY = 0.01
"""Seconds of a wait in which requests are tested without sleeping."""

QUESTION, ANSWER = 1, 2
"""The tags of queries and replies, which use a separate communicator."""


@dataclass(frozen=True, slots=True, eq=False)
class Awaited:
    """The cause of a wait of a rank.

    Attributes
    ----------
    what
        The awaited operation, such as an exchange, as a noun with its article.
    missing
        Returns the ranks that have not done their part, to which queries are sent.
    certain
        Whether these are exactly the missing ranks; otherwise they are possible ones.
    """

    what: str
    missing: Callable[[], Sequence[int]]
    certain: bool = True


class Watch:
    """The ranks of a communicator, and the detection of ranks that have ended.

    Attributes
    ----------
    comm
        A duplicate of the user's communicator, which separates the messages of both.
    agreements, agreed
        A duplicate in which ranks compare their next steps, and the number of comparisons.
    timeout
        Seconds after which a wait ends the job.
    node
        The memory shared with other ranks of the node.
    interrupted
        The exchanges that an error has left unfinished on this rank.
    left
        Requests that are still active after an error: their memory must be kept.
    """

    timeout = 600.0

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        self.comm, self.agreements, self._ends = (_duplicate(comm) for _ in range(3))
        self._done: Callable[[Sequence[Any]], bool] = MPI.Request.Testall
        self.agreed = 0
        self.node = Node(self.comm)
        self._word = np.zeros(1, np.int8)
        self._ended: dict[int, float] = {}
        self.interrupted: set[str] = set()
        self.left: list[Any] = []

    def complete(self, requests: Sequence[Any], awaited: Awaited, *, forever: bool = False) -> None:
        """Wait until requests of mpi4py are complete, for longer than `timeout` if ``forever``."""
        try:
            self.wait(lambda: self._done(requests), awaited, forever=forever)
        except BaseException:  # such as Ctrl-C
            self.left += requests
            raise

    def wait(self, done: Callable[[], bool], awaited: Awaited, *, forever: bool = False) -> None:
        """Wait until a function returns true; see `complete`."""
        start, asked = time.monotonic(), False
        while not done():
            waited = time.monotonic() - start
            give_way(waited)
            if waited > ASK:
                if not asked:
                    self._tell(awaited.missing(), QUESTION)
                    asked = True
                self._look_for_ended(awaited)
                if waited > self.timeout and not forever:
                    self._time_out(awaited)

    def _look_for_ended(self, awaited: Awaited) -> None:
        """End the job if an awaited rank has ended."""
        now = time.monotonic()
        for rank in self._arrived(ANSWER):
            self._ended[rank] = now
        if self._ended:
            gone = [r for r in awaited.missing() if now - self._ended.get(r, now) > ARRIVE]
            if gone:
                abort(
                    f"{_named(gone)} ended while rank {self.comm.rank} waits in {awaited.what}.\n"
                    "  Hint: Every rank calls each program; bc.abort ends the job on any of them."
                )

    def _time_out(self, awaited: Awaited) -> None:
        missing = awaited.missing()
        if not missing:  # the last one has just arrived
            return
        some = f"{_named(missing)} not" if awaited.certain else "Not all ranks have"
        abort(
            f"Rank {self.comm.rank} has waited in {awaited.what} for {self.timeout:g} s.\n"
            f"  Note: {some} taken part in it: they are at work, or run something else.\n"
            "  Hint: bc.world(timeout=...) sets for how many seconds ranks wait."
        )

    def end(self) -> Any:
        """Return the request that is complete when all ranks have ended; this rank has ended."""
        return self._ends.Ibarrier()

    def answer(self) -> None:
        """Reply to queries; this rank has ended."""
        self._tell(self._arrived(QUESTION), ANSWER)

    def _tell(self, ranks: Iterable[int], tag: int) -> None:
        for rank in ranks:
            self._ends.Isend(self._word, rank, tag).Free()

    def _arrived(self, tag: int) -> Iterator[int]:
        """Yield the ranks whose queries or replies have arrived."""
        from mpi4py import MPI

        status, word = MPI.Status(), np.zeros(1, np.int8)
        while self._ends.Iprobe(MPI.ANY_SOURCE, tag, status):
            rank = status.Get_source()
            self._ends.Recv(word, rank, tag)
            yield rank


_watches: list[Watch] = []


@cache
def _key() -> int:
    """Return the key of the MPI attribute that holds the watch of a communicator."""
    from mpi4py import MPI

    key: int = MPI.Comm.Create_keyval()
    return key


def watch_of(comm: Any) -> Watch:
    """Return the watch of a user's communicator; a collective call."""
    found: Watch | None = comm.Get_attr(_key())
    if found is None:
        found = Watch(comm)
        comm.Set_attr(_key(), found)
        if not _watches:
            atexit.register(_outlive, os.getpid())
        _watches.append(found)
    return found


def _outlive(process: int) -> None:
    """Reply to queries until all ranks have ended."""
    if os.getpid() != process:  # a child process of a rank
        return
    start = time.monotonic()
    open_ends = [(watch, watch.end()) for watch in _watches]
    while open_ends:
        for watch, _ in open_ends:
            watch.answer()
        give_way(time.monotonic() - start)
        open_ends = [(watch, ended) for watch, ended in open_ends if not ended.Test()]


def _duplicate(comm: Any) -> Any:
    """Return a communicator with the same ranks."""
    start = time.monotonic()
    made, request = comm.Idup()
    while not request.Test():
        give_way(time.monotonic() - start)
    return made


def give_way(waited: float) -> None:
    """Yield the processor for a small fraction of the time waited so far."""
    if waited < BUSY and hasattr(os, "sched_yield"):
        os.sched_yield()
    else:
        time.sleep(min(waited / 100, BUSY))


def _named(ranks: Sequence[int]) -> str:
    """Return some ranks as the beginning of a sentence in the perfect tense."""
    return f"{named(ranks).capitalize()} {'has' if len(ranks) == 1 else 'have'}"
