"""Block connectivity: linked sides, and classes of coincident points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

from ssr.errors import ArgumentError
from ssr.extension import Affine, flag, integer

from ..errors import LinkError
from .checks import check_link, check_side, items
from .link import End, Link, Location, Point, Side, lengths, others


@dataclass(frozen=True, init=False)
class Connectivity:
    """The links between the sides of the blocks of a grid.

    Parameters
    ----------
    dims
        Number of axes of the blocks: 1 to 3.
    count
        Number of blocks.
    links
        Links in one direction or in both; the inverses that are not given are added.

    Raises
    ------
    LinkError
        If a side does not exist or is linked twice, if a link and its inverse disagree, or if axes
        and flips do not map one side to the other.

    Examples
    --------
    >>> ring = Connectivity(1, 2, [Link(Side(0, 0, "high"), Side(1, 0, "low"))])
    >>> ring
    <Connectivity: 2 blocks of dimension 1, 1 link, 2 sides free>
    >>> print(ring)
    block 0, axis 0 high -> block 1, axis 0 low
    >>> [str(side) for side in ring.unlinked()]
    ['block 0, axis 0 low', 'block 1, axis 0 high']
    """

    dims: int
    count: int
    links: tuple[Link, ...]
    """All links in both directions, sorted by the side ``here``."""

    def __init__(self, dims: int, count: int, links: Iterable[Link] = ()) -> None:
        object.__setattr__(self, "dims", _within("dimensions of a block", dims, 1, 3))
        object.__setattr__(self, "count", _within("blocks", count, 1, None))
        given = items("Connectivity", "links", links)
        object.__setattr__(self, "links", _both_ways(self.dims, self.count, given))

    @cached_property
    def _by_side(self) -> Mapping[Side, Link]:
        return {link.here: link for link in self.links}

    def sides(self) -> Iterator[Side]:
        """Yield all sides of all blocks in order."""
        ends: tuple[End, End] = ("low", "high")
        for block, axis, end in product(range(self.count), range(self.dims), ends):
            yield Side(block, axis, end)

    def link(self, side: Side) -> Link | None:
        """Return the link of a side, None if it is free."""
        check_side(side)
        return self._by_side.get(side)

    def links_of(self, block: int) -> tuple[Link, ...]:
        """Return the links of the sides of a block."""
        if integer(block) is None:
            raise ArgumentError(f"A block is given by its number, not by {block!r}.")
        return tuple(link for link in self.links if link.here.block == block)

    def unlinked(self) -> tuple[Side, ...]:
        """Return the free sides, where the grid ends."""
        return tuple(side for side in self.sides() if side not in self._by_side)

    def pairs(self) -> tuple[Link, ...]:
        """Return each link once, from its first side."""
        return tuple(link for link in self.links if link.here.order <= link.there.order)

    def layered(self, axis: int = 0) -> Connectivity:
        """Return the links of blocks with one more axis, that of levels, which is not linked.

        Parameters
        ----------
        axis
            The number of the new axis.

        Raises
        ------
        ArgumentError
            If there is no such axis, or blocks have three dimensions already.

        Examples
        --------
        >>> ring = Connectivity(1, 2, [Link(Side(0, 0, "high"), Side(1, 0, "low"))])
        >>> print(ring.layered())
        block 0, axis 1 high -> block 1, axis 1 low; axis 0 -> axis 0
        >>> ring.layered(axis=1)
        <Connectivity: 2 blocks of dimension 2, 1 link, 6 sides free>
        """
        dims, place = self.dims + 1, integer(axis)
        if dims > 3:
            raise ArgumentError("layered needs blocks of 1 or 2 dimensions, not of 3.")
        if place is None or not -dims <= place < dims:
            raise ArgumentError(f"{axis!r} is not an axis of blocks with {dims} axes.")
        return Connectivity(dims, self.count, [_layered(k, place % dims) for k in self.links])

    def equals(self, other: Connectivity) -> bool:
        """Return whether the blocks of ``other`` are linked in the same way."""
        return self == other

    def check(self, shapes: Sequence[Sequence[Any]]) -> None:
        """Check that linked sides of blocks have the same lengths.

        Parameters
        ----------
        shapes
            Numbers of cells of each block along its axes: integers or symbolic sizes.

        Raises
        ------
        LinkError
            If two sides differ, or are not known to agree.

        Examples
        --------
        >>> half = Link(Side(0, 1, "high"), Side(1, 0, "high"), axes=(1,), flips=(True,))
        >>> Connectivity(2, 2, [half]).check([(4, 6), (9, 4)])
        """
        given = [
            items("check", "the shape of a block", s) for s in items("check", "shapes", shapes)
        ]
        if len(given) != self.count:
            raise LinkError(f"There are {_number(self.count, 'block')}, not {len(given)}.")
        each = [lengths(shape) for shape in given]
        for n in each:
            if len(n) != self.dims:
                raise LinkError(
                    f"Blocks of dimension {self.dims} have {self.dims} extents, not {len(n)}."
                )
        for link in self.pairs():
            ours, theirs = each[link.here.block], each[link.there.block]
            along = others(link.here.axis, self.dims)
            apart = [ours[a] - theirs[b] for a, b in zip(along, link.axes, strict=True)]
            if not any(d != Affine() for d in apart):
                continue
            met = f"{_sized(link.here, along, ours)} meets {_sized(link.there, link.axes, theirs)}."
            if any(d.is_constant and d.constant for d in apart):
                raise LinkError(
                    "Linked sides have different lengths.",
                    note=met,
                    hint="Sides that meet need the same numbers of cells.",
                )
            raise LinkError(
                "Linked sides are not known to have the same length.",
                note=met,
                hint="Give both the same size.",
            )

    def copies(
        self, shapes: Sequence[Sequence[int]], staggered: Location
    ) -> tuple[tuple[Point, ...], ...]:
        """Return the classes of equal points, which links put at the same place.

        Points on a linked side are points of both blocks; at an edge or a corner of a block more
        than two may meet. Classes of one point are left out.

        Parameters
        ----------
        shapes
            Numbers of cells of each block along its axes.
        staggered
            The location of the points, in the axes of each block; cells have no copies. Faces that
            a link turns into faces of another axis are not points of this location.

        Returns
        -------
        Classes in order; each is a sorted tuple of ``(block, index)``.

        Examples
        --------
        >>> ring = Connectivity(1, 2, [Link(Side(0, 0, "high"), Side(1, 0, "low"))])
        >>> ring.copies([(4,), (5,)], (True,))
        (((0, (4,)), (1, (0,))),)
        """
        self.check(shapes)
        where = items("copies", "staggered", staggered)
        if len(where) != self.dims:
            raise ArgumentError(
                f"staggered has a truth value for each of {_number(self.dims, 'axis')}, not "
                f"{staggered!r}."
            )
        staggered = tuple(flag("copies", "staggered", one) for one in where)
        parent: dict[Point, Point] = {}

        def root(point: Point) -> Point:
            while (above := parent.setdefault(point, point)) != point:
                parent[point] = point = parent[above]
            return point

        # Indices are doubled so that cells have odd values; the parity gives the location of a
        # point.
        for location in self._orbit(staggered):
            for link in self.links:
                if location[link.here.axis]:
                    for here, there in _met(link, shapes, location):
                        parent[root(here)] = root(there)
        classes: dict[Point, list[Point]] = {}
        for block, place in list(parent):
            if tuple(p % 2 == 0 for p in place) == staggered:
                index = tuple(p // 2 for p in place)
                classes.setdefault(root((block, place)), []).append((block, index))
        return tuple(sorted(tuple(sorted(found)) for found in classes.values() if len(found) > 1))

    def _orbit(self, staggered: Location) -> set[Location]:
        """Return a location with all names that it has across links."""
        found, new = set[Location](), {staggered}
        while new:
            found |= new
            new = {link.seen(location) for location in new for link in self.links} - found
        return found

    def __repr__(self) -> str:
        pairs, free = len(self.pairs()), len(self.unlinked())
        return (
            f"<Connectivity: {_number(self.count, 'block')} of dimension {self.dims}, "
            f"{_number(pairs, 'link')}, {_number(free, 'side')} free>"
        )

    def __str__(self) -> str:
        return "\n".join(map(str, self.pairs())) or repr(self)


def _layered(link: Link, new: int) -> Link:
    """Return a link of blocks with a new axis, which the link leaves as it is."""

    def moved(axis: int) -> int:
        return axis + (axis >= new)

    here, there = (replace(side, axis=moved(side.axis)) for side in (link.here, link.there))
    old = zip(others(link.here.axis, link.ndim), link.axes, link.flips, strict=True)
    along = sorted([(moved(a), moved(b), flip) for a, b, flip in old] + [(new, new, False)])
    return Link(here, there, tuple(b for _, b, _ in along), tuple(f for *_, f in along))


def _met(
    link: Link, shapes: Sequence[Sequence[int]], location: Location
) -> Iterator[tuple[Point, Point]]:
    """Yield the points on a side with their copies on the other side, by doubled indices."""
    here, there = shapes[link.here.block], shapes[link.there.block]
    ranges = [
        range(0, 2 * n + 1, 2) if s else range(1, 2 * n, 2)
        for n, s in zip(here, location, strict=True)
    ]
    axis = link.here.axis
    edge = 2 * here[axis] if link.here.end == "high" else 0
    ranges[axis] = range(edge, edge + 1)
    moves = [(a, sign, 2 * offset.constant) for a, sign, offset in link.coordinates(here, there)]
    for place in product(*ranges):
        image = tuple(sign * place[a] + offset for a, sign, offset in moves)
        yield (link.here.block, place), (link.there.block, image)


def _both_ways(dims: int, count: int, links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Return checked links in both directions, sorted."""
    found: dict[Side, Link] = {}
    for given in links:
        _check_link(dims, count, given)
        for link in (given, given.inverse):
            known = found.setdefault(link.here, link)
            if known != link:
                raise LinkError(
                    f"A side is linked twice: {link.here}.",
                    note=f"{known} and {link}.",
                    hint="A side meets one side; where both directions are given, one is the "
                    "inverse of the other.",
                )
    return tuple(found[side] for side in sorted(found, key=lambda side: side.order))


def _check_link(dims: int, count: int, link: Link) -> None:
    """Check that a link is a map between two sides of the blocks."""
    check_link(link)
    for side in (link.here, link.there):
        if not (0 <= side.block < count and 0 <= side.axis < dims and side.end in ("low", "high")):
            raise LinkError(
                f"A link names a side that does not exist: {side}.",
                note=f"There are {_number(count, 'block')} of dimension {dims}, counted from 0.",
            )
    along = others(link.there.axis, dims)
    if tuple(sorted(link.axes)) != along or len(link.flips) != len(along):
        raise LinkError(
            f"A link does not map the axes along {link.here} to those along {link.there}.",
            note=f"axes = {link.axes}, flips = {link.flips}, but the second has axes {along}.",
            hint="Give each axis along the first side its own axis along the second, and a flip.",
        )
    if link.here == link.there and link == link.inverse and link.turn == _mirror(link):
        raise LinkError(
            f"A side is linked to itself by a mirror: {link.here}.",
            hint="Leave the side free and fill its ghost points by a symmetric rule.",
        )
    if link.here == link.there and link != link.inverse:
        raise LinkError(
            f"A side is linked to itself by a map that is not its own inverse: {link.here}.",
            note=f"{link}.",
            hint="A side is folded onto itself by flipping axes or by exchanging two of them.",
        )


def _mirror(link: Link) -> tuple[tuple[int, int], ...]:
    """Return the turn of a reflection in the side of a link."""
    return tuple((a, -1 if a == link.here.axis else 1) for a in range(link.ndim))


def _sized(side: Side, axes: Iterable[int], n: tuple[Affine, ...]) -> str:
    """Return a side with its lengths along axes."""
    return f"{side} ({' by '.join(str(n[a]) for a in axes)} cells)"


def _within(what: str, value: Any, least: int, most: int | None) -> int:
    found = integer(value)
    if found is None or found < least or (most is not None and found > most):
        limits = f"at least {least}" if most is None else f"{least} to {most}"
        raise ArgumentError(f"The number of {what} must be {limits}, not {value!r}.")
    return found


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
