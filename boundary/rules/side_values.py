"""Boundary values on a side, one for each component."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ssr.errors import ArgumentError, ShapeError

from ..grid.frame import Frame
from ..grid.link import Side
from .given import GivenQuantity, Quantity, SideValues

Given: TypeAlias = "Quantity | Sequence[Quantity]"
"""A value on a side: a number, an array, a function of coordinates, or a parameter; or a sequence
with one of these for each component."""


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
