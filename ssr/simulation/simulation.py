"""Simulation runs of a stepper: end, callback schedules, checkpoints and interruption."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError, CheckpointError, OutOfRangeError
from ..integrate.stepper import Stepper
from ..output import Checkpoint, Writer, load, save
from ..spaces.distributed import OneProcess, ranks_of
from .callbacks import Callbacks, Entry
from .cfl import CFL
from .ends import Ends
from .interruption import interruption
from .march import March
from .progress import Progress
from .schedules import Schedule, schedule
from .signals import Caught, caught_signals
from .stopping import NaNChecker

PAUSE = 0.1
"""Interval in seconds at which the wall clock and signals are polled."""


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Attributes
    ----------
    reason
        ``"stop_time"``, ``"stop_steps"``, ``"wall_limit"``, or the name of a criterion.
    steps
        The number of steps of this run.
    wall
        The seconds that it took, with all callbacks.
    """

    reason: str
    steps: int
    wall: float

    @property
    def finished(self) -> bool:
        """Whether the run has come to its end: it was not stopped by the limit of its wall time."""
        return self.reason != "wall_limit"


class Simulation(Ends):
    """A run of a stepper: time, callbacks by schedules, stop criteria, checkpoints, interruption.

    Steps have the length dt. They are made a little shorter, all of them equally, where the next
    time of a schedule is not a multiple; schedules are met exactly. Times are products of an
    interval and an integer, so that no rounding errors accumulate: steps of 1/65 to the time 1 are
    65.

    A run ends at ``stop_time``, after ``stop_steps``, by a criterion (`stop_when`), or after
    ``wall_limit`` seconds. Ctrl-C and the signals SIGTERM, SIGHUP and SIGUSR1, by which batch
    systems announce the end of a job, end it after a step with `Interrupted`. In all these cases it
    has written its checkpoints. A second signal interrupts at once.

    On ranks, all of them make the same calls, and end after the same step.

    Parameters
    ----------
    stepper
        A stepper of `ssr.integrate`, a `FunctionStepper`, or another object with a time ``t`` and a
        method ``step(dt)``. An object may also have ``dt``, its usual step; ``steps(dt, times)``,
        several steps in one call, with the times at their ends; ``fields()``, ``data()`` and
        ``restore(data)``, its state for checkpoints, see `Stepper`; and ``adaptive``, true if
        ``step(dt)`` makes a step of at most dt and sets ``t``.
    stop_time
        The time at which the run ends, exactly.
    stop_steps
        The number of steps, from the start of the first run, after which it ends.
    dt
        The length of a step, or a `CFL` condition. By default that of the stepper.
    wall_limit
        The seconds after which a run ends. A step and a checkpoint should take less than the time
        that the batch system leaves after it.
    progress
        Whether a line on the terminal shows progress, or a function of the simulation that returns
        its text. Nothing is shown without a terminal.

    Attributes
    ----------
    wall
        The seconds since the run has begun, as all ranks have agreed on it, at most 0.1 s ago.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points)
    ... def decay(t, u):
    ...     return -u
    >>> stepper = ssr.integrate.RungeKutta(decay, 0.0, np.ones(3), dt=1 / 65)
    >>> simulation = ssr.simulation.Simulation(stepper, stop_time=1.0)
    >>> simulation.add(lambda s: print(s.time, s.steps, stepper.y[0].round(4)), time=0.5)
    >>> simulation.run().steps
    0.0 0 1.0
    0.5 33 0.6065
    1.0 66 0.3679
    66
    """

    def __init__(
        self,
        stepper: Any,
        stop_time: float | None = None,
        stop_steps: int | None = None,
        dt: float | CFL | None = None,
        *,
        wall_limit: float | None = None,
        progress: bool | Callable[[Any], str] = True,
    ) -> None:
        self._march = March(stepper, dt)
        super().__init__(stop_time, stop_steps, wall_limit)
        if not isinstance(progress, (bool, np.bool_)) and not callable(progress):
            raise ArgumentError(f"progress is {progress!r}, not True, False or a function.")
        self._progress = progress
        self._callbacks = Callbacks()
        self._ranks = ranks_of(self._stepper_fields().values())
        self._is_alone = isinstance(self._ranks, OneProcess)
        self._is_fresh, self._is_restored, self._is_running = True, True, False
        self.wall, self._began, self._looked = 0.0, 0.0, 0.0
        self._look_at, self._look_every, self._is_late = 1, 1, False

    def __repr__(self) -> str:
        return f"<Simulation of {self.stepper!r}: step {self.steps}, time {self.time:g}>"

    @property
    def stepper(self) -> Any:
        """The stepper."""
        return self._march.stepper

    @property
    def time(self) -> float:
        """The time; at an event of a schedule it is exactly that of the schedule."""
        return self._march.time

    @property
    def steps(self) -> int:
        """The number of steps since the start of the first run."""
        return self._march.steps

    @property
    def dt(self) -> float | None:
        """The usual length of a step at present; None before a CFL condition was evaluated."""
        return self._march.dt

    # -- callbacks -------------------------------------------------------------------------------

    def add(
        self,
        callback: Callable[[Any], Any],
        *,
        steps: int | None = None,
        time: float | None = None,
        times: Sequence[float] | None = None,
        wall: float | None = None,
        name: str | None = None,
    ) -> None:
        """Call a function by a schedule; after every step if none is given.

        Callbacks that are due together are called in the order in which they were added,
        `Checkpointer` last. Those that are due at the start are called before the first step. A
        run that continues from a checkpoint does not repeat those of its first moment.

        Parameters
        ----------
        callback
            Takes the simulation. On ranks all call it. If it has the methods ``fields()``,
            ``data()`` and ``restore(data)``, as `Statistics` has, checkpoints hold its state; if it
            has a method ``begin(simulation)``, that is called now.
        steps
            Due at all multiples of a number of steps.
        time
            Due at all multiples of an interval of time.
        times
            Due at these times.
        wall
            Due after each of so many seconds on the wall clock.
        name
            The name of its state in checkpoints; by default that of its type.

        Raises
        ------
        ArgumentError, OutOfRangeError
            If there are several schedules, or one does not fit.
        """
        self._add(callback, schedule(steps, time, times, wall), name, stops=False)

    def stop_when(
        self,
        criterion: Callable[[Any], bool],
        *,
        steps: int | None = None,
        time: float | None = None,
        times: Sequence[float] | None = None,
        wall: float | None = None,
        name: str | None = None,
    ) -> None:
        """End the run if a function of the simulation returns True, on any rank.

        Parameters
        ----------
        criterion
            The function, such as a `SteadyState`; see `add` for its state in checkpoints.
        steps, time, times, wall
            When it is called, see `add`; after every step by default.
        name
            Its name, the reason in the `Result`; by default that of the function or type.

        Raises
        ------
        ArgumentError, OutOfRangeError
            If there are several schedules, or one does not fit.
        """
        self._add(criterion, schedule(steps, time, times, wall), name, stops=True)

    def _add(self, call: Any, when: Schedule, name: str | None, *, stops: bool) -> None:
        self._callbacks.add(call, when, name, stops=stops)
        if hasattr(call, "begin"):
            call.begin(self)
        if self._is_running:
            self._callbacks.begin_new(self._now())

    # -- state -----------------------------------------------------------------------------------

    def unknowns(self) -> dict[str, Any]:
        """Return the fields that the stepper advances, by name."""
        if isinstance(self.stepper, Stepper):
            found = self.stepper.fields()
            return {name: found[name] for name in self.stepper.fun.unknowns}
        return self._stepper_fields()

    def fields(self) -> dict[str, Any]:
        """Return all fields of a checkpoint by name: those of the stepper, and of callbacks."""
        return {**self._stepper_fields(), **self._callbacks.fields()}

    def data(self) -> dict[str, Any]:
        """Return all numbers of a checkpoint as values of JSON."""
        return {**self._march.data(), "callbacks": self._callbacks.data()}

    def save(self, path: str | os.PathLike[str], data: Mapping[str, Any] | None = None) -> None:
        """Write a checkpoint, whole or not at all; all ranks call it together.

        Parameters
        ----------
        path
            The file.
        data
            Other values of JSON to keep in it, by name.

        Raises
        ------
        NonFiniteError
            If the run has a `NaNChecker`, and a value is not finite.
        """
        for entry in self._callbacks:
            if isinstance(entry.call, NaNChecker):
                entry.call(self)
        if data is not None and not isinstance(data, Mapping):
            raise ArgumentError(f"data is {data!r}, not a dictionary.")
        save(path, self.fields(), {**(data or {}), "simulation": self.data()})

    def restore(self, path: str | os.PathLike[str] | Checkpoint) -> None:
        """Continue from a checkpoint, bitwise identical to a run without interruption.

        The number of ranks may differ. Add the callbacks before: the state of each is restored by
        its name. A callback that the checkpoint does not have begins again.

        Parameters
        ----------
        path
            The file, or the `Checkpoint` that `ssr.output.load` has read from it.

        Raises
        ------
        CheckpointError
            If the file is missing or damaged, or has no state of a simulation.
        ArgumentError
            If it is the checkpoint of another stepper.
        ShapeError, DtypeError
            If a field has another shape or dtype there.
        OutputError
            If a `Writer` without a mode would replace the records of the run before.
        """
        self._check_idle()
        on = None if self._is_alone else self._ranks
        found = path if isinstance(path, Checkpoint) else load(path, on)
        state = found.data.get("simulation")
        if not isinstance(state, dict):
            raise CheckpointError(
                f"{found.path} has no state of a simulation.",
                hint="Restore a file that a Checkpointer or Simulation.save has written.",
            )
        for entry in self._callbacks:
            if isinstance(entry.call, Writer):
                entry.call._check_restart(state["time"])
        self._is_restored = False
        self._callbacks.forget()
        self._march.restore(state)
        fields = self._callbacks.restore(state["callbacks"])
        found.restore({**self._stepper_fields(), **fields})
        self._is_restored, self._is_fresh, self._march.is_whole = True, False, True

    @property
    def last_checkpoint(self) -> Path | None:
        """The checkpoint written last; None if there is none."""
        made = [c for c in self._callbacks.checkpointers if c.last is not None]
        return max(made, key=lambda c: c.steps or 0).last if made else None

    def _stepper_fields(self) -> dict[str, Any]:
        return dict(self.stepper.fields()) if hasattr(self.stepper, "fields") else {}

    # -- the run ---------------------------------------------------------------------------------

    def run(self) -> Result:
        """Make steps until the run ends; it may be called again with a later end.

        Returns
        -------
        Result
            The reason why the run has ended, and its steps.

        Raises
        ------
        ArgumentError
            If nothing ends the run.
        OutOfRangeError
            If it would end before the present time.
        Interrupted
            After Ctrl-C or another signal, when checkpoints have been written.
        NonFiniteError
            If a `NaNChecker` finds a value that is not finite.
        StepSizeError
            If a step is too short for the time to change.
        """
        self._check_end()
        self._began, first = time.perf_counter(), self.steps
        self.wall, self._looked = 0.0, self._began
        self._look_at, self._look_every, self._is_late = self.steps + 1, 1, False
        self._callbacks.begin(self._now())
        progress = Progress(self._text, is_wanted=self._ranks.is_root and bool(self._progress))
        self._is_running = True
        with caught_signals() as caught:
            try:
                reason = self._loop(caught, progress)
                for checkpointer in self._callbacks.checkpointers:
                    if checkpointer.steps != self.steps:
                        checkpointer(self)
                progress.show(self._part(), self.steps)
            finally:
                self._is_running = False
                progress.done()
            if reason is None:
                last = self.last_checkpoint
                raise interruption(caught, self._ranks, self.steps, self.time, last)
        return Result(reason, self.steps - first, time.perf_counter() - self._began)

    def _check_idle(self) -> None:
        if self._is_running:
            raise ArgumentError(
                "The run is under way.",
                note="A callback or a step has called run() or restore() of its own simulation.",
                hint="Call it after run() has returned.",
            )

    def _check_end(self) -> None:
        self._check_idle()
        ends = self.stop_time, self.stop_steps, self.wall_limit
        if min(ends) == math.inf and not any(e.stops for e in self._callbacks):
            raise ArgumentError(
                "The run has no end.", hint="Give stop_time, stop_steps or wall_limit."
            )
        if self.stop_time < self.time or self.stop_steps < self.steps:
            raise OutOfRangeError(
                f"The run is at step {self.steps}, time {self.time:g}, after its end.",
                hint="Give a later stop_time or stop_steps.",
            )
        if not (self._is_restored and self._march.is_whole):
            raise ArgumentError(
                "A step was interrupted before its end, or a checkpoint was not restored.",
                note="The fields may hold new values in part.",
                hint="Restore a checkpoint.",
            )

    def _loop(self, caught: Caught, progress: Progress) -> str | None:
        """Make steps, and return why they end; None if a signal has ended them."""
        reason = None
        if self._is_fresh:
            self._is_fresh = False
            reason = self._call(self._callbacks.at_start(self._now()))
        progress.begin()
        while reason is None:
            if self.steps >= self.stop_steps:
                return "stop_steps"
            if self.time + self._march.rounding >= self.stop_time:
                return "stop_time"
            last = min(self._look_at, self.stop_steps)
            target, last = self._callbacks.next_events(self.stop_time, last)
            self._march.go(target, last, self, self._ranks)
            is_asked = self.steps >= self._look_at and self._look(caught, progress)
            reason = self._call(self._callbacks.due(self._now(self._march.rounding)))
            if is_asked or (self._is_alone and caught.number is not None):
                return None
            if reason is None and self._is_late:
                return "wall_limit"
        return reason

    def _look(self, caught: Caught, progress: Progress) -> bool:
        """Look at the wall clock, and return whether a signal has asked any rank to end."""
        now = time.perf_counter()
        spent = max(now - self._looked, 1e-9)
        every = self._look_every * min(PAUSE / spent, 10.0)
        self._looked = now
        wall = now - self._began
        state = max(int(every), 1), wall, wall >= self.wall_limit
        self._look_every, self.wall, self._is_late = self._ranks.broadcast(state)
        self._look_at = self.steps + self._look_every
        progress.show(self._part(), self.steps)
        return self._ranks.any(caught.number is not None)

    def _call(self, due: Sequence[Entry]) -> str | None:
        """Make calls that are due, and return the name of a criterion that holds."""
        reason = None
        for entry in due:
            found = entry.call(self)
            if entry.stops and self._ranks.any(bool(found)):
                reason = reason or entry.name
        return reason

    def _now(self, rounding: float = 0.0) -> dict[str, float]:
        """Return the present in the units of schedules."""
        return {"time": self.time + rounding, "steps": self.steps, "wall": self.wall}

    # -- progress --------------------------------------------------------------------------------

    def _part(self) -> float:
        """Return the part of the run that is done, from the start of the first run."""
        parts = [self.steps / self.stop_steps if self.stop_steps else 1.0]
        if self.stop_time not in (0.0, math.inf):
            parts.append(self.time / self.stop_time)
        return max(parts)

    def _text(self) -> str:
        """Return the text that the progress display shows for the present state."""
        if callable(self._progress):
            return self._progress(self)
        end = "" if self.stop_time == math.inf else f" of {self.stop_time:g}"
        return f"t = {self.time:g}{end}  step {self.steps}"
