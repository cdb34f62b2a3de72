"""Regions of ghosts in numbers: the pieces that make them from owned points, for given sizes.

A region knows its ghosts and what they are made of by expressions of indices, sizes and parameters.
A piece has numbers in their places: fields, where loops start and step, weights and constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ssr.extension import ir

from ..closure.closure import Region as Region
from ..closure.ruled import Ruled
from ..rules.evaluate import affine_in_scalars, evaluate, evaluated_box, indices
from ..rules.rows import Entry, Row
from .pieces import AnyPiece, Number, Piece, Tap, VectorPiece

Ints: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class RegionPieces:
    """The pieces that make the ghosts of regions, for given sizes and fields.

    Attributes
    ----------
    field, scalar
        The numbers of the first field of the rules in the step, and of their first parameter.
    components
        How many fields there are for each kind of blocks.
    """

    ruled: Ruled
    sizes: Mapping[str, int]
    field: int
    components: int
    scalar: int

    def parts(self, region: Region) -> Iterator[AnyPiece]:
        """Yield the pieces that make the ghosts of a region."""
        box = evaluated_box(region.box, self.sizes)
        if any(low >= high for low, high in box):
            return
        row = region.outcome
        if not isinstance(row, Row):
            for c in range(self.components):
                yield self._missing(region.block, box, c)
            return
        mixes = {e.mix for e in row.entries}
        plain = mixes <= {None} or all(_diagonal(m) for m in mixes)
        if plain:
            for c in range(self.components):
                entries = [replace(e, weight=_of(e, c), mix=None) for e in row.entries]
                yield self._piece(region.block, box, c, entries, row.constant)
        elif len(mixes) == 1 and row.constant == (ir.ZERO,) * len(row.constant):
            (mix,) = mixes
            assert mix is not None
            names = indices(self.ruled.frame.axes, box, self.sizes)
            entries = [replace(e, mix=None) for e in row.entries]
            pieces = [
                self._piece(region.block, box, c, entries, (ir.ZERO,))
                for c in range(self.components)
            ]
            matrix = tuple(tuple(self._number(v, names, box) for v in line) for line in mix)
            yield VectorPiece(tuple(pieces), matrix)
        else:
            for c in range(self.components):
                yield self._expanded(region.block, box, c, row)

    def _missing(self, block: int, box: Ints, c: int) -> Piece:
        """Return the piece that makes ghosts without a definition NaN: an owned point times NaN.

        So they are copies, as the ghosts of most fills are.
        """
        made = self._piece(block, box, c, (), (ir.ZERO,))
        frame = self.ruled.frame
        first = frame.point(block, frame.blocks[block].first)
        still = ((0,) * len(first),) * len(box)
        return replace(made, taps=(Tap(made.target, first, still, float("nan")),))

    def _expanded(self, block: int, box: Ints, c: int, row: Row) -> Piece:
        """Return one component as a sum over the components of all entries."""
        taps: list[Tap] = []
        for e in row.entries:
            for d in range(self.components):
                weight = e.weight if d == c else ir.ZERO
                if e.mix is not None:
                    weight = ir.Op("mul", (e.weight, e.mix[c][d]))
                if weight != ir.ZERO:
                    taps.append(self._tap(e, weight, box, d))
        made = self._piece(block, box, c, (), row.constant)
        return replace(made, taps=tuple(taps))

    def _piece(
        self, block: int, box: Ints, c: int, entries: Sequence[Entry], constant: Sequence[ir.Value]
    ) -> Piece:
        names = indices(self.ruled.frame.axes, box, self.sizes)
        rest, factors = affine_in_scalars(constant[c if len(constant) > 1 else 0])
        order = self.ruled.parameters
        return Piece(
            target=self._field(block, c),
            start=self.ruled.frame.point(block, [low for low, _ in box]),
            steps=self._steps(),
            extents=tuple(high - low for low, high in box),
            taps=tuple(self._tap(e, e.weight, box, c) for e in entries),
            constant=self._number(rest, names, box) + 0.0,  # a zero without sign
            scalars=tuple(
                (self.scalar + order.index(name), self._number(f, names, box))
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

    def _steps(self) -> tuple[tuple[int, ...], ...]:
        count = self.ruled.frame.ndim
        return tuple(self._step([int(a == axis) for a in range(count)]) for axis in range(count))

    def _tap(self, entry: Entry, weight: ir.Value, box: Ints, c: int) -> Tap:
        frame = self.ruled.frame
        names = indices(frame.axes, box, self.sizes)
        first = {**self.sizes, **{n: low for n, (low, _) in zip(frame.axes, box, strict=True)}}
        steps = tuple(
            self._step([dict(a.terms).get(name, 0) for a in entry.index]) for name in frame.axes
        )
        window = None
        if entry.window:
            ranges = [[0, high - low] for low, high in box]
            for expression, low, high in entry.window:
                at = expression.evaluate(first)
                edges = low.evaluate(self.sizes), high.evaluate(self.sizes)
                for axis, name in enumerate(frame.axes):
                    sign = dict(expression.terms).get(name, 0)
                    if sign > 0:
                        cut = edges[0] - at, edges[1] - at
                    elif sign < 0:
                        cut = at - edges[1] + 1, at - edges[0] + 1
                    else:
                        continue
                    ranges[axis] = [max(ranges[axis][0], cut[0]), min(ranges[axis][1], cut[1])]
            window = tuple((low, max(low, high)) for low, high in ranges)
        start = [a.evaluate(first) for a in entry.index]
        return Tap(
            source=self._field(entry.block, c),
            start=frame.point(entry.block, start),
            steps=steps,
            weight=self._number(weight, names, box),
            window=window,
        )

    def _number(self, value: ir.Value, names: Mapping[str, Any], box: Ints) -> Number:
        found = evaluate(value, names, self.ruled.data)
        if np.ndim(found) == 0:
            return float(found)
        return np.asarray(found, np.float64)


def _diagonal(mix: Any) -> bool:
    return mix is None or all(
        isinstance(v, ir.Const) and (r == c or v == ir.ZERO)
        for r, line in enumerate(mix)
        for c, v in enumerate(line)
    )


def _of(entry: Entry, c: int) -> ir.Value:
    """Return the weight of an entry for one component."""
    if entry.mix is None:
        return entry.weight
    return ir.Op("mul", (entry.weight, entry.mix[c][c]))
