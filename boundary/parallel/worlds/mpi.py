"""Ranks as MPI processes: persistent requests, mailboxes within a node, collectives."""

from __future__ import annotations

import pickle
import weakref
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Array, Function

from ..compiled.reductions import MIXED, Head
from ..schedules.messages import Post
from .agreement import Facts, agree
from .channels import Channel, CompiledChannel, Letter
from .mailboxes import Mailbox, Rows, calling
from .mpi_functions import WAYS, Additions, Requests, way
from .reductions import Reduction, is_pending
from .waiting import Awaited, Watch, watch_of
from .world import Parcels, T, World

TAG, TAGS = 8192, 16384
"""The first tag of messages between two ranks, and the number of tags; MPI provides at least
32768."""

BROADCAST = 1
"""The tag of broadcast messages."""


class Mpi(World):
    """The ranks of a communicator of mpi4py."""

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        self._in_place, self._operations = MPI.IN_PLACE, (MPI.SUM, MPI.MAX)
        self._watch = watch_of(comm)
        self.comm = self._watch.comm
        self.ranks = self.comm.Get_size()
        self.here = (self.comm.Get_rank(),)
        self._way = way()
        self.carrier = WAYS[self._way]

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
        """Return the channel of this rank: a mailbox for each message, or a persistent request.

        The name is part of the tags, so that messages of different operations are not confused.
        """
        if what in self._watch.interrupted:
            raise ArgumentError(
                f"{what[0].upper()}{what[1:]} was interrupted and cannot be repeated.",
                note="Other ranks may have finished it: messages may no longer match.",
                hint="Begin a new job, from a file if need be; fields can still be gathered.",
            )
        tag = TAG + zlib.crc32(what.encode()) % TAGS
        boxes = {} if post is None else self._boxes(outgoing, incoming, (what, post.number), tag)
        every = [(letter, letter.source, Mailbox.receives) for letter in incoming]
        every += [(letter, letter.target, Mailbox.sends) for letter in outgoing]
        rows, peers = [], []
        for letter, peer, row_of in every:
            box = boxes.get((letter.source, letter.target))
            if box is not None:
                rows.append(row_of(box, letter.values))
                peers.append(peer)
        receives = [i for i in incoming if (i.source, i.target) not in boxes]
        sends = [o for o in outgoing if (o.source, o.target) not in boxes]
        requests = None
        if receives or sends or not rows:
            requests = _Requests(
                self._watch,
                [self.comm.Recv_init(i.values, i.source, tag) for i in receives],
                [self.comm.Send_init(o.values, o.target, tag) for o in sends],
                [*(i.source for i in receives), *(o.target for o in sends)],
                what,
                compiled=self._way != "python",
            )
            if not rows:
                return requests
        values = [letter.values for letter in (*outgoing, *incoming)]
        return _shared(self._watch, rows, peers, requests, values, what)

    def _boxes(
        self,
        outgoing: Sequence[Letter],
        incoming: Sequence[Letter],
        name: tuple[str, int],
        tag: int,
    ) -> dict[tuple[int, int], Mailbox]:
        """Return the mailboxes for the messages of an exchange within this node."""
        if self._way != "shared":
            return {}
        what, watch = name[0], self._watch

        def complete(requests: Sequence[Any], peers: Sequence[int]) -> None:
            watch.complete(requests, Awaited(what, lambda: _missing(requests, peers)))

        try:
            return watch.node.mailboxes(outgoing, incoming, name, tag, complete)
        except BaseException:
            watch.interrupted.add(what)
            raise

    def reduction(self, kinds: Sequence[str], states: Sequence[Array], what: str) -> Channel | None:
        """Return the channel of compiled reductions, if compiled code may call MPI."""
        if self._way == "python":
            return None
        (own,) = states
        awaited = Awaited(what, self._beside, certain=False)
        return _reduction(self._watch, self._operations, kinds, own, awaited)

    def deliver(self, parcels: Parcels, dtype: Any, what: str) -> Parcels:
        """Return the arrays for this rank, after all ranks have exchanged their lengths."""
        (rank,) = self.here
        sent = {target: values for (_, target), values in parcels.items() if values.size}
        found = {(rank, rank): sent.pop(rank).copy()} if rank in sent else {}
        lengths, incoming = np.zeros((2, self.ranks), np.int64)
        for target, values in sent.items():
            lengths[target] = values.nbytes
        exchange = self.comm.Ialltoall(lengths, incoming)
        self._watch.complete([exchange], Awaited(what, self._beside, certain=False))
        sources = np.flatnonzero(incoming).tolist()
        received = {source: np.empty(incoming[source], np.uint8) for source in sources}
        tag = TAG + zlib.crc32(what.encode()) % TAGS
        requests = [self.comm.Irecv(values, source, tag) for source, values in received.items()]
        requests += [
            self.comm.Isend(np.ascontiguousarray(values).view(np.uint8), target, tag)
            for target, values in sent.items()
        ]
        peers = [*received, *sent]
        self._watch.complete(requests, Awaited(what, lambda: _missing(requests, peers)))
        return found | {(source, rank): values.view(dtype) for source, values in received.items()}

    def combine(self, added: Array, largest: Array, what: str) -> None:
        """Add rows of integers of all ranks, and take the largest ones of others."""
        name = name_of(what)
        pairs = zip((added, largest), self._operations, (self.ranks, 1), strict=True)
        rows = [(row, op, count) for row, op, count in pairs if row.size]
        found: list[Array] = [np.concatenate([[name, -name], row]) for row, _, _ in rows]
        requests = [
            self.comm.Iallreduce(self._in_place, given, op)
            for given, (_, op, _) in zip(found, rows, strict=True)
        ]
        self._watch.complete(requests, Awaited(what, self._beside, certain=False))
        for (row, _, count), given in zip(rows, found, strict=True):
            if given[:2].tolist() != [count * name, -count * name]:
                raise mixed(what)
            row[:] = given[2:]

    def _beside(self) -> list[int]:
        """Return the previous and the next rank, cyclically.

        If some but not all ranks have ended, one of them is adjacent to a rank that has not.
        """
        (rank,) = self.here
        return sorted({(rank + step) % self.ranks for step in (-1, 1)} - {rank})

    def broadcast(self, values: Array, root: int, what: str, *, forever: bool = False) -> None:
        """Copy the values of one rank to all others along a binary tree."""
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

    def agree(self, facts: Facts) -> int:
        """Compare the facts of the next step on all ranks; return the number of comparisons."""
        watch = self._watch
        awaited = Awaited(next(iter(facts.values())), self._beside, certain=False)
        agree(watch.agreements, facts, lambda requests: watch.complete(requests, awaited))
        watch.agreed += 1
        return watch.agreed

    def shared(self, value: Any) -> Any:
        """Return the object of the first rank on all ranks."""
        what, first = "what the first rank tells all others", self.here == (0,)
        text = np.frombuffer(_pickled(value), np.uint8).copy() if first else np.empty(0, "u1")
        length = np.array([len(text)], np.int64)
        self.broadcast(length, 0, what)
        text = text if first else np.empty(length[0], np.uint8)
        self.broadcast(text, 0, what)
        return value if first else pickle.loads(text.tobytes())

    def first(self, make: Callable[[], T], kept: Callable[[], bool], what: str) -> T:
        """Return the result of a function, called on rank 0 before the others unless cached."""
        alone = self.here == (0,)
        try:
            alone = not kept() and alone  # all test, so that no rank blocks on another
            made = make() if alone else None
        finally:  # after an error too: the other ranks then raise it themselves
            self.broadcast(np.zeros(1, np.int8), 0, what, forever=True)
        return make() if made is None else made


def _pickled(value: Any) -> bytes:
    """Return a value as bytes."""
    try:
        return pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ArgumentError(
            f"A {type(value).__name__} cannot be sent to other ranks.", note=str(error)
        ) from None


def name_of(what: str) -> int:
    """Return a number for the name of a reduction, small enough for the sum over all ranks."""
    return 1 + zlib.crc32(what.encode())


def mixed(what: str) -> ArgumentError:
    """Return the error for ranks that execute different reductions."""
    return ArgumentError(
        f"This rank is at {what}, and others are at something else.",
        hint="All ranks call the same programs, in the same order.",
    )


def _missing(requests: Sequence[Any], peers: Sequence[int]) -> list[int]:
    """Return the ranks whose messages have not arrived or have not been received."""
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
        *,
        compiled: bool,
    ) -> None:
        self._watch = watch
        self._requests = requests = (*receives, *sends)
        self._awaited = Awaited(what, lambda: _missing(requests, peers))
        weakref.finalize(self, _free, watch, what, receives, sends)
        self._known = Requests(requests) if compiled else None

    def missing(self) -> list[int]:
        """Return the peers of active requests."""
        return list(self._awaited.missing())

    def starting(self, rank: int) -> Function | None:
        return None if self._known is None else self._known.functions[0]

    def waiting(self, rank: int) -> Function | None:
        return None if self._known is None else self._known.functions[1]

    def start(self) -> None:
        for request in self._requests:
            request.Start()

    def wait(self) -> None:
        self._watch.complete(self._requests, self._awaited)

    def failure(self, code: int) -> Exception:
        assert self._known is not None
        return self._known.failure(code)


class _Awaiting(CompiledChannel):
    """A compiled channel that waits as all waits of processes; parameters as those of its base.

    Parameters
    ----------
    awaited
        The cause of the wait.
    """

    def __init__(
        self,
        watch: Watch,
        awaited: Awaited,
        functions: tuple[Function, Function],
        kept: object,
        failure: Callable[[int], Exception] | None,
    ) -> None:
        super().__init__({watch.comm.rank: functions}, kept, failure)
        self._watch, self._awaited = watch, awaited

    def wait(self) -> None:
        self._watch.wait(self.is_done, self._awaited)


def _reduction(
    watch: Watch,
    operations: Sequence[Any],
    kinds: Sequence[str],
    states: Array,
    awaited: Awaited,
) -> Channel:
    """Return the channel of reductions with MPI as the transport of the integers.

    Parameters
    ----------
    watch
        All ranks.
    operations
        The MPI operations for sums and maxima.
    kinds, states
        The reductions; see `Reduction`.
    awaited
        The cause of the wait.
    """
    what = awaited.what
    name = name_of(what)
    made = Reduction(kinds, states, name)
    made.head[Head.EXPECTED] = name * (watch.comm.size if "sum" in kinds else 1)
    pairs = made.halves(made.given), made.halves(made.found)
    additions = Additions(watch.comm, [*zip(*pairs, operations, strict=True)])
    made.carried(*additions.functions)

    def failure(code: int) -> Exception:
        return mixed(what) if code == MIXED else additions.failure(code)

    channel = _Awaiting(watch, awaited, made.functions, made, failure)
    weakref.finalize(channel, _keep_pending, watch, made.head, [additions.kept, made])
    return channel


def _shared(
    watch: Watch,
    rows: Sequence[Sequence[int]],
    peers: Sequence[int],
    requests: _Requests | None,
    values: Sequence[Array],
    what: str,
) -> Channel:
    """Return the channel of messages through memory that ranks of this node share, and requests.

    Parameters
    ----------
    watch
        All ranks.
    rows, peers
        The rows of messages through mailboxes, each with the rank at its other end.
    requests
        The requests for the other messages.
    values
        The values of all messages.
    what
        The name of the exchange.
    """
    start, test = (requests.starting(0), requests.waiting(0)) if requests else (None, None)
    calls = [calling(start, test)] if start and test else []
    made = Rows([*rows, *calls], values)

    def missing() -> list[int]:
        here = {peers[row] for row in made.pending() if row < len(peers)}
        return sorted(here.union(requests.missing() if requests else ()))

    failure = requests.failure if requests else None
    channel = _Awaiting(watch, Awaited(what, missing), made.functions, [made, requests], failure)
    weakref.finalize(channel, _note_interrupted, watch, what, made)
    return channel


def _note_interrupted(watch: Watch, what: str, rows: Rows) -> None:
    if rows.pending():
        watch.interrupted.add(what)


def _keep_pending(watch: Watch, head: Array, kept: object) -> None:
    """Keep the memory of a reduction that is still active after an error."""
    if is_pending(head):
        watch.left.append(kept)


def _free(watch: Watch, what: str, receives: Sequence[Any], sends: Sequence[Any]) -> None:
    """Free requests. Requests still active after an error no longer access any memory."""
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
