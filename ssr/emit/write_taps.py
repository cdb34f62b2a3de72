"""Write rows whose terms come again with a period, a bundle of neighbouring rows at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import gcd

from .. import ir
from ..ir import LoopNest
from ..points.affine import Affine
from ..points.loop_tree import Run
from ..points.sets import Domain
from .write_rows import place_of, write_piece
from .writer import Writer


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
    where = place_of(writer, nest, row)
    for number in range(count):
        for part, taps in zip(piece.parts, piece.taps, strict=True):
            rows = number * width, (low, high)
            _write_bundle(writer, part.statement, taps, axis, rows, where, depth + 1)


def _write_bundle(
    writer: Writer,
    statement: ir.Statement,
    taps: Sequence[ir.Tap],
    axis: str,
    rows: tuple[int, tuple[str, str]],
    where: Mapping[str, Affine],
    depth: int,
) -> None:
    """Write the rows of a bundle that begins so many rows behind the loop's variable."""
    first, ends = rows
    target = tuple(a.substitute(where) for a in statement.index)
    inside = ", ".join(f"{end} - {axis} - {first}" if first else f"{end} - {axis}" for end in ends)

    def at(array: str, index: Sequence[Affine]) -> str:
        moved = (*index[:-1], index[-1] + first)
        return f"{writer.argument(array)}, {writer.unshifted(array, moved)}"

    def repeated(weights: Sequence[float]) -> str:
        turned = (weights[(first + n) % len(weights)] for n in range(len(weights)))
        array = writer.argument(statement.array)
        return f"repeated({array}, {', '.join(map(writer.constant, turned))})"

    total = repeated((-0.0,))
    for tap in taps:
        text = f"{total} + {repeated(tap.weights)}"
        if tap.element is not None:
            index = tuple(a.substitute(where) for a in tap.element.index)
            weights = repeated(tap.weights)
            taken = f"take_rows({at(tap.element.array, index)}, {weights}, {inside})"
            text = f"fma_present({weights}, {taken}, {total})"
        total = writer.fresh("s")
        writer.line(depth, f"{total} = {text}")
    writer.line(depth, f"put_rows({at(statement.array, target)}, {total}, {inside})")


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
