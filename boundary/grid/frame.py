"""Frames: the interior and ghost points of each block, on which boundary rules are defined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from ssr import Space
from ssr.errors import SpaceError
from ssr.extension import AXES, Affine

from .boxes import ENDS, Box, Orthant
from .grid import GridSpace
from .link import Side
from .topology import Connectivity


@dataclass(frozen=True, slots=True)
class Block:
    """Owned points and ghosts of one block.

    Attributes
    ----------
    first, shape
        The first owned index and the number of owned points, axis by axis.
    low, high
        Numbers of ghost layers below and above the owned points, axis by axis.
    staggered
        Whether points sit on the sides of cells, axis by axis.
    """

    first: tuple[int, ...]
    shape: tuple[Affine, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    staggered: tuple[bool, ...]

    @staticmethod
    def of(wide: Space, owned: Space, skip: int) -> Block:
        """Return the block of a space with ghosts, without its first ``skip`` axes."""
        ours, theirs = wide.data, owned.data
        if len(ours.shape) != len(theirs.shape) or ours.staggered != theirs.staggered:
            raise SpaceError(
                f"{owned!r} is not a part of {wide!r}: its points are of another kind."
            )
        outer, inner = _first(wide), _first(owned)
        low = tuple(a - b for a, b in zip(inner, outer, strict=True))
        more = [a - b for a, b in zip(ours.shape, theirs.shape, strict=True)]
        if any(not m.is_constant for m in more):
            raise SpaceError(f"{wide!r} is not {owned!r} with a fixed number of ghosts.")
        high = tuple(m.constant - a for m, a in zip(more, low, strict=True))
        if min(*low, *high) < 0:
            raise SpaceError(
                f"{owned!r} is not within {wide!r}.", hint="A wide space is cells.grow(width)."
            )
        parts = inner, theirs.shape, low, high, ours.staggered
        return Block(*(part[skip:] for part in parts))  # type: ignore[arg-type]

    @property
    def start(self) -> tuple[int, ...]:
        """The first index, which is that of a ghost if there are any."""
        return tuple(f - low for f, low in zip(self.first, self.low, strict=True))

    @property
    def cells(self) -> tuple[Affine, ...]:
        """The numbers of cells."""
        return tuple(n - int(s) for n, s in zip(self.shape, self.staggered, strict=True))

    def stop(self, axis: int) -> Affine:
        """Return the first index after the owned ones."""
        return self.shape[axis] + self.first[axis]

    def inner(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the numbers of owned points for given sizes."""
        return tuple(n.evaluate(sizes) for n in self.shape)

    def outer(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the numbers of points for given sizes, ghosts included."""
        widths = zip(self.inner(sizes), self.low, self.high, strict=True)
        return tuple(low + n + high for n, low, high in widths)

    def box(self, orthant: Orthant) -> Box:
        """Return the points in an orthant."""
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
            for o in product((-1, 0, 1), repeat=len(self.shape))
            if any(o) and all(not s or width[s][a] for a, s in enumerate(o))
        ]
        yield from sorted(found, key=lambda o: (sum(map(abs, o)), o))


@dataclass(frozen=True)
class Frame:
    """Owned points and ghosts of one block, or of the blocks of a grid.

    Attributes
    ----------
    blocks
        The blocks, by their numbers.
    kinds
        The numbers of the blocks of each field, in the order they have along its first axis.
    links
        How the blocks are linked; None for a space without a block axis.
    """

    blocks: tuple[Block, ...]
    kinds: tuple[tuple[int, ...], ...]
    links: Connectivity | None

    @staticmethod
    def of(wide: Sequence[Space], owned: Sequence[Space] | None = None) -> Frame:
        """Return the frame of a space with ghosts, or of one for each kind of a grid."""
        grids = [space for space in wide if isinstance(space, GridSpace)]
        owned = [owned_of(space) for space in wide] if owned is None else owned
        if len(owned) != len(wide):
            raise SpaceError(f"{len(owned)} spaces of owned points are given for {len(wide)}.")
        if not grids and len(wide) == 1:
            return Frame((Block.of(wide[0], owned[0], 0),), ((0,),), None)
        _check_kinds(wide, grids)
        grid = grids[0].grid
        for w, o in zip(grids, owned, strict=True):
            if isinstance(o, GridSpace) and o.blocks != w.blocks:
                raise SpaceError(f"{o!r} is not a part of {w!r}: other blocks.")
        found = [Block.of(w, o, 1) for w, o in zip(wide, owned, strict=True)]
        blocks = {b: one for space, one in zip(grids, found, strict=True) for b in space.blocks}
        return Frame(
            tuple(blocks[b] for b in range(grid.count)),
            tuple(space.blocks for space in grids),
            grid.links,
        )

    @property
    def gridded(self) -> bool:
        """Whether fields have a block axis."""
        return self.links is not None

    @property
    def ndim(self) -> int:
        """The number of axes of a block."""
        return len(self.blocks[0].shape)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of a block's indices."""
        return AXES[self.ndim]

    @property
    def index(self) -> tuple[Affine, ...]:
        """A block's indices as expressions."""
        return tuple(map(Affine.name, self.axes))

    @cached_property
    def places(self) -> tuple[tuple[int, int], ...]:
        """For each block its kind, and its place among the blocks of that kind."""
        found = {b: (n, at) for n, kind in enumerate(self.kinds) for at, b in enumerate(kind)}
        return tuple(found[b] for b in range(len(self.blocks)))

    def point(self, block: int, index: Sequence[int]) -> tuple[int, ...]:
        """Return where a point of a block is in its field."""
        return (self.places[block][1], *index) if self.gridded else tuple(index)

    @property
    def sizes(self) -> list[str]:
        """Names of the symbolic sizes, sorted."""
        return sorted({name for b in self.blocks for n in b.shape for name in n.names()})

    def sides(self) -> Iterator[Side]:
        """Yield the sides of the blocks, also those without ghosts: rules may read beyond them."""
        for block in range(len(self.blocks)):
            for axis in range(self.ndim):
                yield Side(block, axis, "low")
                yield Side(block, axis, "high")

    def beyond(self, block: int, orthant: Orthant) -> list[Side]:
        """Return the sides beyond which the points of an orthant lie, none for owned points."""
        return [Side(block, axis, ENDS[place]) for axis, place in enumerate(orthant) if place]

    def linked(self, side: Side) -> bool:
        """Whether a side is linked to another one."""
        return self.links is not None and self.links.link(side) is not None

    def layer(self, side: Side) -> Affine:
        """Return the number of layers between a ghost and its side, 0 for the first layer."""
        here, block = self.index[side.axis], self.blocks[side.block]
        return (
            here * -1 + (block.first[side.axis] - 1)
            if side.end == "low"
            else (here - block.stop(side.axis))
        )

    def named(self, side: Side) -> str:
        """Return a side in words: with its block if there are blocks."""
        return str(side) if self.gridded else f"axis {side.axis} {side.end}"

    def region(self, block: int, box: Box) -> str:
        """Return a box in index notation: ``block 2, j in [-2, -1], i in [0, nx - 1]``."""
        ranges = [
            f"{name} = {low}" if low + 1 == high else f"{name} in [{low}, {high - 1}]"
            for name, (low, high) in zip(self.axes, box, strict=True)
        ]
        return ", ".join(([f"block {block}"] if self.gridded else []) + ranges)


def _check_kinds(spaces: Sequence[Space], found: Sequence[GridSpace]) -> None:
    """Refuse spaces that are not one for each kind of blocks of a grid."""
    if len(found) < len(spaces) or any(s.grid is not found[0].grid for s in found):
        raise SpaceError(
            "Several spaces must be those of one grid.",
            note=f"given are {', '.join(map(repr, spaces))}",
            hint="Give one space for each of grid.kinds.",
        )
    kinds = found[0].grid.kinds
    if [s.blocks for s in found] != [k.blocks for k in kinds]:
        raise SpaceError(
            f"A grid of {len(kinds)} kinds of blocks has a field for each, in their order.",
            note=f"the kinds are {', '.join(map(repr, kinds))}; "
            f"given are {', '.join(map(repr, spaces))}",
            hint="Give a space for each of grid.kinds: blocks of all shapes may read each other.",
        )


def _first(space: Space) -> tuple[int, ...]:
    """Return the first index of each axis of a space, which must not depend on sizes."""
    found = tuple(low for low in space.lower if isinstance(low, int))
    if len(found) < space.ndim:
        raise SpaceError(
            f"The first index of {space!r} depends on sizes; a fill needs integers.",
            hint="Fill the whole space: rules are narrowed down by axis=... and side=....",
        )
    return found


def owned_of(wide: Space) -> Space:
    """Return the owned points of a ghosted space: the space from which it was grown."""
    owned = wide.owned
    if owned is None or (owned == wide and not isinstance(wide, GridSpace)):
        raise SpaceError(
            f"{wide!r} does not tell which of its points are ghosts.",
            hint="Make it by wide = cells.grow(width), or give the owned points: "
            "bc.fill(wide, ..., owned=cells).",
        )
    return owned
