"""Termination signals: recorded during a run, which ends after the current step."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NAMES = "SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"
"""Ctrl-C, and the signals with which batch systems and terminals terminate a process."""

TOGETHER = 0.5
"""Interval in seconds within which repeated signals, as from a launcher, count as one request."""


class Caught:
    """The first signal that has arrived, and the handler that records it."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._last = 0.0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Record a signal; a later one interrupts at once."""
        now = time.monotonic()
        if self.number is not None and now - self._last > TOGETHER:
            raise KeyboardInterrupt
        self.number, self._last = self.number or number, now


@contextmanager
def caught_signals() -> Iterator[Caught]:
    """Record signals in the main thread, and put their handlers back afterwards.

    Signals that are ignored, as SIGHUP is under ``nohup``, stay so, and handlers of the user's own
    stay in place.
    """
    caught = Caught()
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in NAMES:
            number = getattr(signal, name, None)  # some systems lack some signals
            if number is not None and _is_default(signal.getsignal(number)):
                before[number] = signal.signal(number, caught)
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_default(handler: object) -> bool:
    return handler in (signal.SIG_DFL, signal.default_int_handler)


def signal_name(number: int | None) -> str:
    """Return the name of a signal for messages."""
    if number is None:
        return "a signal"
    return "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
