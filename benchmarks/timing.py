"""Interleaved timing of calls that do the same work.

The speed of a machine varies with clock rates, other load and caches. Candidates therefore run in
rounds, each once a round, in an order that rotates, and `compare` returns the median of the ratios
of two times of the same round. A call is repeated until a sample is long enough, after one that is
not timed: the caches then hold the candidate's data, as between the steps of a run. A call that is
long enough by itself is not preceded by another one.

The clock is by default the processor time of this process, which on a shared machine leaves out the
time that others, or a hypervisor, take. It adds up the times of all threads, so it is for work on
one thread. Nothing here limits the threads of a candidate: set ``OMP_NUM_THREADS=1``,
``NUMBA_NUM_THREADS=1`` and ``OPENBLAS_NUM_THREADS=1`` in the environment before the start, or pass
``clock=time.perf_counter`` to time several threads by the wall.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TypeAlias

from apps.commands import as_json
from benchmarks import fortran

Call: TypeAlias = Callable[[], object]
Clock: TypeAlias = Callable[[], float]
Json: TypeAlias = "str | int | float | Sequence[Json] | Mapping[str, Json] | None"


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of one candidate: seconds of a call, one value for each round."""

    name: str
    samples: tuple[float, ...]

    @property
    def minimum(self) -> float:
        """The shortest time."""
        return min(self.samples)

    @property
    def median(self) -> float:
        """The median time."""
        return statistics.median(self.samples)

    def over(self, other: Timing) -> Ratio:
        """Compare with a candidate timed in the same rounds."""
        pairs = zip(self.samples, other.samples, strict=True)
        return Ratio(other.name, tuple(mine / theirs for mine, theirs in pairs))


@dataclass(frozen=True, slots=True)
class Ratio:
    """The time of a candidate divided by that of another, one value for each round."""

    other: str
    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median ratio; the other candidate is slower if it is below one."""
        return statistics.median(self.samples)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The quartiles of the ratios."""
        if len(self.samples) == 1:
            return self.samples[0], self.samples[0]
        low, _, high = statistics.quantiles(self.samples, method="inclusive")
        return low, high


@dataclass(frozen=True, slots=True)
class Comparison:
    """Our times, the times of other candidates, and the ratios ours / other."""

    ours: Timing
    others: tuple[Timing, ...]

    @property
    def ratios(self) -> tuple[Ratio, ...]:
        """The ratios ours / other, in the order of the others."""
        return tuple(self.ours.over(other) for other in self.others)

    @property
    def strongest(self) -> Ratio:
        """The ratio ours / other for the fastest of the others."""
        return max(self.ratios, key=lambda ratio: ratio.median)

    def rows(self, points: int) -> list[list[str]]:
        """Return a row of text for each candidate, under `COLUMNS`."""
        rows = [_row(self.ours, points, None)]
        rows += [_row(other, points, self.ours.over(other)) for other in self.others]
        return rows

    def json(self) -> Json:
        """Return all numbers, with the samples."""
        return {
            "timings": [
                {
                    "name": timing.name,
                    "minimum": timing.minimum,
                    "median": timing.median,
                    "samples": timing.samples,
                }
                for timing in (self.ours, *self.others)
            ],
            "ratios": [
                {"other": ratio.other, "median": ratio.median, "quartiles": ratio.quartiles}
                for ratio in self.ratios
            ],
        }


COLUMNS = ("candidate", "min ms", "median ms", "ns/point", "ours/other", "quartiles")


def compare(
    ours: Call,
    others: Mapping[str, Call],
    pairs: int = 15,
    *,
    reset: Call | None = None,
    sample: float = 2e-3,
    clock: Clock = time.process_time,
) -> Comparison:
    """Time our call against others that do the same work.

    Parameters
    ----------
    ours, others
        Calls without arguments, whose results are dropped.
    pairs
        The number of rounds, in each of which every candidate gives one sample.
    reset
        Called before each call and not timed, for instance to restore an array that calls change.
        It leaves its own data in the caches.
    sample
        The shortest sample in seconds: shorter calls are repeated.
    clock
        A function that returns seconds from any origin; see the head of this module.

    Returns
    -------
    Comparison, ours first, the others in their order.

    Examples
    --------
    >>> result = compare(lambda: sum(range(99)), {"more": lambda: sum(range(9999))}, pairs=3)
    >>> result.strongest.other, result.strongest.median < 0.5
    ('more', True)
    """
    if "ours" in others:
        raise ValueError("The name 'ours' is taken.")
    first, *rest = measure({"ours": ours, **others}, pairs, reset=reset, sample=sample, clock=clock)
    return Comparison(first, tuple(rest))


def measure(
    candidates: Mapping[str, Call],
    rounds: int = 15,
    *,
    reset: Call | None = None,
    sample: float = 2e-3,
    clock: Clock = time.process_time,
) -> tuple[Timing, ...]:
    """Time candidates in turn, round by round; the parameters are those of `compare`."""
    if rounds < 1:
        raise ValueError("There must be at least one round.")
    names = list(candidates)
    samples: dict[str, list[float]] = {name: [] for name in names}
    with _quiet():
        repeats = {name: _repeats(candidates[name], reset, sample, clock) for name in names}
        for turn in range(rounds):
            start = turn % len(names)
            for name in names[start:] + names[:start]:
                samples[name].append(_sample(candidates[name], reset, repeats[name], clock))
    return tuple(Timing(name, tuple(samples[name])) for name in names)


def _repeats(call: Call, reset: Call | None, sample: float, clock: Clock) -> int:
    """Return how often to call for a sample that is long enough; the first call only warms up."""
    _sample(call, reset, 1, clock)
    repeats = 1
    while (seconds := _sample(call, reset, repeats, clock)) * repeats < sample:
        wanted = sample / seconds if seconds > 0 else 10.0 * repeats
        repeats = min(10 * repeats, max(repeats + 1, int(1.1 * wanted)))
    return repeats


def _sample(call: Call, reset: Call | None, repeats: int, clock: Clock) -> float:
    """Return the mean time of a few calls, which follow another one if there is no reset."""
    if reset is None:
        if repeats > 1:
            call()
        start = clock()
        for _ in range(repeats):
            call()
        return (clock() - start) / repeats
    total = 0.0
    for _ in range(repeats):
        reset()
        start = clock()
        call()
        total += clock() - start
    return total / repeats


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the garbage collector from running inside a sample."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def machine() -> dict[str, Json]:
    """Return the properties on which times depend: processor, caches, compiler, versions."""
    try:
        compiler: str | None = fortran.compiler_version()
    except fortran.FortranMissing:
        compiler = None
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "caches": _caches(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "numba": _version("numba"),
        "scipy": _version("scipy"),
        "gfortran": compiler,
    }


def _processor() -> str:
    """Return the model of the processor, with details where hypervisors give generic names."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    lines = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    facts = {name.strip(): value.strip() for name, _, value in lines}
    model = facts.get("model name", platform.machine())
    numbers = [f"{key} {facts[key]}" for key in ("cpu family", "model", "stepping") if key in facts]
    return f"{model} ({', '.join(numbers)})" if numbers else model


def _caches() -> dict[str, Json]:
    """Return the sizes of the data caches of the first core, such as ``{"L1": "32K"}``."""
    found: dict[str, Json] = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            kind, level, size = (
                (index / name).read_text(encoding="utf-8").strip()
                for name in ("type", "level", "size")
            )
        except OSError:
            continue
        if kind != "Instruction":
            found[f"L{level}"] = size
    return found


def _version(package: str) -> str | None:
    """Return the version of a package without importing it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _row(timing: Timing, points: int, ratio: Ratio | None) -> list[str]:
    """Return the cells of one candidate; ns/point is that of the median."""
    cells = [
        timing.name,
        f"{1e3 * timing.minimum:.3f}",
        f"{1e3 * timing.median:.3f}",
        f"{1e9 * timing.median / points:.2f}",
    ]
    if ratio is None:
        return [*cells, "", ""]
    low, high = ratio.quartiles
    return [*cells, f"{ratio.median:.3f}", f"{low:.3f} - {high:.3f}"]


ROOT = Path(__file__).resolve().parent.parent
"""The folder of the project, in which measured processes run."""


def environment(**given: str) -> dict[str, str]:
    """Return the environment of a process that is measured from its start, with more variables.

    Python keeps modules as bytecode there, as it does where the packages are installed.
    """
    kept = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | given


def fresh(*arguments: str, **given: str) -> str:
    """Return the output of a new process of Python, with more variables in its environment.

    Raises
    ------
    RuntimeError
        If the process fails; the text is its standard error.
    """
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment(**given),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows of text as a table: the first column is aligned left, the others right.

    Examples
    --------
    >>> print(table(("n", "ms"), [("ten", "1.5"), ("a hundred", "15.0")]))
    n            ms
    ---------  ----
    ten         1.5
    a hundred  15.0
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for row in (header, ["-" * width for width in widths], *rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        cells[0] = row[0].ljust(widths[0])
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def show(title: str, comparison: Comparison, points: int) -> None:
    """Print a comparison as a table."""
    sys.stdout.write(f"{title}\n{table(COLUMNS, comparison.rows(points))}\n\n")


def write_json(path: Path, content: Json) -> None:
    """Write a file atomically: readers never see a part of it."""
    with NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=path.name, suffix=".part", delete=False
    ) as file:
        try:
            file.write(as_json(content, sort_keys=True))
        except BaseException:
            os.unlink(file.name)
            raise
    os.replace(file.name, path)
