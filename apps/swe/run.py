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
from typing import Any

import boundary as bc
import ssr

from .cases import DAY
from .checkpoint import Checkpoint, Setting, save
from .diagnostics import Gauges, Invariants, Norms, Range, Values, courant
from .files import OutputError
from .scheme import Solver

BETWEEN = 10
"""Steps between two checks of the fastest wave."""


class UnstableError(ssr.Error, ArithmeticError):
    """The flow is no longer finite, or waves cross more than a cell within a step."""


Make = Callable[[Setting], Solver]


@dataclass(frozen=True)
class Report:
    """All that is known about the flow at one time; the next report changes its fields."""

    flow: Solver
    step: int
    seconds: float
    state: bc.Field
    values: Values
    height: Range
    vorticity: Range
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
            "solver": setting.solver,
            "n": setting.n,
            "points": setting.points,
            "angle": setting.angle,
            "weights": setting.weights,
            "viscosity": setting.viscosity,
            "dt": setting.dt,
            "steps": last.step,
            "days": last.seconds / DAY,
            "courant": last.courant,
            **dict.fromkeys(("l1", "l2", "linf")),
            **({} if last.norms is None else last.norms._asdict()),
            **{f"{name}_drift": value for name, value in last.drift._asdict().items()},
            **{"h_min": last.height.low, "h_max": last.height.high},
            **{"zeta_min": last.vorticity.low, "zeta_max": last.vorticity.high},
            "wall_s": self.wall,
            "compile_s": self.first,
            "ms_per_step": 1e3 * self.step,
            "cell_updates_per_s": 6 * setting.points**2 / self.step if self.step else None,
            "ranks": self.ranks,
        }
        return {k: None if v != v else v for k, v in found.items()}


def time_step(seconds: float, longest: float) -> float:
    """Return a time step, at most the longest, that divides a time such as that between reports.

    Examples
    --------
    >>> time_step(1000.0, 300.0)
    250.0
    """
    return seconds / max(1, math.ceil(seconds / longest - 1e-9))


class Run:
    """A run, from a checkpoint or from the start.

    Parameters
    ----------
    make
        A function that makes the solver of a setting.
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
        self.solver = make(setting)
        self.case, self.gauges = self.solver.case, Gauges(self.solver)
        self.initial, *_ = self.gauges.observe()
        if start is not None:
            self.solver.state.set(start.state)
        state = self.solver.state.copy()
        step, seconds = (0, 0.0) if start is None else (start.step, start.seconds)
        self.start = self.good = Checkpoint(setting, step, seconds, state)
        self.courant, self.drift = math.nan, Invariants(0.0, 0.0, 0.0)
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
        stop: Callable[[], bool] | None = None,
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
        stop
            Called after each step: whether the run is to be interrupted. All ranks stop if it is
            true on one of them.

        Raises
        ------
        KeyboardInterrupt
            If the run is to stop.
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
            if stop is not None and self.solver.on.any(stop()):
                raise KeyboardInterrupt
        wall = time.perf_counter() - began
        each = (stepping - first) / (self.steps - 1) if self.steps > 1 else stepping
        ranks = self.solver.on.world.ranks
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
        seconds, gauges = self.seconds(count), self.gauges
        now, height, vorticity = gauges.observe()
        self.drift = now.drift(self.initial)
        return Report(
            self.solver,
            self.start.step + count,
            seconds,
            self.solver.state,
            gauges.values,
            height,
            vorticity,
            self.drift,
            courant(gauges.fastest(), self.solver.cells, self.setting.dt),
            gauges.norms(seconds),
        )

    def _due(self, count: int) -> bool:
        """Whether a report is due: the run ends, or the time of a report lies in this step."""
        if count == self.steps:
            return True
        now, then = (self.seconds(c) / self.every + 1e-9 for c in (count, count - 1))
        return math.floor(now) > math.floor(then)

    def _check_finite(self, step: int) -> None:
        if not self.gauges.finite():
            self._stop(step, math.inf)

    def _check_speeds(self, step: int) -> None:
        speed = self.gauges.fastest()
        self.courant = courant(speed, self.solver.cells, self.setting.dt)
        if not self.courant <= self.solver.limit:
            self._stop(step, speed)

    def _stop(self, step: int, speed: float) -> None:
        """Save the last good state and raise."""
        bad, dry, fast = self.gauges.worst(speed)
        what = f"has waves of {speed:.0f} m/s, a Courant number of {self.courant:.2f}"
        reasons = (bad, "holds no finite number"), (dry, "has run dry"), (fast, what)
        (panel, j, i), reason = next((at, why) for at, why in reasons if at is not None)
        dt, hint = self.setting.dt, "Begin again with a shorter step, by --dt or --cfl"
        where = ""
        if self.good.step > self.start.step and self.rescue is not None:
            where = f"; the state after step {self.good.step} is in {self.rescue}"
            try:
                save(self.rescue, self.good, first=self.solver.on.first)
            except OutputError as error:
                where = f"; {error.message.rstrip('.')}"
        raise UnstableError(
            f"The run stops at step {step}: panel {panel}, j = {j}, i = {i} {reason}.",
            note=f"steps are {dt:g} s long; no wave may cross more than "
            f"{self.solver.limit:g} cell in one",
            hint=f"{hint}{where}.",
        )
