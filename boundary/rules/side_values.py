"""Boundary values on a side, one for each component."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ssr.errors import ArgumentError, ShapeError
from ssr.extension import ir, multiply

from ..grid.frame import Frame
from ..grid.link import Side
from .given import GivenQuantity, Known, Quantity
from .rows.strips import Strip

Given: TypeAlias = "Quantity | Sequence[Quantity]"
"""A value on a side: a number, an array, a function of coordinates, or a parameter; or a sequence
with one of these for each component."""


@dataclass(frozen=True, slots=True)
class SideValues:
    """The values of the components beyond a side; the rest is as in `Strip`."""

    each: tuple[ir.Value, ...] = (ir.ZERO,)
    extends: bool = True
    fits: tuple[tuple[int, int], ...] = ()

    def added(self, strip: Strip, factor: ir.Value) -> Strip:
        """Return a strip whose constants are the values times a factor."""
        constant = tuple(ir.ZERO if v == ir.ZERO else multiply(factor, v) for v in self.each)
        row = replace(strip.row, constant=constant)
        return replace(strip, row=row, extends=self.extends, fits=self.fits)

    def along(self, *others: Known) -> SideValues:
        """Return the same values, restricted to sides to which other quantities apply."""
        fits = (*self.fits, *(fit for other in others for fit in other.fits))
        extends = self.extends and all(other.extends for other in others)
        return SideValues(self.each, extends, tuple(dict.fromkeys(fits)))


class GivenValues:
    """The user's values on a side, one for each component."""

    def __init__(self, text: str, value: Given) -> None:
        each: list[Any] = list(value) if isinstance(value, (tuple, list)) else [value]
        if not each:
            raise ArgumentError(f"{text}: no value is given.")
        self.each = [GivenQuantity(text, f"value{n}", one) for n, one in enumerate(each)]
        self.data = {key: data for one in self.each for key, data in one.data.items()}
        shapes = {v.given.shape: None for v in self.each if isinstance(v.given, np.ndarray)}
        if len(shapes) > 1:
            raise ShapeError(
                f"{text}: the values of components have the shapes {', '.join(map(str, shapes))}."
            )
        self.lengths: tuple[int, ...] | None = next(iter(shapes), None)

    def at(self, frame: Frame, side: Side, name: Callable[[str], str]) -> SideValues:
        """Return the values beyond a side."""
        known = [one.at(frame, side, name) for one in self.each]
        return SideValues(tuple(k.value for k in known)).along(*known)
