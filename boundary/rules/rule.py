"""A rule: what the ghosts behind some sides of blocks are."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from ssr.errors import ArgumentError, Span, user_span
from ssr.extension import integer

from ..errors import HaloError
from ..grid.frame import Frame
from ..grid.link import Side
from .rows import Origin, Row, Strip, Where

Ends: TypeAlias = Literal["low", "high", "both"]


@dataclass(frozen=True)
class Rule:
    """What the ghosts behind some sides are.

    Made by functions such as `bc.periodic`; `bc.fill` puts rules together.

    Attributes
    ----------
    text
        The rule as it was written.
    axis, end, block
        The sides it is about: of one axis and end, of one block; None means all.
    make
        Returns what it says about the ghosts of one side; names of data are made unique by the
        function it is given.
    data
        Arrays, and functions of coordinates.
    span
        The user's line.
    linked
        Whether it is about linked sides.
    lengths
        The numbers of points along a side that its tables are for; None means any.
    """

    text: str
    axis: int | None
    end: Ends
    block: int | None
    make: Callable[[Frame, Side, Callable[[str], str]], Sequence[Part]]
    data: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    span: Span | None = None
    linked: bool = False
    lengths: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        return self.text

    def sides(self, frame: Frame) -> Iterator[Side]:
        """Yield the sides of a frame the rule is about.

        Rules of links are about linked sides. Others are about those that are not linked, or about
        all if they name a block.

        Raises
        ------
        ArgumentError
            If there is no such axis or block.
        """
        if self.axis is not None and not -frame.ndim <= self.axis < frame.ndim:
            raise ArgumentError(f"{self.text}: blocks have {frame.ndim} axes.")
        if self.block is not None and not 0 <= self.block < len(frame.blocks):
            raise ArgumentError(f"{self.text}: there are {len(frame.blocks)} blocks.")
        axis = None if self.axis is None else self.axis % frame.ndim
        for side in frame.sides():
            named = self.block is not None and not self.linked
            about = named or frame.linked(side) == self.linked
            here = self.block in (None, side.block) and axis in (None, side.axis)
            if about and here and self.end in ("both", side.end):
                yield side

    def strips(self, frame: Frame, number: int) -> Iterator[Strip]:
        """Yield what the rule, the so manieth of a fill, says about the ghosts of a frame."""
        for side in self.sides(frame):
            for part in self.make(frame, side, lambda key: f"{key}_{number}"):
                row = replace(part.row, origins=(Origin(self, side),))
                more = part.where, part.extends, part.fits, part.least, part.point
                yield Strip(self, side, row, *more)

    def named(self, number: int) -> dict[str, Any]:
        """Return the rule's data by the names they have in a fill."""
        return {f"{key}_{number}": value for key, value in self.data.items()}


@dataclass(frozen=True, slots=True)
class Part:
    """What a rule says about some layers of ghosts behind one side; see `Strip`."""

    row: Row
    where: Where = ()
    extends: bool = True
    fits: tuple[tuple[int, int], ...] = ()
    least: int = 1
    point: tuple[int, ...] | None = None


def rule_of(
    text: str,
    axis: int | None,
    side: Ends,
    block: int | None,
    make: Callable[[Frame, Side, Callable[[str], str]], Sequence[Part]],
    data: Mapping[str, Any] | None = None,
    linked: bool = False,
    lengths: tuple[int, ...] | None = None,
) -> Rule:
    """Return a rule about the sides of an axis and an end, of one block or of all."""
    if side not in ("low", "high", "both"):
        raise ArgumentError(f'{text}: a side is "low", "high" or "both", not {side!r}.')
    for name, value in (("axis", axis), ("block", block)):
        if value is not None and integer(value) is None:
            raise ArgumentError(f"{text}: {name} is {value!r}, not an integer.")
    given = MappingProxyType(dict(data or {}))
    return Rule(text, axis, side, block, make, given, user_span(), linked, lengths)


def told(name: str, axis: int | None, side: Ends, block: int | None) -> str:
    """Return a rule as it is called in messages."""
    given = [f"axis={axis}"] if axis is not None else []
    given += [f'side="{side}"'] if side != "both" else []
    given += [f"block={block}"] if block is not None else []
    return f"{name}({', '.join(given)})"


def check_points(text: str, frame: Frame, side: Side, least: int, points: int) -> None:
    """Refuse a block that has too few points along the axis of a side for a rule.

    Raises
    ------
    HaloError
        If they have.
    """
    if points < least:
        has = f"block {side.block} has" if frame.gridded else "there are"
        raise HaloError(
            f"{text} needs {least} points along axis {side.axis}; {has} {points}.",
            hint="Choose a lower order.",
        )


def finite(text: str, name: str, value: Any) -> float:
    """Return a finite number.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    if isinstance(value, numbers.Real) or (isinstance(value, np.ndarray) and not value.ndim):
        with suppress(TypeError, ValueError, OverflowError):
            number = float(value)
            if np.isfinite(number):
                return number
    raise ArgumentError(f"{text}: {name} is {value!r}, not a finite number.")


def finite_numbers(text: str, name: str, value: Any) -> tuple[float, ...]:
    """Return finite numbers, of which one may be given alone.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    each = value if isinstance(value, (tuple, list)) else [value]
    if not each:
        raise ArgumentError(f"{text}: no {name} is given.")
    return tuple(finite(text, name, v) for v in each)


def order_of(text: str, order: Any) -> int:
    """Return an order of accuracy, a positive integer.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    found = integer(order)
    if found is None or found < 1:
        raise ArgumentError(f"{text}: the order is {order!r}, not a positive integer.")
    return found
