"""Schedules: the steps and times at which a callback is due."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..errors import ArgumentError, OutOfRangeError
from ..integrate.stepper import number, positive
from ..points.numbers import integer, real
from .clock import NEARLY, rounding_of


@dataclass(frozen=True)
class Every:
    """All multiples of an interval.

    Attributes
    ----------
    counts
        The unit of events: ``steps``, the ``time`` of the run, or seconds on the ``wall`` clock.
    interval
        The distance of events, which are numbered from 0 on.
    """

    counts: str
    interval: float

    def event(self, number: int) -> float:
        """Return the step or time of an event."""
        return number * self.interval

    def past(self, now: float) -> int:
        """Return the number of the first event after now."""
        number = now / self.interval
        return math.floor(number + self._rounding(number)) + 1

    def is_on(self, now: float) -> bool:
        """Whether an event is now; on the wall clock never at the start."""
        number = now / self.interval
        near = abs(number - round(number)) <= self._rounding(number)
        return near and self.counts != "wall"

    def _rounding(self, number: float) -> float:
        return 0.0 if self.counts == "steps" else NEARLY + rounding_of(number)


@dataclass(frozen=True)
class AtTimes:
    """Given times, in order."""

    times: tuple[float, ...]
    counts = "time"

    def event(self, number: int) -> float:
        """Return the time of an event, infinity after the last one."""
        return self.times[number] if 0 <= number < len(self.times) else math.inf

    def past(self, now: float) -> int:
        """Return the number of the first event after now."""
        return bisect_right(self.times, now + rounding_of(now))

    def is_on(self, now: float) -> bool:
        """Whether an event is now."""
        return any(abs(now - time) <= rounding_of(now) for time in self.times)


Schedule: TypeAlias = Every | AtTimes


def schedule(steps: Any = None, time: Any = None, times: Any = None, wall: Any = None) -> Schedule:
    """Return the schedule that a user gives by one of these arguments; every step without any."""
    given = {"steps": steps, "time": time, "times": times, "wall": wall}
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise ArgumentError(
            f"A callback has one schedule, not {' and '.join(names)}.",
            hint="Add it once for each schedule.",
        )
    if times is not None:
        return AtTimes(_times(times))
    if time is not None or wall is not None:
        name = names[0]
        return Every(name, positive(name, number(name, given[name])))
    return Every("steps", positive_integer("steps", 1 if steps is None else steps))


def positive_integer(name: str, value: Any) -> int:
    """Return a positive integer."""
    found = integer(value)
    if found is None or found < 1:
        raise OutOfRangeError(f"{name} is {value!r}, not a positive integer.")
    return found


def _times(given: Any) -> tuple[float, ...]:
    """Return times in order, each once."""
    is_single = isinstance(given, str) or getattr(given, "ndim", 1) == 0
    if is_single or not isinstance(given, Iterable):
        raise ArgumentError(f"times is {given!r}, not a list of times.")
    found = [real(value) for value in given]
    if any(value is None or not math.isfinite(value) for value in found):
        raise OutOfRangeError(f"times is {given!r}; each time is a finite number.")
    return tuple(sorted({float(value) for value in found if value is not None}))
