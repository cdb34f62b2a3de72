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
    """Keep Python from looking for cyclic garbage, and from forking; serve waiting threads soon.

    The compiler makes so many objects that Python would look through all of them, and all that
    Numba has loaded, time and again. Most live as long as the process, and are counted among the
    old ones afterwards. Threads that have LLVM work want Python for some instructions, and LLVM
    stands idle until they get it.
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
    """Count all objects among the old ones; look for garbage if that were too many."""
    global _unsearched
    _unsearched += gc.get_count()[0]
    if _unsearched > MOST:
        _unsearched = 0
        gc.collect()
    elif not gc.get_freeze_count():  # keep objects frozen by other code
        gc.freeze()
        gc.unfreeze()
