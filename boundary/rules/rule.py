"""Boundary rules as immutable values.

A rule is independent of the grid. `Rule.strips` evaluates it for the sides of a frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from ssr.errors import ArgumentError, Span, user_span
from ssr.extension import Immutable, integer, ir, is_one_of

from ..errors import HaloError
from ..grid.frame import Frame
from ..grid.link import Side
from .rows.affine_rows import Origin
from .rows.strips import Strip

Ends: TypeAlias = Literal["low", "high", "both"]


@dataclass(frozen=True)
class Rule(Immutable):
    """A boundary rule: the definition of the ghost points beyond one or more sides.

    Made by functions such as `bc.periodic`; `bc.fill` puts rules together.

    Attributes
    ----------
    text
        The rule as it was written.
    axis, end, block
        The sides to which it applies: of one axis, end and block; None means all.
    make
        Returns the strips for the ghosts of one side; a function that it is given makes the names
        of data unique.
    data
        Arrays, and functions of coordinates.
    span
        The user's line.
    linked
        Whether it applies to linked sides.
    lengths
        The numbers of points along a side for which its tables are; None means any.
    parameters
        The names of the parameters for which values are given later.
    spacings
        Those among them that are spacings.
    resolve
        Returns the rule with values instead of some parameters.

    Examples
    --------
    >>> import boundary as bc
    >>> bc.symmetric(axis=0, sign=-1)
    symmetric(axis=0, sign=-1)
    """

    text: str
    axis: int | None
    end: Ends
    block: int | None
    make: Callable[[Frame, Side, Callable[[str], str]], Sequence[Strip]]
    data: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    span: Span | None = None
    linked: bool = False
    lengths: tuple[int, ...] | None = None
    parameters: frozenset[str] = frozenset()
    spacings: frozenset[str] = frozenset()
    resolve: Callable[[Mapping[str, Any]], Rule] | None = None

    def __repr__(self) -> str:
        return self.text

    def sides(self, frame: Frame) -> Iterator[Side]:
        """Yield the sides of a frame to which the rule applies.

        Rules of links apply to linked sides. Others apply to sides that are not linked, or to all
        sides if they name a block.

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
        """Yield the definitions of the ghosts of a frame; the rule has a number in its fill.

        Points whose weight is zero are not read: it does not matter whether they have a value.
        """
        for side in self.sides(frame):
            origin = Origin(self.text, self.span, side)
            for strip in self.make(frame, side, lambda key: f"{key}_{number}"):
                entries = tuple(e for e in strip.row.entries if e.weight != ir.ZERO)
                yield replace(strip, row=replace(strip.row, entries=entries, origins=(origin,)))

    def resolved(self, values: Mapping[str, Any]) -> Rule:
        """Return the rule with values instead of some parameters."""
        if self.resolve is None or self.parameters.isdisjoint(values):
            return self
        return replace(self.resolve(values), text=self.text, span=self.span)

    def named(self, number: int) -> dict[str, Any]:
        """Return the rule's data by their names in a fill, where it has this number."""
        return {f"{key}_{number}": value for key, value in self.data.items()}


def rule_of(
    text: str,
    axis: int | None,
    side: Ends,
    block: int | None,
    make: Callable[[Frame, Side, Callable[[str], str]], Sequence[Strip]],
    data: Mapping[str, Any] | None = None,
    linked: bool = False,
    lengths: tuple[int, ...] | None = None,
) -> Rule:
    """Return a rule for the sides of an axis and an end, of one block or of all blocks."""
    if not is_one_of(side, ("low", "high", "both")):
        raise ArgumentError(f'{text}: side must be "low", "high" or "both", not {side!r}.')
    for name, value in (("axis", axis), ("block", block)):
        if value is not None and integer(value) is None:
            raise ArgumentError(f"{text}: {name} is {value!r}, not an integer.")
    given = MappingProxyType(dict(data or {}))
    return Rule(text, axis, side, block, make, given, user_span(), linked, lengths)


def check_points(text: str, frame: Frame, side: Side, least: int, points: int) -> None:
    """Refuse a block that has too few points along the axis of a side for a rule."""
    if points < least:
        has = f"block {side.block} has" if frame.gridded else "there are"
        raise HaloError(
            f"{text} needs {least} points along axis {side.axis}; {has} {points}.",
            hint="Choose a lower order.",
        )
