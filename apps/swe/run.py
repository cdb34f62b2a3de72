"""A flow in time: the callbacks of its simulation, and its results.

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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

import boundary as bc
import ssr

from .cases import DAY
from .checkpoint import Checkpoint, Setting
from .diagnostics import Gauges, Invariants, Norms, Range, Values, courant
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
    values: Values
    height: Range
    vorticity: Range
    drift: Invariants
    courant: float
    norms: Norms | None


@dataclass(frozen=True)
class Result:
    """A finished run: its last report and its times."""

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
            **asdict(setting),
            "points": setting.points,
            "steps": last.step,
            "days": last.seconds / DAY,
            "courant": last.courant,
            **dict.fromkeys(Norms._fields),
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
        The time between reports, and between checkpoints, in seconds.
    rescue
        Where the last good state is saved if the flow becomes unstable.
    checkpoint
        Where the run is saved at regular times, and when it ends.
    """

    def __init__(
        self,
        setting: Setting,
        make: Make,
        until: float,
        every: float = math.inf,
        start: Checkpoint | None = None,
        rescue: Path | None = None,
        checkpoint: Path | None = None,
    ) -> None:
        self.setting, self.until, self.rescue = setting, until, rescue
        self.solver = make(setting)
        self.gauges = Gauges(self.solver)
        self.initial, *_ = self.gauges.observe()
        self.courant, self.drift = math.nan, Invariants(0.0, 0.0, 0.0)
        self._stepping = self._first = 0.0
        self._hear: Callable[[Report], object] = lambda report: None
        self._last: Report | None = None
        self._good: tuple[dict[str, bc.Field], dict[str, Any]] | None = None
        self._about = {"setting": asdict(setting)}
        stepper = ssr.simulation.FunctionStepper(
            self._step, {"state": self.solver.state}, dt=setting.dt
        )
        self.simulation = ssr.simulation.Simulation(stepper, until, progress=self._line)
        if start is not None:
            self.simulation.restore(start.file)
        self.begin = self.good = self.simulation.steps
        if until <= self.simulation.time:
            raise ssr.errors.ArgumentError(
                f"The run is to end after {until / DAY:g} days, "
                f"but begins after {self.simulation.time / DAY:g}.",
                hint="Ask for more days.",
            )
        regular: dict[str, Any] = {"time": every} if every < math.inf else {}
        add = self.simulation.add
        add(ssr.simulation.NaNChecker(), steps=1)
        add(self._check_speeds, steps=BETWEEN)
        if regular:
            add(self._report, **regular)
        add(self._report, times=[0.0, until])
        add(self._keep, steps=BETWEEN)
        if checkpoint is not None:
            saver = ssr.simulation.Checkpointer(checkpoint, data=self._about)
            add(saver, **(regular or {"times": [until]}))

    def run(self, report: Callable[[Report], object] = lambda report: None) -> Result:
        """Take all steps.

        Parameters
        ----------
        report
            Called at the start of a flow, at regular times, and at the end.

        Raises
        ------
        ssr.simulation.Interrupted
            After Ctrl-C and other signals that end a process; the run has been saved.
        UnstableError
            If the flow becomes unstable.
        """
        self._hear = report
        if self.begin:
            self._check_speeds()
        try:
            done = self.simulation.run()
        except ssr.errors.NonFiniteError:
            self._stop(math.inf)
        assert self._last is not None
        count = done.steps
        each = (self._stepping - self._first) / (count - 1) if count > 1 else self._stepping
        ranks = self.solver.on.world.ranks
        return Result(self.setting, count, self._last, done.wall, each, self._first - each, ranks)

    def _step(self, t: float, dt: float) -> None:
        then = time.perf_counter()
        self.solver.step(dt)
        self._stepping += time.perf_counter() - then
        self._first = self._first or self._stepping

    def report(self) -> Report:
        """Return all that is known about the present state."""
        seconds, gauges = self.simulation.time, self.gauges
        now, height, vorticity = gauges.observe()
        self.drift = now.drift(self.initial)
        speed, norms = gauges.fastest(), gauges.norms(seconds)
        found = courant(speed, self.solver.cells, self.setting.dt)
        about = self.solver, self.simulation.steps, seconds, gauges.values
        return Report(*about, height, vorticity, self.drift, found, norms)

    def _report(self, simulation: Any = None) -> None:
        """Make a report, unless there is one of this step; keep the state as the last good one."""
        if self._last is None or self._last.step != self.simulation.steps:
            self._check_speeds()
            self._last = self.report()
            self._hear(self._last)
            self._keep()

    def _keep(self, simulation: Any = None) -> None:
        """Keep the present state as the last good one."""
        if self.simulation.steps > self.good:
            about = {**self._about, "simulation": self.simulation.data()}
            self._good = {"state": self.solver.state.copy()}, about
            self.good = self.simulation.steps

    def save_good(self, path: Path) -> bool:
        """Save the last good state; whether there is one."""
        if self._good is None:
            return False
        ssr.output.save(path, *self._good)
        return True

    def _check_speeds(self, simulation: Any = None) -> None:
        speed = self.gauges.fastest()
        self.courant = courant(speed, self.solver.cells, self.setting.dt)
        if not self.courant <= self.solver.limit:
            self._stop(speed)

    def _stop(self, speed: float) -> NoReturn:
        """Save the last good state and raise."""
        bad, dry, fast = self.gauges.worst(speed)
        what = f"has waves of {speed:.0f} m/s, a Courant number of {self.courant:.2f}"
        reasons = (bad, "holds no finite number"), (dry, "has run dry"), (fast, what)
        (panel, j, i), reason = next((at, why) for at, why in reasons if at is not None)
        dt, hint = self.setting.dt, "Begin again with a shorter step, by --dt or --cfl"
        where = ""
        if self.rescue is not None:
            try:
                if self.save_good(self.rescue):
                    where = f"; the state after step {self.good} is in {self.rescue}"
            except ssr.errors.OutputError as error:
                where = f"; {error.message.rstrip('.')}"
        raise UnstableError(
            f"The run stops at step {self.simulation.steps}: "
            f"panel {panel}, j = {j}, i = {i} {reason}.",
            note=f"steps are {dt:g} s long; no wave may cross more than "
            f"{self.solver.limit:g} cell in one",
            hint=f"{hint}{where}.",
        ) from None

    def _line(self, simulation: Any) -> str:
        """Return time, step, Courant number and drift of invariants, as last computed."""
        mass, energy, enstrophy = self.drift
        text = f"day {simulation.time / DAY:.2f} of {self.until / DAY:g}"
        text += f"  step {simulation.steps}  CFL {self.courant:.2f}  mass {mass:+.0e}"
        if self.solver.case.passive:
            return text
        return f"{text}  energy {energy:+.0e}  enstrophy {enstrophy:+.0e}"
