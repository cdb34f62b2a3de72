"""What a fill does, in numbers: pieces of ghosts, each a sum over points at regular distances.

All indices are those of array axes: block, k, j, i or fewer; a step is what an index changes by
from one point of a loop dimension to the next. The value of a point is one fixed expression, in
whatever way it is computed::

    value[p] = constant[p] + sum of coefficient[p] * scalar
             + sum of weight[p] * source[start + steps . p]

added up from left to right by fused multiplication and addition. A piece of nothing but one point
with one weight is the product alone, so that a copy keeps its bits, those of -0.0 too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ssr.extension import fma

Array: TypeAlias = np.ndarray[Any, Any]
Index: TypeAlias = tuple[int, ...]
Number: TypeAlias = "float | Array"
"""A number for all points of a piece, or an array that broadcasts to its extents."""
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
        What the value read is multiplied by.
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
    """Points of one field that are made by one sum.

    Attributes
    ----------
    target, start, steps
        The field, the index of the first point, and the step along each loop dimension.
    extents
        The number of points along each loop dimension.
    taps, constant, scalars
        The sum: points read, a constant, and numbers of scalars with their coefficients.
    also
        Further places that get the same values.
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
        """All places that get the values."""
        return ((self.target, self.start, self.steps), *self.also)

    @property
    def fixed(self) -> bool:
        """Whether the values are always the same."""
        return not self.taps and not self.scalars

    @property
    def scaled(self) -> float | None:
        """The weight, if the piece is one point with one weight, and nothing else."""
        if len(self.taps) == 1 and not self.scalars and _zero(self.constant):
            (tap,) = self.taps
            if tap.window is None and np.ndim(tap.weight) == 0:
                return float(tap.weight)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Mix:
    """Pieces of the components of a vector, one after the other, and a matrix at each point.

    The component c of the target is the sum of ``matrix[c][d] * value of pieces[d]``. The pieces
    differ in their fields and constants only.
    """

    pieces: tuple[Piece, ...]
    matrix: tuple[tuple[Number, ...], ...]


Part: TypeAlias = "Piece | Mix"


def _zero(number: Number) -> bool:
    return np.ndim(number) == 0 and number == 0


def evaluate(parts: Iterable[Part], fields: Sequence[Array], scalars: Sequence[float] = ()) -> None:
    """Do what the parts say, slowly: all values are found, then all are stored.

    Examples
    --------
    >>> u = np.array([np.nan, 1.0, 2.0, 3.0, np.nan])
    >>> low = Piece(0, (0,), (), (), (Tap(0, (3,), (), 1.0),))
    >>> high = Piece(0, (4,), (), (), (Tap(0, (3,), (), -1.0),), constant=4.0)
    >>> evaluate([low, high], [u])
    >>> u
    array([3., 1., 2., 3., 1.])
    """
    found = []
    for part in parts:
        if isinstance(part, Piece):
            found.append((part, _value(part, fields, scalars, part.scaled)))
            continue
        values = [_value(piece, fields, scalars, None) for piece in part.pieces]
        for piece, row in zip(part.pieces, part.matrix, strict=True):
            dtype = fields[piece.target].dtype
            total = _spread(row[0], piece, dtype) * values[0]
            for entry, value in zip(row[1:], values[1:], strict=True):
                total = fused(_spread(entry, piece, dtype), value, total)
            found.append((piece, total))
    for piece, value in found:
        for field, start, steps in piece.places:
            fields[field][points(start, steps, piece.extents)] = value


def _value(
    piece: Piece, fields: Sequence[Array], scalars: Sequence[float], weight: float | None
) -> Array:
    """Return the values of a piece; ``weight`` is given if it is a product alone."""
    dtype = fields[piece.target].dtype
    if weight is not None:
        (tap,) = piece.taps
        read = fields[tap.source][points(tap.start, tap.steps, piece.extents)]
        product: Array = dtype.type(weight) * read
        return product
    total: Array = np.array(_spread(piece.constant, piece, dtype) + dtype.type(0.0))
    for number, coefficient in piece.scalars:
        scalar = np.full(piece.extents, scalars[number], dtype)
        total = fused(_spread(coefficient, piece, dtype), scalar, total)
    for tap in piece.taps:
        part, start, extents = seen(piece, tap)
        read = fields[tap.source][points(start, tap.steps, extents)]
        total[part] = fused(_spread(tap.weight, piece, dtype)[part], read, total[part])
    return total


def seen(piece: Piece, tap: Tap) -> tuple[tuple[slice, ...], Index, tuple[int, ...]]:
    """Return where in a piece a tap is read, the first index read, and the extents."""
    window = tap.window or tuple((0, n) for n in piece.extents)
    part = tuple(slice(low, max(low, high)) for low, high in window)
    lows = [low for low, _ in window]
    start = tuple(
        s + sum(step[axis] * low for step, low in zip(tap.steps, lows, strict=True))
        for axis, s in enumerate(tap.start)
    )
    return part, start, tuple(s.stop - s.start for s in part)


def fused(a: Array, b: Array, c: Array) -> Array:
    """Return ``a * b + c``, each element rounded once."""
    each = zip(a.ravel(), b.ravel(), c.ravel(), strict=True)
    found: Array = np.array([fma(*one) for one in each], c.dtype).reshape(c.shape)
    return found


def _spread(number: Number, piece: Piece, dtype: Any) -> Array:
    """Return an array of the extents of a piece."""
    return np.broadcast_to(np.asarray(number, dtype), piece.extents)


def points(start: Index, steps: Sequence[Index], extents: Sequence[int]) -> tuple[Array, ...]:
    """Return the indices of points, an array for each axis."""
    zero = np.zeros(tuple(extents), int)
    grid = np.indices(zero.shape)
    return tuple(
        s + sum((step[axis] * g for step, g in zip(steps, grid, strict=True)), zero)
        for axis, s in enumerate(start)
    )
