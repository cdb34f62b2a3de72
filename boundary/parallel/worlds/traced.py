"""Single-rank traces for the performance model: one rank of a job runs alone and records events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Array, Function, integer

from ...errors import MessageError
from ..compiled.event_log import EventLog
from ..partition.boxes import volume
from ..partition.partition import Partition
from ..schedules.messages import Post
from .channels import Channel, CompiledChannel, Letter
from .reductions import Reduction
from .world import RANKS, OneProcess, Parcels, positive


class Traced(OneProcess):
    """One rank of a job that runs without the others, made by `boundary.traced_rank`.

    Its messages are not sent, and none arrive, so that values are wrong and only times count.
    Exchanges are numbered in the order in which programs have prepared them, which is the same on
    all ranks.
    """

    carrier = "no transport, as one rank is traced"

    def __init__(self, ranks: int, rank: int) -> None:
        self.ranks = ranks
        self.here = (rank,)
        self._log = EventLog()
        self._posts: list[Post] = []

    def record(self, call: Callable[[], object]) -> tuple[Array, Array]:
        """Return the events of a call, and the seconds of work before, between and after them.

        Event 2c is the begin of exchange c, 2c + 1 its end, and -n a reduction of n bytes.
        """
        self._log.clear()
        self._log.note(0)
        call()
        self._log.note(0)
        events, times = self._log.read()
        return events[1:-1], np.diff(times)

    def shapes(self) -> tuple[Array, tuple[int, ...]]:
        """Return the number of each rank's shape, and the first rank of each shape.

        Ranks have one shape if their boxes have the same extents, lie at the same sides of blocks,
        and wait for the same wavefronts of solves.
        """
        seen: dict[object, int] = {}
        members: list[int] = []
        numbers = np.zeros(self.ranks, np.int64)
        distinct = {id(p): p for p in (post.footprint.partition for post in self._posts)}
        waiting = [_readers(post) for post in self._posts if post.exchange.front is not None]
        for rank in range(self.ranks):
            boxes = (tuple(_shape(p, b) for b in p.of_rank(rank)) for p in distinct.values())
            shape = tuple(boxes), tuple(rank in readers for readers in waiting)
            if shape not in seen:
                seen[shape] = len(members)
                members.append(rank)
            numbers[rank] = seen[shape]
        return numbers, tuple(members)

    def messages(self, exchange: int) -> Array:
        """Return rows (source, target, bytes) for the arrays that ranks send in an exchange."""
        post = self._posts[exchange]
        rows: list[tuple[int, int, int]] = []
        for target in range(self.ranks):
            own = Post(post.footprint, post.exchange)  # omits the messages of other targets
            for source in own.asked(target):
                if source != target:
                    counts: dict[str, int] = {}
                    for part in own.message(source, target).parts:
                        counts[part.array] = counts.get(part.array, 0) + volume(part.points)
                    rows += [(source, target, post.itemsize * n) for n in counts.values()]
        return np.array(rows, np.int64).reshape(-1, 3)

    def channel(
        self,
        outgoing: Sequence[Letter],
        incoming: Sequence[Letter],
        what: str,
        post: Post | None = None,
    ) -> Channel:
        """Return a channel that records when it is used."""
        if post is None:
            raise _refused(what)
        self._posts.append(post)
        event = 2 * (len(self._posts) - 1)
        return self._recorded((self._log.function(event), self._log.function(event + 1)))

    def reduction(self, kinds: Sequence[str], states: Sequence[Array], what: str) -> Channel:
        """Return a channel that records reductions."""
        (own,) = states
        made = Reduction(kinds, own, alone=True)
        made.carried(self._log.function(-made.given.nbytes), None)
        return self._recorded(made.functions, made)

    def _recorded(self, functions: tuple[Function, Function], kept: object = None) -> Channel:
        """Return the channel of functions that record when they are called."""

        def failure(code: int) -> Exception:
            return MessageError("There are too many exchanges or reductions in one call to trace.")

        return CompiledChannel({self.rank: functions}, kept, failure)

    def deliver(self, parcels: Parcels, dtype: Any, what: str) -> Parcels:
        """Raise an error: the values of other ranks do not exist."""
        raise _refused(what)

    def combine(self, added: Array, largest: Array, what: str) -> None:
        """Record a reduction; the values of this rank replace those of all ranks."""
        self._log.note(-(added.nbytes + largest.nbytes))

    def broadcast(self, values: Array, root: int, what: str) -> None:
        """Record the message of one rank to all others as a reduction, which costs as much."""
        self._log.note(-values.nbytes)


def _refused(what: str) -> ArgumentError:
    """Return the error for an operation that needs the values of other ranks."""
    return ArgumentError(
        f"{what[0].upper()}{what[1:]} cannot be traced.",
        note="One rank is run alone, without the values of others.",
    )


def traced_rank(ranks: int, rank: int) -> Traced:
    """Return one rank of a job that runs without the others, to measure its own work.

    Programs run through the same schedules, memory and kernels as on this rank under ``mpiexec``,
    but messages are not sent: values are wrong, and only times count.

    Parameters
    ----------
    ranks
        The number of ranks of the job.
    rank
        The number of this rank, from 0.

    Raises
    ------
    ArgumentError
        If the number of ranks is not a positive integer, or that of the rank not below it. Later,
        if values of other ranks are gathered.

    Examples
    --------
    >>> import ssr, boundary as bc
    >>> cells = ssr.Space(64, 64)
    >>> A = ssr.stencil(cells, cells, {(0, 0): 0.5, (0, 1): 0.25, (1, 0): 0.25}, outside="zero")
    >>> @ssr.program(u=cells)
    ... def smooth(u):
    ...     u[:] = A @ u
    >>> rank = bc.traced_rank(64, 0)
    >>> run = smooth.bind(bc.distribute(cells, rank).zeros(cells))
    >>> events, seconds = rank.record(run)
    >>> events.tolist(), seconds.shape
    ([0, 1], (3,))
    """
    count = positive("ranks", ranks, RANKS)
    number = integer(rank)
    if number is None or not 0 <= number < count:
        raise ArgumentError(f"rank is {rank!r}, not an integer from 0 to {count - 1}.")
    return Traced(count, number)


def _readers(post: Post) -> frozenset[int]:
    """Return the ranks that receive values in an exchange."""
    owners = post.footprint.partition.owners
    reads = (read for wish in post.exchange.wishes for read in wish.reads)
    return frozenset(rank for read in reads for rank in owners[read.numbers].tolist())


def _shape(partition: Partition, box: int) -> tuple[Any, ...]:
    """Return the kind of a box, its extents, and the sides of its block at which it lies."""
    kind = int(partition.kinds[box])
    cells, edges = partition.cells[kind], partition.boxes[box]
    blocks = getattr(cells, "blocks", None) is not None
    whole = np.array(cells.box(partition.sizes))
    at_sides = (edges == whole)[int(blocks) :]
    return kind, tuple((edges[:, 1] - edges[:, 0]).tolist()), at_sides.tobytes()
