"""One rank of a job that is run alone, to see when it begins and awaits exchanges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ssr.errors import ArgumentError, Error
from ssr.extension import Array, Function

from ...errors import MessageError
from ..schedules.messages import Post
from ..worlds.agreement import Facts
from ..worlds.reductions import Reduction
from ..worlds.world import Channel, Letter, Parcels, T, World
from .stamps import Stamps


class Traced(World):
    """One rank of a job whose others are not there: its messages go nowhere, and none arrive.

    Attributes
    ----------
    stamps
        What has happened: number 2c where the exchange ``posts[c]`` is begun, 2c + 1 where it is
        awaited, and -n where n bytes are reduced over all ranks.
    posts
        The exchanges, in the order in which programs have prepared them: that of all ranks.
    """

    carrier = "no transport, as one rank is traced"

    def __init__(self, ranks: int, rank: int) -> None:
        self.ranks = ranks
        self.here = (rank,)
        self.stamps = Stamps()
        self.posts: list[Post] = []

    def channel(
        self,
        outgoing: Sequence[Letter],
        incoming: Sequence[Letter],
        what: str,
        post: Post | None = None,
    ) -> Channel:
        """Return a channel that notes when it is used."""
        if post is None:
            return _Refused(what)
        self.posts.append(post)
        return _Noted(self.stamps, 2 * (len(self.posts) - 1))

    def reduction(self, kinds: Sequence[str], states: Sequence[Array], what: str) -> Channel:
        """Return what notes reductions."""
        (own,) = states
        return _NotedReduction(self.stamps, kinds, own)

    def deliver(self, parcels: Parcels, dtype: Any, what: str) -> Parcels:
        """Refuse: what others send is not there."""
        _Refused(what).start()
        return {}

    def combine(self, added: Array, largest: Array, what: str) -> None:
        """Note a reduction; the values of this rank stand for those of all."""
        self.stamps.note(-(added.nbytes + largest.nbytes))

    def broadcast(self, values: Array, root: int, what: str) -> None:
        """Note the message of one rank to all others as a reduction, which costs about as much."""
        self.stamps.note(-values.nbytes)

    def agree(self, facts: Facts) -> int:
        """Do nothing: the others are not there."""
        return 0

    def shared(self, value: Any) -> Any:
        """Return the value of this rank."""
        return value

    def first(self, make: Callable[[], T], kept: Callable[[], bool], what: str) -> T:
        """Return what a function makes."""
        return make()


class _Noted(Channel):
    """An exchange that is noted by the kernel itself."""

    def __init__(self, stamps: Stamps, event: int) -> None:
        self._begun, self._awaited = stamps.function(event), stamps.function(event + 1)

    def starting(self, rank: int) -> Function:
        return self._begun

    def waiting(self, rank: int) -> Function:
        return self._awaited

    def start(self) -> None:
        raise AssertionError("the kernel does this")

    def wait(self) -> None:
        raise AssertionError("the kernel does this")

    def failure(self, code: int) -> Error:
        return MessageError("There are too many exchanges in one call to trace.")


class _NotedReduction(Reduction):
    """Reductions that are noted, in which the values of this rank stand for those of all."""

    def __init__(self, stamps: Stamps, kinds: Sequence[str], states: Array) -> None:
        super().__init__(kinds, states)
        self.carried(stamps.function(-self.given.nbytes), None)

    def _room(self) -> Array:
        return self.given

    def wait(self) -> None:
        raise AssertionError("the kernel does this")

    def failure(self, code: int) -> Error:
        return MessageError("There are too many reductions in one call to trace.")


class _Refused(Channel):
    """Operations that fail while a rank is traced."""

    def __init__(self, what: str) -> None:
        self._what = what

    def start(self) -> None:
        raise ArgumentError(
            f"{self._what[0].upper()}{self._what[1:]} has no place in what is traced.",
            note="One rank is run alone, without the values of others.",
        )

    def wait(self) -> None:
        raise AssertionError("it has not begun")
