"""Solve cyclic banded systems along lines: the third sweep of the elimination (bordering).

The columns at fixed points of a line, whose unknowns are t, are split off its systems. With the
matrix B of the band, and the columns F at the points,

    B y = b,   B z = F,   x = y - z t,   (I + z at the points) t = y at the points

so F are further right-hand sides of the sweeps. The matrix of t is small and dense. It is
diagonally dominant if the whole system is, and singular if the whole system is. Its pivots are
compared with the rounding error. The third sweep computes t at the first row of a line, and then x
at all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from ... import ir
from ...algebra.elimination import Number, Scale, factorized, less
from ...algebra.lines import cut
from ...points.affine import Affine
from ...points.sets import Domain
from .elimination import inverse_pivot, part_of, solution


def far_columns(solve: ir.Solve) -> list[ir.Value]:
    """Return the columns of a row at fixed points, as right sides: point by point, block-wise."""
    known = {(e.point, e.row, e.column): e.value for e in solve.entries if e.point is not None}
    count = range(solve.size)
    return [known.get((p, r, c), ir.ZERO) for p in solve.points for c in count for r in count]


@dataclass(frozen=True, slots=True)
class Circle:
    """Systems along lines with columns at fixed points; the first point and the length of lines."""

    solve: ir.Solve
    low: Affine
    length: Affine

    @property
    def rows(self) -> Domain:
        """All rows."""
        return self.solve.assignments[0].domain

    @property
    def axis(self) -> str:
        """The axis along the lines."""
        return self.rows.axes[self.solve.axis]

    def there(self, point: Affine) -> Domain:
        """Return the rows whose lines have a point."""
        row = [*map(Affine.name, self.rows.axes)]
        row[self.solve.axis] = point
        return self.rows & self.rows.preimage(tuple(row), self.rows.axes)

    def far(self, point: int, c: int, r: int) -> str:
        """Return the line variable of z: for an unknown at a point, by component, a component."""
        size, sides = self.solve.size, len(self.solve.assignments)
        return solution(sides + (point * size + c) * size + r)


def closed(circle: Circle) -> tuple[ir.Piece, ...]:
    """Return the pieces of the third sweep."""
    rows, points = circle.rows, circle.solve.points
    begin = circle.low
    text = f"{circle.axis} = {begin.isl()}"
    first = Domain.where(rows.axes, text, sorted(begin.names())) & rows
    there = [circle.there(point) for point in points]
    pieces = [(part, True) for part in cut(first, there)]
    pieces += [(part, False) for part in cut(rows - first, there) if not part.empty]
    made = []
    for number, (part, begins) in enumerate(pieces):
        known = [n for n, domain in enumerate(there) if part <= domain]
        made.append(_Row(circle, f"closing_{number}", part, known, begins).piece())
    return tuple(made)


class _Row:
    """The values of the third sweep at the rows of a piece, at the starts of lines or elsewhere.

    Their lines have the points that are ``known``.
    """

    def __init__(
        self, circle: Circle, name: str, rows: Domain, known: Sequence[int], begins: bool
    ) -> None:
        self.circle = circle
        self.name = name
        self.rows = rows
        self.begins = begins
        self.unknowns = [(n, c) for n in known for c in range(circle.solve.size)]
        self.parts: list[ir.Part] = []

    def piece(self) -> ir.Piece:
        """Return the piece."""
        size, sides = self.circle.solve.size, len(self.circle.solve.assignments)
        for first in range(0, sides, size):
            names = [f"%t{first}_{n}_{c}" for n, c in self.unknowns]
            if self.begins:
                self._find(first, names)
            for r in range(size):
                self._correct(first + r, r, names)
        return ir.Piece(self.name, self.rows, tuple(self.parts))

    def _find(self, first: int, names: Sequence[str]) -> None:
        """Find the unknowns at the points for a right side, by elimination without pivoting."""
        solve, points = self.circle.solve, self.circle.solve.points
        block: list[list[Number]] = []
        sizes: list[Number] = []
        right: list[Number] = []
        for n, r in self.unknowns:
            here = points[n]
            row: list[Number] = []
            for m, c in self.unknowns:
                z = ir.Load(self.circle.far(m, c, r), (here,))
                own = (n, r) == (m, c)
                row.append(ir.Op("add", (ir.ONE, z)) if own else z)
                if own:
                    sizes.append(ir.Op("add", (ir.ONE, ir.Op("abs", (z,)))))
            block.append(row)
            right.append(ir.Load(solution(first + r), (here,)))
        scale = Scale(sizes, ir.Coordinate(self.circle.length))
        factors = factorized(block, self.rows, self._let, scale)
        for name, value in zip(names, factors.solve(right) if block else (), strict=True):
            self._add(name, value or ir.ZERO, stored=True)
        if solve.pivots and first == 0 and factors.watched:
            name, here = inverse_pivot(0), self.circle.low
            parts = (ir.Load(name, (here,)), *factors.watched)
            sizes_of = (ir.Op("abs", (part,)) for part in parts)
            self._add(name, reduce(lambda a, b: ir.Op("max", (a, b)), sizes_of), stored=True)

    def _correct(self, number: int, r: int, names: Sequence[str]) -> None:
        """Correct a component of a solution for the unknowns at the points."""
        here, low = Affine.name(self.circle.axis), self.circle.low
        pairs = [
            (ir.Load(self.circle.far(n, c, r), (here,)), ir.Load(name, (low,)))
            for (n, c), name in zip(self.unknowns, names, strict=True)
        ]
        if pairs:
            name = solution(number)
            value = less(self.rows, ir.Load(name, (here,)), pairs)
            assert value is not None
            self._add(name, value, stored=True)

    def _let(self, value: ir.Value) -> ir.Value:
        """Assign a value to a variable of the row, and return its load."""
        name = f"%v{len(self.parts)}"
        self._add(name, value, stored=False)
        return ir.Load(name, (Affine.name(self.circle.axis),))

    def _add(self, name: str, value: ir.Value, *, stored: bool) -> None:
        low, here = self.circle.low, Affine.name(self.circle.axis)
        index = (low if name.startswith("%t") else here,)
        self.parts.append(part_of(self.name, self.rows, name, index, value, stored=stored))
