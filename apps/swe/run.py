"""Advance a flow in time: the loop over steps, what is checked, and when it stops.

A run is one setting from one time to another. Every step is checked for numbers that are not
finite; every tenth one, and every one with a report, for waves that are too fast. Either stops the
run with an error that names the place, and a good state from shortly before is saved. Reports are
made at the start, at regular times, and at the end. A run that continues from a checkpoint does not
repeat the report of the time at which it begins, so that the parts of a run make the same reports
as the whole.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import ssr

from . import cases, diagnostics
from .cases import DAY, Case
from .checkpoint import Checkpoint, Setting, Weights, save
from .diagnostics import Invariants, Norms
from .fields import Fields, fields
from .files import OutputError
from .geometry import Array

LIMIT = 1.0
"""The Courant number above which a run stops; the scheme was found stable up to 0.99."""

BETWEEN = 10
"""Steps between two checks of the fastest wave."""


class UnstableError(ssr.Error, ArithmeticError):
    """The flow is no longer finite, or waves cross more than a cell within a step."""


class Solver(Protocol):
    """A solver: the averages of J h, J h u1, J h u2, and a step that advances them in place."""

    state: Array

    def step(self, dt: float) -> None:
        """Advance the state by dt seconds."""


Make = Callable[[int, Case, Weights], Solver]


@dataclass(frozen=True)
class Report:
    """All that is known about the flow at one time."""

    step: int
    seconds: float
    state: Array
    fields: Fields
    drift: Invariants
    courant: float
    norms: Norms | None


@dataclass(frozen=True)
class Result:
    """A finished run: its last report and what it cost."""

    setting: Setting
    steps: int
    last: Report
    wall: float
    """Seconds of the whole run, including reports and files."""
    step: float
    """Seconds of a step, not counting the first one."""
    first: float
    """Seconds that the first step took longer, for instance to compile kernels."""
    ranks: int

    def document(self) -> dict[str, Any]:
        """Return the numbers under the keys of the JSON file; None where there is none."""
        setting, last = self.setting, self.last
        found = {
            "case": setting.case,
            "n": setting.n,
            "angle": setting.angle,
            "weights": setting.weights,
            "dt": setting.dt,
            "steps": last.step,
            "days": last.seconds / DAY,
            "courant": last.courant,
            **dict.fromkeys(("l1", "l2", "linf")),
            **({} if last.norms is None else last.norms._asdict()),
            **{f"{name}_drift": value for name, value in last.drift._asdict().items()},
            **{
                f"{name}_{end}": float(pick(values))
                for name, values in (("h", last.fields.H), ("zeta", last.fields.zeta))
                for end, pick in (("min", np.min), ("max", np.max))
            },
            "wall_s": self.wall,
            "compile_s": self.first,
            "ms_per_step": 1e3 * self.step,
            "cell_updates_per_s": 6 * setting.n**2 / self.step if self.step else None,
            "ranks": self.ranks,
        }
        return {k: None if v != v else v for k, v in found.items()}


def time_step(case: Case, n: int, seconds: float, cfl: float | None, dt: float | None) -> float:
    """Return a time step that divides a given time, such as that between reports.

    Parameters
    ----------
    cfl, dt
        The Courant number at the start, or the longest step; by default that of the case.
    """
    if cfl is not None:
        fastest = diagnostics.speeds(case.state(n), case).max()
        dt = cfl / diagnostics.courant(float(fastest), n, 1.0)
    dt = case.dt(n) if dt is None else dt
    return seconds / max(1, math.ceil(seconds / dt - 1e-9))


class Run:
    """A run, from a checkpoint or from the start.

    Parameters
    ----------
    make
        A function that makes the solver for a number of cells, a case and weights.
    until
        The time at which the run ends, in seconds.
    every
        The time between reports, in seconds.
    rescue
        Where the last good state is saved if the flow becomes unstable.
    """

    def __init__(
        self,
        setting: Setting,
        make: Make,
        until: float,
        every: float = math.inf,
        start: Checkpoint | None = None,
        rescue: Path | None = None,
    ) -> None:
        self.setting, self.until, self.every, self.rescue = setting, until, every, rescue
        self.case = cases.case(setting.case, setting.angle)
        self.solver = make(setting.n, self.case, setting.weights)
        first = Checkpoint(setting, 0, 0.0, self.solver.state.copy())
        at_start = fields(first.state, self.case)
        self.initial = diagnostics.invariants(first.state, at_start, self.case)
        self.start = first if start is None else start
        self.good = self.start
        self.solver.state[:] = self.start.state
        self.steps = math.ceil((until - self.start.seconds) / setting.dt - 1e-9)
        if self.steps < 1:
            raise ssr.errors.ArgumentError(
                f"The run is to end after {until / DAY:g} days, "
                f"but begins after {self.start.seconds / DAY:g}.",
                hint="Ask for more days.",
            )

    def run(
        self,
        report: Callable[[Report], object] = lambda report: None,
        progress: Callable[["Run", int], object] = lambda run, step: None,
        keep: Callable[[Checkpoint], object] = lambda checkpoint: None,
    ) -> Result:
        """Take all steps.

        Parameters
        ----------
        report
            Called at the end, at regular times before, and at the start of a flow.
        keep
            Called with the state after each report of a step, to save it. Between the two calls the
            state becomes the last good one, so that a state which is saved has been reported.
        progress
            Called before the first step with 0, and after each step with its number.

        Raises
        ------
        UnstableError
            If the flow becomes unstable.
        """
        began, stepping, first = time.perf_counter(), 0.0, 0.0
        self._check_speeds(self.start.step)
        last = self.report(0)
        if self.start.step == 0:
            report(last)
        progress(self, 0)
        for count in range(1, self.steps + 1):
            then = time.perf_counter()
            self.solver.step(self.length(count))
            stepping += time.perf_counter() - then
            first = first or stepping
            step = self.start.step + count
            self._check_finite(step)
            due = self._due(count)
            if due or step % BETWEEN == 0:
                self._check_speeds(step)
                if due:
                    report(last := self.report(count))
                self.good = self.checkpoint(count)
                if due:
                    keep(self.good)
            progress(self, count)
        wall = time.perf_counter() - began
        each = (stepping - first) / (self.steps - 1) if self.steps > 1 else stepping
        ranks = getattr(self.solver, "ranks", 1)
        return Result(self.setting, self.steps, last, wall, each, first - each, ranks)

    def length(self, count: int) -> float:
        """Return the length of a step; the last one may be shorter."""
        rest = self.until - self.seconds(count - 1)
        return self.setting.dt if rest > self.setting.dt * (1 - 1e-6) else rest

    def seconds(self, count: int) -> float:
        """Return the time after some steps."""
        return min(self.start.seconds + count * self.setting.dt, self.until)

    def checkpoint(self, count: int) -> Checkpoint:
        """Return the present state, to be saved."""
        step, state = self.start.step + count, self.solver.state.copy()
        return Checkpoint(self.setting, step, self.seconds(count), state)

    def report(self, count: int) -> Report:
        """Return all that is known about the present state."""
        state, seconds, n = self.solver.state, self.seconds(count), self.setting.n
        values = fields(state, self.case)
        now = diagnostics.invariants(state, values, self.case)
        exact = self.case.exact_depth(n, seconds)
        speed = float(diagnostics.speeds(state, self.case).max())
        return Report(
            self.start.step + count,
            seconds,
            state,
            values,
            now.drift(self.initial),
            diagnostics.courant(speed, n, self.setting.dt),
            None if exact is None else diagnostics.norms(diagnostics.depth(state), exact),
        )

    def _due(self, count: int) -> bool:
        """Whether a report is due: the run ends, or the time of a report lies in this step."""
        if count == self.steps:
            return True
        now, then = (self.seconds(c) / self.every + 1e-9 for c in (count, count - 1))
        return math.floor(now) > math.floor(then)

    def _check_finite(self, step: int) -> None:
        if not math.isfinite(self.solver.state.sum()):
            bad = ~np.isfinite(self.solver.state).all(axis=0)
            self._stop(step, bad, "holds no finite number")

    def _check_speeds(self, step: int) -> None:
        with np.errstate(invalid="ignore", divide="ignore"):
            speed = diagnostics.speeds(self.solver.state, self.case)
        dry = np.isnan(speed)
        if dry.any():
            self._stop(step, dry, "has run dry")
        number = diagnostics.courant(float(speed.max()), self.setting.n, self.setting.dt)
        if number > LIMIT:
            what = f"has waves of {speed.max():.0f} m/s, a Courant number of {number:.2f}"
            self._stop(step, speed == speed.max(), what)

    def _stop(self, step: int, bad: Any, what: str) -> None:
        """Save the last good state and raise."""
        panel, j, i = np.argwhere(bad)[0]
        dt, hint = self.setting.dt, "Begin again with a shorter step, by --dt or --cfl"
        place = ""
        if self.good.step > self.start.step and self.rescue is not None:
            place = f"; the state after step {self.good.step} is in {self.rescue}"
            try:
                save(self.rescue, self.good)
            except OutputError as error:
                place = f"; {error.message.rstrip('.')}"
        raise UnstableError(
            f"The run stops at step {step}: panel {panel}, j = {j}, i = {i} {what}.",
            note=f"steps are {dt:g} s long; no wave may cross more than {LIMIT:g} cell in one",
            hint=f"{hint}{place}.",
        )
