"""Numbers of NumPy as numbers of Python."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return what a NumPy scalar or an array without axes holds; anything else as it is."""
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        return value.item()
    return value


def integer(value: Any) -> int | None:
    """Return an integer of Python or NumPy as one of Python's; None if it is none."""
    if type(value) is int:
        return value
    value = plain(value)
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None
