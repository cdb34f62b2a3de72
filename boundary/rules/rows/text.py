"""The text of rules in Python syntax, with their arguments."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from ssr.extension import name_of

_SEVERAL = 6
"""The largest number of values of a sequence that are printed."""


def rule_text(
    name: str, axis: Any, side: Any, block: Any, *values: Any, **options: tuple[Any, Any]
) -> str:
    """Return a rule as one would write it.

    >>> rule_text("robin", -1, "low", None, 1.0, 2.0, [0.0, abs], spacing=(0.5, 1.0))
    'robin(1.0, 2.0, [0.0, abs], axis=-1, side="low", spacing=0.5)'
    """
    given = {"axis": (axis, None), "side": (side, "both"), **options, "block": (block, None)}
    shown = [value_text(value) for value in values]
    shown += [
        f"{key}={value_text(value)}"
        for key, (value, default) in given.items()
        if not _same(value, default)
    ]
    return f"{name}({', '.join(shown)})"


def value_text(value: Any) -> str:
    """Return a value of a rule as text: one line, and no elements of arrays."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim):
        value = value.item()
    if isinstance(value, str):
        return '"' + reprlib.repr(value)[1:-1] + '"'
    if isinstance(value, (tuple, list)):
        more = ["..."] if len(value) > _SEVERAL else []
        return f"[{', '.join([*map(value_text, value[:_SEVERAL]), *more])}]"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"<{type(value).__name__} of shape {shape}>"
    if callable(value):
        return name_of(value)
    return reprlib.repr(value)


def _same(value: Any, default: Any) -> bool:
    """Whether a value is that of the default; arrays and other objects never are."""
    return value is default or (isinstance(value, (int, float, str)) and value == default)
