"""Interpolation and injection for one memory layout: offset tables, messages and kernel calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ssr.extension import Array

from ..parallel.worlds.channels import Channel, Letter
from .code import functions
from .links import Links
from .operands import Bases, Operand, Storage, index_places, stencil_places


class Transfers:
    """The stencils of points for fields with the same memory layout.

    Parameters
    ----------
    links
        The stencils, and the values that ranks send.
    like
        A field or array. Others with the same storages, type and number of components may replace
        it.

    Attributes
    ----------
    space, components, dtype
        The space, number of components and type of the fields.
    """

    def __init__(self, links: Links, like: Operand) -> None:
        self._links = links
        self.space, self.components, self.dtype = like.space, like.components, like.dtype
        self._storages = dict(like.storages)
        self._width = like.components or 1
        self._functions = functions(like.dtype)

    def _messages(
        self, counts: Mapping[tuple[int, int], int], dtype: Any
    ) -> dict[tuple[int, int], Array]:
        """Return memory for messages of rows of components."""
        return {pair: np.empty(count * self._width, dtype) for pair, count in counts.items()}

    def _received(
        self,
        counts: Mapping[tuple[int, int], int],
        first: Mapping[int, int],
        dtype: Any,
    ) -> tuple[dict[int, Array], dict[tuple[int, int], Array]]:
        """Return for each rank memory for all its rows, and the part of each message.

        The first ``first`` rows of a rank are local; received rows follow.
        """
        rooms, parts = {}, {}
        for rank in self._links.stencils:
            pairs = sorted(pair for pair in counts if pair[1] == rank)
            rooms[rank] = np.empty(
                (first[rank] + sum(counts[p] for p in pairs)) * self._width, dtype
            )
            start = first[rank] * self._width
            for pair in pairs:
                stop = start + counts[pair] * self._width
                parts[pair] = rooms[rank][start:stop]
                start = stop
        return rooms, parts

    def _channel(
        self,
        sent: Mapping[tuple[int, int], Array],
        received: Mapping[tuple[int, int], Array],
        what: str,
    ) -> Channel:
        outgoing, incoming = (
            [Letter(*pair, values) for pair, values in sorted(letters.items())]
            for letters in (sent, received)
        )
        return self._links.world.channel(outgoing, incoming, what)

    # -- interpolation ---------------------------------------------------------------------------

    @cached_property
    def _gathers(self) -> _Gathers:
        return _Gathers(self._links, self._storages, self._width)

    @cached_property
    def _values(self) -> tuple[dict[int, Array], dict[tuple[int, int], Array], Channel]:
        links = self._links
        sent = self._messages({p: len(index) for p, index in links.asked.items()}, self.dtype)
        none = dict.fromkeys(links.stencils, 0)
        rooms, parts = self._received(links.received, none, self.dtype)
        return rooms, sent, self._channel(sent, parts, "the interpolation at points")

    def interpolate(self, bases: Bases, rows: Mapping[int, Array], out: Array) -> None:
        """Sum over the stencils, into the rows of the ranks' points."""
        gather, width, size = self._functions.gather, self._width, self.dtype.itemsize
        received = self._exchanged(bases) if self._links.world.ranks > 1 else None
        for rank, (count, entries, *tables) in self._gathers.tables.items():
            others = 0 if received is None else received[rank].ctypes.data
            found = out if len(rows) == 1 else np.empty((count, width), out.dtype)
            target = found.ctypes.data
            for c, base in enumerate(bases[rank]):
                given = *tables, base, others + c * size, target + c * size
                gather(count, entries, width, *given)
            if found is not out:
                out[rows[rank]] = found

    def _exchanged(self, bases: Bases) -> dict[int, Array]:
        """Return for each rank the remote values of its stencils."""
        gather, width, size = self._functions.gather, self._width, self.dtype.itemsize
        rooms, sent, channel = self._values
        for pair, message in sent.items():
            places, ones = self._gathers.sent[pair]
            for c, base in enumerate(bases[pair[0]]):
                given = places.ctypes.data, ones.ctypes.data, base, 0
                gather(len(places), 1, width, *given, message.ctypes.data + c * size)
        channel.start()
        channel.wait()
        return rooms

    # -- injection -------------------------------------------------------------------------------

    @cached_property
    def _places(self) -> dict[int, tuple[Any, ...]]:
        """For each rank the offsets to which it adds, their number, and addresses of tables."""
        found = {}
        for rank, additions in self._links.additions.items():
            own = self._gathers.places[rank].ravel()[additions.entries]
            others = index_places(self._storages[rank], additions.index)
            places = np.concatenate([own, others])[additions.order]
            arrays = places, additions.sources, additions.weights
            found[rank] = places, len(places), *(array.ctypes.data for array in arrays)
        return found

    @cached_property
    def _contributions(self) -> tuple[dict[int, Array], dict[tuple[int, int], Array], Channel]:
        links = self._links
        sent = self._messages({p: len(rows) for p, rows in links.leaving.items()}, np.float64)
        own = {rank: len(numbers) for rank, numbers in links.numbers.items()}
        rooms, parts = self._received(links.arriving, own, np.float64)
        return rooms, sent, self._channel(sent, parts, "the injection from points")

    def inject(self, bases: Bases, rows: Mapping[int, Array], values: Array) -> None:
        """Add the values of points, of type float64 and shape (points, components)."""
        scatter, width, links = self._functions.scatter, self._width, self._links
        given = {rank: values if len(rows) == 1 else values[r] for rank, r in rows.items()}
        if links.world.ranks > 1:
            rooms, sent, channel = self._contributions
            for pair, points in links.leaving.items():
                sent[pair][:] = given[pair[0]][points].ravel()
            channel.start()
            for rank, room in rooms.items():
                room[: given[rank].size] = given[rank].ravel()
            channel.wait()
            given = rooms
        for rank in links.stencils:
            source, (count, *tables) = given[rank].ctypes.data, self._places[rank][1:]
            for c, base in enumerate(bases[rank]):
                scatter(count, width, *tables, source + 8 * c, base)


class _Gathers:
    """The memory locations of the values of stencils.

    Attributes
    ----------
    places
        For each rank the offsets of its entries; -1 - k is offset k in the received values.
    tables
        For each rank the numbers of points and of entries per point, and the addresses of the
        offsets and weights.
    sent
        For each message the offsets of its values, and weights equal to one.
    """

    def __init__(self, links: Links, storages: Mapping[int, Sequence[Storage]], width: int) -> None:
        self.places: dict[int, Array] = {}
        for rank, stencils in links.stencils.items():
            places = stencil_places(storages[rank], stencils)
            if rank in links.remote:
                remote = links.remote[rank]
                places[remote.mask] = -1 - remote.slots * width
            self.places[rank] = places
        self.tables = {
            rank: (*places.shape, places.ctypes.data, links.stencils[rank].weights.ctypes.data)
            for rank, places in self.places.items()
        }
        self.sent = {
            pair: (index_places(storages[pair[0]], index), np.ones(len(index)))
            for pair, index in links.asked.items()
        }
