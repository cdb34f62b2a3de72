"""How Python treats a thread that compiles, and those that have LLVM work for it."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator
from threading import Lock

SOON = 0.0005
"""Seconds after which a thread that wants Python gets it."""

_lock = Lock()
_inside = 0
_before: tuple[bool, float] = (True, 0.005)


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """Let Python look for cyclic garbage afterwards only, and serve waiting threads soon.

    The compiler makes so many objects that Python would look through all of them, and all that
    Numba has loaded, time and again. Threads that have LLVM work want Python for some instructions,
    and LLVM stands idle until they get it.
    """
    global _inside, _before
    with _lock:
        _inside += 1
        if _inside == 1:
            _before = gc.isenabled(), sys.getswitchinterval()
            gc.disable()
            sys.setswitchinterval(SOON)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                enabled, interval = _before
                sys.setswitchinterval(interval)
                if enabled:
                    gc.enable()
