"""Linear transformations of ghost rules: interpolation along a side and rotation of vectors.

The tables apply to one-dimensional sides: those of blocks of two dimensions, or of three dimensions
if the tables are constant along one axis, the vertical levels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from ssr.errors import ArgumentError, ShapeError, user_span
from ssr.extension import Affine, integer, ir

from ..errors import HaloError
from ..grid.frame import Frame
from ..grid.link import Side
from .rows.affine_rows import Row
from .rows.strips import Strip, Where
from .rule import Rule

Changed: TypeAlias = tuple[Row, Where]
Change: TypeAlias = Callable[[Frame, Side, Row, Callable[[str], str]], list[Changed]]
"""A map from the row of a rule beyond a side to the transformed rows, each with its index
ranges."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The sides to which tables apply: lines of points, identical at each level.

    Attributes
    ----------
    text
        The rule or matrix of the tables, for messages.
    layers, length
        The extents of the tables: layers of ghosts, and points along a side.
    levels
        The axis of blocks of three dimensions along which the tables do not change; None if blocks
        have two.
    """

    text: str
    layers: int
    length: int
    levels: int | None

    def axes(self, frame: Frame) -> tuple[int, int]:
        """Return the axes of a block other than the axis of levels."""
        if frame.ndim == 3 and self.levels is None:
            raise ArgumentError(
                f"{self.text}: blocks have 3 dimensions, and the tables are for lines.",
                hint="Name the axis along which they do not change: levels=0.",
            )
        if frame.ndim != (2 if self.levels is None else 3):
            note = "levels are one of three axes" if self.levels is not None else None
            noun = "dimension" if frame.ndim == 1 else "dimensions"
            raise ArgumentError(f"{self.text}: blocks have {frame.ndim} {noun}.", note=note)
        one, other = (a for a in range(frame.ndim) if a != self.levels)
        return one, other

    def along(self, frame: Frame, side: Side) -> int:
        """Return the axis along a side, after a check that the tables fit."""
        (along,) = (a for a in self.axes(frame) if a != side.axis)
        extent, width = frame.blocks[side.block].shape[along], ghost_width(frame, side)
        if extent.is_constant and extent.constant != self.length:
            raise ShapeError(
                f"{self.text}: the tables have {self.length} points, {frame.named(side)} has "
                f"{extent}."
            )
        if self.layers < width:
            raise HaloError(
                f"{self.text}: the tables have {self.layers} layers, the halo of "
                f"{frame.named(side)} has {width}."
            )
        return along


@dataclass(frozen=True)
class Step:
    """A change of rows, with its tables and the sides to which they apply."""

    change: Change
    tables: Mapping[str, Any]
    lines: Lines


@dataclass(frozen=True)
class Across:
    """A matrix that acts on the ghosts beyond a side; ``across @ rule`` is a rule.

    Made by `bc.interpolate` and `bc.transform_vector`, and by products of these.

    Attributes
    ----------
    steps
        The steps, the last one first.
    """

    text: str
    steps: tuple[Step, ...]

    @property
    def lines(self) -> Lines:
        """The sides to which the tables apply."""
        return self.steps[0].lines

    __array_ufunc__ = None

    def __repr__(self) -> str:
        return self.text

    def __matmul__(self, other: object) -> Any:
        if isinstance(other, Across):
            _check_levels(self, other)
            _check_length(self, other.text, other.lines.length)
            text = f"{self.text} @ {other.text}"
            return Across(text, (*self.steps, *other.steps))
        if not isinstance(other, Rule):
            return NotImplemented
        if other.lengths is not None and len(other.lengths) == 1:
            _check_length(self, other.text, other.lengths[0])
        levels = self.lines.levels
        if levels is not None and other.axis in (levels, levels - 3):
            raise ArgumentError(
                f"{self.text} @ {other.text} applies to no side: sides normal to the axis of "
                "levels have rules of their own."
            )
        rule = other
        for step in reversed(self.steps):
            rule = _changed(rule, step)
        text = f"{self.text} @ {other.text}"
        made = replace(rule, text=text, span=user_span(), lengths=(self.lines.length,))
        return replace(made, resolve=lambda values: self @ other.resolved(values))


def _changed(rule: Rule, step: Step) -> Rule:
    """Return a rule with changed ghosts beyond each side, and none beyond the ends of levels."""
    keys = {key: ir.fresh(key, rule.data) for key in step.tables}

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Strip]:
        if side.axis not in step.lines.axes(frame):
            return []
        along, found = step.lines.along(frame, side), []
        for part in rule.make(frame, side, name):
            fits = (*part.fits, (along, step.lines.length))
            for row, where in step.change(frame, side, part.row, lambda key: name(keys[key])):
                both = (_first(frame, side, step.lines.layers), *part.where, *where)
                found.append(Strip(row, both, False, fits, part.least))
        return found

    data = {**rule.data, **{keys[key]: value for key, value in step.tables.items()}}
    return replace(rule, make=make, data=MappingProxyType(data))


def _first(frame: Frame, side: Side, count: int) -> tuple[int, Affine, Affine]:
    """Return the axis and the range of the indices of the first layers beyond a side."""
    block = frame.blocks[side.block]
    edge = Affine.of(block.first[side.axis]) if side.end == "low" else block.stop(side.axis)
    return (
        side.axis,
        edge - (count if side.end == "low" else 0),
        edge + (0 if side.end == "low" else count),
    )


def ghost_width(frame: Frame, side: Side) -> int:
    """Return the number of layers of ghosts beyond a side."""
    block = frame.blocks[side.block]
    return block.low[side.axis] if side.end == "low" else block.high[side.axis]


def _check_length(one: Across, text: str, length: int) -> None:
    if one.lines.length != length:
        raise ShapeError(
            f"{one.text} is for {one.lines.length} points along a side, {text} for {length}."
        )


def _check_levels(one: Across, other: Across) -> None:
    if one.lines.levels != other.lines.levels:
        raise ArgumentError(
            f"{one.text} @ {other.text}: the axes of levels differ.",
            note=f"they are {one.lines.levels} and {other.lines.levels}",
            hint="Give both the same levels=...",
        )


def levels_axis(text: str, levels: Any) -> int | None:
    """Return the axis of levels, counted from 0."""
    if levels is None:
        return None
    axis = integer(levels)
    if axis is None or not -3 <= axis < 3:
        raise ArgumentError(f"{text}: levels is {levels!r}, not one of the axes 0, 1 and 2.")
    return axis % 3


def step_text(name: str, levels: int | None) -> str:
    """Return the name of a change in messages."""
    return f"{name}(...)" if levels is None else f"{name}(..., levels={levels})"


def first_place(bad: Any) -> str:
    """Return the index of the first element that is true, as text."""
    return str([int(n) for n in np.argwhere(bad)[0]])
