"""Face connections of blocks, and the index map across a connection.

A block with n cells along an axis covers the coordinates 0 to n. Cell i has its center at i + 1/2;
faces and nodes with index i are at i. A link extends the coordinates of a block across one of its
sides into another block by a signed permutation of the axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ssr.extension import Affine, affine

End: TypeAlias = Literal["low", "high"]
Location: TypeAlias = tuple[bool, ...]
"""For each axis, whether the points lie between the cells (faces and nodes)."""

Point: TypeAlias = tuple[int, tuple[int, ...]]
"""A block and an index in it."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a block.

    Parameters
    ----------
    block
        Number of the block.
    axis
        The axis normal to the side, among the axes of the block.
    end
        ``"low"`` where the index is lowest, ``"high"`` where it is highest.

    Examples
    --------
    >>> print(Side(2, 1, "high"))
    block 2, axis 1 high
    """

    block: int
    axis: int
    end: End

    def __str__(self) -> str:
        return f"block {self.block}, axis {self.axis} {self.end}"

    @property
    def order(self) -> tuple[int, int, bool]:
        """The key by which sides are sorted."""
        return self.block, self.axis, self.end == "high"


@dataclass(frozen=True, slots=True)
class Link:
    """The ghost points beyond side ``here`` are the points inside side ``there``.

    The distance outside ``here`` is the distance inside ``there``.

    Parameters
    ----------
    here, there
        The two sides.
    axes
        The axes of ``there`` that the axes along ``here`` become, the latter in rising order. Empty
        for blocks of one dimension.
    flips
        For each of them, whether it runs the other way.

    Examples
    --------
    The right side of block 0 is the top of block 1, turned by a quarter:

    >>> link = Link(Side(0, 1, "high"), Side(1, 0, "high"), axes=(1,), flips=(False,))
    >>> print(link)
    block 0, axis 1 high -> block 1, axis 0 high; axis 0 -> axis 1
    >>> cells = False, False
    >>> link.point((3, 8), (8, 8), (9, 8), cells)      # the first ghost of row 3, in 9 by 8 cells
    (8, 3)
    """

    here: Side
    there: Side
    axes: tuple[int, ...] = ()
    flips: tuple[bool, ...] = ()

    @property
    def ndim(self) -> int:
        """Number of axes of the blocks."""
        return len(self.axes) + 1

    @property
    def inverse(self) -> Link:
        """The same link seen from ``there``."""
        back = sorted(zip(self.axes, others(self.here.axis, self.ndim), self.flips, strict=True))
        return Link(self.there, self.here, tuple(a for _, a, _ in back), tuple(f for *_, f in back))

    @property
    def turn(self) -> tuple[tuple[int, int], ...]:
        """For each axis of ``there``: the axis of ``here`` it continues, and the sign."""
        normal = self.here.axis, 1 if self.here.end != self.there.end else -1
        result = [normal] * self.ndim
        for a, b, flip in zip(
            others(self.here.axis, self.ndim), self.axes, self.flips, strict=True
        ):
            result[b] = a, -1 if flip else 1
        return tuple(result)

    def coordinates(
        self, here: Sequence[Any], there: Sequence[Any]
    ) -> tuple[tuple[int, int, Affine], ...]:
        """Return the map of coordinates: ``(axis of here, sign, offset)`` for each axis of there.

        Parameters
        ----------
        here, there
            Numbers of cells of the two blocks along their axes: integers or symbolic sizes.
        """
        ours, theirs = lengths(here), lengths(there)
        result = []
        for b, (a, sign) in enumerate(self.turn):
            offset = theirs[b] if sign < 0 else Affine()
            if b == self.there.axis:
                inside = theirs[b] if self.there.end == "high" else Affine()
                offset = inside - sign * (ours[a] if self.here.end == "high" else Affine())
            result.append((a, sign, offset))
        return tuple(result)

    def source(
        self, here: Sequence[Any], there: Sequence[Any], staggered: Location
    ) -> tuple[tuple[int, int, Affine], ...]:
        """Return where a point is found: ``(axis of here, sign, offset)`` for each axis of there.

        The index along that axis of there is ``sign * index[axis of here] + offset``.

        Parameters
        ----------
        here, there
            Numbers of cells of the two blocks along their axes: integers or symbolic sizes.
        staggered
            For each axis of ``here``, whether the points lie on faces normal to it. The points
            found in the other block are staggered as `seen` says.

        Examples
        --------
        >>> link = Link(Side(0, 0, "low"), Side(1, 0, "high"))
        >>> [(axis, sign, str(n)) for axis, sign, n in link.source((5,), (7,), (False,))]
        [(0, 1, '7')]
        """
        return tuple(
            (a, sign, offset - (sign < 0 and not staggered[a]))
            for a, sign, offset in self.coordinates(here, there)
        )

    def seen(self, staggered: Location) -> Location:
        """Return a location, axis by axis ``staggered`` or not, as it is named in the other block.

        Examples
        --------
        >>> turned = Link(Side(0, 1, "high"), Side(1, 0, "high"), axes=(1,), flips=(False,))
        >>> turned.seen((True, False))
        (False, True)
        """
        return tuple(staggered[a] for a, _ in self.turn)

    def point(
        self,
        index: Sequence[int],
        here: Sequence[int],
        there: Sequence[int],
        staggered: Location,
    ) -> tuple[int, ...]:
        """Return the index in the other block of a point given in the coordinates of ``here``.

        Parameters
        ----------
        index
            The indices of the point.
        here, there
            The numbers of cells of the two blocks.
        staggered
            Its location: for each axis, whether points lie between cells.
        """
        return tuple(
            sign * index[a] + offset.constant
            for a, sign, offset in self.source(here, there, staggered)
        )

    def __str__(self) -> str:
        along = zip(others(self.here.axis, self.ndim), self.axes, self.flips, strict=True)
        parts = [f"axis {a} -> axis {b}" + (" reversed" if flip else "") for a, b, flip in along]
        return "; ".join([f"{self.here} -> {self.there}", *parts])


def lengths(shape: Sequence[Any]) -> tuple[Affine, ...]:
    """Return extents as expressions: integers, symbolic sizes, or expressions already."""
    return tuple(n if isinstance(n, Affine) else affine(n) for n in shape)


def others(axis: int, ndim: int) -> tuple[int, ...]:
    """Return the axes along a side: all but the normal one."""
    return tuple(a for a in range(ndim) if a != axis)
