"""Common block connectivities, and connectivity from corner labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import permutations, product
from math import prod
from typing import Any

from ssr.errors import ArgumentError
from ssr.extension import counted, flag, integer

from ..errors import LinkError
from .checks import check_side, items
from .link import End, Link, Side
from .topology import Connectivity

BLOCKS = 1_000_000
"""The largest number of blocks of a generated connectivity."""


def join(dims: int, here: Side, there: Side, reverse: bool = False) -> Link:
    """Return the link of two sides whose axes along them come in the same order.

    Parameters
    ----------
    dims
        Number of axes of the blocks.
    here, there
        The sides.
    reverse
        Whether all axes along the sides run the other way.

    Raises
    ------
    LinkError
        If a side does not exist.

    Examples
    --------
    >>> print(join(2, Side(0, 1, "high"), Side(1, 0, "low"), reverse=True))
    block 0, axis 1 high -> block 1, axis 0 low; axis 0 -> axis 1 reversed
    """
    count = _dims(dims)
    for side in (here, there):
        check_side(side)
        if side.axis not in range(count):
            raise LinkError(f"A link names a side that does not exist: {side}.")
    flips = (flag("join", "reverse", reverse),) * (count - 1)
    return Link(here, there, tuple(a for a in range(count) if a != there.axis), flips)


def bricks(*counts: int, periodic: Iterable[int] = ()) -> Connectivity:
    """Return blocks side by side, like bricks that fill a box.

    Parameters
    ----------
    *counts
        Numbers of blocks along each axis, 1 to 3 of them. Blocks are numbered in C order.
    periodic
        The axes along which the last block meets the first.

    Raises
    ------
    ArgumentError
        If a number of blocks is not positive, there are too many, or there is no such axis.

    Examples
    --------
    >>> print(bricks(1, 2, periodic=[0]))
    block 0, axis 0 low -> block 0, axis 0 high; axis 1 -> axis 1
    block 0, axis 1 high -> block 1, axis 1 low; axis 0 -> axis 0
    block 1, axis 0 low -> block 1, axis 0 high; axis 1 -> axis 1
    """
    dims = len(counts)
    if not 1 <= dims <= 3 or any((integer(n) or 0) < 1 for n in counts):
        raise ArgumentError(f"bricks takes 1 to 3 positive numbers of blocks, not {counts}.")
    if prod(counts) > BLOCKS:
        raise ArgumentError(f"bricks makes at most {BLOCKS} blocks, not {prod(counts)}.")
    closed = [integer(axis) for axis in items("bricks", "periodic", periodic)]
    if not set(closed) <= set(range(dims)):
        raise ArgumentError(
            f"periodic is {periodic!r}; blocks with {counted(dims, 'axis', 'axes')} have the axes "
            f"{', '.join(map(str, range(dims)))}."
        )
    links = []
    for place in product(*map(range, counts)):
        for axis, n in enumerate(counts):
            after = place[axis] + 1
            if after < n or axis in closed:
                next_place = (*place[:axis], after % n, *place[axis + 1 :])
                here = Side(_number(place, counts), axis, "high")
                links.append(join(dims, here, Side(_number(next_place, counts), axis, "low")))
    return Connectivity(dims, prod(counts), links)


def periodic_box(dims: int, axes: Iterable[int] | None = None) -> Connectivity:
    """Return one block that is periodic along all axes, or along some.

    Parameters
    ----------
    dims
        The number of axes of the block.
    axes
        Axes from 0; by default all.

    Raises
    ------
    ArgumentError
        If there is no such number of dimensions, or no such axis.

    Examples
    --------
    >>> periodic_box(3)
    <Connectivity: 1 block of dimension 3, 3 links, 0 sides free>
    """
    count = _dims(dims)
    return bricks(*(1,) * count, periodic=range(count) if axes is None else axes)


def channel(dims: int, axis: int) -> Connectivity:
    """Return one block that is periodic along one axis.

    Parameters
    ----------
    dims
        The number of axes of the block.
    axis
        The axis along which it is periodic, from 0.

    Raises
    ------
    ArgumentError
        If there is no such number of dimensions, or no such axis.

    Examples
    --------
    >>> print(channel(2, axis=1))
    block 0, axis 1 low -> block 0, axis 1 high; axis 0 -> axis 0
    """
    return bricks(*(1,) * _dims(dims), periodic=(axis,))


def o_grid(blocks: int = 1) -> Connectivity:
    """Return blocks around a ring: axis 0 goes outwards, axis 1 around.

    Parameters
    ----------
    blocks
        The number of blocks around the ring.

    Examples
    --------
    >>> o_grid(4)
    <Connectivity: 4 blocks of dimension 2, 4 links, 8 sides free>
    """
    return bricks(1, blocks, periodic=(1,))


def glued(twist: bool = False) -> Connectivity:
    """Return two rectangles glued along one side, the high one of axis 1 to the low one.

    Parameters
    ----------
    twist
        Whether the second runs the other way along the seam.

    Examples
    --------
    >>> print(glued(twist=True))
    block 0, axis 1 high -> block 1, axis 1 low; axis 0 -> axis 0 reversed
    """
    reverse = flag("glued", "twist", twist)
    return Connectivity(2, 2, [join(2, Side(0, 1, "high"), Side(1, 1, "low"), reverse=reverse)])


def moebius() -> Connectivity:
    """Return one rectangle whose ends along axis 1 are glued with a twist: a Moebius strip.

    Examples
    --------
    >>> print(moebius())
    block 0, axis 1 low -> block 0, axis 1 high; axis 0 -> axis 0 reversed
    """
    return Connectivity(2, 1, [join(2, Side(0, 1, "high"), Side(0, 1, "low"), reverse=True)])


def two_by_two(periodic: bool = False) -> Connectivity:
    """Return four blocks in a square; with ``periodic`` they make a torus.

    Parameters
    ----------
    periodic
        Whether opposite sides meet.

    Examples
    --------
    >>> two_by_two()
    <Connectivity: 4 blocks of dimension 2, 4 links, 8 sides free>
    """
    return bricks(2, 2, periodic=(0, 1) if flag("two_by_two", "periodic", periodic) else ())


def cubed_sphere() -> Connectivity:
    """Return the six panels of a cubed sphere: 0 to 3 around the equator, 4 north, 5 south.

    Axis 0 is beta, towards the north on panels 0 to 3, and axis 1 is alpha, towards the east.
    Panel p maps (X, Y) = (tan alpha, tan beta) to the directions (1, X, Y), (-X, 1, Y),
    (-1, -X, Y), (X, -1, Y), (-Y, X, 1) and (Y, X, -1); (alpha, beta, outwards) is right-handed.

    Examples
    --------
    >>> cubed_sphere()
    <Connectivity: 6 blocks of dimension 2, 12 links, 0 sides free>
    >>> print(cubed_sphere().link(Side(1, 0, "low")))
    block 1, axis 0 low -> block 5, axis 1 high; axis 1 -> axis 0 reversed
    """
    return from_corners(["abcd", "bedf", "egfh", "gahc", "cdhf", "geab"])


def from_corners(labels: Sequence[Sequence[object]]) -> Connectivity:
    """Return the connectivity that follows from the names of the corners of blocks.

    Sides with the same corners meet, with the orientation given by the order of the corners.

    Parameters
    ----------
    labels
        For each block the labels of its 2, 4 or 8 corners, in C order: low low, low high, high low,
        high high. Labels are compared by equality.

    Raises
    ------
    LinkError
        If the corners do not determine it: a side has two equal corners, three sides have the same
        corners, or two sides have the same corners in an order that no link makes.

    Examples
    --------
    >>> from_corners(["abcd", "bedf"]).equals(glued())
    True
    """
    labels = [
        _labels(n, corners) for n, corners in enumerate(items("from_corners", "labels", labels))
    ]
    dims = _dimension(labels)
    seen: dict[frozenset[object], list[tuple[Side, tuple[object, ...]]]] = {}
    for side, corners in _sides(labels, dims):
        if len(set(corners)) < len(corners):
            raise LinkError(
                f"Two corners of a side have the same label: {side}.",
                note=f"Its corners are {', '.join(map(str, corners))}.",
                hint="Labels tell how sides meet only where the corners of each side differ; "
                "give links instead.",
            )
        seen.setdefault(frozenset(corners), []).append((side, corners))
    links = []
    for met in seen.values():
        if len(met) > 2:
            raise LinkError(
                f"{len(met)} sides have the same corners.",
                note=f"They are {'; '.join(str(side) for side, _ in met)}.",
                hint="At most two sides meet.",
            )
        if len(met) == 2:
            links.append(_fitted(dims, *met))
    return Connectivity(dims, len(labels), links)


def _dims(dims: Any) -> int:
    """Return a number of dimensions, checked."""
    found = integer(dims)
    if found is None or not 1 <= found <= 3:
        raise ArgumentError(f"Blocks must have 1 to 3 dimensions, not {dims!r}.")
    return found


def _labels(number: int, corners: Any) -> Sequence[object]:
    """Return the labels of the corners of a block."""
    if not isinstance(corners, Sequence) or not all(isinstance(c, Hashable) for c in corners):
        raise ArgumentError(
            f"Block {number} is given as {corners!r}, not by the labels of its corners.",
            hint='Write bc.topologies.from_corners(["abcd", "bedf"]) for two blocks.',
        )
    return corners


def _number(place: Sequence[int], counts: Sequence[int]) -> int:
    """Return the number of a place in C order."""
    number = 0
    for p, n in zip(place, counts, strict=True):
        number = number * n + p
    return number


def _dimension(labels: Sequence[Sequence[object]]) -> int:
    """Return the dimension of blocks with labelled corners."""
    found = {len(corners) for corners in labels}
    dims = {2: 1, 4: 2, 8: 3}.get(next(iter(found), 0))
    if dims is None or len(found) > 1:
        raise ArgumentError(
            "Blocks have 2, 4 or 8 corners, all blocks the same number.",
            note=f"The numbers of labels are {', '.join(str(len(c)) for c in labels) or 'none'}.",
        )
    return dims


def _sides(
    labels: Sequence[Sequence[object]], dims: int
) -> Iterable[tuple[Side, tuple[object, ...]]]:
    """Yield all sides with their corners in C order."""
    ends: tuple[End, End] = ("low", "high")
    places = list(product((0, 1), repeat=dims))
    for block, corners in enumerate(labels):
        for axis in range(dims):
            for value, end in enumerate(ends):
                found = (
                    c for place, c in zip(places, corners, strict=True) if place[axis] == value
                )
                yield Side(block, axis, end), tuple(found)


def _fitted(
    dims: int,
    first: tuple[Side, tuple[object, ...]],
    second: tuple[Side, tuple[object, ...]],
) -> Link:
    """Return the link that takes the corners of one side to those of another."""
    (here, corners), (there, others) = first, second
    along = tuple(a for a in range(dims) if a != there.axis)
    places = list(product((0, 1), repeat=dims - 1))
    for order in permutations(range(dims - 1)):
        for flips in product((False, True), repeat=dims - 1):
            # Axis n of the first side corresponds to axis order[n] of the second.
            image = [
                places.index(
                    tuple(place[order.index(m)] ^ flips[order.index(m)] for m in range(dims - 1))
                )
                for place in places
            ]
            if all(corner == others[m] for corner, m in zip(corners, image, strict=True)):
                return Link(here, there, tuple(along[m] for m in order), flips)
    raise LinkError(
        "Two sides have the same corners in orders that no link makes.",
        note=f"{here} has {', '.join(map(str, corners))}; "
        f"{there} has {', '.join(map(str, others))}.",
        hint="Corners next to each other on one side are next to each other on the other.",
    )
