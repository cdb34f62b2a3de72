"""Choice of a domain decomposition for a number of ranks: load balance and small surface."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import gcd, prod

import numpy as np

from ssr import Space
from ssr.errors import ArgumentError
from ssr.extension import integer

from ...grid.grid import GridSpace
from .partition import Partition

BESIDE = 3.0
"""The additional cost of a cell next to a subdomain boundary, in units of the work for one cell."""

LAST = 1.5
"""A further cost of a cell next to a subdomain boundary normal to the last axis."""


def cut(
    cells: Sequence[Space], sizes: Mapping[str, int], parts: Sequence[int], ranks: int
) -> Partition:
    """Return the partition that cuts every block in so many parts along each of its axes.

    Boxes are shared out in their order, block by block: each rank owns neighbours, and as many
    boxes as any other, or one less.
    """
    boxes: list[list[tuple[int, int]]] = []
    kinds: list[int] = []
    for kind, space in enumerate(cells):
        whole = space.box(sizes)
        gridded = isinstance(space, GridSpace)
        axes = whole[1:] if gridded else whole
        if len(parts) != len(axes) or min(parts) < 1:
            raise ArgumentError(
                f"cut is {tuple(parts)}: one positive number of parts is given for each of the "
                f"{len(axes)} axes of a block."
            )
        ranges = [_ranges(low, high, count) for (low, high), count in zip(axes, parts, strict=True)]
        first = [[(b, b + 1)] for b in range(*whole[0])] if gridded else [[]]
        made = [[*block, *box] for block in first for box in product(*ranges)]
        boxes += made
        kinds += [kind] * len(made)
    order = _block_by_block(cells, boxes, kinds)
    owners = np.empty(len(boxes), np.int64)
    owners[order] = np.arange(len(boxes)) * ranks // max(len(boxes), ranks)
    return Partition(
        tuple(cells),
        dict(sizes),
        np.array(kinds, np.int64),
        np.array(boxes, np.int64),
        owners,
        ranks,
    )


def chosen(
    cells: Sequence[Space], sizes: Mapping[str, int], ranks: int, whole: Collection[int] = ()
) -> Partition:
    """Return the partition of lowest cost for a number of ranks, with some axes undivided."""
    extents = [space.extent(sizes) for space in cells]
    gridded = isinstance(cells[0], GridSpace)
    blocks = sum(e[0] for e in extents) if gridded else 1
    shapes = [e[1:] if gridded else e for e in extents]
    least = [-(-ranks * times // blocks) for times in (1, 2, 3, 4)]  # boxes per block
    counts = {count + more for count in least for more in range(4)}
    counts.add(ranks // gcd(ranks, blocks))
    axes = range(len(shapes[0]))
    trials = {parts for count in counts for parts in _factors(max(1, count), len(axes))}
    most = tuple(1 if axis in whole else min(s[axis] for s in shapes) for axis in axes)
    fitting = [parts for parts in trials if all(p <= n for p, n in zip(parts, most, strict=True))]
    if not fitting:  # more ranks than possible boxes: use as many boxes as possible
        fitting = [most]
    best = min(fitting, key=lambda parts: (_cost(parts, shapes, extents, gridded, ranks), parts))
    return cut(cells, sizes, best, ranks)


def block_axes(here: Partition, given: Sequence[int]) -> frozenset[int]:
    """Return axes of a block, counted from the first."""
    count = here.boxes.shape[1] - here.lead
    for axis in given:
        if integer(axis) is None or not -count <= axis < count:
            raise ArgumentError(f"There is no axis {axis!r} of the {count} axes of a block.")
    return frozenset(axis % count for axis in given)


def with_whole_lines(here: Partition, axes: Collection[int]) -> Partition:
    """Return a partition of the same cells that cuts no line along some axes of a block.

    If the partition already cuts no such line, it is returned itself.
    """
    every = np.array([space.box(here.sizes) for space in here.cells])[here.kinds]
    if all((here.boxes == every)[:, here.lead + axis].all() for axis in axes):
        return here
    return chosen(here.cells, here.sizes, here.ranks, axes)


def _cost(
    parts: tuple[int, ...],
    shapes: Sequence[Sequence[int]],
    extents: Sequence[Sequence[int]],
    gridded: bool,
    ranks: int,
) -> float:
    """Return the cost of the busiest rank: its cells, and its cells next to interfaces."""
    count = prod(parts)
    boxes = sum(e[0] if gridded else 1 for e in extents) * count
    sides = [max(-(-s[axis] // p) for s in shapes) for axis, p in enumerate(parts)]
    share = -(-boxes // ranks)
    weights = [*[1.0] * (len(parts) - 1), LAST]
    surface = sum(
        w * prod(sides) / n for w, n, p in zip(weights, sides, parts, strict=True) if p > 1
    )
    return share * (prod(sides) + BESIDE * surface)


def _block_by_block(
    cells: Sequence[Space], boxes: Sequence[Sequence[tuple[int, int]]], kinds: Sequence[int]
) -> list[int]:
    """Return the numbers of boxes in the order of their blocks in the grid."""

    def block(number: int) -> int:
        space = cells[kinds[number]]
        if not isinstance(space, GridSpace):
            return 0
        return space.blocks[boxes[number][0][0]]

    return sorted(range(len(boxes)), key=block)


def _ranges(low: int, high: int, count: int) -> list[tuple[int, int]]:
    """Return a range in parts of nearly equal length.

    >>> _ranges(0, 5, 2), _ranges(0, 2, 3)
    ([(0, 2), (2, 5)], [(0, 1), (1, 2)])
    """
    count = min(count, high - low)
    return list(pairwise(low + (high - low) * n // count for n in range(count + 1)))


def _factors(count: int, axes: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a number as a product of so many factors.

    >>> list(_factors(4, 2))
    [(1, 4), (2, 2), (4, 1)]
    """
    if axes == 1:
        yield (count,)
        return
    for first in range(1, count + 1):
        if count % first == 0:
            yield from ((first, *rest) for rest in _factors(count // first, axes - 1))
