"""Points of blocks and their ghosts: what a set of boundary rules is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Literal, TypeAlias

from ssr.affine import AXES, Affine
from ssr.errors import SpaceError
from ssr.space import Space

from .grid import GridSpace
from .link import Side
from .topology import Connectivity

End: TypeAlias = Literal["low", "high"]
Orthant: TypeAlias = tuple[int, ...]
"""For each axis of a block whether points lie before it (-1), within it (0) or behind it (1)."""

Box: TypeAlias = tuple[tuple[Affine, Affine], ...]
"""Half-open ranges of a block's indices, which may depend on sizes."""

ENDS: Mapping[int, End] = {-1: "low", 1: "high"}


@dataclass(frozen=True, slots=True)
class Frame:
    """Owned points and ghosts of one block or of several of equal shape.

    Attributes
    ----------
    first, shape
        The first owned index and the number of owned points, axis by axis of a block.
    low, high
        Ghosts before and behind the owned points.
    staggered
        Whether points sit on the sides of cells, axis by axis.
    count
        The number of blocks; None for a space without a block axis.
    links
        How the blocks are linked.
    """

    first: tuple[int, ...]
    shape: tuple[Affine, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    staggered: tuple[bool, ...]
    count: int | None
    links: Connectivity | None

    @staticmethod
    def of(wide: Space, owned: Space | None = None) -> Frame:
        """Return the frame of a space with ghosts.

        Parameters
        ----------
        wide
            Owned points and ghosts.
        owned
            The owned points. By default those the space was grown from if it is one of a grid;
            otherwise there are as many ghosts behind as before, and owned indices begin at 0.

        Raises
        ------
        SpaceError
            If the spaces do not fit.
        """
        if owned is None:
            owned = wide.owned if isinstance(wide, GridSpace) else _guessed(wide)
        ours, theirs = wide.data, owned.data
        if len(ours.shape) != len(theirs.shape) or ours.staggered != theirs.staggered:
            raise SpaceError(f"{owned!r} is no part of {wide!r}: another kind of points.")
        low = tuple(a - b for a, b in zip(theirs.lower, ours.lower, strict=True))
        more = [a - b for a, b in zip(ours.shape, theirs.shape, strict=True)]
        if any(not m.is_constant for m in more):
            raise SpaceError(f"{wide!r} is not {owned!r} with a fixed number of ghosts.")
        high = tuple(m.constant - a for m, a in zip(more, low, strict=True))
        if min(*low, *high) < 0:
            raise SpaceError(
                f"{owned!r} is not within {wide!r}.", hint="A wide space is cells.grow(width)."
            )
        grid = wide.grid if isinstance(wide, GridSpace) else None
        skip = 1 if grid else 0
        return Frame(
            theirs.lower[skip:],
            theirs.shape[skip:],
            low[skip:],
            high[skip:],
            ours.staggered[skip:],
            grid.count if grid else None,
            grid.links if grid else None,
        )

    @property
    def ndim(self) -> int:
        """The number of axes of a block."""
        return len(self.shape)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of a block's indices."""
        return AXES[self.ndim]

    @property
    def index(self) -> tuple[Affine, ...]:
        """A block's indices as expressions."""
        return tuple(map(Affine.name, self.axes))

    @property
    def blocks(self) -> range:
        """Numbers of the blocks."""
        return range(1 if self.count is None else self.count)

    @property
    def cells(self) -> tuple[Affine, ...]:
        """The numbers of cells of a block."""
        return tuple(n - int(s) for n, s in zip(self.shape, self.staggered, strict=True))

    def stop(self, axis: int) -> Affine:
        """Return the first index behind the owned ones."""
        return self.shape[axis] + self.first[axis]

    def owned(self) -> Box:
        """Return the owned points of a block."""
        return tuple((Affine.of(a), self.stop(n)) for n, a in enumerate(self.first))

    def box(self, orthant: Orthant) -> Box:
        """Return the points of a block in an orthant."""
        found = []
        for axis, place in enumerate(orthant):
            low, high = Affine.of(self.first[axis]), self.stop(axis)
            if place < 0:
                low, high = low - self.low[axis], low
            elif place > 0:
                low, high = high, high + self.high[axis]
            found.append((low, high))
        return tuple(found)

    def orthants(self) -> Iterator[Orthant]:
        """Yield the orthants with ghosts, those next to faces first."""
        width = {-1: self.low, 1: self.high}
        found = [
            o
            for o in product((-1, 0, 1), repeat=self.ndim)
            if any(o) and all(not s or width[s][a] for a, s in enumerate(o))
        ]
        yield from sorted(found, key=lambda o: (sum(map(abs, o)), o))

    def sides(self) -> Iterator[Side]:
        """Yield the sides of the blocks, those without ghosts too: what is there may be read."""
        for block in self.blocks:
            for axis in range(self.ndim):
                yield Side(block, axis, "low")
                yield Side(block, axis, "high")

    def linked(self, side: Side) -> bool:
        """Whether a side is linked to another one."""
        return self.links is not None and self.links.link(side) is not None

    def behind(self, side: Side) -> tuple[Affine, Affine]:
        """Return the range of a side's ghosts along its axis."""
        place = -1 if side.end == "low" else 1
        return self.box(tuple(place * (a == side.axis) for a in range(self.ndim)))[side.axis]

    def layer(self, side: Side) -> Affine:
        """Return the number of layers between a ghost and its side, 0 for the first layer."""
        here = self.index[side.axis]
        return (
            here * -1 + (self.first[side.axis] - 1)
            if side.end == "low"
            else (here - self.stop(side.axis))
        )

    def region(self, block: int, box: Box) -> str:
        """Return a box in index notation: ``block 2, j in [-2, -1], i in [0, nx - 1]``."""
        ranges = [
            f"{name} = {low}" if low + 1 == high else f"{name} in [{low}, {high - 1}]"
            for name, (low, high) in zip(self.axes, box, strict=True)
        ]
        return ", ".join(([] if self.count is None else [f"block {block}"]) + ranges)


def _guessed(wide: Space) -> Space:
    width = tuple(-low for low in wide.lower)
    if min(width) < 0 or not any(width):
        raise SpaceError(
            f"{wide!r} does not tell which of its points are ghosts.",
            hint="Give the owned points: bc.fill(wide, ..., owned=cells).",
        )
    return wide.grow(*((-w, -w) for w in width))


@dataclass(slots=True)
class Known:
    """Comparisons of expressions for given sizes; remembers what was asked.

    What follows from the answers holds for all sizes with the same answers.
    """

    sizes: Mapping[str, int]
    asked: dict[Affine, int] = field(default_factory=dict)

    def sign(self, a: Affine) -> int:
        """Return whether an expression is negative (-1), zero or positive (1)."""
        if a.is_constant:
            return (a.constant > 0) - (a.constant < 0)
        found = self.asked.get(a)
        if found is None:
            value = a.evaluate(self.sizes)
            found = self.asked[a] = (value > 0) - (value < 0)
        return found

    def less(self, a: Affine, b: Affine) -> bool:
        """Whether ``a < b``."""
        return self.sign(b - a) > 0

    def most(self, a: Affine, b: Affine) -> Affine:
        """Return the larger expression."""
        return b if self.less(a, b) else a

    def least(self, a: Affine, b: Affine) -> Affine:
        """Return the smaller expression."""
        return b if self.less(b, a) else a

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether all answers would be the same for other sizes."""
        values = ((a.evaluate(sizes), s) for a, s in self.asked.items())
        return all((v > 0) - (v < 0) == s for v, s in values)

    def empty(self, box: Box) -> bool:
        """Whether a box has no points."""
        return any(not self.less(low, high) for low, high in box)

    def common(self, a: Box, b: Box) -> Box:
        """Return the points of both boxes."""
        return tuple(
            (self.most(low, other), self.least(high, more))
            for (low, high), (other, more) in zip(a, b, strict=True)
        )

    def without(self, a: Box, b: Box) -> list[Box]:
        """Return the points of a box that are not in another one within it, as boxes."""
        found, rest = [], list(a)
        for axis, (low, high) in enumerate(b):
            first, last = rest[axis]
            for edge in ((first, low), (high, last)):
                if self.less(*edge):
                    found.append((*rest[:axis], edge, *rest[axis + 1 :]))
            rest[axis] = low, high
        return found
