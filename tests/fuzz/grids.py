"""The meaning of linked blocks: where a point beyond a side of a block lies in another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from .reference import Space

Index = tuple[int, ...]
Point = tuple[int, Index]
"""A block, and an index in it."""


@dataclass(frozen=True, order=True)
class Side:
    """A side of a block."""

    block: int
    axis: int
    end: str


@dataclass(frozen=True)
class Link:
    """Two sides that meet; the axes along the first, in order, are ``axes`` of the second."""

    here: Side
    there: Side
    axes: tuple[int, ...] = ()
    flips: tuple[bool, ...] = ()

    def back(self) -> Link:
        """Return the link from the other side."""
        along = [a for a in range(len(self.axes) + 1) if a != self.here.axis]
        known = {b: (a, flip) for a, b, flip in zip(along, self.axes, self.flips, strict=True)}
        pairs = [known[b] for b in sorted(known)]
        return Link(self.there, self.here, tuple(a for a, _ in pairs), tuple(f for _, f in pairs))

    def found(self, depth: int, along: Sequence[int], shape: Index) -> Index:
        """Return a point of the other block.

        Parameters
        ----------
        depth
            How many points it lies inside the other side.
        along
            The place of the point that is sought along the axes of the first side.
        shape
            The numbers of points of the other block.
        """
        index = [0] * len(shape)
        last = shape[self.there.axis] - 1
        index[self.there.axis] = depth if self.there.end == "low" else last - depth
        for x, axis, flip in zip(along, self.axes, self.flips, strict=True):
            index[axis] = shape[axis] - 1 - x if flip else x
        return tuple(index)


def join(dims: int, here: Side, there: Side, reverse: bool = False) -> Link:
    """Return the link of two sides whose axes have the same order."""
    axes = tuple(a for a in range(dims) if a != there.axis)
    return Link(here, there, axes, (reverse,) * (dims - 1))


class Grid:
    """Blocks and links; blocks whose extents are written alike are a kind."""

    def __init__(self, blocks: Sequence[Sequence[int]], links: Sequence[Link] = ()) -> None:
        self.shapes = [tuple(shape) for shape in blocks]
        self.links: Mapping[Side, Link] = {
            one.here: one for link in links for one in (link, link.back())
        }
        kinds: dict[Any, list[int]] = {}
        for number, shape in enumerate(blocks):
            kinds.setdefault(tuple(getattr(n, "name", n) for n in shape), []).append(number)
        self.kinds = tuple(
            GridSpace(
                (0,) * (1 + len(self.shapes[b[0]])),
                (len(b), *self.shapes[b[0]]),
                (False,) * (1 + len(self.shapes[b[0]])),
                self,
                tuple(b),
            )
            for b in kinds.values()
        )


@dataclass(frozen=True, eq=False)
class GridSpace(Space):
    """Points of the blocks of a kind; the first axis numbers the blocks."""

    grid: Any
    blocks: tuple[int, ...]

    @property
    def key(self) -> Any:
        return self.lower, self.shape, self.staggered, self.blocks

    def grow(self, *width: Any) -> GridSpace:
        each = width * (self.ndim - 1) if len(width) == 1 else width
        made = Space(self.lower, self.shape, self.staggered).grow(0, *each)
        return replace(self, lower=made.lower, shape=made.shape)

    def faces(self, axis: int) -> GridSpace:
        return self._staggered({axis + 1})

    def nodes(self) -> GridSpace:
        return self._staggered(set(range(1, self.ndim)))

    def _staggered(self, axes: set[int]) -> GridSpace:
        made = super()._staggered(axes)
        return replace(self, shape=made.shape, staggered=made.staggered)


@dataclass(frozen=True)
class Blocks:
    """Owned points and ghosts of all blocks of one or more spaces.

    Attributes
    ----------
    owned, wide
        The spaces without and with ghosts.
    shapes
        For each block the owned points.
    places
        For each block the number of its space, and its place along the first axis if it has one.
    """

    owned: tuple[Space, ...]
    wide: tuple[Space, ...]
    shapes: tuple[Index, ...]
    places: tuple[tuple[int, Index], ...]
    links: Mapping[Side, Link]

    @staticmethod
    def of(owned: Sequence[Space], wide: Sequence[Space]) -> Blocks:
        """Return the blocks of spaces: one, or those of a grid for each of its kinds."""
        first = owned[0]
        if not isinstance(first, GridSpace):
            return Blocks(tuple(owned), tuple(wide), (first.shape,), ((0, ()),), {})
        found: dict[int, tuple[Index, tuple[int, Index]]] = {}
        for number, space in enumerate(owned):
            assert isinstance(space, GridSpace)
            for place, block in enumerate(space.blocks):
                found[block] = space.shape[1:], (number, (place,))
        each = [found[b] for b in sorted(found)]
        return Blocks(
            tuple(owned),
            tuple(wide),
            tuple(shape for shape, _ in each),
            tuple(place for _, place in each),
            first.grid.links,
        )

    @property
    def ndim(self) -> int:
        return len(self.shapes[0])

    def staggered(self, block: int) -> tuple[bool, ...]:
        """Return the axes of a block along which points lie on its sides."""
        return self.owned[self.places[block][0]].staggered[-self.ndim :]

    def start(self, block: int) -> Index:
        """Return how many ghosts there are before a block along each axis."""
        kind = self.places[block][0]
        ends = zip(self.owned[kind].lower, self.wide[kind].lower, strict=True)
        return tuple(a - b for a, b in ends)[-self.ndim :]

    @cached_property
    def numbered(self) -> tuple[Point, ...]:
        """All points in the order of the rows of a matrix: space by space."""
        order = sorted(range(len(self.shapes)), key=lambda block: self.places[block])
        return tuple(point for block in order for point in self.points(block))

    def points(self, block: int) -> Iterator[Point]:
        """Yield all points of a block, ghosts too."""
        extents = self.wide[self.places[block][0]].shape[-self.ndim :]
        ranges = zip(self.start(block), extents, strict=True)
        yield from ((block, index) for index in product(*(range(-a, n - a) for a, n in ranges)))

    def out(self, point: Point) -> list[Side]:
        """Return the sides that a point lies beyond; none if it is owned."""
        block, index = point
        found = []
        for axis, (x, n) in enumerate(zip(index, self.shapes[block], strict=True)):
            if not 0 <= x < n:
                found.append(Side(block, axis, "low" if x < 0 else "high"))
        return found

    def layer(self, side: Side, index: Index) -> int:
        """Return how many ghosts lie between a ghost and its side."""
        x = index[side.axis]
        return -1 - x if side.end == "low" else x - self.shapes[side.block][side.axis]

    def inside(self, side: Side, index: Index, depth: int) -> Point:
        """Return the point that lies so many points inside a side, opposite a ghost."""
        x = depth if side.end == "low" else self.shapes[side.block][side.axis] - 1 - depth
        return side.block, (*index[: side.axis], x, *index[side.axis + 1 :])

    def across(self, side: Side, index: Index) -> Point:
        """Return the point of the linked block at which a ghost lies."""
        link = self.links[side]
        on = self.staggered(side.block)[side.axis]
        along = [x for axis, x in enumerate(index) if axis != side.axis]
        there = link.there.block
        return there, link.found(self.layer(side, index) + on, along, self.shapes[there])
