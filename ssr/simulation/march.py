"""The time loop of a run: step lengths, and the times that steps must reach exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..errors import ArgumentError, OutOfRangeError
from ..integrate.stepper import number, step_length
from ..points.numbers import real
from ..spaces.distributed import Ranks
from .cfl import CFL
from .clock import NEARLY, Clock, check_progress, rounding_of


class March:
    """A stepper on its way: the time, the number of steps, and the length of the next ones.

    ``is_whole`` is false while a step is under way, and after one that was interrupted.
    """

    def __init__(self, stepper: Any, dt: float | CFL | None) -> None:
        if (
            not callable(getattr(stepper, "step", None))
            or real(getattr(stepper, "t", None)) is None
        ):
            raise ArgumentError(
                f"The stepper is {stepper!r}; it has no time t or no method step(dt).",
                hint="Use a stepper of ssr.integrate, or ssr.simulation.FunctionStepper.",
            )
        self.stepper = stepper
        self.time, self.steps = number("t", stepper.t), 0
        self.is_whole = True
        self._is_adaptive = bool(getattr(stepper, "adaptive", False))
        self._has_steps = callable(getattr(stepper, "steps", None))
        self._cfl = dt if isinstance(dt, CFL) else None
        self._dt = None if isinstance(dt, CFL) else self._given(dt)
        self._clock = Clock(self.time, self._dt or 0.0)

    def _given(self, dt: float | None) -> float | None:
        """Return the length of a step, given by the user or by the stepper."""
        if self._is_adaptive:
            if dt is not None:
                raise ArgumentError(
                    f"{self.stepper!r} chooses its steps itself.", hint="Leave out dt."
                )
            return None
        given = getattr(self.stepper, "dt", None) if dt is None else dt
        if given is None:
            raise ArgumentError(f"{self.stepper!r} has no dt.", hint="Give dt=....")
        found = step_length(given)
        if found < 0.0:
            raise OutOfRangeError(
                f"dt is {given!r}, not a positive number: a simulation goes forward in time."
            )
        return found

    @property
    def dt(self) -> float | None:
        """The usual length of a step at present; None before a CFL condition was evaluated."""
        return self.stepper.dt if self._is_adaptive else self._dt

    @property
    def rounding(self) -> float:
        """The largest distance of two times that are considered equal."""
        return NEARLY * self._clock.dt + rounding_of(self.time)

    def go(self, target: float, last: float, simulation: Any, ranks: Ranks) -> None:
        """Make steps up to a time, or to a number of steps if that comes first."""
        if self._cfl is not None:
            self._limit(self._cfl, simulation, ranks)
            last = min(last, (self.steps // self._cfl.every + 1) * self._cfl.every)
        self.is_whole = False
        if self._is_adaptive:
            self._go_adaptively(target)
        else:
            self._go_equally(target, int(last) - self.steps)
        self.is_whole = True

    def _limit(self, cfl: CFL, simulation: Any, ranks: Ranks) -> None:
        """Evaluate the CFL condition where that is due."""
        if self._dt is None or self.steps % cfl.every == 0:
            found = ranks.broadcast(cfl._length(simulation, self._dt))
            if found != self._dt:
                self._dt, self._clock = found, Clock(self.time, found)

    def _go_equally(self, target: float, most: int) -> None:
        """Make steps of equal length, at most ``most``, up to a time or before it."""
        clock, stepper, dt = self._clock, self.stepper, self._dt
        assert dt is not None
        count = most + 1
        if target < math.inf:
            clock, count = clock.toward(target, self.time, dt)
        elif clock.dt != dt:
            clock = Clock(self.time, dt)
        check_progress(clock.dt, self.time)
        is_there, count = count <= most, min(count, most)
        times = clock.times(count)
        stepper.t = clock.time
        if self._has_steps:
            stepper.steps(clock.dt, times)
        else:
            for moment in times:
                stepper.step(clock.dt)
                stepper.t = moment
        self.steps += count
        self.time = stepper.t = target if is_there else times[-1]
        is_next = is_there and clock.dt != dt  # the equal steps to the target end
        self._clock = Clock(target, dt) if is_next else clock.after(count)

    def _go_adaptively(self, target: float) -> None:
        """Make one step whose length the stepper chooses, up to a time at most."""
        before, rest = self.time, target - self.time
        if rest < math.inf:
            check_progress(rest, before)
            self.stepper.step(rest)
        else:
            self.stepper.step()
        self.steps += 1
        self.time = float(self.stepper.t)
        self._clock = Clock(self.time, self.time - before)
        if abs(target - self.time) <= self.rounding:
            self.time = self.stepper.t = target

    def data(self) -> dict[str, Any]:
        """Return the numbers on which the next steps depend, as values of JSON."""
        return {
            "time": self.time,
            "steps": self.steps,
            "dt": self._dt,
            "clock": self._clock._asdict(),
            "stepper": self.stepper.data() if hasattr(self.stepper, "data") else {},
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over the numbers that `data` has returned."""
        if hasattr(self.stepper, "restore"):
            self.stepper.restore(data["stepper"])
        self.time, self.steps = number("time", data["time"]), int(data["steps"])
        self.stepper.t = self.time
        if self._cfl is not None:
            self._dt = data["dt"]
        is_same = self._dt == data["dt"]
        self._clock = Clock(**data["clock"]) if is_same else Clock(self.time, self._dt or 0.0)
