"""Communication of stencils that cross subdomain boundaries: remote entries and rank messages.

Interpolation: the rank that owns a point sums over its stencil. It receives each remote value of
its stencils once. Injection: the rank that owns a value adds the contributions to it. It receives
each point value once; the weights are exchanged in advance. Contributions to a value are added in
the order of the points, so the result does not depend on the number of ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ssr import Space
from ssr.extension import Array

from ..parallel.partition.partition import Partition
from ..parallel.worlds.world import Parcels, World
from .owners import boxes_of, owners
from .stencils import Stencils


@dataclass(frozen=True, eq=False)
class Remote:
    """The entries of a rank's stencils that other ranks own.

    Attributes
    ----------
    mask
        A mask of the entries, shape (points, entries).
    slots
        For each entry the position of its value among the received values.
    owners
        For each entry its owner.
    ids
        For each entry the number of its index in the space.
    """

    mask: Array
    slots: Array
    owners: Array
    ids: Array


@dataclass(frozen=True, eq=False)
class Additions:
    """The contributions of a rank to the values that it owns, in the order of the points.

    Attributes
    ----------
    entries
        The entries of its own points among those of their stencils, which are flattened.
    index
        The indices of the entries of other ranks' points, a row for each.
    order
        The order of addition, as a permutation of the own entries followed by the remote ones.
    sources
        For each addition the position of its point among the rank's own and received points.
    weights
        For each addition its weight.
    """

    entries: Array
    index: Array
    order: Array
    sources: Array
    weights: Array


class Links:
    """The stencils of points on a space, on the ranks of this process.

    Parameters
    ----------
    world, partition, space
        The ranks, the decomposition of the space into subdomains, and the space.
    stencils, numbers
        For each rank of this process the stencils of its points, and their numbers.

    Attributes
    ----------
    remote
        For each rank of this process the entries that others own; empty in a job of one rank.
    asked
        For pairs of an owner in this process and another rank the indices whose values are sent.
    received
        For pairs of an owner and a rank in this process the number of values received.
    """

    def __init__(
        self,
        world: World,
        partition: Partition,
        space: Space,
        stencils: Mapping[int, Stencils],
        numbers: Mapping[int, Array],
    ) -> None:
        self.world, self.partition, self.space = world, partition, space
        self.stencils, self.numbers = stencils, numbers
        self.low = np.array(space.first(partition.sizes))
        self.extent = space.extent(partition.sizes)
        self.remote: dict[int, Remote] = {}
        self.asked: dict[tuple[int, int], Array] = {}
        self.received: dict[tuple[int, int], int] = {}
        if world.ranks > 1:
            self._link()

    def _link(self) -> None:
        """Find the entries that other ranks own, and send their indices to the owners."""
        parcels: dict[tuple[int, int], Array] = {}
        for rank, stencils in self.stencils.items():
            boxes = boxes_of(self.partition, self.space, rank)
            mask = np.ones(stencils.shape, bool)
            for box in boxes.values():
                mask &= ~stencils.within(box)
            strides = np.cumprod([1, *self.extent[:0:-1]])[::-1]
            every = stencils.places(-int(self.low @ strides), strides.tolist())[mask]
            ids, inverse = np.unique(every, return_inverse=True)
            found = owners(self.partition, self.space, self._index(ids))
            order = np.argsort(found, kind="stable")
            place = np.empty(len(order), np.int64)
            place[order] = np.arange(len(order))
            self.remote[rank] = Remote(mask, place[inverse], found[inverse], every)
            for owner in np.unique(found).tolist():
                parcels[rank, owner] = ids[found == owner]
                self.received[owner, rank] = len(parcels[rank, owner])
        arrived = self.world.deliver(parcels, np.int64, "the linking of points")
        for (rank, owner), ids in sorted(arrived.items()):
            self.asked[owner, rank] = self._index(ids)

    def _index(self, ids: Array) -> Array:
        """Return the indices of numbered points, a row for each."""
        found: Array = np.stack(np.unravel_index(ids, self.extent), axis=1) + self.low
        return found

    # -- injection -------------------------------------------------------------------------------

    @cached_property
    def _contributions(
        self,
    ) -> tuple[dict[tuple[int, int], Array], dict[int, Additions], dict[tuple[int, int], int]]:
        """The points whose values ranks send, the sums of ranks, and the numbers of arrivals."""
        sent: dict[tuple[int, int], Array] = {}
        words: dict[tuple[int, int], Array] = {}
        weights: dict[tuple[int, int], Array] = {}
        for rank, remote in self.remote.items():
            for owner, points, entries, slots, factors in self._leaving(rank, remote):
                numbers = self.numbers[rank][points][slots]
                sent[rank, owner] = points
                words[rank, owner] = np.stack([entries, numbers, slots]).ravel()
                weights[rank, owner] = factors
        what = "the linking of points"
        if self.world.ranks > 1:
            words = dict(self.world.deliver(words, np.int64, what))
            weights = dict(self.world.deliver(weights, np.float64, what))
        arriving = {
            pair: int(words[pair][-len(weights[pair]) :].max()) + 1 for pair in sorted(words)
        }
        additions = {rank: self._additions(rank, words, weights) for rank in self.stencils}
        return sent, additions, arriving

    @property
    def leaving(self) -> Mapping[tuple[int, int], Array]:
        """For pairs of ranks the positions of the points whose values the first one sends."""
        return self._contributions[0]

    @property
    def additions(self) -> Mapping[int, Additions]:
        """For each rank of this process the contributions that it adds."""
        return self._contributions[1]

    @property
    def arriving(self) -> Mapping[tuple[int, int], int]:
        """For pairs of ranks the number of point values that the second one receives."""
        return self._contributions[2]

    def _leaving(
        self, rank: int, remote: Remote
    ) -> Iterator[tuple[int, Array, Array, Array, Array]]:
        """Yield for each other owner the points, and the ids, points and weights of entries.

        The points of entries are places among the points.
        """
        factors = self.stencils[rank].weights[remote.mask]
        of_entry = np.nonzero(remote.mask)[0]
        for owner in np.unique(remote.owners).tolist():
            mine = (remote.owners == owner) & _counts(factors)
            points, slots = np.unique(of_entry[mine], return_inverse=True)
            if len(points):
                yield owner, points, remote.ids[mine], slots, factors[mine]

    def _additions(self, rank: int, words: Parcels, weights: Parcels) -> Additions:
        stencils, own = self.stencils[rank], self.numbers[rank]
        factors = stencils.weights
        kept = _counts(factors)
        if self.remote:
            kept &= ~self.remote[rank].mask
        points = np.nonzero(kept)[0]
        entries = np.flatnonzero(kept)
        index, numbers, sources, every = [], [own[points]], [points], [factors[kept]]
        first = len(own)
        for pair in sorted(pair for pair in words if pair[1] == rank):
            ids, of_entry, slots = words[pair].reshape(3, -1)
            index.append(self._index(ids))
            numbers.append(of_entry)
            sources.append(slots + first)
            every.append(weights[pair])
            first += int(slots.max()) + 1
        order = np.argsort(np.concatenate(numbers), kind="stable")
        rows = np.concatenate(index) if index else np.zeros((0, len(self.low)), np.int64)
        made = np.concatenate(sources)[order], np.concatenate(every)[order]
        return Additions(entries, rows, order, *made)


def _counts(weights: Array) -> Array:
    """Return which entries contribute: points outside have weights that are NaN."""
    found: Array = (weights != 0.0) & ~np.isnan(weights)
    return found
