"""Block banded elimination along a line as straight-line code, with structural zeros omitted.

For each row of a line, block by block, the forward sweep computes

    l[o] = A[o] - sum of l[o'] C[o - o']     o < 0
    D    = A[0] - sum of l[o'] C[-o']
    C[s] = D^-1 (A[s] - sum of l[o'] C[s - o'])     s > 0
    y    = D^-1 (b - sum of l[o'] y)

where C and y in products with l[o'] are those of the row at offset o', and the backward sweep
computes

    x    = y - sum of C[s] x

A diagonal block is factorized without pivoting (`algebra/elimination`). Values that are zero at
all rows of a piece, as far as its entries show, are not computed. A factor that some row has is
stored for all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ... import ir
from ...algebra.elimination import Number, Pair, Scale, factorized, less, named, size
from ...points.affine import Affine
from ...points.sets import Domain

Place: TypeAlias = tuple[int, int, int]
"""An entry of the blocks of a row: the offset in points, and row and column of the block."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of lines that have the same entries, and columns at the same offsets.

    Values read line variables.
    """

    name: str
    domain: Domain
    offsets: frozenset[int]
    entries: Mapping[Place, ir.Value]
    right: tuple[ir.Value, ...]


@dataclass(frozen=True, slots=True)
class System:
    """All rows of lines: the axis along them, their number, the rows of a block, and the pieces.

    The reciprocals of the pivots are line variables if they are requested (``asked``).
    """

    axis: str
    length: Affine
    size: int
    pieces: tuple[Rows, ...]
    asked: bool = False

    @property
    def reach(self) -> tuple[int, int]:
        """The lower and upper bandwidth in points."""
        found = [offset for rows in self.pieces for offset, *_ in rows.entries]
        return max(0, -min(found, default=0)), max(0, *found, 0)


def swept(system: System) -> tuple[tuple[ir.Piece, ...], tuple[ir.Piece, ...]]:
    """Return the pieces of the sweeps forward and backward."""
    kept: frozenset[Place] = frozenset()
    while True:
        made = [_Row(system, rows, kept) for rows in system.pieces]
        found = kept.union(*(row.filled for row in made))
        if found == kept:
            break
        kept = found
    forward = (ir.Piece(f"{r.rows.name}_down", r.rows.domain, tuple(r.parts)) for r in made)
    backward = (ir.Piece(f"{r.rows.name}_up", r.rows.domain, _substituted(system, r)) for r in made)
    return tuple(forward), tuple(piece for piece in backward if piece.parts)


def solution(number: int) -> str:
    """Return the line variable of a component of the solution."""
    return f"%x{number}"


def inverse_pivot(number: int) -> str:
    """Return the line variable of the reciprocal pivot in a row of the block."""
    return f"%p{number}"


def _factor(place: Place) -> str:
    """Return the line variable of a number that is kept for the sweep back."""
    return f"%c{'_'.join(map(str, place))}"


@dataclass
class _Row:
    """The forward sweep at the rows of a piece: its computations in order."""

    system: System
    rows: Rows
    kept: frozenset[Place]
    parts: list[ir.Part] = field(default_factory=list)
    filled: frozenset[Place] = frozenset()

    def __post_init__(self) -> None:
        before, behind = self.system.reach
        count = range(self.system.size)
        left: dict[Place, Number] = {}
        for offset in range(-before, 0):
            for r in count:
                for c in count:
                    left[offset, r, c] = named(self._entry((offset, r, c), left), self._let)
        block = [[self._entry((0, r, c), left) for c in count] for r in count]
        factors = factorized(block, self.rows.domain, self._let, self._scale(left))
        solve = factors.solve
        for r, inverse in enumerate(factors.watched if self.system.asked else ()):
            self._store(inverse_pivot(r), inverse)
        found: dict[Place, Number] = {}
        for offset in range(1, behind + 1):
            for c in count:
                column = solve([self._entry((offset, r, c), left) for r in count])
                found |= {(offset, r, c): value for r, value in enumerate(column)}
        self.filled = frozenset(place for place, value in found.items() if value is not None)
        for place in sorted(self.kept):
            self._store(_factor(place), found.get(place) or ir.ZERO)
        for first in range(0, len(self.rows.right), self.system.size):
            sides = (self._side(first, r, left) for r in count)
            for r, value in enumerate(solve([*sides])):
                self._store(solution(first + r), value or ir.ZERO)

    def _scale(self, left: Mapping[Place, Number]) -> Scale | None:
        """Return the scale for pivot checks: at the last rows of lines, or where requested.

        In a diagonally dominant matrix no other pivots can vanish.
        """
        last = not any(n > 0 for n in self.rows.offsets)
        alone = not any(left.values()) and self.system.size == 1
        if alone or not (last or self.system.asked):
            return None
        diagonal = [(0, r, r) for r in range(self.system.size)]
        sizes = [
            size(self.rows.domain, self.rows.entries.get(place), self._pairs(place, left))
            for place in diagonal
        ]
        return Scale(sizes, ir.Coordinate(self.system.length))

    def _entry(self, place: Place, left: Mapping[Place, Number]) -> Number:
        """Return an entry after the rows before are eliminated from it."""
        if place[0] not in self.rows.offsets:
            return None
        return less(self.rows.domain, self.rows.entries.get(place), self._pairs(place, left))

    def _pairs(self, place: Place, left: Mapping[Place, Number]) -> Iterator[Pair]:
        """Yield the products that are taken from an entry as rows before are eliminated."""
        offset, r, c = place
        for o in range(-self.system.reach[0], min(offset, 0)):
            for m in range(self.system.size):
                if (offset - o, m, c) in self.kept:
                    yield left[o, r, m], self._read(_factor((offset - o, m, c)), o)

    def _side(self, first: int, r: int, left: Mapping[Place, Number]) -> Number:
        """Return a right side after the rows before are eliminated from it."""
        pairs = (
            (left[o, r, m], self._read(solution(first + m), o))
            for o in range(-self.system.reach[0], 0)
            for m in range(self.system.size)
        )
        return less(self.rows.domain, self.rows.right[first + r], pairs)

    def _let(self, value: ir.Value) -> ir.Value:
        """Assign a value to a variable of the row, and return its load."""
        name = f"%v{len(self.parts)}"
        self.parts.append(self._part(name, value, stored=False))
        return ir.Load(name, (Affine.name(self.system.axis),))

    def _store(self, name: str, value: ir.Value) -> None:
        self.parts.append(self._part(name, value, stored=True))

    def _part(self, name: str, value: ir.Value, *, stored: bool) -> ir.Part:
        return _part(name, value, self.system, self.rows, stored=stored)

    def _read(self, name: str, steps: int) -> ir.Value | None:
        """Return a line variable at a distance of ``steps`` points; None if there is no row."""
        if steps not in self.rows.offsets:
            return None
        return ir.Load(name, (Affine.name(self.system.axis) + steps,))


def _substituted(system: System, row: _Row) -> tuple[ir.Part, ...]:
    """Return the computations of the backward sweep at the rows of a piece."""
    here, count = Affine.name(system.axis), range(system.size)
    parts = []
    for number in range(len(row.rows.right)):
        first, r = divmod(number, system.size)
        pairs = [
            (
                ir.Load(_factor((offset, r, c)), (here,)),
                ir.Load(solution(first * system.size + c), (here + offset,)),
            )
            for offset in range(1, system.reach[1] + 1)
            for c in count
            if (offset, r, c) in row.filled
        ]
        if pairs:
            name = solution(number)
            value = less(row.rows.domain, ir.Load(name, (here,)), pairs)
            assert value is not None
            parts.append(_part(name, value, system, row.rows, stored=True))
    return tuple(parts)


def _part(name: str, value: ir.Value, system: System, rows: Rows, *, stored: bool) -> ir.Part:
    index = (Affine.name(system.axis),)
    return part_of(rows.name, rows.domain, name, index, value, stored=stored)


def part_of(
    piece: str,
    rows: Domain,
    name: str,
    index: tuple[Affine, ...],
    value: ir.Value,
    *,
    stored: bool,
) -> ir.Part:
    """Return the computation of a line or row variable at the rows of a piece."""
    return ir.Part(ir.Statement(piece, rows, name, index, value), value, stored)


def present(value: ir.Value, rows: Domain, whole: Domain) -> Number:
    """Return a value at rows at which the same terms are present; None if it has no term.

    Its terms have the ``whole`` of all rows as domain, so that equal values compare equal.
    """

    def change(node: ir.Sum) -> ir.Value | None:
        terms = [replace(t, domain=whole) for t in node.terms if rows <= t.domain]
        if len(terms) == 1 and terms[0].operand is None:
            return terms[0].weight
        if len(terms) == 1 and terms[0].weight == ir.ONE:
            return terms[0].operand
        return ir.Sum(tuple(terms))

    found = ir.rewrite_sums(value, change)
    return None if found in (ir.Sum(()), ir.ZERO) else found
