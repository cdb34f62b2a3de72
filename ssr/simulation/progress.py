"""Progress of a run, shown as one line on the terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

from ..compiler.progress import on_terminal

PAUSE = 1.0
"""Interval in seconds between updates of the line."""


class Progress:
    """A line on standard error that is replaced by the next one, shown only on a terminal."""

    def __init__(self, describe: Callable[[], str], *, is_wanted: bool) -> None:
        self._describe = describe
        is_shown = is_wanted and os.environ.get("SSR_QUIET") != "1" and on_terminal()
        self._stream: TextIO | None = sys.stderr if is_shown else None
        self._shown, self._width = 0.0, 0
        self._began: tuple[float, float, int] | None = None

    def begin(self) -> None:
        """Show that the first step is made."""
        self._write("first step; kernels may have to be compiled")

    def show(self, part: float, steps: int) -> None:
        """Show the present state, given the part of the run that is done, and its steps."""
        if self._stream is None:
            return
        now = time.monotonic()
        if self._began is None:
            self._began = now, part, steps
        if now - self._shown < PAUSE:
            return
        self._shown = now
        began, start, first = self._began
        spent, done = now - began, part - start
        text = self._describe()
        if steps > first and spent > 0.0:
            text += f"  {(steps - first) / spent:.3g} steps/s"
        if done > 0.0:
            text += f"  {clock_text(spent * (1.0 - part) / done)} left"
        self._write(text)

    def done(self) -> None:
        """Clear the line."""
        if self._width:
            self._write("", "\r")

    def _write(self, text: str, end: str = "") -> None:
        """Replace the line; show nothing more once the terminal is gone."""
        if self._stream is None:
            return
        try:
            self._stream.write("\r" + text.ljust(self._width) + end)
            self._stream.flush()
            self._width = len(text)
        except (OSError, ValueError):
            self._stream, self._width = None, 0


def clock_text(seconds: float) -> str:
    """Return a length of time as hours, minutes and seconds.

    Examples
    --------
    >>> clock_text(75.2), clock_text(3725)
    ('1:15', '1:02:05')
    """
    minutes, s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{s:02}" if hours else f"{minutes}:{s:02}"
