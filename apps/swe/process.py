"""The standard streams of a process that was started with some of them closed."""

import os
import sys
from io import TextIOWrapper
from typing import TextIO


def prepare() -> None:
    """Open closed standard streams on the null device.

    Otherwise a file that is opened later takes the place of one, and with it all that libraries
    print. Characters that a stream cannot encode are written as escapes.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    sys.stdout, sys.stderr = _usable(sys.stdout), _usable(sys.stderr)


def _usable(stream: TextIO | None) -> TextIO:
    """Return a stream that takes any text; for a closed descriptor Python has none."""
    if stream is None:
        stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (it stays open as long as the process)
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream
