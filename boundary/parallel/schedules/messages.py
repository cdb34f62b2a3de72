"""Messages of one rank in a halo exchange: one for each peer.

Sender and receiver compute the parts of a message independently and in the same order, because the
halo requirements of each subdomain follow from the footprint, which all ranks have. No schedule is
sent. A rank examines its own boxes and the boxes that read from them only, however many ranks there
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..partition.boxes import Box, as_box, common, disjoint, filled, volume, without_all
from .exchanges import Exchange
from .footprint import Footprint


@dataclass(frozen=True, slots=True, order=True)
class Want:
    """Points of an array that a subdomain reads and another one owns."""

    array: str
    box: int
    points: Box


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message: points of an array that one subdomain owns, and their offset."""

    array: str
    owner: int
    points: Box
    place: int


@dataclass(frozen=True, slots=True)
class Message:
    """Values that one rank sends to another: consecutive parts, each in C order."""

    source: int
    target: int
    parts: tuple[Part, ...]

    @property
    def count(self) -> int:
        """The number of values."""
        return sum(volume(part.points) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Mail:
    """The work of one rank in an exchange.

    Attributes
    ----------
    sends, receives
        Messages to and from peers, in the order of the peers.
    wants
        The points that its subdomains read from peers or from other subdomains of the rank.
    within
        The copies between subdomains of the rank: the points, and the subdomain that owns them.
    """

    sends: tuple[Message, ...]
    receives: tuple[Message, ...]
    wants: tuple[Want, ...]
    within: tuple[tuple[Want, int], ...]


class Post:
    """The messages of an exchange, for any rank.

    Parameters
    ----------
    exchange
        The exchange, with its halo requirements.
    itemsize
        The bytes of a number.
    number
        The number of the exchange in its schedule.
    """

    def __init__(
        self, footprint: Footprint, exchange: Exchange, itemsize: int = 8, number: int = 0
    ) -> None:
        self.footprint = footprint
        self.exchange = exchange
        self.itemsize = itemsize
        self.number = number
        self._wants: dict[int, tuple[Want, ...]] = {}
        self._mails: dict[int, Mail] = {}
        self._asked: dict[int, dict[int, list[tuple[str, int, Box]]]] = {}

    def mail(self, rank: int) -> Mail:
        """Return the messages and local copies of a rank."""
        known = self._mails.get(rank)
        if known is None:
            known = self._mails[rank] = self._mail(rank)
        return known

    def _mail(self, rank: int) -> Mail:
        owners = self.footprint.partition.owners
        wants = tuple(w for box in self._boxes(rank) for w in self.wants(box))
        sources = {source for source in self.asked(rank) if source != rank}
        within = [
            (Want(want.array, want.box, points), owner)
            for want in wants
            for owner, points in self.owners(want)
            if owners[owner] == rank
        ]
        targets = {int(owners[box]) for box in self._readers(rank)}
        sends = (self.message(rank, peer) for peer in sorted(targets))
        receives = (self.message(peer, rank) for peer in sorted(sources))
        return Mail(
            tuple(m for m in sends if m.parts),
            tuple(m for m in receives if m.parts),
            wants,
            tuple(within),
        )

    def message(self, source: int, target: int) -> Message:
        """Return the message from one rank to another, without duplicate values."""
        asked = sorted(self.asked(target).get(source, ()))
        parts, place = [], 0
        for (array, owner), group in groupby(asked, key=lambda entry: entry[:2]):
            for points in disjoint(points for _, _, points in group):
                parts.append(Part(array, owner, points, place))
                place += volume(points)
        return Message(source, target, tuple(parts))

    def asked(self, rank: int) -> Mapping[int, Sequence[tuple[str, int, Box]]]:
        """Return the requirements of a rank by source rank: array, owning subdomain and points."""
        known = self._asked.get(rank)
        if known is None:
            known = self._asked[rank] = {}
            for box in self._boxes(rank):
                for want in self.wants(box):
                    for owner, points in self.owners(want):
                        source = int(self.footprint.partition.owners[owner])
                        known.setdefault(source, []).append((want.array, owner, points))
        return known

    def wants(self, box: int) -> tuple[Want, ...]:
        """Return the points that a subdomain must receive; points already in memory are omitted."""
        known = self._wants.get(box)
        if known is None:
            known = self._wants[box] = tuple(self._found(box))
        return known

    def _found(self, box: int) -> Iterator[Want]:
        for wish in self.exchange.wishes:
            near: list[Box] = []
            far: list[Box] = []
            for read in wish.reads:
                (far if read.far else near).extend(read.of(box))
            own = as_box(self.footprint.owned(wish.array)[box])
            held = [own] if volume(own) else []
            around = [part for points in near for part in without_all(points, held)]
            elsewhere = [
                p for p in dict.fromkeys(far) if at_hand(self.footprint, wish.array, box, p) is None
            ]
            for points in (*disjoint(around), *disjoint(elsewhere)):
                yield Want(wish.array, box, points)

    def owners(self, want: Want) -> list[tuple[int, Box]]:
        """Return the subdomains that own the required points, each with its owned points."""
        found = self.footprint.owners_of(want.array, want.points)
        total = sum(volume(points) for _, points in found)
        assert total == volume(want.points), f"no rank owns all of {want}"
        return found

    def _boxes(self, rank: int) -> Iterable[int]:
        return self.footprint.partition.of_rank(rank)

    def _readers(self, rank: int) -> set[int]:
        """Return the subdomains of other ranks that read points owned by a rank."""
        owners = self.footprint.partition.owners
        found: set[int] = set()
        for wish in self.exchange.wishes:
            owned = self.footprint.owned(wish.array)
            for read in wish.reads:
                others = owners[read.numbers] != rank
                numbers, boxes = read.numbers[others], read.boxes[others]
                if numbers.size:
                    for box in self._boxes(rank):
                        found.update(numbers[filled(common(boxes, owned[box]))].tolist())
        return found


def at_hand(footprint: Footprint, array: str, box: int, points: Box) -> int | None:
    """Return the subdomain of the same rank that owns all points of a box, or None."""
    partition = footprint.partition
    found = footprint.owners_of(array, points)
    if len(found) != 1 or found[0][1] != points:
        return None
    owner = found[0][0]
    return owner if partition.owners[owner] == partition.owners[box] else None
