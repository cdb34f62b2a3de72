"""Values at the points of a field, given as a global array or as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ssr.errors import ArgumentError, ShapeError
from ssr.extension import Array

Given: TypeAlias = "Array | Callable[..., Any]"


@dataclass(frozen=True, eq=False)
class PointValues:
    """Numbers at each point of a field.

    Attributes
    ----------
    name
        The name of the values in messages.
    lead
        The number of axes of the values at a point.
    given
        An array with these axes, then the axis of blocks, then the axes of a block; or a function
        of a block's number and of index arrays of one shape. The function returns an array that
        has, or broadcasts to, the axes of a point's values followed by the axes of the indices.
    """

    name: str
    lead: int
    given: Given

    def alike(self, other: PointValues) -> bool:
        """Whether other values are provably equal."""
        if isinstance(self.given, np.ndarray) and isinstance(other.given, np.ndarray):
            return np.array_equal(self.given, other.given)
        return bool(self.given == other.given)

    def at(self, block: int, place: int, index: Sequence[Array], points: tuple[int, ...]) -> Array:
        """Return the numbers at some points of a block."""
        if isinstance(self.given, np.ndarray):
            if self.given.shape[self.lead + 1 :] != points:
                raise ShapeError(
                    f"The {self.name} has shape {self.given.shape}; "
                    f"the blocks have {points} points."
                )
            every: tuple[Any, ...] = (slice(None),) * self.lead
            found: Array = self.given[(*every, place, *index)]
            return found
        made, shape = np.asarray(self.given(block, *index), np.float64), index[0].shape
        try:
            made = np.broadcast_to(made, (*made.shape[: self.lead], *shape))
        except ValueError:
            raise ShapeError(
                f"The function of the {self.name} returns shape {made.shape} for points of shape "
                f"{shape}."
            ) from None
        if not np.isfinite(made).all():
            raise ArgumentError(f"The function of the {self.name} returns NaN or infinity.")
        return made
