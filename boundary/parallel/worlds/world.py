"""Base classes of worlds and channels, and simulated ranks in one process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from ssr.errors import ArgumentError
from ssr.extension import FINISHED, Array, combined, integer, shares

from ..schedules.messages import Post
from .agreement import Facts
from .channels import Channel, Copies, Letter
from .work import Work

T = TypeVar("T")


Parcels: TypeAlias = Mapping[tuple[int, int], Array]
"""Arrays for pairs (sending rank, receiving rank)."""


class World(ABC):
    """The ranks of a job.

    Attributes
    ----------
    ranks
        The number of ranks.
    here
        The ranks that run in this process.
    alone
        Whether this process is one rank and the whole job: each of its fields is in one array, and
        programs run as on arrays.
    carrier
        The name of the message transport.
    """

    ranks: int
    here: tuple[int, ...]
    alone = False
    carrier = "the memory of one process"

    @property
    def rank(self) -> int:
        """The first of the ranks that run in this process, as a communicator has it."""
        return self.here[0]

    @property
    def size(self) -> int:
        """The number of ranks, as a communicator has it."""
        return self.ranks

    @abstractmethod
    def channel(
        self,
        outgoing: Sequence[Letter],
        incoming: Sequence[Letter],
        what: str,
        post: Post | None = None,
    ) -> Channel:
        """Return the channel for messages from ranks of this process, and to them.

        Here and elsewhere, ``what`` names the collective operation, as in "the exchange of U".
        ``post`` has the messages of all ranks, if available.
        """

    def go_through(self, works: Sequence[Work], do: Callable[[int], object]) -> None:
        """Run the work of each rank of this process to its end.

        All ranks of a process stop at the same steps. There ``do`` performs the collective step,
        given the reason for the stop.
        """
        for work in works:
            work.begin()
        while True:
            reasons = self.together(works)
            assert len(set(reasons)) == 1, "ranks have stopped at different steps"
            if reasons[0] == FINISHED:
                return
            do(reasons[0])
            for work in works:
                work.next_step()

    def reduction(self, kinds: Sequence[str], states: Sequence[Array], what: str) -> Channel | None:
        """Return the channel of compiled reductions of the states of each rank here, if any.

        Its start contributes the states of a rank; its wait replaces them by those of all terms.
        """
        return None

    @abstractmethod
    def deliver(self, parcels: Parcels, dtype: Any, what: str) -> Parcels:
        """Return the arrays that ranks of this process get, given those that they send.

        Unlike in a `channel`, receiving ranks need not specify lengths or sources. This is a
        collective call. Arrays have one axis and the dtype; empty ones are not sent.
        """

    @abstractmethod
    def combine(self, added: Array, largest: Array, what: str) -> None:
        """Add rows of integers of all processes, and take the largest ones of others, in place."""

    @abstractmethod
    def broadcast(self, values: Array, root: int, what: str) -> None:
        """Copy the values of the rank ``root`` to the same array of all other processes."""

    @abstractmethod
    def agree(self, facts: Facts) -> int:
        """Compare the facts of the next step on all ranks (`agreement.agree`); return a number.

        All ranks get the same number. Where ranks are processes, each call returns a new one.
        """

    @abstractmethod
    def shared(self, value: Any) -> Any:
        """Return the object of the first rank on all ranks."""

    @abstractmethod
    def first(self, make: Callable[[], T], kept: Callable[[], bool], what: str) -> T:
        """Return the result of a function, called on the first rank before the others.

        All ranks call it at the same time if the first one finds that the result is ``kept``.
        """

    def together(self, works: Sequence[Work]) -> list[int]:
        """Run the work of each rank of this process; return the reason for each stop.

        Work stops at a collective step, or when it is finished.
        """
        return [work.go_on() for work in works]

    def reduced(self, kinds: Sequence[str], states: Sequence[Array], what: str) -> Array:
        """Return the states of reductions over all ranks, from those of the ranks of this process.

        The results do not depend on the order of terms or ranks, and are equal on all ranks.
        """
        added, largest = shares(kinds, states)
        self.combine(added, largest, what)
        made: Array = combined(kinds, added, largest)
        return made

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.ranks} rank{'' if self.ranks == 1 else 's'}>"


class OneProcess(World):
    """Ranks that all run in one process: there is nothing to compare or to share."""

    def agree(self, facts: Facts) -> int:
        """Do nothing: there is one process."""
        return 0

    def shared(self, value: Any) -> Any:
        """Return the object of the first rank."""
        return value

    def first(self, make: Callable[[], T], kept: Callable[[], bool], what: str) -> T:
        """Return the result of a function."""
        return make()


class Simulated(OneProcess):
    """Ranks that run one after the other in this process, through messages in memory.

    Made by `boundary.simulated_ranks`.
    """

    copies: type[Copies] = Copies

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.here = tuple(range(ranks))

    def channel(
        self,
        outgoing: Sequence[Letter],
        incoming: Sequence[Letter],
        what: str,
        post: Post | None = None,
    ) -> Channel:
        """Return the channel for messages between all ranks."""
        return self.copies(outgoing, incoming, what)

    def deliver(self, parcels: Parcels, dtype: Any, what: str) -> Parcels:
        """Return copies of the arrays."""
        return {pair: values.copy() for pair, values in parcels.items() if values.size}

    def combine(self, added: Array, largest: Array, what: str) -> None:
        """Do nothing: there is one process."""

    def broadcast(self, values: Array, root: int, what: str) -> None:
        """Do nothing: there is one process."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.ranks == other.ranks

    def __hash__(self) -> int:
        return hash(self.ranks)


class Alone(Simulated):
    """One rank, which is the whole job."""

    alone = True

    def __init__(self) -> None:
        super().__init__(1)


def simulated_ranks(ranks: int) -> World:
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
    >>> bc.simulated_ranks(4)
    <Simulated: 4 ranks>
    """
    return Simulated(positive("ranks", ranks, RANKS))


RANKS = 1_000_000
"""The largest number of ranks in one process."""


def positive(name: str, value: Any, most: int | None = None) -> int:
    """Return an argument that is a positive integer, not larger than ``most``."""
    count = integer(value)
    if count is None or count < 1:
        raise ArgumentError(f"{name} is {value!r}, not a positive integer.")
    if most is not None and count > most:
        raise ArgumentError(f"{name} is {count}, more than {most}.")
    return count
