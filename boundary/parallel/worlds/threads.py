"""Ranks as threads of one process."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ssr.extension import CACHE_LINE, Array, Function, aligned

from ..compiled.reductions import Place, Seen, functions
from ..schedules.messages import Post
from .mailboxes import Mailbox, Rows
from .reductions import Reduction
from .thread_pool import team
from .world import RANKS, Alone, Channel, Letter, Simulated, Work, World, positive


class Threads(Simulated):
    """Ranks that run at the same time, each in a thread of this process.

    Made by `boundary.threads`.
    """

    carrier = "the memory of one process, in which each rank is a thread"

    def channel(
        self,
        outgoing: Sequence[Letter],
        incoming: Sequence[Letter],
        what: str,
        post: Post | None = None,
    ) -> Channel:
        """Return the channel for messages between all ranks, which kernels use by themselves."""
        if post is None:  # not used by kernels
            return super().channel(outgoing, incoming, what)
        return _Shared(self.ranks, outgoing, incoming)

    def reduction(self, kinds: Sequence[str], states: Sequence[Array], what: str) -> Channel:
        """Return the channel of compiled reductions."""
        return _Reductions(kinds, states)

    def together(self, works: Sequence[Work]) -> list[int]:
        """Run the work of each rank in a separate thread, that of the first rank in this one.

        If a rank fails, the others stop where they wait for it.
        """
        entries = [work.entry() for work in works[1:]]
        known = [entry for entry in entries if entry is not None]
        if len(known) < len(entries):  # kernels in plain Python use messages of all ranks
            return super().together(works)
        return team(self.ranks).run(works[0].go_on, known, works)


class _Shared(Channel):
    """Messages between threads, each through a mailbox."""

    def __init__(self, ranks: int, outgoing: Sequence[Letter], incoming: Sequence[Letter]) -> None:
        boxes = {(o.source, o.target): Mailbox(o.values.nbytes) for o in outgoing}
        rows: list[list[list[int]]] = [[] for _ in range(ranks)]
        for letter in outgoing:
            box = boxes[letter.source, letter.target]
            rows[letter.source].append(box.sends(letter.values))
        for letter in incoming:
            box = boxes[letter.source, letter.target]
            rows[letter.target].append(box.receives(letter.values))
        values = [letter.values for letter in (*outgoing, *incoming)]
        self._rows = [Rows(of_rank, [boxes, values]) for of_rank in rows]

    def starting(self, rank: int) -> Function:
        return self._rows[rank].starting

    def waiting(self, rank: int) -> Function:
        return self._rows[rank].waiting

    def start(self) -> None:
        for rows in self._rows:
            rows.begin()

    def wait(self) -> None:
        while False in {rows.ask()[0] for rows in self._rows}:  # every rank must progress
            pass


class _Reductions(Channel):
    """Reductions over threads: each combines the integers of all threads in shared memory."""

    def __init__(self, kinds: Sequence[str], states: Sequence[Array]) -> None:
        self._ranks = [_Reduction(kinds, state) for state in states]
        rows = np.array([rank.seen for rank in self._ranks], np.int64)
        for number, rank in enumerate(self._ranks):
            rank.meets(rows, number)

    def starting(self, rank: int) -> Function:
        return self._ranks[rank].starting(rank)

    def waiting(self, rank: int) -> Function:
        return self._ranks[rank].waiting(rank)

    def start(self) -> None:
        for rank in self._ranks:
            rank.start()

    def wait(self) -> None:
        for rank in self._ranks:
            rank.wait()


class _Reduction(Reduction):
    """The reductions of one thread.

    Attributes
    ----------
    seen
        The addresses of its integers and of its reduction counter, which other threads read.
    """

    def __init__(self, kinds: Sequence[str], states: Array) -> None:
        super().__init__(kinds, states)
        apart = 2 * CACHE_LINE // 8  # separate cache lines for counters
        self._shown = aligned((2 * apart + 2 * self.given.size,), np.int64)
        self._shown.fill(0)
        start = self._shown.ctypes.data
        self.seen = start + 2 * apart * 8, start

    def meets(self, rows: Array, number: int) -> None:
        """Set the table of the shared addresses of all ranks; this rank has the given number."""
        self._table = table = np.zeros(len(Place) + rows.size, np.int64)
        table[len(Place) :] = rows.ravel()
        table[Place.GIVEN], table[Place.FOUND] = self.given.ctypes.data, self.found.ctypes.data
        table[Place.COUNT], table[Place.SUMMED] = self.given.size, self.summed
        table[Place.OWN] = table[len(Place) + number * len(Seen) :].ctypes.data
        things = len(rows), table.ctypes.data
        made = functions()
        self.carried(Function(made.put, *things), Function(made.gather, *things, notes=0))

    def wait(self) -> None:
        while not self.is_done():  # all ranks have started
            pass


def threads(count: int | None = None) -> World:
    """Return ranks that are threads of this process, for programs that use several cores.

    Programs run through the same schedules and kernels as under ``mpiexec``, at the same time, and
    have the same bits. Each rank has separate memory for its points and halo; the script runs
    once, and its fields are those of all ranks.

    Parameters
    ----------
    count
        The number of threads; by default the number of available processors.

    Returns
    -------
    World
        The argument of `boundary.distribute` instead of ``bc.world()``. One thread is a process
        alone, whose programs run as on arrays.

    Raises
    ------
    ArgumentError
        If it is not a positive integer.

    Examples
    --------
    A sweep of Gauss and Seidel, whose rows wait for those before them:

    >>> import ssr, boundary as bc
    >>> n, = ssr.sizes("n")
    >>> cells = ssr.Space(n, n)
    >>> cross = {(0, 0): 4, (0, 1): -1, (0, -1): -1, (1, 0): -1, (-1, 0): -1}
    >>> A = ssr.stencil(cells, cells, cross, outside="zero")
    >>> @ssr.program(x=cells, b=cells)
    ... def sweep(x, b):
    ...     x[:] = A.tril().solve(b - A.triu(1) @ x)
    ...     return ssr.norm(b - A @ x)
    >>> for ranks in None, bc.threads(3):
    ...     on = bc.distribute(cells, ranks, n=40)
    ...     x, b = on.zeros(cells), on.zeros(cells)
    ...     b.set(1.0)
    ...     print(sweep(x, b))
    38.64221292290387
    38.64221292290387
    """
    found = _processors() if count is None else positive("count", count, RANKS)
    return Alone() if found == 1 else Threads(found)


def _processors() -> int:
    """Return the number of processors available to this process."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # such as on macOS
        return os.cpu_count() or 1
