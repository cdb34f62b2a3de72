"""Operations on sets that may explode are given a bound, counted in isl's own operations.

The count is the same on all machines, and so is what is done where isl gives up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import islpy as isl

_CONTEXT = isl.DEFAULT_CONTEXT

EFFORT = 3_000_000
"""Operations of isl after which an attempt is given up: about a second."""

Made = TypeVar("Made")


def attempted(make: Callable[[], Made], most: int = EFFORT) -> Made | None:
    """Return what a function makes; None if isl needs more operations for it.

    An attempt inside another one has no bound of its own: it is given up with the other one. No
    functions of Python may be called by isl meanwhile: its binding drops their errors.

    >>> from .sets import Domain
    >>> odd = Domain.where(("i",), "i mod 2 = 1")
    >>> attempted(lambda: odd - Domain.where(("i",), "0 <= i < n", ("n",)), most=10) is None
    True
    """
    if _CONTEXT.get_max_operations():
        return make()
    _CONTEXT.reset_operations()
    _CONTEXT.set_max_operations(most)
    try:
        return make()
    except isl.Error:
        return None
    finally:
        _CONTEXT.set_max_operations(0)
        _CONTEXT.reset_operations()
