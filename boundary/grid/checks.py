"""Checks of what a user gives: lists, links, sides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ssr.errors import ArgumentError
from ssr.extension import integer

from .link import Link, Side


def items(text: str, name: str, values: Any) -> tuple[Any, ...]:
    """Return the parts of a list.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"{text}: {name} is {values!r}, not a list.")
    return tuple(values)


def check_link(link: Any) -> None:
    """Refuse what is no link between two sides.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    if not isinstance(link, Link):
        raise ArgumentError(f"{link!r} is no link.", hint="Links are made by bc.join or bc.Link.")
    for side in (link.here, link.there):
        check_side(side)
    axes: Any = link.axes
    if not isinstance(axes, tuple) or any(integer(a) is None for a in axes):
        raise ArgumentError(f"The axes of a link are a tuple of integers, not {axes!r}.")
    if not isinstance(link.flips, tuple):
        raise ArgumentError(f"The flips of a link are a tuple, not {link.flips!r}.")


def check_side(side: Any) -> None:
    """Refuse what is no side of a block.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    if not isinstance(side, Side):
        raise ArgumentError(f"{side!r} is no side.", hint='Write bc.Side(block, axis, "low").')
    if integer(side.block) is None or integer(side.axis) is None:
        raise ArgumentError(f"A side has integers for its block and axis: {side}.")
