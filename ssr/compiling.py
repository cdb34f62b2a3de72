"""Interpreter settings during compilation: garbage collection, thread switching and forks."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator
from threading import Lock

from .forking import postponed

SOON = 0.0005
"""Switch interval of the interpreter in seconds, for threads that wait for its lock."""

MOST = 500_000
"""Number of objects moved to the oldest generation after which garbage is collected."""

_lock = Lock()
_inside = 0
_before: tuple[bool, float] = (True, 0.005)
_unsearched = 0


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Suspend the collection of cyclic garbage, prevent forks, and switch threads sooner.

    The compiler allocates so many objects that Python would repeatedly traverse all of them, and
    the objects of Numba. Most live as long as the process; they are moved to the oldest generation
    afterwards. Threads that run LLVM need the interpreter lock for a few instructions, and LLVM
    is idle until they get it.
    """
    with postponed():
        _enter()
        try:
            yield
        finally:
            _leave()


def _enter() -> None:
    global _inside, _before
    with _lock:
        _inside += 1
        if _inside == 1:
            _before = gc.isenabled(), sys.getswitchinterval()
            gc.disable()
            sys.setswitchinterval(SOON)


def _leave() -> None:
    global _inside
    with _lock:
        _inside -= 1
        if _inside == 0:
            enabled, interval = _before
            sys.setswitchinterval(interval)
            if enabled:
                _age()
                gc.enable()


def _age() -> None:
    """Move all objects to the oldest generation; collect garbage if too many were moved before."""
    global _unsearched
    _unsearched += gc.get_count()[0]
    if _unsearched > MOST:
        _unsearched = 0
        gc.collect()
    elif not gc.get_freeze_count():  # keep objects frozen by other code
        gc.freeze()
        gc.unfreeze()
