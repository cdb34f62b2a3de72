"""Extents of spaces: validation of user input, and the classification of ghost points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from ..errors import ArgumentError, SpaceError
from ..points.affine import Affine
from ..points.numbers import integer
from ..symbols.index import Index, Least, merged

Extent: TypeAlias = "Index | int | tuple[Index | int, Index | int]"
"""The index range of an axis: the number of indices from 0, or a half-open pair (low, high)."""

End: TypeAlias = Literal["low", "high"]
"""The lower or upper end of an axis."""


@dataclass(frozen=True, slots=True)
class Extents:
    """The data of a space: first index, number of points, and staggering, axis by axis.

    `least` has lower bounds of the sizes that are known to be larger than one.
    """

    lower: tuple[Affine, ...]
    shape: tuple[Affine, ...]
    staggered: tuple[bool, ...]
    least: Least = ()

    def along(self, axis: int, low: Affine, high: Affine, least: Least = ()) -> Extents:
        """Return the points with other indices along an axis: those from low to before high."""
        lower, shape = list(self.lower), list(self.shape)
        lower[axis], shape[axis] = low, high - low
        every = merged(self.least, least)
        return replace(self, lower=tuple(lower), shape=tuple(shape), least=every)


def bounds(extent: Any) -> tuple[Affine, Any]:
    """Return the first index of an axis, and the one after its last."""
    low, high = ends(extent)
    if isinstance(low, Index):
        return low.affine, high
    first = integer(low)
    if first is None:
        raise SpaceError(
            f"An axis is given as {extent!r}.",
            hint="Give its extent, or a pair (low, high) of integers or of expressions of sizes.",
        )
    return Affine.of(first), high


def ends(extent: Any) -> tuple[Any, Any]:
    """Return the ends of an axis as they are given."""
    if not isinstance(extent, (tuple, list)):
        return 0, extent
    return tuple(extent) if len(extent) == 2 else (None, None)


def owned_within(inner: Extents, outer: Extents) -> Extents | None:
    """Return the owned points of a space derived from a space with the owned points ``inner``.

    An axis that contains all owned points keeps them, and an axis within the owned points has no
    ghosts. If neither holds, the owned points are unknown: None.
    """
    for axis in range(len(inner.shape)):
        less = inner.lower[axis] - outer.lower[axis]
        more = outer.shape[axis] - inner.shape[axis] - less
        if not less.is_constant or not more.is_constant:
            return None
        added = less.constant, more.constant
        if max(added) <= 0:
            low = outer.lower[axis]
            inner = inner.along(axis, low, outer.shape[axis] + low)
        elif min(added) < 0:
            return None
    return inner


def most(extent: Affine, least: Mapping[str, int]) -> float:
    """Return the largest value of an extent, for sizes of at least 1 or of their lower bounds."""
    if any(not isinstance(atom, str) or factor > 0 for atom, factor in extent.terms):
        return math.inf
    return extent.evaluate({atom: least.get(atom, 1) for atom in extent.names()})


def width_of(width: Any) -> tuple[int, int]:
    """Return a width as the numbers of points added below and above."""
    whole = integer(width)
    if whole is not None:
        return whole, whole
    pair = [integer(w) for w in width] if isinstance(width, (tuple, list)) else []
    if len(pair) == 2 and pair[0] is not None and pair[1] is not None:
        return pair[0], pair[1]
    raise ArgumentError(f"A width must be an integer or a pair of integers, not {width!r}.")
