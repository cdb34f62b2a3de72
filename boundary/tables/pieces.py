"""Numerical ghost rows: pieces, each of which is a weighted sum over points with constant strides.

All indices are those of array axes: block, k, j, i or fewer. A step is the change of an index from
one point of a loop dimension to the next. The value of a point is one fixed expression, whichever
instructions compute it::

    value[p] = constant[p] + sum of coefficient[p] * scalar
             + sum of weight[p] * source[start + steps . p]

It is summed from left to right with fused multiply-add. In a sum of several terms, a source with
the weight zero is not read, so that an infinity or NaN there has no effect. A piece that consists
of one point with one weight is the plain product. A copy is therefore bitwise exact, including
-0.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ssr.extension import Array

Index: TypeAlias = tuple[int, ...]
Number: TypeAlias = "float | Array"
"""One number for all points of a piece, or an array that broadcasts to its extents."""
Place: TypeAlias = tuple[int, Index, tuple[Index, ...]]
"""A field, the index of the first point, and the step along each loop dimension."""


@dataclass(frozen=True, slots=True, eq=False)
class Tap:
    """A point that each point of a piece reads.

    Attributes
    ----------
    source
        The number of the field.
    start, steps
        The index read by the first point, and the step along each loop dimension.
    weight
        The factor of the value read.
    window
        For each loop dimension the range of the points that read; None if all do.
    """

    source: int
    start: Index
    steps: tuple[Index, ...]
    weight: Number
    window: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Points of one field that are computed by one sum.

    Attributes
    ----------
    target, start, steps
        The field, the index of the first point, and the step along each loop dimension.
    extents
        The number of points along each loop dimension.
    taps, constant, scalars
        The sum: points read, a constant, and numbers of scalars with their coefficients.
    also
        Further targets of the same values.
    """

    target: int
    start: Index
    steps: tuple[Index, ...]
    extents: tuple[int, ...]
    taps: tuple[Tap, ...]
    constant: Number = 0.0
    scalars: tuple[tuple[int, Number], ...] = ()
    also: tuple[Place, ...] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        """All targets of the values."""
        return ((self.target, self.start, self.steps), *self.also)

    @property
    def fixed(self) -> bool:
        """Whether the values are always the same."""
        return not self.taps and not self.scalars

    @property
    def scaled(self) -> float | None:
        """The weight, if each value is one point times this weight only."""
        if len(self.taps) == 1 and not self.scalars and _zero(self.constant):
            (tap,) = self.taps
            if tap.window is None and np.ndim(tap.weight) == 0:
                return float(tap.weight)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class VectorPiece:
    """Pieces of the components of a vector, in order, and a matrix at each point.

    The component c of the target is the sum of ``matrix[c][d] * value of pieces[d]``. The pieces
    differ in their fields and constants only.
    """

    pieces: tuple[Piece, ...]
    matrix: tuple[tuple[Number, ...], ...]


AnyPiece: TypeAlias = "Piece | VectorPiece"


def _zero(number: Number) -> bool:
    return np.ndim(number) == 0 and number == 0


def seen(piece: Piece, tap: Tap) -> tuple[tuple[slice, ...], Index, tuple[int, ...]]:
    """Return the ranges of a piece in which a tap is read, the first index, and the extents."""
    window = tap.window or tuple((0, n) for n in piece.extents)
    part = tuple(slice(low, max(low, high)) for low, high in window)
    lows = [low for low, _ in window]
    start = tuple(
        s + sum(step[axis] * low for step, low in zip(tap.steps, lows, strict=True))
        for axis, s in enumerate(tap.start)
    )
    return part, start, tuple(s.stop - s.start for s in part)


def points(start: Index, steps: Sequence[Index], extents: Sequence[int]) -> tuple[Array, ...]:
    """Return the indices of points, an array for each axis."""
    zero = np.zeros(tuple(extents), int)
    grid = np.indices(zero.shape)
    return tuple(
        s + sum((step[axis] * g for step, g in zip(steps, grid, strict=True)), zero)
        for axis, s in enumerate(start)
    )
