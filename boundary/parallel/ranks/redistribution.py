"""Redistribution and gathering of field values outside programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssr.extension import Array

from ..worlds.channels import Letter
from ..worlds.world import World
from .values import Values, Views


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
        self._sent, self._received = (
            {pair: (v, _room(v)) for pair, v in views.items() if pair[0] != pair[1]}
            for views in (sent, received)
        )
        self._within = [
            both
            for pair, views in received.items()
            if pair[0] == pair[1]
            for both in zip(sent[pair], views, strict=True)
        ]
        outgoing, incoming = (
            [Letter(*pair, values) for pair, (_, values) in mail.items()]
            for mail in (self._sent, self._received)
        )
        self._channel = world.channel(outgoing, incoming, "the gathering or moving of a field")

    def carry(self) -> None:
        """Copy the current values."""
        for views, values in self._sent.values():
            np.concatenate([view.ravel() for view in views], out=values)
        self._channel.start()
        for source, target in self._within:
            target[...] = source
        self._channel.wait()
        for views, values in self._received.values():
            place = 0
            for view in views:
                view[...] = values[place : place + view.size].reshape(view.shape)
                place += view.size


def route(world: World, one: Values, other: Values) -> Cargo:
    """Return the transfer of values from a field to one with another distribution.

    It is valid until the memory of one of the fields is reallocated.
    """
    sent: dict[tuple[int, int], list[Array]] = {}
    received: dict[tuple[int, int], list[Array]] = {}
    for rank, mine, theirs, points in one.shared(other.partition):
        pair = rank, int(other.partition.owners[theirs])
        sent.setdefault(pair, []).append(one.view(rank, mine, points))
    shared = sorted(other.shared(one.partition), key=lambda part: (part[2], part[1]))
    for rank, mine, theirs, points in shared:  # in the order of the sender
        pair = int(one.partition.owners[theirs]), rank
        received.setdefault(pair, []).append(other.view(rank, mine, points))
    return Cargo(world, sent, received)


def _room(views: Sequence[Array]) -> Array:
    """Return an array for the values of a message."""
    return np.empty(sum(view.size for view in views), views[0].dtype)
