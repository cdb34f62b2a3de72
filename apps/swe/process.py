"""The surroundings of a run: standard streams, and signals that ask a process to end."""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType
from typing import TextIO

ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals by which a system ends a process; Python itself handles that of Ctrl-C."""

TOGETHER = 1.0
"""Seconds within which several signals are one request, as from a terminal that closes."""


def prepare(*, together: bool = False) -> None:
    """Prepare a process for signals that end it and for standard streams that are closed.

    The signals interrupt a run as Ctrl-C does, so that it is saved; those that are ignored, as
    under ``nohup``, stay ignored. The ranks of a job stop together: the first signal, that of
    Ctrl-C too, is remembered for `interrupted`, and a later one interrupts. Closed streams are
    opened on the null device: otherwise a file that is opened later takes the place of one, and
    with it all that libraries print. Characters that a stream cannot encode are written as escapes.
    """
    interrupt = _Interrupt(together)
    for number in (*ENDING, signal.SIGINT) if together else ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    sys.stdout, sys.stderr = _usable(sys.stdout), _usable(sys.stderr)


class _Interrupt:
    """A signal handler that interrupts a run once for all signals that arrive together."""

    def __init__(self, patient: bool) -> None:
        self.last, self.patient = -math.inf, patient

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self.last > TOGETHER:
            self.last = now
            if not self.patient or interrupted():
                raise KeyboardInterrupt
            _asked.append(number)


_asked: list[int] = []


def interrupted() -> bool:
    """Whether a signal has asked this rank of a job to end."""
    return bool(_asked)


def _usable(stream: TextIO | None) -> TextIO:
    """Return a stream that takes any text; for a closed descriptor Python has none."""
    if stream is None:
        stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (it stays open as long as the process)
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore further signals while a run that was interrupted is saved."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
