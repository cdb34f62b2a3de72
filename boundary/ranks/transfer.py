"""Values of a field that go from rank to rank outside programs: to one rank, or to other owners."""

from __future__ import annotations

import numpy as np

from ssr.extension import Array

from .values import Values, Views
from .world import Letter, World


def move(world: World, one: Values, other: Values) -> None:
    """Copy the values of one to the other, whose points are owned in another way."""
    sent: dict[tuple[int, int], list[Array]] = {}
    received: dict[tuple[int, int], list[Array]] = {}
    for rank, parts in one.shared(other.partition).items():
        for part in parts:
            pair = rank, int(other.partition.owners[part.theirs])
            sent.setdefault(pair, []).append(one.view(rank, part.mine, part.points))
    for rank, parts in other.shared(one.partition).items():
        for part in sorted(parts, key=lambda p: (p.theirs, p.mine)):  # as the sender goes on
            pair = int(one.partition.owners[part.theirs]), rank
            received.setdefault(pair, []).append(other.view(rank, part.mine, part.points))
    carry(world, sent, received)


def carry(world: World, sent: Views, received: Views) -> None:
    """Copy values of ranks of this process to others, and those of others to here.

    Parameters
    ----------
    world
        The ranks.
    sent, received
        Where values are, and where they go: for a pair the same values in the same order.
    """
    letters = [
        Letter(*pair, np.concatenate([view.ravel() for view in views]))
        for pair, views in sent.items()
        if pair[0] != pair[1]
    ]
    arriving = {
        pair: np.empty(sum(view.size for view in views), views[0].dtype)
        for pair, views in received.items()
        if pair[0] != pair[1]
    }
    incoming = [Letter(*pair, values) for pair, values in arriving.items()]
    channel = world.channel(letters, incoming, "the gathering or moving of a field")
    channel.start()
    for pair, views in received.items():
        if pair not in arriving:
            for view, values in zip(views, sent[pair], strict=True):
                view[...] = values
    channel.wait()
    for pair, values in arriving.items():
        place = 0
        for view in received[pair]:
            view[...] = values[place : place + view.size].reshape(view.shape)
            place += view.size
