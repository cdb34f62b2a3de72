"""Grids of blocks, and the spaces of their points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ssr.errors import ArgumentError, SpaceError
from ssr.index import Index, affine, integer
from ssr.space import Space

from .link import Link
from .topology import Connectivity


class GridSpace(Space):
    """The points of a grid at one location: a `ssr.Space` whose first axis numbers the blocks.

    `grow`, `faces` and `nodes` count the axes of a block, without the block axis. Ghost points are
    those a space was grown by; `owned` is the space without them.

    Examples
    --------
    >>> import boundary as bc
    >>> cells = bc.Grid(6 * [(8, 8)], links=bc.cubed_sphere()).cells
    >>> cells, cells.grow(3)
    (Space(6, 8, 8), Space(6, -3:11, -3:11))
    """

    __slots__ = ("grid", "owned")

    grid: Grid
    owned: GridSpace

    @classmethod
    def _made(cls, space: Space, grid: Grid, owned: GridSpace | None = None) -> GridSpace:
        made = cls.__new__(cls)
        made._set(space.data)
        made.grid = grid
        made.owned = made if owned is None else owned
        return made

    def grow(self, *width: int | tuple[int, int]) -> GridSpace:
        """Return the space with ghost points, so many for all axes or for each axis of a block.

        Parameters
        ----------
        *width
            Points added on both sides: one integer for all axes, or one entry for each axis of a
            block, an integer or a pair (low, high).
        """
        each = width * (self.ndim - 1) if len(width) == 1 else width
        if len(each) != self.ndim - 1:
            raise ArgumentError(f"grow got {len(width)} widths for blocks of {self.ndim - 1} axes.")
        return self._made(super().grow(0, *each), self.grid, self.owned)

    def _stagger(self, axes: set[int]) -> GridSpace:
        if self.owned is not self:
            raise SpaceError(f"{self!r} has ghosts already; start from the cells of the grid.")
        return self._made(super()._stagger(axes), self.grid)

    def faces(self, axis: int) -> GridSpace:
        """Return the faces normal to an axis of a block; face f is below cell f."""
        count, number = self.ndim - 1, integer(axis)
        if number is None or not -count <= number < count:
            raise ArgumentError(f"Axis {axis!r} of blocks with {count} axes.")
        return self._stagger({number % count + 1})

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
    """Blocks of one shape, and how they are linked.

    Parameters
    ----------
    blocks
        The extents of each block, 1 to 3 of them: integers, or expressions of `ssr.sizes`.
    links
        Links between sides of blocks: of a helper such as `bc.cubed_sphere`, or a list.

    Raises
    ------
    ArgumentError
        If the blocks have different shapes, or links do not fit them.

    Examples
    --------
    >>> import boundary as bc
    >>> grid = bc.Grid(4 * [(8, 8)], links=bc.two_by_two())
    >>> grid.cells
    Space(4, 8, 8)
    >>> grid.cells.faces(axis=1)
    Space(4, 8, 9, faces of axis 1)
    """

    def __init__(
        self, blocks: Sequence[Sequence[Index | int]], links: Connectivity | Sequence[Link] = ()
    ) -> None:
        shapes = [tuple(shape) for shape in blocks]
        if not shapes:
            raise ArgumentError("A grid has one block at least.")
        if not 1 <= len(shapes[0]) <= 3:
            raise ArgumentError(f"A block has 1 to 3 dimensions, not {len(shapes[0])}.")
        known = [tuple(map(affine, shape)) for shape in shapes]
        for number, shape in enumerate(known):
            if shape != known[0]:
                raise ArgumentError(
                    f"Block {number} has the shape {shapes[number]}, block 0 {shapes[0]}.",
                    hint="The blocks of one grid have one shape.",
                )
        self.count = len(shapes)
        self.shape = shapes[0]
        ndim = len(self.shape)
        self.links = (
            links if isinstance(links, Connectivity) else Connectivity(ndim, self.count, links)
        )
        if (self.links.dims, self.links.count) != (ndim, self.count):
            raise ArgumentError(
                f"The links are for {self.links.count} blocks of {self.links.dims} dimensions, "
                f"the grid has {self.count} of {ndim}."
            )
        self.links.check(known[0])
        self.cells = GridSpace._made(Space(self.count, *self.shape), self)

    def __repr__(self) -> str:
        shape: Any = " x ".join(map(str, self.shape))
        return f"<Grid of {self.count} blocks of {shape}>"
