"""Code of rows with periodic terms, vectorized over bundles of neighboring rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd
from typing import TypeAlias

from .. import ir
from ..ir import LoopNest
from ..kernel import ir as kernel
from ..kernel.building import Operand, binary, call, compare, do, loop, minus, plus
from ..points.affine import Affine
from ..points.loop_tree import Run
from ..points.sets import Domain
from ..runtime.constants import WINDOW
from .builder import Builder
from .rows import emit_piece, place_of

WORD = 62
"""Limit of the rows of a loop iteration: an integer holds one bit for each row that reads."""


Ends: TypeAlias = tuple[kernel.Expression, kernel.Expression]
"""A half-open range of rows."""


def emit_periodic_rows(builder: Builder, nest: LoopNest, run: Run, ends: Ends) -> None:
    """Add the rows from the first of two ends to before the other.

    Each iteration of the loop begins at a row whose number is a multiple of the period and has
    enough bundles for the next iteration to begin at such a row, so that the weights are constants.
    An outermost loop polls.
    """
    piece = nest.pieces[run.piece]
    axis, width, period = nest.nest.axes[-1], builder.near, len(piece.taps[0][0].weights)
    row = replace(run, indices=(*run.indices[:-1], Affine.name(axis)))
    if builder.checked:
        _emit_row_by_row(builder, nest, row, ends)
        return
    low, high = (builder.fresh("e") for _ in ends)
    builder.add(kernel.Let((low, high), kernel.Group(ends)))
    count = period // gcd(period, width)
    with builder.block() as body:
        if len(nest.nest.axes) == 1:
            builder.add(do("poll", "watch", count * width))
        names = kernel.Name(low), kernel.Name(high)
        here = _Round(builder, axis, names, count, place_of(builder, nest, row))
        lines = here.lines_of(piece)
        for number in range(count):
            for part, taps in zip(piece.parts, piece.taps, strict=True):
                here.emit_bundle(part.statement, taps, number, lines)
    start = minus(low, binary("%", low, period))
    builder.add(loop(axis, (start, high, count * width), body))


@dataclass(frozen=True)
class _Line:
    """A line of an array that the rows of a round read at several places.

    Attributes
    ----------
    reads
        For each distance from rows to elements the rows that read one, as bits of an integer.
    made
        The variables that hold bundles of elements, by their numbers.
    """

    reads: Mapping[int, int]
    made: dict[int, kernel.Name] = field(default_factory=dict)

    def bundles(self, width: int, rows: int) -> range:
        """Return the numbers of the bundles of elements that rows read."""
        return range(min(self.reads) // width, (max(self.reads) + rows - 1) // width + 1)


@dataclass(frozen=True)
class _Round:
    """An iteration of a loop: ``count`` bundles of rows, starting at the loop's variable."""

    builder: Builder
    axis: str
    ends: Ends
    count: int
    where: Mapping[str, Affine]

    def lines_of(self, piece: ir.Piece) -> dict[tuple[str, tuple[Affine, ...]], _Line]:
        """Return the lines of which fewer bundles are loaded if each is loaded once."""
        width = self.builder.near
        rows = self.count * width
        found = dict[tuple[str, tuple[Affine, ...]], dict[int, int]]()
        taken = dict[tuple[str, tuple[Affine, ...]], int]()
        for taps in piece.taps:
            for element, weights in _elements(taps):
                line, distance = (element.array, element.index[:-1]), self._distance(element)
                reads, period = found.setdefault(line, {}), len(weights)
                bits = sum(1 << n for n in range(rows) if weights[n % period])
                reads[distance] = reads.get(distance, 0) | bits
                taken[line] = taken.get(line, 0) + self.count
        lines = {line: _Line(reads) for line, reads in found.items()}
        return {
            name: line
            for name, line in lines.items()
            if len(line.bundles(width, rows)) < taken[name]
            and len(line.bundles(width, rows)) <= WINDOW
            and rows <= WORD
        }

    def _distance(self, element: ir.Load) -> int:
        """Return the distance of an element from the row that reads it."""
        return (element.index[-1] - Affine.name(self.axis)).constant

    def _ends(self, first: int = 0) -> list[kernel.Expression]:
        """Return the distances of the ends from the first row of a bundle."""
        return [minus(end, self.axis, *([first] if first else [])) for end in self.ends]

    def _at(self, array: str, index: Sequence[Affine], first: int) -> tuple[Operand, Operand]:
        """Return an array and the flat offset of the element for the first row of a bundle."""
        index = tuple(a.substitute(self.where) for a in index)
        moved = (*index[:-1], index[-1] + first)
        return self.builder.argument(array), self.builder.place(array, moved)

    def emit_bundle(
        self,
        statement: ir.Statement,
        taps: Sequence[ir.Tap],
        number: int,
        lines: Mapping[tuple[str, tuple[Affine, ...]], _Line],
    ) -> None:
        """Add the rows of one of the bundles."""
        builder, first = self.builder, number * self.builder.near

        def repeated(weights: Sequence[float]) -> kernel.Expression:
            turned = (weights[(first + n) % len(weights)] for n in range(len(weights)))
            array = builder.argument(statement.array)
            return call("repeated", array, *map(builder.constant, turned))

        total = repeated((-0.0,))
        for tap in taps:
            weights = repeated(tap.weights)
            if tap.element is None:
                total = builder.let("s", plus(total, weights))
                continue
            line = lines.get((tap.element.array, tap.element.index[:-1]))
            taken: kernel.Expression
            if line is None:
                place = self._at(tap.element.array, tap.element.index, first)
                taken = call("take_rows", *place, weights, *self._ends(first))
            else:
                taken = self._read(tap.element, line, first)
            total = builder.let("s", call("fma_present", weights, taken, total))
        target = self._at(statement.array, statement.index, first)
        builder.add(do("put_rows", *target, total, *self._ends(first)))

    def _read(self, element: ir.Load, line: _Line, first: int) -> kernel.Expression:
        """Return the bundle of elements that a bundle of rows reads; missing ones are loaded."""
        number, beyond = divmod(first + self._distance(element), self.builder.near)
        left = self._loaded(element, line, number)
        if not beyond:
            return left
        return call("of_two", left, self._loaded(element, line, number + 1), beyond)

    def _loaded(self, element: ir.Load, line: _Line, number: int) -> kernel.Name:
        """Return the variable that holds a bundle of elements, with zeros that no row reads."""
        width = self.builder.near
        if number not in line.made:
            least = line.bundles(width, self.count * width)[0]
            reads = [n for d, rows in line.reads.items() for n in (d - least * width, rows)]
            own = (*element.index[:-1], Affine.name(self.axis))
            place = self._at(element.array, own, number * width)
            first = (number - least) * width
            found = call("take_wanted", *place, first, *self._ends(), *reads)
            line.made[number] = self.builder.let("x", found)
        return line.made[number]


def _elements(taps: Sequence[ir.Tap]) -> Iterator[tuple[ir.Load, tuple[float, ...]]]:
    """Yield the elements that taps read, with their weights."""
    for tap in taps:
        if tap.element is not None:
            yield tap.element, tap.weights


def _emit_row_by_row(builder: Builder, nest: LoopNest, run: Run, ends: Ends) -> None:
    """Add a loop in which a branch chooses the kind of each row."""
    piece, axis = nest.pieces[run.piece], nest.nest.axes[-1]
    period, where = len(piece.taps[0][0].weights), place_of(builder, nest, run)
    kinds: list[kernel.Statement] = []
    for kind in range(period):
        parts = tuple(
            replace(part, value=_value(piece.domain, taps, kind))
            for part, taps in zip(piece.parts, piece.taps, strict=True)
        )
        with builder.block() as body:
            emit_piece(builder, nest, replace(piece, parts=parts, taps=()), where)
        test = compare(binary("%", axis, period), "==", kind)
        kinds.append(kernel.If(test, tuple(body)))
    builder.add(loop(axis, ends, kinds))


def _value(rows: Domain, taps: Sequence[ir.Tap], kind: int) -> ir.Sum:
    """Return the sum that taps are for rows of a kind."""
    terms = (
        ir.Term(rows, ir.Const(tap.weights[kind]), tap.element)
        for tap in taps
        if tap.weights[kind] or tap.element is None
    )
    return ir.Sum((ir.Term(rows, ir.Const(-0.0)), *terms))
