"""Selection of the owner among the copies of a shared point.

The owner is the copy of the block with the lowest number, at its lowest end. Where a side is folded
onto itself, this end has several copies; the copy with the lowest index is the owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Array

from ..rules.evaluate import indices
from .shared_points import Copy, Shared

Ranges: TypeAlias = Sequence[tuple[int, int]]
"""The first index and the end index (excluded) for each axis."""


def owners(
    shared: Shared,
    first: Copy,
    ordered: Sequence[Copy],
    box: Ranges,
    sizes: Mapping[str, int],
) -> Iterator[tuple[Copy, Ranges]]:
    """Yield the owners of points that are not owners themselves, with the points they own."""
    lowest = [copy for copy in ordered if copy.place == ordered[0].place]
    if len(lowest) == 1:
        if lowest[0] is not first:
            yield lowest[0], box
        return
    if shared.fluxes:
        raise ArgumentError(
            "synchronize: fluxes through a side that is folded onto itself have no owner.",
            note="a face that meets itself has a flux that is its own negative",
            hint='Use how="average".',
        )
    names = indices(shared.names, tuple(box), sizes)
    extents = [high - low for low, high in box]
    shape = shared.points[lowest[0].field].extent(sizes)[1:]
    numbers = [
        np.ravel_multi_index(
            [np.broadcast_to(a.evaluate(names), extents) for a in copy.index], shape
        )
        for copy in lowest
    ]
    least = np.min(numbers, axis=0)
    free = np.ones(extents, bool)
    for copy, number in sorted(
        zip(lowest, numbers, strict=True), key=lambda pair: pair[0] is not first
    ):
        own = free & (number == least)
        free &= ~own
        if copy is not first:
            for part in _boxes(own):
                shifted = zip(part, box, strict=True)
                yield copy, tuple((a + low, b + low) for (a, b), (low, _) in shifted)


def _boxes(mask: Array) -> Iterator[Ranges]:
    """Yield the points where a mask is true as boxes; as a single box where they are one."""
    places = np.argwhere(mask)
    if not len(places):
        return
    box = tuple(zip(places.min(axis=0).tolist(), (places.max(axis=0) + 1).tolist(), strict=True))
    within = mask[tuple(slice(low, high) for low, high in box)]
    if within.all():
        yield box
        return
    axis = next(a for a, n in enumerate(within.shape) if n > 1)
    for at in range(*box[axis]):
        line = np.zeros_like(mask)
        part = (slice(None),) * axis + (slice(at, at + 1),)
        line[part] = mask[part]
        yield from _boxes(line)
