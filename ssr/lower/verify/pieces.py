"""The verifier of pieces: it compares the stores of pieces and statements for small sizes.

A violated rule is a defect of the compiler and raises an `AssertionError`: the pieces store each
array element that the statements of their nest store, equally often, and no other elements. Stores
by which a statement would copy an element to itself may be missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ... import ir
from ...points.affine import Affine
from ...points.sets import Domain
from ..passes.row_classes import classes, is_kept, resolve
from ..tiling import everywhere, is_cut
from .loops import samples

Element = tuple[int, ...]


def verify_pieces(made: ir.SplitNest, after: str) -> None:
    """Check the pieces of a nest."""
    nest = everywhere(made.nest) if is_cut(made.nest) else made.nest
    buffers = {buffer.name for buffer in made.nest.buffers}
    stored = list(_stored(made, nest))
    domains = [rows for _, _, rows in stored]
    for values in samples(made.nest, [*domains, *(s.domain for s in nest.statements)]):
        for array in {s.array for s in nest.statements} - buffers:
            meant: Counter[Element] = Counter()
            kept: Counter[Element] = Counter()
            for s in nest.statements:
                if s.array == array:
                    rows = s.domain & nest.context
                    meant += _elements(s.index, rows, values)
                    kept += _elements(s.index, _kept(s, rows), values)
            found: Counter[Element] = Counter()
            for name, index, rows in stored:
                if name == array:
                    found += _elements(index, rows, values)
            wrong = (found - meant) + (meant - found - kept)
            assert not wrong, (
                f"after {after}, nest {nest.target!r}: pieces store {array} at {min(wrong)} "
                f"{found[min(wrong)]} times, not {meant[min(wrong)]}, for {values}"
            )


def _stored(made: ir.SplitNest, nest: ir.Nest) -> Iterator[tuple[str, tuple[Affine, ...], Domain]]:
    """Yield the arrays that pieces store, with their indices and rows."""
    outer = tuple(map(Affine.name, nest.axes[:-1]))
    for stage, lines, inside in made.stages:
        for piece in stage.pieces:
            rows = piece.domain & nest.context
            if lines is not None:
                there = lines.preimage(outer, nest.axes)
                rows = rows & there if inside else rows - there
            for part in piece.parts:
                yield part.statement.array, part.statement.index, rows


def _kept(statement: ir.Statement, rows: Domain) -> Domain:
    """Return the rows that a statement copies to themselves."""
    found = rows - rows
    for kind in classes(statement.value, rows):
        if is_kept(statement, resolve(statement.value, kind)):
            found = found | kind
    return found


def _elements(
    index: tuple[Affine, ...], rows: Domain, values: Mapping[str, int]
) -> Counter[Element]:
    points = (dict(zip(rows.axes, row, strict=True)) for row in rows.fixed(values).points())
    return Counter(tuple(a.evaluate({**values, **point}) for a in index) for point in points)
