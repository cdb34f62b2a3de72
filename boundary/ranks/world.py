"""Ranks, and how values get from one to another: alone, simulated in one process, or by MPI."""

from __future__ import annotations

import os
import sys
import traceback
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Array, integer, merged

LAUNCHED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
"""Variables that mpiexec sets in the environment of each rank."""

TAG = 7101


@dataclass(frozen=True, slots=True, eq=False)
class Letter:
    """Where a message is: the ranks it is from and for, and its values in the memory of one."""

    source: int
    target: int
    values: Array


class Channel(ABC):
    """The messages of one exchange, prepared once and sent many times."""

    @abstractmethod
    def start(self) -> None:
        """Send what the ranks of this process have written for others."""

    @abstractmethod
    def wait(self) -> None:
        """Wait until what others have sent is there, and may be overwritten what was sent."""


class World(ABC):
    """The ranks of a job.

    Attributes
    ----------
    ranks
        Their number.
    here
        Those that run in this process.
    """

    ranks: int
    here: tuple[int, ...]

    @abstractmethod
    def channel(self, outgoing: Sequence[Letter], incoming: Sequence[Letter]) -> Channel:
        """Return the channel for messages from ranks of this process, and to them."""

    @abstractmethod
    def reduced(self, kind: str, states: Sequence[Array]) -> Array:
        """Return the state of a reduction over all ranks, from those of the ranks of this process.

        A state is a row of integers that does not depend on the order of terms; so is the result.
        """

    @abstractmethod
    def broadcast(self, values: Array, root: int) -> None:
        """Copy the values of the rank ``root`` to the same array of all other processes."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.ranks} rank{'' if self.ranks == 1 else 's'}>"


class Simulated(World):
    """Ranks that run one after the other in this process, through messages in memory.

    Made by `boundary.simulated`. A job of one process alone is one such rank.
    """

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.here = tuple(range(ranks))

    def channel(self, outgoing: Sequence[Letter], incoming: Sequence[Letter]) -> Channel:
        """Return the channel for messages between all ranks."""
        return _Copies(outgoing, incoming)

    def reduced(self, kind: str, states: Sequence[Array]) -> Array:
        """Return the state of a reduction over all ranks."""
        return np.asarray(merged(kind, states))

    def broadcast(self, values: Array, root: int) -> None:
        """Do nothing: there is one process."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Simulated) and self.ranks == other.ranks

    def __hash__(self) -> int:
        return hash(self.ranks)


class _Copies(Channel):
    """Messages that are copied from the memory of one rank to that of another."""

    def __init__(self, outgoing: Sequence[Letter], incoming: Sequence[Letter]) -> None:
        sent = {(letter.source, letter.target): letter.values for letter in outgoing}
        assert len(sent) == len(incoming), "sends and receives do not pair up"
        self._pairs = [(sent[i.source, i.target], i.values) for i in incoming]
        assert all(len(a) == len(b) for a, b in self._pairs), "messages of other lengths"
        self._under_way: list[Array] | None = None

    def start(self) -> None:
        self._under_way = [values.copy() for values, _ in self._pairs]

    def wait(self) -> None:
        assert self._under_way is not None, "an exchange is finished that has not begun"
        for values, (_, received) in zip(self._under_way, self._pairs, strict=True):
            received[...] = values
        self._under_way = None


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


def simulated(ranks: int) -> World:
    """Return ranks that run one after the other in this process.

    Programs run through the same schedules, messages and kernels as under ``mpiexec``.

    Parameters
    ----------
    ranks
        Their number.

    Raises
    ------
    ArgumentError
        If it is not a positive integer.

    Examples
    --------
    >>> import boundary as bc
    >>> bc.simulated(4)
    <Simulated: 4 ranks>
    """
    count = integer(ranks)
    if count is None or count < 1:
        raise ArgumentError(f"ranks is {ranks!r}, not a positive integer.")
    return Simulated(count)


def world() -> Any:
    """Return MPI's world communicator under ``mpiexec``, None in a run without it.

    From then on, an error that ends one rank ends the job, and is shown with the rank's number;
    other ranks would wait for it forever.

    Raises
    ------
    ArgumentError
        If the run was started by ``mpiexec`` and mpi4py is missing.

    Examples
    --------
    >>> import boundary as bc
    >>> print(bc.world())                               # in a run without mpiexec
    None
    """
    if not any(name in os.environ for name in LAUNCHED):
        return None
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ArgumentError(
            "The run was started by mpiexec, but mpi4py cannot be imported.",
            note=str(error),
            hint="Install the extra: pip install 'staged-sparse-row[mpi]'.",
        ) from None
    sys.excepthook = _ends_the_job
    return MPI.COMM_WORLD


def _ends_the_job(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Show an error that nobody caught, and end all ranks."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    shown = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(f"Rank {comm.rank} of {comm.size} failed:\n{shown}")
    sys.stderr.flush()
    comm.Abort(1)


def world_of(given: Any) -> World:
    """Return the ranks that a user gives: a world, a communicator, or None for one alone."""
    if isinstance(given, World):
        return given
    if given is None:
        return Simulated(1)
    if not hasattr(given, "Get_rank"):
        raise ArgumentError(
            f"ranks is {given!r}, neither a communicator nor bc.simulated(...).",
            hint="Write bc.spread(grid, bc.world()).",
        )
    return Mpi(given)
