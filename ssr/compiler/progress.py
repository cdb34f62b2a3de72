"""Progress messages on standard error during long compilations.

The measured time is that in which a thread waits for kernels, including pauses below `PATIENCE`.
On a terminal a line names the kernel, and ends with the seconds that this kernel took. Elsewhere,
as in the log of a batch job, a line names the current kernel after 2, 4, 8, 16, ... seconds. Only
the first rank of a job writes. ``SSR_QUIET=1`` in the environment disables the messages.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from threading import Lock, Timer, local

PATIENCE = 2.0
"""Seconds before the first line."""

RANKS = (
    "PMI_RANK",
    "OMPI_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_RANK",
    "PMIX_RANK",
    "SLURM_PROCID",
)
"""Environment variables that launchers set to the number of a rank."""


class _Waits:
    """The waits of a process for kernels, one after the other."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._spent, self._until, self._limit = 0.0, 0.0, PATIENCE

    def begins(self) -> float:
        """Return the seconds after which a wait that begins now is reported."""
        with self._lock:
            if time.perf_counter() - self._until > PATIENCE:
                self._spent, self._limit = 0.0, PATIENCE
            return max(0.0, self._limit - self._spent)

    def reported(self, seconds: float) -> float:
        """Return the seconds of all waits; the next line comes after as many."""
        with self._lock:
            self._limit = 2 * (self._spent + seconds)
            return self._spent + seconds

    def ended(self, seconds: float) -> None:
        """Count a wait of some seconds that ends now."""
        with self._lock:
            self._spent += seconds
            self._until = time.perf_counter()


_waits = _Waits()
_own = local()


@contextlib.contextmanager
def shown(what: str) -> Iterator[None]:
    """Report on standard error if it takes long to compile; a wait within another is part of it."""
    if getattr(_own, "waits", False) or not _is_reported():
        yield
        return
    _own.waits = True
    report = _Report(what)
    try:
        yield
    finally:
        _own.waits = False
        report.end()


class _Report:
    """The lines of one wait."""

    def __init__(self, what: str) -> None:
        self._what, self._start, self._lock = what, time.perf_counter(), Lock()
        self._on_terminal, self._open, self._ended = on_terminal(), False, False
        self._next(_waits.begins())

    def _next(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._say)
        self._timer.daemon = True
        self._timer.start()

    def _say(self) -> None:
        with self._lock:
            if self._ended:
                return
            spent = self._seconds()
            total = _waits.reported(spent)
            if self._on_terminal:
                self._open = True
                _write(f"{self._what} ...")
            else:
                _write(f"{self._what}, {total:.0f} s so far\n")
                self._next(total)

    def end(self) -> None:
        """End the wait, and its line."""
        self._timer.cancel()
        with self._lock:
            self._ended = True
            self._timer.cancel()
            if self._open:
                _write(f" {self._seconds():.1f} s\n")
        _waits.ended(self._seconds())

    def _seconds(self) -> float:
        return time.perf_counter() - self._start


def _is_reported() -> bool:
    """Whether this process reports: the first rank of a job, unless lines are turned off."""
    is_quiet = os.environ.get("SSR_QUIET") == "1"
    rank = next((os.environ[name] for name in RANKS if name in os.environ), "0")
    return not is_quiet and rank in ("", "0")


def on_terminal() -> bool:
    """Whether standard error is a terminal."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # standard error is missing or closed
        return False


def _write(text: str) -> None:
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()
