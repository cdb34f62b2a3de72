"""Regions of the arrays that the nests of a program read and write, as functions of their box.

The rows are those of the domains of statements, and of the terms that contain a load; they may lie
beyond the box. Three kinds of reads need special treatment. Reads of rows that earlier statements
of the nest have written are omitted, since they are not inputs of the nest. Reads of a sweep from
its own rows are included, because other subdomains may have computed them. Reads of `kept` halo
elements are omitted, because the values are already in place.

Many loads give few hulls. A hull that lies in another one is dropped, and two hulls that differ
along one axis, by a shift or in length, are merged. Bounds are compared as expressions: they differ
by a constant, or by a constant and one of the inequalities that hold for every box, such as
``i_hi - i_lo - 1 >= 0``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from .. import ir
from ..algebra.analyse import reads
from ..algebra.own_box import bounded, is_local, own_bounds
from ..points.affine import AXES, Affine, Atom, offset_of
from ..points.sets import Bounds, Domain
from ..runtime.reach import Reach

Expressions: TypeAlias = tuple[Affine, ...]
Terms: TypeAlias = tuple[tuple[Atom, int], ...]

GAP = 4
"""Largest gap in elements between two hulls that are merged."""


def reached(
    nest: ir.Nest, arrays: Mapping[str, ir.Field]
) -> tuple[tuple[Reach, ...], tuple[Reach, ...]]:
    """Return the elements of arrays that a nest reads, and those that it writes."""
    finder = _Finder(nest)
    written: dict[str, Domain] = {}
    read: dict[Reach, None] = {}
    made: dict[Reach, None] = {}
    for statement in nest.statements:
        rows = statement.domain & nest.context
        for domain, load in dict.fromkeys(reads(statement.value, rows)):
            if statement.kept and load.array == statement.local:
                domain = domain & bounded(nest.axes).preimage(load.index, nest.axes)
            made_here = not load.new and _within(domain, load, written.get(load.array))
            if load.array in arrays and not made_here:
                new = load.new and load.array != statement.local  # not for local sweeps
                read |= dict.fromkeys(finder.reaches(load.array, new, domain, load.index))
        for gather in ir.gathers(statement.value):
            read |= dict.fromkeys(finder.gathered(gather, rows))
        if statement.array in arrays:
            made |= dict.fromkeys(finder.reaches(statement.array, False, rows, statement.index))
            here = rows.image(statement.index, AXES[len(statement.index)])
            known = written.get(statement.array)
            written[statement.array] = here if known is None else known | here
    order = _Order(_facts(nest))
    return order.fewer(read), order.fewer(made)


def reached_by_lines(nest: ir.LineNest) -> tuple[tuple[Reach, ...], tuple[Reach, ...]]:
    """Return the elements of arrays that systems along lines read, and those that they write."""
    own = tuple(map(Affine.name, nest.axes))
    low = [(Affine.name(f"{axis}_lo"),) for axis in nest.axes]
    high = [(Affine.name(f"{axis}_hi"),) for axis in nest.axes]
    writes = (Reach(array, False, tuple(low), tuple(high), (), own) for array in nest.made)
    first, last = list(low), list(high)
    first[nest.along] = (low[nest.along][0] - nest.beyond,)
    last[nest.along] = (high[nest.along][0] + nest.beyond,)
    reads = (Reach(array, False, tuple(first), tuple(last), (), own) for array in nest.read)
    return tuple(sorted(reads, key=_array)), tuple(writes)


def _array(reach: Reach) -> str:
    return reach.array


def _within(rows: Domain, load: ir.Load, written: Domain | None) -> bool:
    """Whether all elements that rows read have been written."""
    return written is not None and rows.image(load.index, written.axes) <= written


class _Finder:
    """Elements that rows of a nest access, as hulls."""

    def __init__(self, nest: ir.Nest) -> None:
        self.context = nest.context
        self.axes = nest.axes
        self.known: dict[Domain, list[tuple[Bounds, Bounds, Expressions]]] = {}

    def reaches(self, array: str, new: bool, rows: Domain, index: Expressions) -> Iterator[Reach]:
        """Yield the elements of an array that rows access, a hull per conjunction of the rows.

        If each row accesses the array at its own index, or at one shifted by constants, the rows
        are replaced by the elements.
        """
        own = tuple(map(Affine.name, self.axes))
        offset = offset_of(index, own)
        for low, high, when in self._hulls(rows):
            if offset is not None:
                low = tuple(_shifted(b, s) for b, s in zip(low, offset, strict=True))
                high = tuple(_shifted(b, s) for b, s in zip(high, offset, strict=True))
            yield Reach(array, new, low, high, when, index if offset is None else own)

    def gathered(self, gather: ir.Gather, rows: Domain) -> Iterator[Reach]:
        """Yield the rows of a stored matrix whose columns are accessed."""
        for low, high, when in self._hulls(rows):
            yield Reach(gather.array, gather.new, low, high, when, gather.row, gather.matrix)

    def _hulls(self, rows: Domain) -> list[tuple[Bounds, Bounds, Expressions]]:
        """Return the hulls of rows, without bounds that the context implies."""
        if rows not in self.known:
            found = [] if rows.empty else [*rows.simplified(self.context).hulls()]
            self.known[rows] = found
        return self.known[rows]


def _met(reach: Reach) -> tuple[object, ...]:
    """Return the access of a hull without the bounds of its rows."""
    return reach.array, reach.new, reach.index, reach.matrix


def _shifted(bounds: Expressions, shift: int) -> Expressions:
    return tuple(bound + shift for bound in bounds)


def _facts(nest: ir.Nest) -> tuple[Affine, ...]:
    """Return expressions >= 0 for any box of a nest: it is not empty, and lies within the rows.

    If the nest is local, the box also lies within the box that owns its rows.
    """
    found = [Affine()]
    for axis, low, extent in zip(nest.axes, *nest.rows.points, strict=True):
        first, last = Affine.name(f"{axis}_lo"), Affine.name(f"{axis}_hi")
        found += [last - first - 1, first - low, extent + low - last, last - 1 - low]
        found += [extent + low - 1 - first, extent - 1]
        if is_local(nest.context):
            least, most = map(Affine.name, own_bounds((axis,)))
            found += [first - least, most - last, least - low, extent + low - most]
    return tuple(found)


class _Order:
    """Comparisons of bounds under some facts: expressions that are >= 0."""

    def __init__(self, facts: Iterable[Affine]) -> None:
        self._least: dict[Terms, int] = {}
        for fact in facts:  # a fact plus a constant >= 0 is >= 0
            self._least[fact.terms] = min(fact.constant, self._least.get(fact.terms, fact.constant))

    def fewer(self, reaches: Mapping[Reach, None]) -> tuple[Reach, ...]:
        """Return hulls that hold the same elements, as few as are easily found."""
        left = [*reaches]
        kept: list[Reach] = []
        while left:
            here = left.pop(0)
            for place, other in enumerate(kept):
                both = self.joined(here, other)
                if both is not None:
                    del kept[place]
                    left.insert(0, both)
                    break
            else:
                kept.append(here)
        return tuple(kept)

    def joined(self, one: Reach, other: Reach) -> Reach | None:
        """Return the hull of two that differ along one axis at most, or of which one holds both."""
        if _met(one) != _met(other):
            return None
        for large, small in ((one, other), (other, one)):
            if self.holds(large, small):
                return large
        if {*one.when} != {*other.when}:
            return None
        differ = [n for n in range(len(one.low)) if not self.same(one, other, n)]
        if len(differ) != 1:
            return None
        (axis,) = differ
        for first, last in ((one, other), (other, one)):
            if self.follows(first, last, axis):
                return replace(first, high=last.high)
        return None

    def holds(self, large: Reach, small: Reach) -> bool:
        """Whether one hull holds another."""
        return {*large.when} <= {*small.when} and all(
            self.below(low, less) and self.above(high, more)
            for low, less, high, more in zip(
                large.low, small.low, large.high, small.high, strict=True
            )
        )

    def follows(self, first: Reach, last: Reach, axis: int) -> bool:
        """Whether a hull begins and ends after another one along an axis, at most `GAP` apart."""
        start, stop = last.low[axis], first.high[axis]
        near = all(self.at_most(low, high + GAP) for low in start for high in stop)
        return near and self.below(first.low[axis], start) and self.above(last.high[axis], stop)

    def same(self, one: Reach, other: Reach, axis: int) -> bool:
        """Whether two hulls have the same rows along an axis."""
        return all(
            self.below(a.low[axis], b.low[axis]) and self.above(a.high[axis], b.high[axis])
            for a, b in ((one, other), (other, one))
        )

    def below(self, bounds: Expressions, others: Expressions) -> bool:
        """Whether the largest of some bounds is at most the largest of others."""
        return all(any(self.at_most(bound, other) for other in others) for bound in bounds)

    def above(self, bounds: Expressions, others: Expressions) -> bool:
        """Whether the smallest of some bounds is at least the smallest of others."""
        return all(any(self.at_most(other, bound) for other in others) for bound in bounds)

    def at_most(self, one: Affine, other: Affine) -> bool:
        """Whether an expression is at most another one."""
        more = other - one
        least = self._least.get(more.terms)
        return least is not None and more.constant >= least
