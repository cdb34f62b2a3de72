"""Packing and unpacking of halo data: copies between the arrays of a rank and its messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ssr.extension import PACK, UNPACK, WITHIN, Array, aligned

from ..partition.boxes import Box, meet
from ..schedules.footprint import Footprint
from ..schedules.messages import Mail, Message, Post, Want
from ..schedules.schedule import KernelPart
from ..worlds.channels import Letter
from .memory import Memory, Storage


class RankMoves:
    """The data that one rank transfers in the exchanges of a schedule.

    Parameters
    ----------
    posts
        The messages of each exchange.
    memories
        The memory of each field and temporary, by the names of the kernel.

    Attributes
    ----------
    messages
        The memory for messages.
    """

    def __init__(
        self,
        footprint: Footprint,
        posts: Sequence[Post],
        rank: int,
        memories: Mapping[str, Memory],
        dtype: Any,
    ) -> None:
        meta = footprint.meta
        self._memories = memories
        self._arrays = {n: k for k, n in enumerate((*meta.fields, *meta.temporaries))}
        self._mails = tuple(post.mail(rank) for post in posts)
        self._starts: dict[tuple[int, int, int], int] = {}
        room = 0
        for exchange, mail in enumerate(self._mails):
            for message in (*mail.sends, *mail.receives):
                self._starts[exchange, message.source, message.target] = room
                room += -(-message.count // 8) * 8
        self.messages = aligned((max(room, 1),), dtype)
        self.messages.fill(0.0)  # the values that a rank traced alone receives

    def _start(self, exchange: int, message: Message) -> int:
        """Return the offset of a message in the memory for messages."""
        return self._starts[exchange, message.source, message.target]

    def outgoing(self, exchange: int) -> list[Letter]:
        """Return the messages that the rank sends in an exchange."""
        return self._letters(exchange, self._mails[exchange].sends)

    def incoming(self, exchange: int) -> list[Letter]:
        """Return the messages that the rank receives in an exchange."""
        return self._letters(exchange, self._mails[exchange].receives)

    def _letters(self, exchange: int, messages: Sequence[Message]) -> list[Letter]:
        starts = [self._start(exchange, message) for message in messages]
        return [
            Letter(m.source, m.target, self.messages[start : start + m.count])
            for m, start in zip(messages, starts, strict=True)
        ]

    def records(self, part: KernelPart, place: int) -> Array:
        """Return the records of the copies before a unit, or after the last."""
        records: list[list[int]] = []
        for exchange in part.packed.get(place, ()):
            for message in self._mails[exchange].sends:
                records += self._packed(message, self._start(exchange, message))
        for exchange in part.taken.get(place, ()):
            mail = self._mails[exchange]
            for want, owner in mail.within:
                records += self._within(want, owner)
            for message in mail.receives:
                records += self._taken(mail, message, self._start(exchange, message))
        return np.array(records, np.int64).reshape(-1)

    def _packed(self, message: Message, start: int) -> list[list[int]]:
        return [
            self._record(
                PACK,
                part.array,
                self._memories[part.array].near[part.owner],
                (Storage(part.points, start + part.place), part.points),
            )
            for part in message.parts
        ]

    def _taken(self, mail: Mail, message: Message, start: int) -> list[list[int]]:
        found = []
        wants: dict[str, list[Want]] = {}
        for want in mail.wants:
            wants.setdefault(want.array, []).append(want)
        for part in message.parts:
            source, memory = Storage(part.points, start + part.place), self._memories[part.array]
            targets: dict[tuple[Storage, Box], None] = {}  # boxes may share storages
            for want in wants.get(part.array, ()):
                shared = meet(want.points, part.points)
                if shared is not None:
                    targets |= dict.fromkeys(targets_of(memory, want.box, shared))
            found += [self._record(UNPACK, part.array, source, target) for target in targets]
        return found

    def _within(self, want: Want, owner: int) -> list[list[int]]:
        memory = self._memories[want.array]
        source = memory.near[owner]
        return [
            self._record(WITHIN, want.array, source, target)
            for target in targets_of(memory, want.box, want.points)
            if target[0] != source
        ]

    def _record(
        self, what: int, array: str, source: Storage, target: tuple[Storage, Box]
    ) -> list[int]:
        """Return the record that copies points from a storage to another."""
        storage, points = target
        extents = [high - low for low, high in points]
        fill = 4 - len(extents)
        zero = [0] * fill
        return [
            what,
            self._arrays[array],
            *[1] * fill,
            *extents,
            source.at(points),
            *zero,
            *source.strides,
            storage.at(points),
            *zero,
            *storage.strides,
        ]


def targets_of(memory: Memory, box: int, points: Box) -> list[tuple[Storage, Box]]:
    """Return the storages of a subdomain that intersect points, each with the intersection."""
    near = memory.near.get(box)
    several = [] if near is None else [near]
    several += memory.far.get(box, ())
    met = [(storage, meet(storage.points, points)) for storage in several]
    return [(storage, both) for storage, both in met if both is not None]
