"""Oracle of synchronization: a SciPy matrix, assembled point by point from integer links."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..grid.link import lengths
from .means import Means
from .point_values import PointValues

if TYPE_CHECKING:
    import scipy.sparse

Place: TypeAlias = tuple[int, int, tuple[int, ...]]
"""A field, a block, and an index."""


def synchronization(of: Means, sizes: Mapping[str, int]) -> scipy.sparse.csr_array:
    """Return the matrix of a synchronization."""
    import scipy.sparse

    shapes = [p.extent(sizes) for p in of.points]
    count = of.components or 1
    starts = np.concatenate([[0], np.cumsum([count * np.prod(s) for s in shapes])]).astype(int)
    total = int(starts[-1])
    found = scipy.sparse.lil_array((total, total))
    found.setdiag(1.0)

    def number(place: Place, c: int) -> int:
        field, block, index = place
        inside = np.ravel_multi_index((_local(of, field, block), *index), shapes[field])
        return int(starts[field] + c * np.prod(shapes[field]) + inside)

    for members in _classes(of, sizes):
        places = sorted(members, key=lambda p: (p[1], p[0], p[2]))
        weights = np.array([_weight(of, place, shapes) for place in places])
        weights = weights / weights.sum()
        if of.how == "owner":
            weights = np.eye(len(places))[_owner(of, places, shapes)]
        for here in places:
            for c in range(count):
                found[number(here, c), number(here, c)] = 0.0
            for there, weight in zip(places, weights, strict=True):
                sign = members[here] * members[there]
                block = _between(of, here, there, shapes) * weight * sign
                for c, d in product(range(count), repeat=2):
                    if block[c, d]:
                        found[number(here, c), number(there, d)] += block[c, d]
    return scipy.sparse.csr_array(found)


def _owner(of: Means, places: list[Place], shapes: list[tuple[int, ...]]) -> int:
    """Return the copy of the lowest block; of several, the one at the lowest ends."""

    def ends(place: Place) -> tuple[Any, ...]:
        field, block, index = place
        at = [
            0 if not s else -1 if x == 0 else int(x == n - 1)
            for x, n, s in zip(
                index, shapes[field][1:], of.points[field].data.staggered[1:], strict=True
            )
        ]
        return block, field, at

    return min(range(len(places)), key=lambda n: ends(places[n]))


def _weight(of: Means, place: Place, shapes: list[tuple[int, ...]]) -> float:
    """Return the weight of one copy."""
    if isinstance(of.weights[0], PointValues):
        return float(_at(of, of.weights, place, shapes))
    return float(of.weights[place[1]])


def _at(of: Means, values: Any, place: Place, shapes: list[tuple[int, ...]]) -> Any:
    """Return the numbers at one point."""
    field, block, index = place
    at = [np.array(x) for x in index]
    return values[field].at(block, _local(of, field, block), at, shapes[field][1:])


def _between(of: Means, here: Place, there: Place, shapes: list[tuple[int, ...]]) -> Any:
    """Return the matrix from the components of one copy to those of another."""
    if of.basis is None:
        return np.eye(of.components or 1)
    one, other = (_at(of, of.basis, place, shapes) for place in (here, there))
    return np.linalg.pinv(one) @ other


def _local(of: Means, field: int, block: int) -> int:
    """Return the place of a block along the first axis of a field."""
    return of.points[field].blocks.index(block)


def _field(of: Means, block: int, axis: int | None) -> int:
    """Return the field of the nodes of a block, or of its faces normal to an axis."""
    found = [n for n, p in enumerate(of.points) if block in p.blocks]
    return found[0 if axis is None else axis]


def _classes(of: Means, sizes: Mapping[str, int]) -> list[dict[Place, int]]:
    """Return the classes of equal points, with signs."""
    shapes = [tuple(n.evaluate(sizes) for n in lengths(s)) for s in of.grid.shapes]
    ndim = of.grid.ndim
    if not of.shared.fluxes:
        return [
            {(_field(of, block, None), block, index): 1 for block, index in members}
            for members in of.grid.links.copies(shapes, (True,) * ndim)
        ]
    found = []
    for link in of.grid.links.pairs():
        axis, b, c = link.here.axis, link.here.block, link.there.block
        staggered = tuple(a == axis for a in range(ndim))
        ranges = [range(n) for n in shapes[b]]
        edge = shapes[b][axis] if link.here.end == "high" else 0
        ranges[axis] = range(edge, edge + 1)
        (sign,) = (s for a, s in link.turn if a == axis)
        for index in product(*ranges):
            image = link.point(index, shapes[b], shapes[c], staggered)
            here = _field(of, b, axis), b, tuple(index)
            there = _field(of, c, link.there.axis), c, image
            # A folded side gives each pair twice. A flux may be its own opposite, which makes it
            # zero.
            if link.here != link.there or here < there:
                found.append({here: 1, there: sign})
            elif here == there:
                found.append({here: 0})
    return found
