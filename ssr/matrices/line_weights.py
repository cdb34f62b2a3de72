"""Finite-difference and interpolation weights of points along one axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from ..errors import SpaceError
from ..spaces.space import Space
from ..symbols.index import affine
from ..symbols.values import simplified

Weights: TypeAlias = Mapping[int, float]
"""Weights of points of one line, keyed by offset from the row's index."""

Outside: TypeAlias = Literal["error", "zero", "one-sided"]
"""The treatment of rows whose stencil extends beyond the space."""


@dataclass(frozen=True)
class Line:
    """The weights of rows along one axis.

    Attributes
    ----------
    middle
        The weights of most rows.
    low, high
        Those of the first rows, from the first on, and of the last rows, from the last back.
    """

    axis: int
    middle: Weights
    low: tuple[Weights, ...] = ()
    high: tuple[Weights, ...] = ()

    @property
    def most(self) -> int:
        """The largest number of points of a row."""
        return max(len(weights) for weights in (self.middle, *self.low, *self.high))

    def of(self, rows: Space, index: Sequence[Any]) -> Weights:
        """Return the weights of a row."""
        at, first = index[self.axis], rows.lower[self.axis]
        last = first + rows.shape[self.axis] - 1
        for place, weights in enumerate(self.low):
            if at == first + place:
                return weights
        for place, weights in enumerate(self.high):
            if at == last - place:
                return weights
        return self.middle


def axes_apart(rows: Space, cols: Space) -> list[int]:
    """Return the axes along which locations differ."""
    pairs = zip(rows.data.staggered, cols.data.staggered, strict=True)
    return [axis for axis, (one, other) in enumerate(pairs) if one != other]


def line_of(
    rows: Space,
    cols: Space,
    axis: int,
    derivative: int,
    order: int,
    outside: Outside,
    *,
    even: bool = True,
) -> Line:
    """Return the weights of all rows along an axis, for points at equal distances.

    Points whose weights are zero are left out, but where distances are not ``even``.
    """
    apart = axis in axes_apart(rows, cols)
    shift = Fraction(int(cols.data.staggered[axis]) - int(rows.data.staggered[axis]), -2)
    if apart:
        half = order // 2 + derivative // 2
        first = -half if shift > 0 else 1 - half
        offsets = range(first, first + 2 * half)
    else:
        half = order // 2 - 1 + (derivative + 1) // 2
        offsets = range(-half, half + 1)

    def weighted(offsets: Sequence[int]) -> Weights:
        found = lagrange_weights([offset + shift for offset in offsets], derivative)
        return {o: float(w) for o, w in zip(offsets, found, strict=True) if w or not even}

    middle = weighted(offsets)
    if outside != "one-sided":
        return Line(axis, middle)
    low, high = cols.lower[axis] - rows.lower[axis], _beyond(rows, cols, axis)
    count = derivative + order  # points of a one-sided stencil
    return Line(
        axis,
        middle,
        tuple(
            weighted(range(low - row, low - row + count))
            for row in range(low - min(middle, default=0))
        ),
        tuple(
            weighted(range(row - high - count + 1, row - high + 1))
            for row in range(max(middle, default=0) + high)
        ),
    )


def _beyond(rows: Space, cols: Space, axis: int) -> int:
    """Return how far the last row lies beyond the last column."""
    ends = [space.data.shape[axis] + affine(space.lower[axis]) for space in (rows, cols)]
    found = ends[0] - ends[1]
    if not found.is_constant:
        raise SpaceError(
            f"Which rows of {rows!r} are near the end of {cols!r} is not known.",
            note=f"Along axis {axis} they have other sizes.",
        )
    return int(found.constant)


def lagrange_weights(points: Sequence[Any], derivative: int, centre: Any = 0) -> list[Any]:
    """Return the weights of values at points for a derivative at a centre.

    They are derivatives of Lagrange's polynomials, each one at one of the points and zero at the
    others. Points are fractions or values.
    """
    found = []
    for n, own in enumerate(points):
        series: list[Any] = [1] + [0] * derivative  # the numerator up to this power
        divisor: Any = Fraction(1)
        for m, other in enumerate(points):
            if m != n:
                apart = 0 if other is centre else other - centre
                shifted = [0, *series[:-1]]
                series = [up - apart * here for up, here in zip(shifted, series, strict=True)]
                divisor = divisor * (own - other)
        found.append(math.factorial(derivative) * series[derivative] / divisor)
    return simplified(found)
