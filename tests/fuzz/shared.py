"""The meaning of synchronization: copies of one point are found by following links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from .grids import Point, Side
from .numbers import Number, Several, Unclear, number
from .reference import VectorSpace, base

Place = tuple[int, Point]
"""A field, and a point of one of its blocks."""


def synchronize(
    *spaces: Any, how: str = "average", weights: Sequence[float] | None = None
) -> Shared:
    """Return the synchronization of fields on nodes, or of a flux through faces."""
    return Shared(spaces, how, weights)


@dataclass(frozen=True)
class Shared:
    """Fields on points that several blocks hold."""

    spaces: tuple[Any, ...]
    how: str
    weights: Sequence[float] | None

    def __matmul__(self, x: Any) -> Any:
        many = isinstance(x, tuple)
        fields = [list(f) if isinstance(f, Several) else [f] for f in (x if many else (x,))]
        made = [
            [self._copied(n, f) for n, f in zip(range(len(parts)), parts, strict=True)]
            for parts in fields
        ]
        for c in range(len(made[0])):
            self._meet([parts[c] for parts in made])
        found = [
            Several(parts) if isinstance(s, VectorSpace) else parts[0]
            for s, parts in zip(self.spaces, made, strict=True)
        ]
        return tuple(found) if many else found[0]

    def _copied(self, _: int, x: Any) -> Number:
        given = number(x)
        return Number(given.value.copy(), given.scale.copy(), given.space)

    def _meet(self, fields: list[Number]) -> None:
        """Make the copies of all points equal, in place."""
        for group in self._classes():
            places = sorted(group, key=lambda place: (place[1], place[0]))
            numbers = [self._index(place) for place in places]
            values = [
                group[p] * fields[f].value[at] for p, (f, at) in zip(places, numbers, strict=True)
            ]
            scales = [fields[f].scale[at] for f, at in numbers]
            shares = self._shares(places)
            mean = sum(w * v for w, v in zip(shares, values, strict=True) if w)
            size = sum(w * s for w, s in zip(shares, scales, strict=True) if w)
            for place, (f, at) in zip(places, numbers, strict=True):
                fields[f].value[at], fields[f].scale[at] = group[place] * mean, size

    def _shares(self, places: list[Place]) -> list[float]:
        blocks = [block for _, (block, _) in places]
        if self.how == "average":
            each = [1.0 if self.weights is None else self.weights[b] for b in blocks]
            return [w / sum(each) for w in each]
        lowest = [n for n, b in enumerate(blocks) if b == min(blocks)]
        sides = [self._ends(places[n]) for n in lowest]
        if any(s != sides[0] for s in sides):
            raise Unclear("several copies of the lowest block, on several sides")
        return [float(n == lowest[0]) for n in range(len(places))]

    def _ends(self, place: Place) -> list[int]:
        field, (_, index) = place
        shape = base(self.spaces[field])[1].shape[1:]
        return [-1 if x == 0 else int(x == n - 1) for x, n in zip(index, shape, strict=True)]

    def _index(self, place: Place) -> tuple[int, tuple[int, ...]]:
        field, (block, index) = place
        return field, (base(self.spaces[field])[1].blocks.index(block), *index)

    def _classes(self) -> list[dict[Place, int]]:
        """Return the copies of each shared point, with signs relative to the first one."""
        joined: dict[Place, dict[Place, int]] = {}
        for one, other, sign in self._pairs():
            a = joined.setdefault(one, {one: 1})
            b = joined.setdefault(other, {other: 1})
            if a is b:
                if a[one] * sign != a[other]:
                    a.update(dict.fromkeys(a, 0))  # a flux that is its own opposite
                continue
            turn = a[one] * sign * b[other]
            a.update({place: turn * s for place, s in b.items()})
            for place in b:
                joined[place] = a
        return list({id(group): group for group in joined.values()}.values())

    def _pairs(self) -> Any:
        """Yield two copies of a point, and whether they count in opposite directions."""
        points = [base(space)[1] for space in self.spaces]
        grid = points[0].grid
        nodes = all(points[0].staggered[1:]) and len(points[0].staggered) > 2
        nodes = nodes or len(points) == len(grid.kinds)
        for side, link in grid.links.items():
            here = self._field(points, side, nodes)
            there = self._field(points, link.there, nodes)
            shape, other = points[here].shape[1:], points[there].shape[1:]
            edge = 0 if side.end == "low" else shape[side.axis] - 1
            ranges: list[Any] = [range(n) for n in shape]
            ranges[side.axis] = (edge,)
            sign = 1 if nodes or side.end != link.there.end else -1
            for index in product(*ranges):
                along = [x for axis, x in enumerate(index) if axis != side.axis]
                found = link.found(0, along, other)
                yield (here, (side.block, index)), (there, (link.there.block, found)), sign

    def _field(self, points: Sequence[Any], side: Side, nodes: bool) -> int:
        """Return the number of the field of nodes of a block, or of faces normal to an axis."""
        return next(
            n
            for n, space in enumerate(points)
            if side.block in space.blocks and (nodes or space.staggered[1 + side.axis])
        )
