"""Shallow water on the cubed sphere: ``python -m apps.swe --case tc5 --n 48 --plot day15.png``.

``--solver sem`` takes spectral elements instead of finite volumes.

``mpiexec -n 4 python -m apps.swe ...`` runs it on four ranks, with the same bits.
``python -m apps.swe plot FILE`` draws a file that a run has written, and
``python -m apps.swe verify`` compares the solver with known results.
"""

import argparse
import importlib.util
import math
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import boundary as bc
import ssr
from apps.commands import STOPPED, as_json, finished, flush, prepare, tell
from apps.ranks import add_threads, ranks_of

from . import cases, solvers
from .cases import DAY
from .checkpoint import Checkpoint, Setting, load
from .diagnostics import Gauges, courant
from .output import check, read, writer
from .plot import Picture, Points, draw
from .run import Make, Report, Result, Run, time_step

LARGEST = 10**6
"""The most cells or elements along a panel: more would not fit into any memory."""

PICTURES = (".png", ".pdf", ".svg")


def main(
    arguments: Sequence[str] | None = None, make: Make | None = None, ranks: Any = None
) -> int:
    """Run a command and return its exit status.

    Parameters
    ----------
    make
        Makes the solver of a setting; by default `solvers.make`.
    ranks
        The result of `boundary.world`; an error on one of several ranks ends all.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    commands = {"plot": _plot, "verify": _verify}
    command = commands.get(given[0]) if given else None
    first = ranks is None or ranks.rank == 0
    make = make or (lambda setting: solvers.make(setting, ranks))

    def fail(text: str, status: int) -> int:
        """Print why a run ends; one of several ranks ends all."""
        if ranks is not None:
            bc.abort(text, status)
        tell(text)
        return status

    if command is not None:
        return finished(lambda: command(given[1:], make, first), fail)
    return finished(lambda: _run(given, make, ranks, first), fail)


def _run(arguments: list[str], make: Make, ranks: Any, first: bool) -> int:
    parser = options()
    given = parser.parse_args(arguments)
    _check(parser, given, first)
    if given.threads != 1:
        threads = ranks_of(parser, given)
        make = lambda setting: solvers.make(setting, threads)  # noqa: E731
    together = None if ranks is None else bc.distribute(ssr.Space(ranks.size), ranks)
    start = None if given.restart is None else load(given.restart, together)
    setting, until, make = _setting(given, start, make)
    rescue = given.checkpoint or Path(f"swe-{setting.case}-last-good.checkpoint")
    every = 3600 * given.every
    if given.steps is not None:  # which reports do not divide
        every = setting.dt * max(1, round(every / setting.dt))
    run = Run(setting, make, until, every, start, rescue, given.checkpoint)
    report: Callable[[Report], object] = lambda report: None  # noqa: E731
    if given.output is not None:
        command = shlex.join(["python", "-m", "apps.swe", *arguments])
        output = writer(given.output, run, command)
        report = lambda report: output.write(report.seconds)  # noqa: E731
    try:
        result = run.run(report)
    except KeyboardInterrupt as stopped:
        return _interrupted(run, stopped, given.checkpoint, first)
    told = ssr.output.digest({"state": result.last.flow.state}) if given.digest else None
    try:
        _write(given, result, first)
    finally:  # the numbers are shown even if a file cannot be written
        if first:
            print(told or summary(result))
    for path in given.json, given.output, given.plot:
        if path is not None and first and not given.digest:
            print(f"written              {path}")
    return 0


def _write(given: argparse.Namespace, result: Result, first: bool) -> None:
    """Write the numbers and the picture of a run, on the first rank."""
    if given.json is not None and first:
        text = as_json(result.document())
        ssr.output.publish(given.json, lambda file: file.write(text.encode()))
    if given.plot is not None:
        setting, last = result.setting, result.last
        title = _title(setting, last.seconds / DAY)
        points = Points(last.flow.known.at, setting.kind.degree)
        height, vorticity = (x.gather(root=0) for x in (last.values.H, last.values.zeta))
        if height is not None and vorticity is not None:
            draw(Picture(height, vorticity, points, title), given.plot, edges=given.edges)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are printed once and end all ranks."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the error, and end all ranks."""
        bc.abort(f"{self.format_usage()}{self.prog}: error: {message}", 2)


def options() -> Parser:
    """Return the options of a run."""
    parser = Parser("python -m apps.swe", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--case", choices=cases.NAMES, help="the flow (tc2)")
    add("--solver", choices=solvers.SOLVERS, help="finite volumes, or spectral elements (fv)")
    add("--n", type=int, help="cells (32) or elements (10) along a panel")
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--days", type=float, help="simulated time from the start; by default that of the case"
    )
    length.add_argument("--steps", type=int, help="the same as a number of time steps")
    add("--angle", type=float, help="of the flow's axis in degrees, for tc1 and tc2 (0)")
    add("--weights", choices=("linear", "weno"), help="of fv: of the values at faces (linear)")
    add("--viscosity", type=viscosity, metavar="NU",
        help="of sem: a number in m4/s, off, or auto: what the flow needs (auto)")  # fmt: skip
    step = parser.add_mutually_exclusive_group()
    step.add_argument("--cfl", type=float, metavar="C", help="Courant number at the start, below 1")
    step.add_argument("--dt", type=float, metavar="S", help="longest time step in seconds")
    add("--plot", type=Path, metavar="FILE", help="draw the end of the run")
    add("--edges", action="store_true", help="show the edges of the panels in the picture")
    add("--output", type=Path, metavar="FILE", help="write fields to a .nc or .zarr file")
    add("--every", type=float, default=24.0, metavar="HOURS",
        help="between records of the output and between checkpoints (24)")  # fmt: skip
    add("--checkpoint", type=Path, metavar="FILE", help="save the run here as it goes")
    add(
        "--restart",
        type=Path,
        metavar="FILE",
        help="continue from a checkpoint; its records come after that",
    )
    add("--json", type=Path, metavar="FILE", help="write the numbers to this file")
    add("--digest", action="store_true", help="print only a digest of the state at the end")
    add_threads(parser)
    return parser


def viscosity(text: str) -> float | str:
    """Return a viscosity, or how it is chosen."""
    return text if text in ("auto", "off") else float(text)


def _check(parser: Parser, given: argparse.Namespace, first: bool) -> None:
    """Refuse options whose values make no sense, and places that the first rank cannot write."""
    kind = solvers.SOLVERS[given.solver or "fv"]
    for bad, bound in (
        (given.n is not None and given.n < kind.least, f"at least {kind.least}"),
        (given.n is not None and given.n > LARGEST, f"at most {LARGEST}"),
    ):
        if bad:
            parser.error(f"--n is {given.n}; a panel has {bound} {kind.parts} along a side.")
    for name, other in ("weights", "sem"), ("viscosity", "fv"):
        wanted = getattr(given, name) is not None and given.restart is None
        if wanted and (given.solver or "fv") == other:
            parser.error(f"--{name} is not for the solver {other}.")
    nu = given.viscosity
    if isinstance(nu, float) and not (nu >= 0 and math.isfinite(nu)):
        parser.error(f"--viscosity is {nu}; it must not be below 0.")
    for name in "days", "steps", "cfl", "dt", "every":
        value = getattr(given, name)
        if value is not None and not (value > 0 and math.isfinite(value)):
            parser.error(f"--{name} is {value}; it must be above 0.")
    if given.angle is not None and not math.isfinite(given.angle):
        parser.error(f"--angle is {given.angle}; it must be a number of degrees.")
    if given.angle and given.restart is None and (given.case or "tc2") not in cases.TILTED:
        parser.error(f"--angle is for {' and '.join(cases.TILTED)}, not for {given.case}.")
    if given.plot is not None:
        if given.plot.suffix not in PICTURES:
            parser.error(f"--plot is {given.plot}; a picture ends in {', '.join(PICTURES)}.")
        _require("matplotlib", "plot")
    if given.output is not None:
        check(given.output, fresh=given.restart is None)
    _check_places(parser, given, first)


def _check_places(parser: Parser, given: argparse.Namespace, first: bool) -> None:
    """Refuse files that cannot be written, and one file for two purposes."""
    taken = {given.restart.resolve(): "restart"} if given.restart is not None else {}
    for name in "checkpoint", "output", "plot", "json":
        path = getattr(given, name)
        if path is None:
            continue
        if first:
            ssr.output.check_place(path, folder=path.suffix == ".zarr" and name == "output")
        other = taken.setdefault(path.resolve(), name)
        if other != name and (other, name) != ("restart", "checkpoint"):
            parser.error(f"--{name} and --{other} are one file, {path}.")


def _require(package: str, extra: str) -> None:
    """Raise an error before a command begins if a package that it needs is missing."""
    if importlib.util.find_spec(package) is None:
        raise ssr.errors.OutputError(
            f"The package {package} is missing.",
            hint=f"Install it, or all of the extra: pip install -e '.[{extra}]'.",
        )


def _setting(
    given: argparse.Namespace, start: Checkpoint | None, make: Make
) -> tuple[Setting, float, Make]:
    """Return the setting of a run, the time at which it ends, and how its solver is made."""
    if start is not None:
        return *_same(given, start), make
    name, angle, solver = given.case or "tc2", given.angle or 0.0, given.solver or "fv"
    flow, kind = cases.case(name, angle), solvers.SOLVERS[solver]
    n = kind.usual if given.n is None else given.n
    dt = kind.step(flow, n) if given.dt is None else given.dt
    nu = _chosen(given.viscosity, flow, n) if solver == "sem" else 0.0
    setting = Setting(name, n, dt, angle, given.weights or "linear", solver, nu)
    if given.cfl is not None:  # it depends on the state, which the solver has
        made = make(setting)
        dt = given.cfl / courant(Gauges(made).fastest(), made.cells, 1.0)
        make = lambda _: made  # noqa: E731
    if given.steps is not None:
        return replace(setting, dt=dt), dt * given.steps, make
    until = DAY * (flow.days if given.days is None else given.days)
    return replace(setting, dt=time_step(min(until, 3600 * given.every), dt)), until, make


def _chosen(viscosity: float | str | None, flow: cases.Case, n: int) -> float:
    """Return a viscosity in m4/s."""
    if isinstance(viscosity, float):
        return viscosity
    return cases.viscosity(n) if flow.rough and viscosity != "off" else 0.0


def _same(given: argparse.Namespace, start: Checkpoint) -> tuple[Setting, float]:
    """Return the setting of a checkpoint, which options may not contradict, and the end."""
    setting = start.setting
    for name in "case", "n", "angle", "weights", "solver":
        here, there = getattr(given, name), getattr(setting, name)
        if here is not None and here != there:
            raise ssr.errors.CheckpointError(
                f"{given.restart} is of another run: --{name} is {there} there and {here} here.",
                hint=f"Leave out --{name}; a run continues as it began.",
            )
    if given.viscosity is not None:
        nu = _chosen(given.viscosity, cases.case(setting.case), setting.n)
        if nu != setting.viscosity:
            raise ssr.errors.CheckpointError(
                f"{given.restart} keeps its viscosity of {setting.viscosity:g} m4/s.",
                hint="Leave out --viscosity; a run continues as it began.",
            )
    if given.cfl is not None or given.dt is not None:
        raise ssr.errors.CheckpointError(
            f"{given.restart} keeps its time step of {setting.dt:g} s.",
            hint="Leave out --dt and --cfl; a run continues as it began.",
        )
    if given.steps is not None:
        return setting, setting.dt * given.steps
    days = cases.case(setting.case).days if given.days is None else given.days
    return setting, DAY * days


def _interrupted(run: Run, stopped: KeyboardInterrupt, path: Path | None, first: bool) -> int:
    """Report where a run that the user has stopped is saved."""
    step = None
    if path is not None and isinstance(stopped, ssr.simulation.Interrupted):
        step = stopped.steps
    elif path is not None and run.save_good(path):  # the present step was interrupted
        step = run.good
    if first:
        tell("stopped" if step is None else f"stopped; the state after step {step} is in {path}")
    return STOPPED


def summary(result: Result) -> str:
    """Return the results of a run as text."""
    found, setting = result.document(), result.setting
    head = f"{setting.case}: {_title(setting, found['days'])}"
    lines = [f"{head}, {found['steps']} steps of {found['dt']:g} s"]
    if found["l1"] is not None:
        errors = "  ".join(f"{name} {found[name]:.4e}" for name in ("l1", "l2", "linf"))
        lines.append(f"errors of the depth  {errors}")
    drifts = {name: found[f"{name}_drift"] for name in ("mass", "energy", "enstrophy")}
    text = "  ".join(f"{k} {v:+.1e}" for k, v in drifts.items() if v is not None)
    lines.append(f"drift                {text}")
    lines.append(f"height               {found['h_min']:.2f} to {found['h_max']:.2f} m")
    lines.append(f"vorticity            {found['zeta_min']:.3e} to {found['zeta_max']:.3e} 1/s")
    rate = 6 * setting.points**2 / result.step / 1e6 if result.step else math.nan
    what = "cells" if setting.points == setting.n else "points"
    each = f"{found['ms_per_step']:.2f} ms for a step, {rate:.1f} million {what} a second"
    lines.append(f"time                 {found['wall_s']:.1f} s; {each}")
    if found["compile_s"] > 1:
        lines.append(f"kernels              ready after {found['compile_s']:.0f} s")
    return "\n".join(lines)


def _title(setting: Setting, days: float) -> str:
    title, n = cases.case(setting.case).title, setting.n
    return f"{title}, {n} x {n} {setting.kind.parts} a panel, day {days:g}"


def _plot(arguments: list[str], make: Make, first: bool) -> int:
    parser = Parser("python -m apps.swe plot", description="Draw a saved run.")
    parser.add_argument("file", type=Path, help="a .nc or .zarr file of a run")
    parser.add_argument("--to", type=Path, metavar="FILE", help="the picture; by default FILE.png")
    parser.add_argument(
        "--record",
        type=int,
        default=-1,
        help="which record to draw; negative numbers count from the end",
    )
    parser.add_argument("--edges", action="store_true", help="show the edges of the panels")
    given = parser.parse_args(arguments)
    path = given.file.with_suffix(".png") if given.to is None else given.to
    if path.suffix not in PICTURES:
        parser.error(f"--to is {path}; a picture ends in {', '.join(PICTURES)}.")
    _require("matplotlib", "plot")
    _require("xarray", "io")
    if not first:
        return 0
    with read(given.file) as file:
        records = file.sizes["time"]
        if not -records <= given.record < records:
            raise ssr.errors.OutputError(
                f"{given.file} has {records} records; there is no record {given.record}."
            )
        record = file.isel(time=given.record)
        about = {name: file.attrs.get(name, "fv") for name in ("case", "n", "dt", "solver")}
        setting = Setting(**about)
        points = Points(file["x"].values, setting.kind.degree)
        title = _title(setting, float(record["time"]) / DAY)
        picture = Picture(record["height"].values, record["zeta"].values, points, title)
    draw(picture, path, edges=given.edges)
    print(path)
    return 0


def _verify(arguments: list[str], make: Make, first: bool) -> int:
    from .verify import verify

    parser = Parser("python -m apps.swe verify", description="Known results.")
    parser.add_argument("--quick", action="store_true", help="small runs only")
    parser.add_argument("--solver", choices=solvers.SOLVERS, help="one of the solvers only")
    given = parser.parse_args(arguments)
    show = print if first else (lambda line: None)
    return 0 if verify(make, given.quick, show, given.solver) else 1


if __name__ == "__main__":
    every = bc.world()
    prepare()
    sys.exit(flush(main(ranks=every)))
