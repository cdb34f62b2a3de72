"""Closed-form ghost rows for all sizes, for ghost points that read at most one point each.

`closure` resolves rules for one set of sizes and for all sizes with the same comparisons. This
module resolves them once for all sizes and uses isl sets instead of boxes: where a rule reads
another ghost point, the rows of that ghost point are substituted. The axes are tried in order and
the first rule that leads to interior points is used. Factors are therefore multiplied and added in
the same order as in `closure`, and weights and constants are bitwise identical. `linear_rows` also
derives rows for all sizes; docs/decisions/ghost-resolution.md states why both exist.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ssr.extension import AXES, Affine, Domain, Made, ir

from ..grid.boxes import Orthant
from ..grid.frame import Frame
from ..rules.evaluate import affine_in_scalars, evaluate
from ..rules.rows.affine_rows import Entry, Row, composed
from ..rules.rows.strips import Strip, Strips
from .ruled import Ruled

Found: TypeAlias = "list[tuple[Domain, Row]]"

DEPTH = 8
"""The largest length of a chain of ghost points that read each other. Longer chains are omitted."""

LAYERS = 4
"""The largest number of different values of a constant at the ghost points of one set."""

PIECES = 64
"""The largest number of sets of ghost points with separate rows. A fill with more has no closed
form."""


@dataclass(frozen=True, slots=True)
class ClosedRow:
    """Ghosts of one block with one row; points and row are over the axes of the block."""

    block: int
    points: Domain
    row: Row


def closed_rows(ruled: Ruled, reads: Sequence[Domain]) -> tuple[ClosedRow, ...] | None:
    """Return the rows of ghosts for all sizes, in disjoint sets, with at most one entry each.

    Points that no rule defines, and points whose rules read each other in circles, are in none of
    the sets.
    """
    frame = ruled.frame
    if any(len(s.row.entries) > 1 or not _plain(s.row.entries) for s in ruled.strips):
        return None
    closing = _Closing(ruled)
    found: list[ClosedRow] = []
    for block in range(len(frame.blocks)):
        kind, _ = frame.places[block]
        here = reads[kind].preimage(_place(frame, block, frame.index), frame.axes)
        for orthant, part in closing.parts(block, here):
            if any(orthant):
                ghosts = closing.ghosts(block, orthant, part, 0)
                found += [ClosedRow(block, points, row) for points, row in ghosts]
            if len(found) > PIECES:
                return None
    return tuple(found)


def ghost_values(
    ruled: Ruled, closed: Sequence[ClosedRow], sources: Sequence[str], scalars: Sequence[ir.Value]
) -> list[Made] | None:
    """Return the values of each field at its ghosts; None if a constant has many values."""
    frame = ruled.frame
    given = dict(zip(ruled.parameters, scalars, strict=True))
    components = len(sources) // len(frame.kinds)
    found: list[list[tuple[Domain, ir.Value]]] = [[] for _ in sources]
    for one in closed:
        kind, _ = frame.places[one.block]
        for component in range(components):
            made = _values(frame, one, component, sources[component::components], given)
            if made is None:
                return None
            for points, value in made:
                place = _on_block(frame, one.block, points)
                found[kind * components + component].append((place, value))
    return [tuple(each) for each in found]


def _values(
    frame: Frame,
    closed: ClosedRow,
    component: int,
    sources: Sequence[str],
    given: Mapping[str, ir.Value],
) -> list[tuple[Domain, ir.Value]] | None:
    """Return the values of a row as `pieces` defines them; None if they are not numbers."""
    row = closed.row
    each = row.constant[component if len(row.constant) > 1 else 0]
    rest, factors = affine_in_scalars(each)
    taps: list[ir.Term] = []
    everywhere = Domain.where(_axes(frame), "0 = 0")
    for entry in row.entries:
        weight = _number(entry.weight if entry.mix is None else _diagonal(entry, component))
        if weight is None:
            return None
        kind, _ = frame.places[entry.block]
        load = ir.Load(sources[kind], _place(frame, entry.block, entry.index))
        taps.append(ir.Term(everywhere, ir.Const(weight), load))
    if taps and not factors and not _indices(rest) and _number(rest) == 0.0:
        (tap,) = taps
        return [(closed.points, load if tap.weight == ir.ONE else ir.Sum((tap,)))]
    found: list[tuple[Domain, ir.Value]] = []
    for points, layer in _layers(closed.points, (rest, *factors.values())):
        numbers = [_number(v) for v in layer]
        if any(n is None for n in numbers):
            return None
        constant, *more = (ir.Const(n + 0.0) for n in numbers if n is not None)
        scaled = zip(factors, more, strict=True)
        scalars = [ir.Term(everywhere, factor, given[name]) for name, factor in scaled]
        terms = [ir.Term(everywhere, constant), *scalars, *taps]
        found.append((points, constant if len(terms) == 1 else ir.Sum(tuple(terms))))
    return found


def _indices(*values: ir.Value) -> tuple[Affine, ...]:
    """Return the expressions of indices that occur in values as numbers."""
    parts = (p for value in values for p in ir.walk(value))
    return tuple(dict.fromkeys(p.index for p in parts if isinstance(p, ir.Coordinate)))


def _layers(
    points: Domain, values: tuple[ir.Value, ...]
) -> list[tuple[Domain, tuple[ir.Value, ...]]]:
    """Return the points in layers on which values that depend on one index are constant."""
    index = next(iter(_indices(*values)), None)
    known = () if index is None else points.values(index, LAYERS)
    if index is None or not all(v.is_constant for v in known):
        return [(points, values)]
    found = []
    for number in known:
        part = points.equal((index,), (number,))

        def change(node: ir.Value, value: int = number.constant) -> ir.Value | None:
            return ir.Const(float(value)) if node == ir.Coordinate(index) else None

        found += _layers(part, tuple(ir.rewrite(v, change) for v in values))
    return found


def _diagonal(entry: Entry, component: int) -> ir.Value:
    assert entry.mix is not None
    return ir.Op("mul", (entry.weight, entry.mix[component][component]))


def _number(value: ir.Value) -> float | None:
    """Return a value as a finite number; None if it is not one."""
    if any(isinstance(v, (ir.Load, ir.Coordinate, ir.Scalar)) for v in ir.walk(value)):
        return None
    found = float(evaluate(value, {}, {}))
    return found if math.isfinite(found) else None


def _plain(entries: Sequence[Entry]) -> bool:
    """Whether entries multiply each component by a number, at all points."""
    return all(not e.window and isinstance(e.weight, ir.Const) and e.is_diagonal for e in entries)


def _place(frame: Frame, block: int, index: Sequence[Affine]) -> tuple[Affine, ...]:
    """Return a point of a block as an index of its field."""
    return (Affine.of(frame.places[block][1]), *index) if frame.gridded else tuple(index)


def _axes(frame: Frame) -> tuple[str, ...]:
    return AXES[frame.ndim + frame.gridded]


def _on_block(frame: Frame, block: int, points: Domain) -> Domain:
    """Return points of a block as a set over the axes of its field."""
    if not frame.gridded:
        return points
    axes = _axes(frame)
    own = tuple(map(Affine.name, axes[1:]))
    place = Domain.where(axes, f"{axes[0]} = {frame.places[block][1]}")
    return points.preimage(own, axes) & place


class _Closing:
    """Rules by side, and the recursive substitution of ghosts."""

    def __init__(self, ruled: Ruled) -> None:
        self.frame = ruled.frame
        self.strips = Strips(ruled.strips)

    def parts(self, block: int, points: Domain) -> list[tuple[Orthant, Domain]]:
        """Return the points of a block by orthant, the owned ones first."""
        frame, here = self.frame, self.frame.blocks[block]
        found: list[tuple[Orthant, Domain]] = [((), points)]
        for axis, name in enumerate(frame.axes):
            low, stop = here.first[axis], here.stop(axis)
            cuts = {0: f"{low} <= {name} < {stop.isl()}", -1: f"{name} < {low}"}
            cuts[1] = f"{name} >= {stop.isl()}"
            sets = {n: Domain.where(frame.axes, c, sorted(stop.names())) for n, c in cuts.items()}
            cut = (((*o, n), part & inside) for o, part in found for n, inside in sets.items())
            found = [(orthant, part) for orthant, part in cut if not part.empty]
        return found

    def ghosts(self, block: int, orthant: Orthant, points: Domain, depth: int) -> Found:
        """Return the rows of the defined ghosts of one orthant."""
        found: Found = []
        left = points
        sides = self.frame.beyond(block, orthant) if depth < DEPTH else ()
        for strip in self.strips.beyond(sides):
            for part, row in self._ruled(strip, left, depth):
                found.append((part, row))
                left = left - part
        return found

    def _ruled(self, strip: Strip, points: Domain, depth: int) -> Found:
        """Return the rows that one rule gives for points, in terms of owned points."""
        axes = self.frame.axes
        for axis, low, high in strip.bounds:
            edges = f"{low.isl()} <= {axes[axis]} < {high.isl()}"
            points = points & Domain.where(axes, edges, sorted(low.names() | high.names()))
        if points.empty:
            return []
        if not strip.row.entries:
            return [(points, strip.row)]
        (entry,) = strip.row.entries
        found: Found = []
        for orthant, part in self.parts(entry.block, points.image(entry.index, axes)):
            inside = points & part.preimage(entry.index, axes)
            if not any(orthant):
                found.append((inside, strip.row))
                continue
            for place, inner in self.ghosts(entry.block, orthant, part, depth + 1):
                back = inside & place.preimage(entry.index, axes)
                found.append((back, composed(strip.row, entry, inner, axes)))
        return found
