"""The work of all ranks of a job in a call: computation, exchanges, and reductions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Event:
    """The communication of ranks between two parts of their computation.

    Attributes
    ----------
    what
        Whether an exchange is begun, or awaited, or a reduction is made.
    number
        The number of the exchange in `Trace.messages`; of a reduction how many bytes each rank has.
    """

    what: Literal["begin", "await", "reduce"]
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """The values that ranks send to each other in one exchange.

    Attributes
    ----------
    sources, targets
        The ranks, for each array that two of them exchange.
    bytes
        The bytes of each exchanged array.
    """

    sources: Array
    targets: Array
    bytes: Array

    def merged(self) -> Messages:
        """Return one message for each pair of ranks, as in the actual exchange."""
        pairs, place = np.unique([self.sources, self.targets], axis=1, return_inverse=True)
        totals = np.bincount(place.ravel(), self.bytes, len(pairs[0]))
        return Messages(pairs[0], pairs[1], totals.astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """A call of a program on ranks, with measured times of each rank's own work.

    Attributes
    ----------
    ranks
        Their number.
    shapes
        For each rank the number of the shape of its boxes.
    events
        The events of all ranks, in order.
    work
        Seconds of work of a rank of each shape before each event, and after the last; an array of
        shapes x (events + 1).
    messages
        The messages of each exchange.
    samples
        For each shape the seconds of work in each timed call, an array of calls x (events + 1); if
        there are none, those in `work` are the only call.
    """

    ranks: int
    shapes: Array
    events: tuple[Event, ...]
    work: Array
    messages: tuple[Messages, ...]
    samples: tuple[Array, ...] = ()

    def drawn(self, rng: np.random.Generator) -> Array:
        """Return the seconds of work of each rank in a timed call of its shape, drawn at random."""
        found = np.empty((self.ranks, len(self.events) + 1))
        for shape, calls in enumerate(self.samples or self.work[:, None]):
            here = np.flatnonzero(self.shapes == shape)
            found[here] = calls[rng.integers(len(calls), size=len(here))]
        return found
