"""Python's search for cyclic garbage, put off while the compiler works."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def garbage_left() -> Iterator[None]:
    """Let Python look for cyclic garbage afterwards only.

    The compiler makes so many objects that it would look through all of them, and all that Numba
    has loaded, time and again.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
