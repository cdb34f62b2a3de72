"""The end conditions of a run: time, number of steps or wall-clock time."""

from __future__ import annotations

import math

from ..errors import OutOfRangeError
from ..points.numbers import integer, real


class Ends:
    """When a run ends: a time, a number of steps, or a number of seconds on the wall clock."""

    def __init__(
        self, stop_time: float | None, stop_steps: float | None, wall_limit: float | None
    ) -> None:
        self.stop_time, self.stop_steps, self.wall_limit = stop_time, stop_steps, wall_limit

    @property
    def stop_time(self) -> float:
        """The time at which the run ends; infinity if none was given. It may be changed."""
        return self._stop_time

    @stop_time.setter
    def stop_time(self, given: float | None) -> None:
        found = math.inf if given is None else real(given)
        if found is None or not found > -math.inf:
            raise OutOfRangeError(f"stop_time is {given!r}, not a number.")
        self._stop_time = float(found)

    @property
    def stop_steps(self) -> float:
        """The steps after which the run ends; infinity if none were given. It may be changed."""
        return self._stop_steps

    @stop_steps.setter
    def stop_steps(self, given: float | None) -> None:
        found = math.inf if given is None or real(given) == math.inf else integer(given)
        if found is None or found < 0:
            raise OutOfRangeError(f"stop_steps is {given!r}, not a number of steps.")
        self._stop_steps = found

    @property
    def wall_limit(self) -> float:
        """The seconds after which the run ends; infinity if none were given. It may be changed."""
        return self._wall_limit

    @wall_limit.setter
    def wall_limit(self, given: float | None) -> None:
        found = math.inf if given is None else real(given)
        if found is None or not found > 0.0:
            raise OutOfRangeError(f"wall_limit is {given!r}, not a positive number of seconds.")
        self._wall_limit = float(found)
