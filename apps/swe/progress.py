"""The progress of a run as a line on the terminal; nothing is shown without a terminal."""

import time
from typing import TextIO

from .cases import DAY
from .run import Run


class Progress:
    """Print at most one line each second, each in place of the one before."""

    def __init__(self, stream: TextIO, pause: float = 1.0, *, wanted: bool = True) -> None:
        self.stream, self.pause = stream, pause
        self.began = self.shown = time.monotonic()
        self.wanted = wanted and stream.isatty()
        self.width = 0

    def __call__(self, run: Run, count: int) -> None:
        """Show the state of a run after some of its steps."""
        now = time.monotonic()
        if self.wanted and count == 0:
            self._print("first step; kernels may have to be compiled")
        elif self.wanted and count == 1:
            self.began = now
        elif self.wanted and (now - self.shown >= self.pause or count == run.steps):
            self.shown = now
            left = (now - self.began) / (count - 1) * (run.steps - count)
            self._print(f"{line(run, count)}  {clock(left)} left")

    def done(self) -> None:
        """Wipe the line."""
        if self.width:
            self._print("", end="\r")

    def _print(self, text: str, end: str = "") -> None:
        """Replace the line by another; show nothing more once the terminal is gone."""
        try:
            self.stream.write("\r" + text.ljust(self.width) + end)
            self.stream.flush()
            self.width = len(text)
        except OSError:
            self.wanted, self.width = False, 0


def line(run: Run, count: int) -> str:
    """Return time, step, Courant number and drift of invariants, as they were last computed."""
    mass, energy, enstrophy = run.drift
    text = f"day {run.seconds(count) / DAY:.2f} of {run.until / DAY:g}"
    text += f"  step {run.start.step + count}  CFL {run.courant:.2f}  mass {mass:+.0e}"
    return text if run.case.passive else f"{text}  energy {energy:+.0e}  enstrophy {enstrophy:+.0e}"


def clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds.

    Examples
    --------
    >>> clock(75.2), clock(3725)
    ('1:15', '1:02:05')
    """
    minutes, s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{s:02}" if hours else f"{minutes}:{s:02}"
