"""Coincident points on block surfaces: surface parts (faces, edges, corners) and their copies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from ssr.extension import Affine

from ..grid.boxes import Orthant
from ..grid.grid import Grid, GridSpace
from ..grid.link import lengths


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of the points of a part of a block's surface.

    Attributes
    ----------
    field, block
        The field and the block of the copy.
    orthant
        The part of that block's surface: -1 and 1 for axes at an end.
    index
        Its index as a function of the index of the first copy.
    sign
        1, or -1 where fluxes count in the opposite direction.
    """

    field: int
    block: int
    orthant: Orthant
    index: tuple[Affine, ...]
    sign: int

    @property
    def place(self) -> tuple[int, int, Orthant]:
        """The part of a surface to which it belongs, by which copies are ordered.

        Where a side is folded onto itself there are two copies of one part.
        """
        return self.block, self.field, self.orthant


@dataclass(frozen=True, eq=False)
class Shared:
    """Points that several blocks hold.

    Attributes
    ----------
    points
        The space of each field: the nodes of each kind of blocks, or the faces normal to each axis,
        kind by kind.
    """

    grid: Grid
    points: tuple[GridSpace, ...]

    @property
    def fluxes(self) -> bool:
        """Whether fields are fluxes along the axes, which have a direction."""
        return not all(self.points[0].data.staggered[1:])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the indices of a first copy."""
        return tuple(f"x{a}" for a in range(self.grid.ndim))

    @cached_property
    def _cells(self) -> tuple[tuple[Affine, ...], ...]:
        """The numbers of cells of each block."""
        return tuple(map(lengths, self.grid.shapes))

    @cached_property
    def _fields(self) -> Mapping[tuple[int, tuple[bool, ...]], int]:
        """The field of each block and location."""
        every = enumerate(self.points)
        return {(b, p.data.staggered[1:]): field for field, p in every for b in p.blocks}

    def at(self, copy: Copy, index: Iterable[Any]) -> tuple[Any, ...]:
        """Return the index of points of a copy in its field."""
        return self.points[copy.field].blocks.index(copy.block), *index

    def copies(self) -> Iterator[tuple[Copy, ...]]:
        """Yield the copies of each part of a block's surface that is shared, the part's own first.

        A part has its indices fixed at ends of some axes, and runs between the ends of the others.
        """
        for field, point in enumerate(self.points):
            places = [(-1, 0, 1) if s else (0,) for s in point.data.staggered[1:]]
            ends = [{-1: Affine.of(0), 1: n - 1} for n in point.data.shape[1:]]
            for orthant in filter(any, product(*places)):
                own = tuple(
                    end.get(place, Affine.name(name))
                    for name, end, place in zip(self.names, ends, orthant, strict=True)
                )
                for block in point.blocks:
                    found = self._closed(Copy(field, block, orthant, own, 1))
                    if len(found) > 1:
                        yield found

    def _closed(self, first: Copy) -> tuple[Copy, ...]:
        """Return a copy with all copies to which links lead from it."""
        found, new = [first], [first]
        while new:
            here = new.pop()
            for there in self._across(here):
                if there not in found:
                    found.append(there)
                    new.append(there)
        return tuple(found)

    def _across(self, here: Copy) -> Iterator[Copy]:
        """Yield the copies beyond the linked sides of a part of a block's surface."""
        staggered = self.points[here.field].data.staggered[1:]
        for link in self.grid.links.links_of(here.block):
            axis, block = link.here.axis, link.there.block
            if here.orthant[axis] != (1 if link.here.end == "high" else -1):
                continue
            maps = link.source(self._cells[here.block], self._cells[block], staggered)
            index = tuple(here.index[a] * sign + offset for a, sign, offset in maps)
            orthant = [here.orthant[a] * sign for a, sign, _ in maps]
            # The distance outside this side is a distance inside the other side: the end is
            # reversed.
            orthant[link.there.axis] = 1 if link.there.end == "high" else -1
            sign = here.sign
            if self.fluxes:
                (sign,) = (here.sign * s for (a, s) in link.turn if a == axis)
            field = self._fields[block, link.seen(staggered)]
            yield Copy(field, block, tuple(orthant), index, sign)

    def box(self, copy: Copy, sizes: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
        """Return the indices of a part of a block's surface, for given sizes."""
        point = self.points[copy.field].data
        extents = [n.evaluate(sizes) for n in point.shape[1:]]
        box = []
        for place, n, s in zip(copy.orthant, extents, point.staggered[1:], strict=True):
            inner = (1, n - 1) if s else (0, n)
            box.append({-1: (0, 1), 1: (n - 1, n)}.get(place, inner))
        return tuple(box)
