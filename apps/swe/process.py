"""What surrounds a run: its standard streams, and the signals that ask it to end."""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from types import FrameType
from typing import TextIO

ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals by which a system ends a process; Ctrl-C is Python's own."""

TOGETHER = 1.0
"""Seconds within which several signals are one request: a terminal that closes may send more."""


def prepare() -> None:
    """Let a process be ended, and its streams be closed, without harm to a run.

    Signals that end a process interrupt it as Ctrl-C does, so that the run is saved; one that is
    ignored, as ``nohup`` has it, stays so. Standard streams that are closed lead to nowhere: a file
    opened later would take their place, and with it all that a library prints. Characters that a
    stream cannot show are written as escapes.
    """
    interrupt = _Interrupt()
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    sys.stdout, sys.stderr = _usable(sys.stdout), _usable(sys.stderr)


class _Interrupt:
    """A handler of signals that interrupts a run once for all that arrive together."""

    def __init__(self) -> None:
        self.last = -math.inf

    def __call__(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self.last > TOGETHER:
            self.last = now
            raise KeyboardInterrupt


def _usable(stream: TextIO | None) -> TextIO:
    """Return a stream that takes all text; Python has none for a descriptor that is closed."""
    if stream is None:
        stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (it stays open as long as the process)
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore further signals, while a run that was interrupted is saved."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def tell(text: str) -> None:
    """Print to standard error; a terminal that is gone is no reason to stop."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def flush(status: int) -> int:
    """Write out what is printed, and return the exit status: 1 if it cannot be written."""
    try:
        sys.stdout.flush()
    except OSError as error:
        tell(f"error: The standard output cannot be written: {error.strerror}.")
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # Python writes the rest when it ends
        return status or 1
    return status
