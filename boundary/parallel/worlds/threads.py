"""Ranks as threads of one process."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ssr.extension import CACHE_LINE, RAISED, Array, Function, aligned

from ..compiled.reductions import Place, Seen, functions
from ..schedules.messages import Post
from .channels import Channel, CompiledChannel, Letter
from .mailboxes import Mailbox, Rows
from .reductions import Reduction
from .thread_pool import team
from .work import Work
from .world import RANKS, Alone, Simulated, World, positive


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
        return _through_mailboxes(self.ranks, outgoing, incoming)

    def reduction(self, kinds: Sequence[str], states: Sequence[Array], what: str) -> Channel:
        """Return the channel of compiled reductions."""
        return _reductions(kinds, states)

    def together(self, works: Sequence[Work]) -> list[int]:
        """Run the work of each rank in a separate thread, that of the first rank in this one.

        If a rank fails, the others stop where they wait for it.
        """
        others = [work.entry for work in works[1:]]
        places = [(other.address, other.given) for other in others]
        reasons = team(self.ranks).run(works[0].go_on, places, works)
        if RAISED in reasons:
            for other in others:
                other.raise_problem()
        return reasons


def _through_mailboxes(
    ranks: int, outgoing: Sequence[Letter], incoming: Sequence[Letter]
) -> Channel:
    """Return the channel for messages between threads, each through a mailbox."""
    boxes = {(o.source, o.target): Mailbox(o.values.nbytes) for o in outgoing}
    rows: list[list[list[int]]] = [[] for _ in range(ranks)]
    for letter in outgoing:
        box = boxes[letter.source, letter.target]
        rows[letter.source].append(box.sends(letter.values))
    for letter in incoming:
        box = boxes[letter.source, letter.target]
        rows[letter.target].append(box.receives(letter.values))
    values = [letter.values for letter in (*outgoing, *incoming)]
    made = [Rows(of_rank, [boxes, values]) for of_rank in rows]
    return CompiledChannel({rank: each.functions for rank, each in enumerate(made)}, made)


def _reductions(kinds: Sequence[str], states: Sequence[Array]) -> Channel:
    """Return the channel of reductions: each thread combines the integers of all threads."""
    ranks = [Reduction(kinds, state) for state in states]
    apart = 2 * CACHE_LINE // 8  # counters are in separate cache lines
    shared = [aligned((2 * apart + 2 * rank.given.size,), np.int64) for rank in ranks]
    seen = np.zeros((len(ranks), len(Seen)), np.int64)
    for row, memory in zip(seen, shared, strict=True):
        memory.fill(0)
        row[Seen.COUNTER], row[Seen.ROOM] = memory.ctypes.data, memory[2 * apart :].ctypes.data
    tables = []
    made = functions()
    for number, rank in enumerate(ranks):
        table = np.concatenate([np.zeros(len(Place), np.int64), seen.ravel()])
        table[Place.GIVEN], table[Place.FOUND] = rank.given.ctypes.data, rank.found.ctypes.data
        table[Place.COUNT], table[Place.SUMMED] = rank.given.size, rank.summed
        table[Place.OWN] = table[len(Place) + number * len(Seen) :].ctypes.data
        things = len(ranks), table.ctypes.data
        rank.carried(Function(made.put, *things), Function(made.gather, *things, notes=0))
        tables.append(table)
    every = {number: rank.functions for number, rank in enumerate(ranks)}
    return CompiledChannel(every, [ranks, shared, tables, states])


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
