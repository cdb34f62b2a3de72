"""Multi-block grids, and the spaces of their cells, faces and nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from ssr import Index, Space
from ssr.errors import ArgumentError, SpaceError
from ssr.extension import Affine, End, Extents, integer

from .checks import items
from .link import Link, lengths
from .topology import Connectivity


class GridSpace(Space):
    """The points of a grid at one location: a `ssr.Space` whose first axis numbers the blocks.

    `grow`, `side`, `faces` and `nodes` count the axes of a block, without the block axis. Ghost
    points are those a space was grown by; `owned` is the space without them.

    Attributes
    ----------
    grid
        The grid.
    blocks
        The numbers of its blocks in the grid, in the order they have along the first axis: all of
        them, or those of one shape.

    Examples
    --------
    >>> import boundary as bc
    >>> cells = bc.Grid(6 * [(8, 8)], links=bc.cubed_sphere()).cells
    >>> cells, cells.grow(3)
    (Space(6, 8, 8), Space(6, -3:11, -3:11))
    """

    __slots__ = ("blocks", "grid")

    grid: Grid
    blocks: tuple[int, ...]

    @classmethod
    def _made(
        cls, data: Extents, owned: Extents | None, grid: Grid, blocks: tuple[int, ...]
    ) -> Self:
        """Return the points of some blocks of a grid."""
        made = cls.__new__(cls)
        made._set(data, owned)
        made.grid = grid
        made.blocks = blocks
        return made

    def _like(self, data: Extents, owned: Extents | None) -> GridSpace:
        return GridSpace._made(data, owned, self.grid, self.blocks)

    def grow(self, *width: int | tuple[int, int]) -> GridSpace:
        """Return the space with ghost points, as many along all axes or along each axis of a block.

        Parameters
        ----------
        *width
            Points added on both sides: one integer for all axes, or one entry for each axis of a
            block, an integer or a pair (low, high).
        """
        each = width * (self.ndim - 1) if len(width) == 1 else width
        if len(each) != self.ndim - 1:
            raise ArgumentError(f"grow got {len(width)} widths for blocks of {self.ndim - 1} axes.")
        return super().grow(0, *each)  # type: ignore[return-value]

    def slab(self, axis: int, first: Index | int, stop: Index | int) -> Space:
        """Return the points of a range of indices along an axis, that of the blocks included."""
        return Space._from(self.data, self.data).slab(axis, first, stop)

    def side(self, axis: int, end: End, width: int = 1) -> GridSpace:
        """Return the points of all blocks next to an end of an axis of a block, as `Space.side`."""
        return super().side(self._block_axis(axis), end, width)  # type: ignore[return-value]

    def _block_axis(self, axis: int) -> int:
        """Return the number of an axis of a block among all axes."""
        count, found = self.ndim - 1, integer(axis)
        if found is None or not -count <= found < count:
            raise ArgumentError(f"Blocks with {count} axes have no axis {axis}.")
        return found % count + 1

    def _stagger(self, axes: set[int]) -> GridSpace:
        if self.owned != self:
            raise SpaceError(f"{self!r} has ghosts already; start from the cells of the grid.")
        return super()._stagger(axes)  # type: ignore[return-value]

    def faces(self, axis: int) -> GridSpace:
        """Return the faces normal to an axis of a block; face f is below cell f."""
        return self._stagger({self._block_axis(axis)})

    def nodes(self) -> GridSpace:
        """Return the corners of the cells: one point more along each axis of a block."""
        return self._stagger(set(range(1, self.ndim)))

    @property
    def location(self) -> str:
        """Where the points sit in a block: ``cells``, ``faces of axis a`` or ``nodes``."""
        staggered = self.data.staggered[1:]
        if not any(staggered):
            return "cells"
        if all(staggered) and len(staggered) > 1:
            return "nodes"
        return "faces of axis " + ", ".join(str(a) for a, s in enumerate(staggered) if s)


class Grid:
    """A multi-block grid: blocks, and the links between their sides.

    Blocks of one shape are a *kind*. The points of a kind are one space, and fields on it one
    array; blocks of a grid with several kinds have fields of several arrays.

    Parameters
    ----------
    blocks
        The extents of each block, 1 to 3 of them: integers, or expressions of `ssr.sizes`.
    links
        Links between sides of blocks: of a helper such as `bc.cubed_sphere`, or a list.

    Attributes
    ----------
    links
        The `Connectivity`.
    shapes
        The extents of each block.
    kinds
        The cells of the blocks of each shape, in the order of their first blocks.

    Raises
    ------
    ArgumentError
        If blocks have different numbers of axes, or links are for others.
    LinkError
        If linked sides have different lengths, or lengths that are not known to be equal.

    Examples
    --------
    >>> import boundary as bc
    >>> grid = bc.Grid(4 * [(8, 8)], links=bc.topologies.two_by_two())
    >>> grid.cells
    Space(4, 8, 8)
    >>> grid.cells.faces(axis=1)
    Space(4, 8, 9, faces of axis 1)

    Three blocks of two shapes, side by side:

    >>> row = bc.Grid([(8, 16), (8, 4), (8, 16)], links=bc.topologies.bricks(1, 3))
    >>> row.kinds
    (Space(2, 8, 16), Space(1, 8, 4))
    >>> [cells.blocks for cells in row.kinds]
    [(0, 2), (1,)]

    An L: block 1 is above block 0, block 2 to the right of it. Its five-point Laplacian, zero
    outside, is that of the rectangle around it:

    >>> import numpy as np, ssr
    >>> up = bc.join(2, bc.Side(0, 0, "high"), bc.Side(1, 0, "low"))
    >>> right = bc.join(2, bc.Side(0, 1, "high"), bc.Side(2, 1, "low"))
    >>> L = bc.Grid([(4, 5), (2, 5), (4, 3)], links=[up, right])
    >>> fill = bc.fill(tuple(cells.grow(1) for cells in L.kinds), bc.linked(), bc.zero())
    >>> star = {(0, 0, 0): -4, (0, 0, 1): 1, (0, 0, -1): 1, (0, 1, 0): 1, (0, -1, 0): 1}
    >>> each = [ssr.stencil(cells, cells.grow(1), star) for cells in L.kinds]
    >>> laplacian = ssr.block([[A if A is B else None for B in each] for A in each]) @ fill
    >>> parts = np.s_[:4, :5], np.s_[4:, :5], np.s_[:4, 5:]
    >>> u = np.zeros((8, 10))                           # with a margin of zeros
    >>> for part in parts:
    ...     u[1:-1, 1:-1][part] = 1 + np.arange(48).reshape(6, 8)[part] ** 2
    >>> whole = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    >>> made = laplacian @ tuple(u[1:-1, 1:-1][part][None] for part in parts)
    >>> [bool((one[0] == whole[part]).all()) for one, part in zip(made, parts)]
    [True, True, True]
    """

    def __init__(
        self, blocks: Sequence[Sequence[Index | int]], links: Connectivity | Sequence[Link] = ()
    ) -> None:
        shapes: list[tuple[Index | int, ...]] = []
        for number, given in enumerate(items("Grid", "blocks", blocks)):
            extents: Any = given
            if not isinstance(extents, Sequence):
                raise ArgumentError(
                    f"Block {number} is given as {given!r}, not by its extents.",
                    hint="Write bc.Grid(2 * [(8, 8)]) for two blocks of 8 by 8 cells.",
                )
            shapes.append(tuple(extents))
        if not shapes:
            raise ArgumentError("A grid has at least one block.")
        ndim = len(shapes[0])
        if not 1 <= ndim <= 3:
            raise ArgumentError(f"A block must have 1 to 3 dimensions, not {ndim}.")
        for number, shape in enumerate(shapes):
            if len(shape) != ndim:
                raise ArgumentError(
                    f"Block {number} has {len(shape)} dimensions, block 0 {ndim}.",
                    hint="The blocks of one grid have the same number of axes.",
                )
        self.count = len(shapes)
        self.shapes = tuple(shapes)
        self.links = (
            links if isinstance(links, Connectivity) else Connectivity(ndim, self.count, links)
        )
        if (self.links.dims, self.links.count) != (ndim, self.count):
            raise ArgumentError(
                f"The links are for {self.links.count} blocks of {self.links.dims} dimensions, "
                f"the grid has {self.count} of {ndim}."
            )
        self.links.check(shapes)
        kinds: dict[tuple[Affine, ...], list[int]] = {}
        for number, shape in enumerate(shapes):
            kinds.setdefault(lengths(shape), []).append(number)
        self.kinds = tuple(
            GridSpace._made(data, data, self, tuple(b))
            for b in kinds.values()
            for data in [Space(len(b), *shapes[b[0]]).data]
        )

    @property
    def ndim(self) -> int:
        """The number of axes of a block."""
        return len(self.shapes[0])

    @property
    def cells(self) -> GridSpace:
        """The cells of all blocks, of one shape.

        Raises
        ------
        SpaceError
            If the blocks have several shapes.
        """
        if len(self.kinds) > 1:
            raise SpaceError(
                f"The blocks of the grid have {len(self.kinds)} shapes, and no common space.",
                note=f"the kinds of blocks are {', '.join(map(repr, self.kinds))}",
                hint="Use grid.kinds: a space for the blocks of each shape.",
            )
        return self.kinds[0]

    def __repr__(self) -> str:
        parts = [f"{len(k.blocks)} of {' x '.join(map(str, k.shape[1:]))}" for k in self.kinds]
        if len(parts) == 1:
            return f"<Grid of {self.count} blocks of {parts[0].partition(' of ')[2]}>"
        return f"<Grid of {self.count} blocks: {', '.join(parts)}>"
