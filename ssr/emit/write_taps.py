"""Write rows whose terms come again with a period, a bundle of neighbouring rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd

from .. import ir
from ..ir import LoopNest
from ..points.affine import Affine
from ..points.loop_tree import Run
from ..points.sets import Domain
from ..runtime.constants import WINDOW
from .write_rows import place_of, write_piece
from .writer import Writer

WORD = 62
"""Rows of a round of a loop, at most, of which an integer says which read an element."""


def write_taps(writer: Writer, nest: LoopNest, run: Run, ends: tuple[str, str], depth: int) -> None:
    """Write the rows from the first of two ends to before the other.

    A round of the loop begins with a row whose number is a multiple of the period, and has so many
    bundles that the next one does, too: their weights are constants. A loop that is in no other
    loop polls.
    """
    piece = nest.pieces[run.piece]
    axis, width, period = nest.nest.axes[-1], writer.near, len(piece.taps[0][0].weights)
    row = replace(run, indices=(*run.indices[:-1], Affine.name(axis)))
    if writer.checked:
        _write_row_by_row(writer, nest, row, ends, depth)
        return
    low, high = (writer.fresh("e") for _ in ends)
    writer.line(depth, f"{low}, {high} = {', '.join(ends)}")
    count = period // gcd(period, width)
    step = f"{low} - {low} % {period}, {high}, {count * width}"
    writer.line(depth, f"for {axis} in range({step}):")
    if len(nest.nest.axes) == 1:
        writer.line(depth + 1, f"poll(watch, {count * width})")
    here = _Round(writer, axis, (low, high), count, place_of(writer, nest, row), depth + 1)
    lines = here.lines_of(piece)
    for number in range(count):
        for part, taps in zip(piece.parts, piece.taps, strict=True):
            here.write_bundle(part.statement, taps, number, lines)


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
    made: dict[int, str] = field(default_factory=dict)

    def bundles(self, width: int, rows: int) -> range:
        """Return the numbers of the bundles of elements that rows read."""
        return range(min(self.reads) // width, (max(self.reads) + rows - 1) // width + 1)


@dataclass(frozen=True)
class _Round:
    """A round of a loop: so many bundles of rows from the loop's variable on."""

    writer: Writer
    axis: str
    ends: tuple[str, str]
    count: int
    where: Mapping[str, Affine]
    depth: int

    def lines_of(self, piece: ir.Piece) -> dict[tuple[str, tuple[Affine, ...]], _Line]:
        """Return the lines of which fewer bundles are loaded if each is loaded once."""
        width = self.writer.near
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
        """Return how far an element is from the row that reads it."""
        return (element.index[-1] - Affine.name(self.axis)).constant

    def _ends(self, first: int = 0) -> str:
        moved = f" - {first}" if first else ""
        return ", ".join(f"{end} - {self.axis}{moved}" for end in self.ends)

    def _at(self, array: str, index: Sequence[Affine], first: int) -> str:
        index = tuple(a.substitute(self.where) for a in index)
        moved = (*index[:-1], index[-1] + first)
        return f"{self.writer.argument(array)}, {self.writer.unshifted(array, moved)}"

    def write_bundle(
        self,
        statement: ir.Statement,
        taps: Sequence[ir.Tap],
        number: int,
        lines: Mapping[tuple[str, tuple[Affine, ...]], _Line],
    ) -> None:
        """Write the rows of one of the bundles."""
        writer, first = self.writer, number * self.writer.near

        def repeated(weights: Sequence[float]) -> str:
            turned = (weights[(first + n) % len(weights)] for n in range(len(weights)))
            array = writer.argument(statement.array)
            return f"repeated({array}, {', '.join(map(writer.constant, turned))})"

        total = repeated((-0.0,))
        for tap in taps:
            weights = repeated(tap.weights)
            text = f"{total} + {weights}"
            if tap.element is not None:
                line = lines.get((tap.element.array, tap.element.index[:-1]))
                if line is None:
                    place = self._at(tap.element.array, tap.element.index, first)
                    taken = f"take_rows({place}, {weights}, {self._ends(first)})"
                else:
                    taken = self._read(tap.element, line, first)
                text = f"fma_present({weights}, {taken}, {total})"
            total = writer.fresh("s")
            writer.line(self.depth, f"{total} = {text}")
        target = self._at(statement.array, statement.index, first)
        writer.line(self.depth, f"put_rows({target}, {total}, {self._ends(first)})")

    def _read(self, element: ir.Load, line: _Line, first: int) -> str:
        """Return the bundle of elements that a bundle of rows reads, loading what is missing."""
        number, beyond = divmod(first + self._distance(element), self.writer.near)
        left = self._loaded(element, line, number)
        return (
            f"of_two({left}, {self._loaded(element, line, number + 1)}, {beyond})"
            if beyond
            else left
        )

    def _loaded(self, element: ir.Load, line: _Line, number: int) -> str:
        """Return the variable that holds a bundle of elements, with zeros that no row reads."""
        writer, width = self.writer, self.writer.near
        if number not in line.made:
            least = line.bundles(width, self.count * width)[0]
            reads = (f"{d - least * width}, {rows}" for d, rows in line.reads.items())
            own = (*element.index[:-1], Affine.name(self.axis))
            place = self._at(element.array, own, number * width)
            first = (number - least) * width
            text = f"take_wanted({place}, {first}, {self._ends()}, {', '.join(reads)})"
            line.made[number] = writer.fresh("x")
            writer.line(self.depth, f"{line.made[number]} = {text}")
        return line.made[number]


def _elements(taps: Sequence[ir.Tap]) -> Iterator[tuple[ir.Load, tuple[float, ...]]]:
    """Yield the elements that taps read, with their weights."""
    for tap in taps:
        if tap.element is not None:
            yield tap.element, tap.weights


def _write_row_by_row(
    writer: Writer, nest: LoopNest, run: Run, ends: tuple[str, str], depth: int
) -> None:
    """Write a loop in which a branch chooses the kind of each row."""
    piece, axis = nest.pieces[run.piece], nest.nest.axes[-1]
    period = len(piece.taps[0][0].weights)
    writer.line(depth, f"for {axis} in range({', '.join(ends)}):")
    for kind in range(period):
        parts = tuple(
            replace(part, value=_value(piece.domain, taps, kind))
            for part, taps in zip(piece.parts, piece.taps, strict=True)
        )
        writer.line(depth + 1, f"if {axis} % {period} == {kind}:")
        alone = replace(piece, parts=parts, taps=())
        write_piece(writer, nest, alone, place_of(writer, nest, run), depth + 2)


def _value(rows: Domain, taps: Sequence[ir.Tap], kind: int) -> ir.Sum:
    """Return the sum that taps are for rows of a kind."""
    terms = (
        ir.Term(rows, ir.Const(tap.weights[kind]), tap.element)
        for tap in taps
        if tap.weights[kind] or tap.element is None
    )
    return ir.Sum((ir.Term(rows, ir.Const(-0.0)), *terms))
