"""Pieces evaluated one by one in NumPy: what tables and machine are tested against."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from boundary.tables.pieces import AnyPiece, Array, Number, Piece, points, seen
from ssr.runtime.intrinsics import fma


def evaluate(
    parts: Iterable[AnyPiece], fields: Sequence[Array], scalars: Sequence[float] = ()
) -> None:
    """Do what pieces say, slowly: all values are found, then all are stored.

    Examples
    --------
    >>> from boundary.tables.pieces import Piece, Tap
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
        weights = _spread(tap.weight, piece, dtype)[part]
        read = fields[tap.source][points(start, tap.steps, extents)]
        total[part] = fused(weights, np.where(weights != 0, read, 0).astype(dtype), total[part])
    return total


def fused(a: Array, b: Array, c: Array) -> Array:
    """Return ``a * b + c``, each element rounded once."""
    each = zip(a.ravel(), b.ravel(), c.ravel(), strict=True)
    found: Array = np.array([fma(*one) for one in each], c.dtype).reshape(c.shape)
    return found


def _spread(number: Number, piece: Piece, dtype: Any) -> Array:
    """Return an array of the extents of a piece."""
    return np.broadcast_to(np.asarray(number, dtype), piece.extents)
