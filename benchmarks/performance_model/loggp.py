"""Replay a trace on a network after the LogGP model.

Alexandrov, Ionescu, Schauser and Scheiman (J. Parallel Distrib. Comput. 44, 1997) describe a
network by four numbers. A rank is busy for the overhead o with each message that it sends or
receives; a message of k bytes keeps its sender's network interface busy for k G, and its last byte
arrives L later. There is no noise, no contention between ranks, and no topology.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from .recorded import Array, Messages, Recorded


@dataclass(frozen=True, slots=True)
class LogGP:
    """A network.

    Parameters
    ----------
    latency
        L: seconds from the sending of a byte to its arrival.
    overhead
        o: seconds for which a rank is busy with each message that it sends or receives.
    gap
        G: seconds for each byte of a message.

    Examples
    --------
    >>> from benchmarks.performance_model import LogGP
    >>> LogGP(latency=1.5e-6, overhead=0.4e-6, gap=0.08e-9).alone(8000)
    2.94e-06
    """

    latency: float
    overhead: float
    gap: float

    def __post_init__(self) -> None:
        if not min(self.latency, self.overhead, self.gap) >= 0:
            raise ValueError(f"{self!r} has a number that is not positive or zero.")

    def alone(self, count: int) -> float:
        """Return the seconds from the begin of sending ``count`` bytes to their receipt."""
        return round(2 * self.overhead + count * self.gap + self.latency, 15)

    def reduction(self, ranks: int, count: int) -> float:
        """Return the seconds of a reduction of ``count`` bytes over all ranks, by doubling."""
        return ceil(log2(ranks)) * self.alone(count)


@dataclass(frozen=True, slots=True)
class Replay:
    """The time of a call on all ranks.

    Attributes
    ----------
    seconds
        The time of a call among many, one after the other.
    work
        The part of it in which the rank that works most does its own work.
    messages, bytes
        The largest number of messages, and of bytes, that one rank sends.
    """

    seconds: float
    work: float
    messages: int
    bytes: int

    @property
    def exposed(self) -> float:
        """The time that does not overlap with the work of the rank that works most."""
        return self.seconds - self.work


def replay(
    trace: Recorded,
    network: LogGP,
    *,
    blocking: bool = False,
    merged: bool = True,
    calls: int = 4,
    sample: int | None = None,
) -> Replay:
    """Return the simulated time of a call of a trace on a network."""
    rng = None if sample is None else np.random.default_rng(sample)
    work = trace.work[trace.shapes]
    sent = [_Sent.of(m.merged() if merged else m, trace.ranks) for m in trace.messages]
    state = _Ranks(trace.ranks, network)
    before = 0.0
    for _ in range(calls):
        before = float(state.now.max())
        work = work if rng is None else trace.drawn(rng)
        for number, event in enumerate(trace.events):
            state.now += work[:, number]
            if event.what == "reduce":
                state.reduce(event.number)
                continue
            if (event.what == "await") if blocking else (event.what == "begin"):
                state.send(event.number, sent[event.number])
            if event.what == "await":
                state.receive(event.number, sent[event.number])
        state.now += work[:, len(trace.events)]
    begun = [s for e in trace.events if e.what == "begin" for s in (sent[e.number],)]
    return Replay(
        float(state.now.max()) - before,
        float(work.sum(axis=1).max()),
        int(sum((s.each for s in begun), np.zeros(trace.ranks, np.int64)).max()),
        int(sum((s.volume for s in begun), np.zeros(trace.ranks)).max()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Sent:
    """The messages of an exchange, ordered by their sources.

    Attributes
    ----------
    sources, targets, bytes
        The messages.
    turns
        The message of each source that it sends first, second, and so on.
    each, volume
        For each rank how many messages it sends, and how many bytes.
    """

    sources: Array
    targets: Array
    bytes: Array
    turns: tuple[Array, ...]
    each: Array
    volume: Array

    @classmethod
    def of(cls, messages: Messages, ranks: int) -> _Sent:
        order = np.argsort(messages.sources, kind="stable")
        sources, sizes = messages.sources[order], messages.bytes[order]
        each = np.bincount(sources, minlength=ranks)
        volume = np.bincount(sources, sizes, ranks)
        return cls(sources, messages.targets[order], sizes, _turns(sources), each, volume)


def _turns(ranks: Array) -> tuple[Array, ...]:
    """Return the places of the first entry of each rank in a sorted array, of the second, ..."""
    first = np.searchsorted(ranks, ranks)
    turn = np.arange(len(ranks)) - first
    return tuple(np.flatnonzero(turn == n) for n in range(int(turn.max(initial=-1)) + 1))


class _Ranks:
    """The clocks of all ranks.

    Attributes
    ----------
    now
        The time of each clock.
    """

    def __init__(self, ranks: int, network: LogGP) -> None:
        self.now = np.zeros(ranks)
        self._free = np.zeros(ranks)
        self._network = network
        self._arrivals: dict[int, Array] = {}

    def send(self, exchange: int, sent: _Sent) -> None:
        """Send all messages of an exchange."""
        arrivals = np.zeros(len(sent.sources))
        for turn in sent.turns:
            source = sent.sources[turn]
            self.now[source] += self._network.overhead
            begin = np.maximum(self.now[source], self._free[source])
            self._free[source] = begin + self._network.gap * sent.bytes[turn]
            arrivals[turn] = self._free[source] + self._network.latency
        self._arrivals[exchange] = arrivals

    def receive(self, exchange: int, sent: _Sent) -> None:
        """Wait for all messages of an exchange."""
        arrivals = self._arrivals.pop(exchange)
        order = np.lexsort((arrivals, sent.targets))
        targets, arrivals = sent.targets[order], arrivals[order]
        for turn in _turns(targets):
            target = targets[turn]
            arrived = np.maximum(self.now[target], arrivals[turn])
            self.now[target] = arrived + self._network.overhead

    def reduce(self, count: int) -> None:
        """Reduce some bytes over all ranks, which wait for the last one."""
        self.now[:] = self.now.max() + self._network.reduction(len(self.now), count)
