"""Redistribution and gathering of field values outside programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssr.extension import Array

from ..worlds.world import Letter, World
from .values import Values, Views


class Route:
    """The transfer of values between fields with different distributions.

    It is prepared once, and is valid until the memory of one of the fields is reallocated.

    Parameters
    ----------
    one, other
        The source and the target.
    """

    def __init__(self, world: World, one: Values, other: Values) -> None:
        sent: dict[tuple[int, int], list[Array]] = {}
        received: dict[tuple[int, int], list[Array]] = {}
        for rank, parts in one.shared(other.partition).items():
            for part in parts:
                pair = rank, int(other.partition.owners[part.theirs])
                sent.setdefault(pair, []).append(one.view(rank, part.mine, part.points))
        for rank, parts in other.shared(one.partition).items():
            for part in sorted(parts, key=lambda p: (p.theirs, p.mine)):  # the order of the sender
                pair = int(one.partition.owners[part.theirs]), rank
                received.setdefault(pair, []).append(other.view(rank, part.mine, part.points))
        self._cargo = Cargo(world, sent, received)
        self._moves = one.moves, other.moves

    def holds(self, one: Values, other: Values) -> bool:
        """Whether the memory of both fields is unchanged."""
        return self._moves == (one.moves, other.moves)

    def run(self) -> None:
        """Copy the values."""
        self._cargo.carry()


def carry(world: World, sent: Views, received: Views) -> None:
    """Copy values once; see `Cargo`."""
    Cargo(world, sent, received).carry()


class Cargo:
    """Values that ranks of this process send and receive.

    Parameters
    ----------
    sent, received
        Views of the source and target values: for a pair of ranks in the same order.
    """

    def __init__(self, world: World, sent: Views, received: Views) -> None:
        self._sent = [(views, _room(views)) for pair, views in sent.items() if pair[0] != pair[1]]
        self._received = [
            (views, _room(views)) for pair, views in received.items() if pair[0] != pair[1]
        ]
        self._within = [
            (source, target)
            for pair, views in received.items()
            if pair[0] == pair[1]
            for source, target in zip(sent[pair], views, strict=True)
        ]
        outgoing, incoming = (
            [Letter(*pair, values) for pair, (_, values) in zip(pairs, mail, strict=True)]
            for pairs, mail in (
                ([p for p in sent if p[0] != p[1]], self._sent),
                ([p for p in received if p[0] != p[1]], self._received),
            )
        )
        self._channel = world.channel(outgoing, incoming, "the gathering or moving of a field")

    def carry(self) -> None:
        """Copy the current values."""
        for views, values in self._sent:
            np.concatenate([view.ravel() for view in views], out=values)
        self._channel.start()
        for source, target in self._within:
            target[...] = source
        self._channel.wait()
        for views, values in self._received:
            place = 0
            for view in views:
                view[...] = values[place : place + view.size].reshape(view.shape)
                place += view.size


def _room(views: Sequence[Array]) -> Array:
    """Return an array for the values of a message."""
    return np.empty(sum(view.size for view in views), views[0].dtype)
