"""Conversion of symbolic ghost regions into numerical pieces, for given sizes.

A region describes ghost points and their rows by expressions of indices, sizes and parameters. In a
piece these expressions are replaced by numbers: fields, starts and steps of loops, weights and
constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ssr.extension import ir

from ..closure.closure import Region
from ..closure.ruled import Ruled
from ..rules.evaluate import (
    affine_in_scalars,
    check_determined,
    evaluate,
    evaluated_box,
    indices,
)
from ..rules.rows.affine_rows import Entry, Row
from .pieces import AnyPiece, Number, Piece, Tap, VectorPiece

Ints: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """A region for given sizes.

    Attributes
    ----------
    block, box
        The block, and the ghosts.
    first
        Values of sizes, and the indices of the first ghost.
    indices
        Names for `evaluate`.
    """

    block: int
    box: Ints
    first: Mapping[str, int]
    indices: Mapping[str, Any]


@dataclass(frozen=True)
class RegionPieces:
    """The pieces that compute the ghosts of regions, for given sizes and fields.

    Attributes
    ----------
    field, scalar
        The numbers of the first field of the rules in the step, and of their first parameter.
    components
        The number of fields for each kind of blocks.
    checked
        Whether numbers that are not finite are rejected.
    """

    ruled: Ruled
    sizes: Mapping[str, int]
    field: int
    components: int
    scalar: int
    checked: bool = True

    def parts(self, region: Region) -> Iterator[AnyPiece]:
        """Yield the pieces that compute the ghosts of a region."""
        here = self._place(region)
        if any(low >= high for low, high in here.box):
            return
        row = region.outcome
        if isinstance(row, Row) and self.checked:
            self._check(here, row)
        if not isinstance(row, Row):
            for c in range(self.components):
                yield self._missing(here, c)
            return
        entries = [(e, self._tap(here, e)) for e in row.entries]
        mixes = {e.mix for e in row.entries}
        if all(e.is_diagonal for e in row.entries):
            for c in range(self.components):
                yield self._piece(here, c, self._taps(here, c, entries, (c,)), row.constant)
        elif len(mixes) == 1 and row.constant == (ir.ZERO,) * len(row.constant):
            (mix,) = mixes
            assert mix is not None
            pieces = []
            for c in range(self.components):
                taps = (replace(tap, source=tap.source + c) for _, tap in entries)
                pieces.append(self._piece(here, c, taps, (ir.ZERO,)))
            matrix = tuple(tuple(self._number(here, v) for v in line) for line in mix)
            yield VectorPiece(tuple(pieces), matrix)
        else:
            every = range(self.components)
            for c in every:
                yield self._piece(here, c, self._taps(here, c, entries, every), row.constant)

    def _check(self, here: _Place, row: Row) -> None:
        """Refuse a row of a condition that does not determine its ghosts."""
        values = [e.weight for e in row.entries]
        values += [part for c in row.constant for part in _parts(c)]
        for value in values:
            if any(isinstance(v, ir.Op) and v.name == "div" for v in ir.walk(value)):
                check_determined(row.origins[0].rule, self._number(here, value))

    def _place(self, region: Region) -> _Place:
        axes = self.ruled.frame.axes
        box = evaluated_box(region.box, self.sizes)
        first = {name: low for name, (low, _) in zip(axes, box, strict=True)}
        return _Place(region.block, box, {**self.sizes, **first}, indices(axes, box, self.sizes))

    def _missing(self, here: _Place, c: int) -> Piece:
        """Return the piece that sets undefined ghosts to NaN: an owned point times NaN.

        In this form they are copies, like the ghosts of most fills.
        """
        frame = self.ruled.frame
        first = frame.point(here.block, frame.blocks[here.block].first)
        still = ((0,) * len(first),) * len(here.box)
        tap = Tap(self._field(here.block, c), first, still, float("nan"))
        return self._piece(here, c, (tap,), (ir.ZERO,))

    def _taps(
        self,
        here: _Place,
        c: int,
        entries: Iterable[tuple[Entry, Tap]],
        components: Iterable[int],
    ) -> Iterator[Tap]:
        """Yield the taps of one component from some components of entries."""
        for entry, tap in entries:
            for d in components:
                own = replace(tap, source=tap.source + d)
                if entry.mix is not None:
                    weight = ir.Op("mul", (entry.weight, entry.mix[c][d]))
                    yield replace(own, weight=self._number(here, weight))
                elif c == d:
                    yield own

    def _piece(
        self, here: _Place, c: int, taps: Iterable[Tap], constant: Sequence[ir.Value]
    ) -> Piece:
        rest, factors = affine_in_scalars(constant[c if len(constant) > 1 else 0])
        order = self.ruled.parameters
        return Piece(
            target=self._field(here.block, c),
            start=self.ruled.frame.point(here.block, [low for low, _ in here.box]),
            steps=self._steps,
            extents=tuple(high - low for low, high in here.box),
            taps=tuple(taps),
            constant=self._number(here, rest) + 0.0,  # turns -0.0 into +0.0
            scalars=tuple(
                (self.scalar + order.index(name), self._number(here, f))
                for name, f in factors.items()
            ),
        )

    def _field(self, block: int, c: int) -> int:
        """Return the number of the field of a component of a block."""
        kind, _ = self.ruled.frame.places[block]
        return self.field + kind * self.components + c

    def _step(self, step: Sequence[int]) -> tuple[int, ...]:
        """Return a step in a block as a step in its field."""
        return (0, *step) if self.ruled.frame.gridded else tuple(step)

    @cached_property
    def _steps(self) -> tuple[tuple[int, ...], ...]:
        count = self.ruled.frame.ndim
        return tuple(self._step([int(a == axis) for a in range(count)]) for axis in range(count))

    def _tap(self, here: _Place, entry: Entry) -> Tap:
        """Return the tap of an entry for the first component, without its matrix."""
        frame = self.ruled.frame
        axes = frame.axes
        terms = [dict(a.terms) for a in entry.index]
        window = None
        if entry.window:
            ranges = [[0, high - low] for low, high in here.box]
            for expression, low, high in entry.window:
                at, signs = expression.evaluate(here.first), dict(expression.terms)
                edges = low.evaluate(self.sizes), high.evaluate(self.sizes)
                for axis, name in enumerate(axes):
                    sign = signs.get(name, 0)
                    if sign > 0:
                        cut = edges[0] - at, edges[1] - at
                    elif sign < 0:
                        cut = at - edges[1] + 1, at - edges[0] + 1
                    else:
                        continue
                    ranges[axis] = [max(ranges[axis][0], cut[0]), min(ranges[axis][1], cut[1])]
            window = tuple((low, max(low, high)) for low, high in ranges)
        return Tap(
            source=self._field(entry.block, 0),
            start=frame.point(entry.block, [a.evaluate(here.first) for a in entry.index]),
            steps=tuple(self._step([of.get(name, 0) for of in terms]) for name in axes),
            weight=self._number(here, entry.weight),
            window=window,
        )

    def _number(self, here: _Place, value: ir.Value) -> Number:
        found = evaluate(value, here.indices, self.ruled.data)
        if np.ndim(found) == 0:
            return float(found)
        return np.asarray(found, np.float64)


def _parts(constant: ir.Value) -> list[ir.Value]:
    rest, factors = affine_in_scalars(constant)
    return [rest, *factors.values()]
