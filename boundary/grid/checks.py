"""Checks of user arguments: sequences, Booleans, links, sides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import integer

from .link import Link, Side


def items(text: str, name: str, values: Any) -> tuple[Any, ...]:
    """Return the items of a list as a tuple."""
    empty = isinstance(values, np.ndarray) and not values.ndim
    if isinstance(values, str) or not isinstance(values, Iterable) or empty:
        raise ArgumentError(f"{text}: {name} is {values!r}, not a list.")
    return tuple(values)


def check_link(link: Any) -> None:
    """Refuse anything but a link between two sides."""
    if not isinstance(link, Link):
        raise ArgumentError(
            f"{link!r} is not a link.", hint="Links are made by bc.join or bc.Link."
        )
    for side in (link.here, link.there):
        check_side(side)
    axes: Any = link.axes
    if not isinstance(axes, tuple) or any(integer(a) is None for a in axes):
        raise ArgumentError(f"The axes of a link must be a tuple of integers, not {axes!r}.")
    flips: Any = link.flips
    if not isinstance(flips, tuple) or not all(isinstance(f, (bool, np.bool_)) for f in flips):
        raise ArgumentError(
            f"The flips of a link must be a tuple of True and False, not {flips!r}."
        )


def check_side(side: Any) -> None:
    """Refuse anything but a side of a block."""
    if not isinstance(side, Side):
        raise ArgumentError(f"{side!r} is not a side.", hint='Write bc.Side(block, axis, "low").')
    if integer(side.block) is None or integer(side.axis) is None:
        raise ArgumentError(f"A side has integers for its block and axis: {side}.")
