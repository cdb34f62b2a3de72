"""Text reports of communication schedules: messages, peers, steps, and bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ssr.extension import ir

from ..partition.boxes import Box, disjoint, volume
from .footprint import Footprint
from .messages import Mail, Message, Post
from .schedule import Examine, KernelPart, Reduce, Schedule, Start, Wait


@dataclass(frozen=True, eq=False)
class Explained:
    """A schedule that prints.

    Attributes
    ----------
    schedule
        The steps, which are the same on all ranks.
    itemsize
        The bytes of a number.
    carrier
        The name of the message transport, if the schedule is one that runs.
    """

    footprint: Footprint
    schedule: Schedule
    itemsize: int = 8
    carrier: str = ""

    @cached_property
    def posts(self) -> tuple[Post, ...]:
        """The messages of each exchange."""
        exchanges = enumerate(self.schedule.exchanges)
        return tuple(Post(self.footprint, e, self.itemsize, number) for number, e in exchanges)

    def mail(self, rank: int) -> tuple[Mail, ...]:
        """Return the messages of a rank in each exchange."""
        return tuple(post.mail(rank) for post in self.posts)

    def messages(self, rank: int) -> int:
        """Return the number of messages that a rank sends in a call."""
        return sum(len(mail.sends) for mail in self.mail(rank))

    def bytes(self, rank: int) -> int:
        """Return the bytes that a rank receives in a call."""
        return self.itemsize * sum(m.count for mail in self.mail(rank) for m in mail.receives)

    def least(self, rank: int) -> int:
        """Return the bytes of the values of others that a rank reads, each counted once."""
        footprint = self.footprint
        owners = footprint.partition.owners
        total = 0
        for post, mail in zip(self.posts, self.mail(rank), strict=True):
            found: dict[tuple[str, int], list[Box]] = {}
            for want in mail.wants:
                for owner, points in post.owners(want):
                    if owners[owner] != rank:
                        found.setdefault((want.array, owner), []).append(points)
            total += sum(volume(b) for several in found.values() for b in disjoint(several))
        return self.itemsize * total

    def __str__(self) -> str:
        return "\n".join(self._steps())

    def explain(self, rank: int = 0) -> str:
        """Return a description of a rank: its boxes, its peers, its messages and their bytes."""
        return "\n".join([*self._head(rank), *self._steps(rank)])

    def _head(self, rank: int) -> Iterator[str]:
        partition = self.footprint.partition
        boxes = partition.of_rank(rank)
        yield f"{self.footprint.declaration.program.name} on rank {rank} of {partition.ranks}"
        yield f"  owns      {', '.join(map(partition.shown, boxes)) or 'nothing'}"
        mails = self.mail(rank)
        peers = sorted({m.target for mail in mails for m in mail.sends})
        peers = sorted({*peers, *(m.source for mail in mails for m in mail.receives)})
        yield f"  peers     {', '.join(map(str, peers)) or 'none'}"
        sent = sum(m.count for mail in mails for m in mail.sends) * self.itemsize
        yield f"  messages  {self.messages(rank)} sent with {sent} bytes"
        yield f"  receives  {self.bytes(rank)} bytes, {self.least(rank)} at least"
        if self.carrier:
            yield f"  carried   by {self.carrier}"

    def _steps(self, rank: int | None = None) -> Iterator[str]:
        for step in self.schedule.steps:
            match step:
                case Start(number):
                    yield f"send exchange {number}"
                    if rank is not None:
                        sends = self.posts[number].mail(rank).sends
                        yield from (_message("to", m.target, m) for m in sends)
                case Wait(number):
                    yield f"wait for exchange {number}: {self._moved(number)}"
                    if rank is not None:
                        receives = self.posts[number].mail(rank).receives
                        yield from (_message("from", m.source, m) for m in receives)
                case Reduce(unit):
                    names = dict.fromkeys(name for name, _, _ in self.footprint.units[unit].folds)
                    yield f"reduce {', '.join(names)}"
                case Examine(unit):
                    nest = self.footprint.meta.nests[self.footprint.units[unit].number]
                    yield f"examine {nest.target}"
                case KernelPart():
                    yield from self._part(step)

    def title(self, number: int) -> str:
        """Return a title of an exchange: its fields, and the statement before which it finishes."""
        footprint, exchange = self.footprint, self.schedule.exchanges[number]
        program, places = footprint.declaration.program, footprint.declaration.places
        field_of = {f.name: f.name for f in program.fields}
        field_of |= {array: name for name, arrays in program.vectors for array in arrays}
        moved = sorted({field_of[w.array] for w in exchange.wishes if w.array in field_of})
        title = f"the exchange{' of ' * bool(moved)}{', '.join(moved)} in {program.name}"
        unit = footprint.behind_fills(exchange.finish)
        if unit == len(footprint.units) or footprint.units[unit].kind != "nest":
            return title
        target = footprint.meta.nests[footprint.units[unit].number].target
        if target not in field_of:
            return title
        spans = [
            s for step, s in zip(program.steps, places, strict=True) if target in ir.made(step)
        ]
        line = f" ({Path(spans[0].file).name}, line {spans[0].line})" if spans and spans[0] else ""
        return f"{title} before {field_of[target]}[:] = ...{line}"

    def _moved(self, number: int) -> str:
        return ", ".join(sorted({w.array for w in self.schedule.exchanges[number].wishes}))

    def _part(self, part: KernelPart) -> Iterator[str]:
        for unit, rows in sorted(part.units.items()):
            record = self.footprint.units[unit]
            if record.kind == "nest":
                target = self.footprint.meta.nests[record.number].target
                why = self.schedule.together.get(unit)
                rest = f", {rows} rows" if rows != "all" else f", all rows: {why}" if why else ""
                if isinstance(rows, int):
                    rest = f", wavefront {rows + 1} of {self.schedule.fronts[unit]}"
                yield f"run {target}[:] = ...{rest}"
            else:
                yield f"run {self.footprint.external(unit).name}"


def _message(way: str, peer: int, message: Message) -> str:
    parts = ", ".join(
        f"{part.array}[{', '.join(f'{low}:{high}' for low, high in part.points)}]"
        for part in message.parts
    )
    return f"  {way} rank {peer}: {message.count} numbers, {parts}"
