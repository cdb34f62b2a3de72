"""The last write to each element of an array, as an isl relation from elements to write numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import islpy as isl

from .affine import AXES
from .effort import each_in_turn
from .sets import Domain

_CONTEXT = isl.DEFAULT_CONTEXT


@each_in_turn
class LastWrites:
    """For some elements of an array the number of the write that they hold.

    >>> row = Domain.where(("i",), "0 <= i < 8")
    >>> one = LastWrites.by(row, 1)
    >>> two = one.written(Domain.where(("i",), "i = 5"), 2)
    >>> two.first_missing(one), two.first_missing(LastWrites.none(1)), two.first_missing(two)
    (((5,), 2, 1), ((0,), 1, None), None)
    """

    __slots__ = ("isl",)

    def __init__(self, raw: Any) -> None:
        self.isl = raw

    @staticmethod
    def none(axes: int) -> LastWrites:
        """Return the empty map, without writes, for elements with a number of axes."""
        return LastWrites(isl.Map.empty(isl.Space.alloc(_CONTEXT, 0, axes, 1)))

    @staticmethod
    def by(points: Domain, number: int) -> LastWrites:
        """Return a map from points, a set without parameters, to the write with a number."""
        return LastWrites(isl.Map.from_domain_and_range(points.isl, _only(number)))

    def read_again(self) -> LastWrites:
        """Return the same map as isl parses it from its text."""
        return LastWrites(isl.Map.read_from_str(_CONTEXT, str(self.isl)))

    def within(self, points: Domain) -> LastWrites:
        """Return the last writes of some points only."""
        return LastWrites(self.isl.intersect_domain(points.isl))

    def without(self, points: Domain) -> LastWrites:
        """Return the last writes of all elements except some points."""
        return LastWrites(self.isl.subtract_domain(points.isl))

    def copied(self, points: Domain, source: LastWrites) -> LastWrites:
        """Return the last writes after some points are copied from a source."""
        left = self.isl.subtract_domain(points.isl)
        return LastWrites(left.union(source.isl.intersect_domain(points.isl)).coalesce())

    def written(self, points: Domain, number: int) -> LastWrites:
        """Return the last writes after a write of some points."""
        return self.copied(points, LastWrites.by(points, number))

    def missing(self, seen: LastWrites) -> Domain | None:
        """Return the elements that do not hold the same write in ``seen``; None if all do."""
        if self.isl.is_subset(seen.isl):
            return None
        found = self.isl.subtract(seen.isl).domain().coalesce()
        return Domain(AXES[found.dim(isl.dim_type.set)], found)

    def first_missing(self, seen: LastWrites) -> tuple[tuple[int, ...], int, int | None] | None:
        """Return an element that holds another write in ``seen``, which should be the one here."""
        if self.isl.is_subset(seen.isl):
            return None
        missing = self.isl.subtract(seen.isl)
        element = missing.domain().lexmin()
        ((expected,),) = _values(missing.intersect_domain(element).range())
        point = _values(element)[0]
        held = _values(seen.isl.intersect_domain(element).range())
        return point, expected, held[0][0] if held else None


@lru_cache(maxsize=4096)
def _only(number: int) -> Any:
    return isl.Set.read_from_str(_CONTEXT, f"{{ [{number}] }}")


def _values(points: Any) -> list[tuple[int, ...]]:
    """Return the points of a finite set of few points."""
    return [*Domain(AXES[points.dim(isl.dim_type.set)], points).points()]
