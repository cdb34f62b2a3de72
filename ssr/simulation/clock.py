"""The simulation clock: time as an origin plus a number of equal steps."""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

from ..errors import StepSizeError

NEARLY = 1e-9
"""Tolerance, as a fraction of a step, within which two times count as equal."""


def rounding_of(value: float) -> float:
    """Return the size of a few rounding errors of a value."""
    return 4.0 * sys.float_info.epsilon * abs(value)


class Clock(NamedTuple):
    """The time after a number of steps of one length, which is multiplied and never added up."""

    origin: float
    dt: float
    steps: int = 0

    @property
    def time(self) -> float:
        """The present time."""
        return self.origin + self.steps * self.dt

    def times(self, count: int) -> list[float]:
        """Return the times at the ends of the next steps."""
        first = self.steps + 1
        return [self.origin + n * self.dt for n in range(first, first + count)]

    def after(self, count: int) -> Clock:
        """Return the clock after some more steps."""
        return Clock(self.origin, self.dt, self.steps + count)

    def toward(self, target: float, now: float, dt: float) -> tuple[Clock, int]:
        """Return the clock for the way to a time, and the number of steps.

        The steps of this clock continue if they meet the target; otherwise there is the smallest
        number of equal steps that are not longer than dt.

        Examples
        --------
        >>> Clock(0.0, 1 / 65).toward(1.0, 0.0, 1 / 65)[1]
        65
        >>> Clock(0.0, 0.3).toward(1.0, 0.0, 0.3)
        (Clock(origin=0.0, dt=0.25, steps=0), 4)
        """
        if self.dt <= dt * (1.0 + NEARLY):
            total = (target - self.origin) / self.dt
            whole = round(total) if math.isfinite(total) else 0
            if whole > self.steps and abs(total - whole) <= NEARLY + rounding_of(total):
                return self, whole - self.steps
        count = max(math.ceil((target - now) / dt - NEARLY), 1)
        return Clock(now, (target - now) / count), count


def check_progress(dt: float, now: float) -> None:
    """Check that a step changes the time."""
    if not now + dt > now:
        raise StepSizeError(
            f"A step of {dt:.1e} does not change the time {now!r}.",
            hint="Two times of schedules may be too close together, or dt is too small.",
        )
