"""A line on the terminal while something takes long."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from threading import Event, Thread

PATIENCE = 2.0
"""Seconds before anything is said."""


@contextlib.contextmanager
def shown(what: str) -> Iterator[None]:
    """Write what is done to a terminal on standard error if it takes long, and how long it took."""
    if not _on_terminal():
        yield
        return
    start, done, written = time.perf_counter(), Event(), Event()

    def wait() -> None:
        if not done.wait(PATIENCE):
            _write(f"{what} ...")
            written.set()

    thread = Thread(target=wait, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        if written.is_set():
            _write(f" {time.perf_counter() - start:.1f} s\n")


def _on_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()
