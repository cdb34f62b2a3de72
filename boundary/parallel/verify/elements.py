"""Elements that the units of a program read and write, as isl sets for given boxes of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from ssr.extension import (
    AXES,
    Access,
    Actions,
    Affine,
    Array,
    Domain,
    Product,
    accessed,
)

from ...tables.lines import pieces_of
from ...tables.pieces import AnyPiece, Index, Piece, Tap
from ..partition.boxes import Box
from ..schedules.plan import Plan

KEPT = 20_000
"""The size of the cache of sets. The same boxes of rows run in each schedule of a program."""


@lru_cache(maxsize=KEPT)
def points_of(box: Box) -> Domain:
    """Return the points of a box.

    >>> points_of(((0, 3), (1, 2)))
    { [j, i = 1] : 0 <= j <= 2 }
    """
    low, high = ([Affine.of(edge) for edge in edges] for edges in zip(*box, strict=True))
    return Domain.box(AXES[len(box)], low, high)


class Elements:
    """The reads and writes of the units of a plan.

    Attributes
    ----------
    units
        For each unit that is a nest the accesses of its statements; None for calls.
    """

    def __init__(self, plan: Plan) -> None:
        declared, self._footprint = plan.declaration, plan.footprint
        found = accessed(declared.program, declared.options, plan.dtype.name)
        self.units = tuple(unit if isinstance(unit, Actions) else None for unit in found)
        kinds = ["call" if unit is None else "nest" for unit in self.units]
        assert kinds == [unit.kind for unit in self._footprint.units], "units are steps that run"
        self._stored = declared.stored
        self._known: dict[tuple[int, Box, Box], Domain] = {}
        self._made: dict[int, dict[int, Domain]] = {}

    def of(self, access: Access, rows: Box, own: Box) -> Domain:
        """Return the elements of an access for a box of rows, in the box that owns its rows."""
        key = id(access), rows, own
        known = self._known.get(key)
        if known is None:
            values = dict(self._footprint.sizes)
            for axis, part, whole in zip(AXES[len(rows)], rows, own, strict=True):
                values |= {f"{axis}_lo": part[0], f"{axis}_hi": part[1]}
                values |= {f"{axis}_own_lo": whole[0], f"{axis}_own_hi": whole[1]}
            known = self._known[key] = access.elements(values)
        return known

    def made(self, unit: int) -> dict[int, Domain]:
        """Return for each field of a step of another package the points that it computes."""
        known = self._made.get(unit)
        if known is None:
            several: dict[int, list[Domain]] = {}
            for part in self._footprint.external(unit).parts(self._footprint.sizes):
                for place, points in targets(part):
                    several.setdefault(place, []).append(points)
            known = {place: Domain.union(points) for place, points in several.items()}
            self._made[unit] = known
        return known

    def columns(self, product: Product, rows: Domain) -> Array:
        """Return the columns of some rows of a stored matrix as points without duplicates."""
        gather = product.gather
        stored, sizes = self._stored[gather.matrix], self._footprint.sizes
        if rows.empty:
            return np.zeros((0, stored.cols.ndim), np.int64)
        first = [low for low, _ in stored.rows.box(sizes)]
        places = (np.array(list(rows.points())) - first).T
        numbers = np.ravel_multi_index(tuple(places), stored.rows.extent(sizes))
        starts = stored.csr.indptr
        bounds = starts[:-1], stored.diagonal, stored.after, starts[1:]
        begin, end = (bounds[edge][numbers] for edge in gather.part)
        found = [stored.csr.indices[a:b] for a, b in zip(begin, end, strict=True)]
        every = np.unique(np.concatenate(found))
        index = np.unravel_index(every, stored.cols.extent(sizes))
        low = [first for first, _ in stored.cols.box(sizes)]
        return np.stack(index, axis=-1) + low


def targets(part: AnyPiece) -> Iterator[tuple[int, Domain]]:
    """Yield the target fields of a part, each with the points that it computes."""
    for piece in pieces_of(part):
        whole = tuple((0, extent) for extent in piece.extents)
        for field, start, steps in piece.places:
            yield field, moved(whole, start, steps)


def sources(piece: Piece, tap: Tap) -> Domain:
    """Return the points that a piece reads by a tap."""
    whole = tuple((0, extent) for extent in piece.extents)
    return moved(tap.window or whole, tap.start, tap.steps)


@lru_cache(maxsize=KEPT)
def moved(loops: Box, start: Index, steps: tuple[Index, ...]) -> Domain:
    """Return the points that loops reach from a start, with one step for each loop.

    >>> moved(((0, 3),), (2, 7), ((0, -2),))
    { [j = 2, i] : (1 + i) mod 2 = 0 and 3 <= i <= 7 }
    """
    names = [f"p{n}" for n in range(len(loops))]
    tests = [f"{low} <= {name} < {high}" for name, (low, high) in zip(names, loops, strict=True)]
    axes = AXES[len(start)]
    for number, (axis, first) in enumerate(zip(axes, start, strict=True)):
        terms = [f"{step[number]} {name}" for name, step in zip(names, steps, strict=True)]
        tests.append(f"{axis} = {' + '.join([str(first), *terms])}")
    some = f"exists {', '.join(names)}: " if names else ""
    return Domain.where(axes, some + " and ".join(tests))


def among(points: Array, found: Domain) -> Sequence[tuple[int, ...]]:
    """Return the points that are in a set without parameters."""
    if found.empty or not len(points):
        return []
    bounds = np.array(found.bounds())
    inside = ((points >= bounds[:, 0]) & (points < bounds[:, 1])).all(axis=1)
    near = [tuple(map(int, point)) for point in points[inside]]
    return [p for p in near if not (points_of(tuple((x, x + 1) for x in p)) & found).empty]
