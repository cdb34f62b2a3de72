"""Solves along lines in programs: the entries and right-hand sides of each row.

A row of a system may contain values on its own line, combined by arithmetic for which vector
instructions exist. All other values are stored in temporaries before the solve: costly functions,
conditional expressions, products with stored matrices, and entries whose rows differ between
neighboring lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import ir
from ..algebra.elimination import check_filled
from ..algebra.lines import pieces, placed, side_by_side
from ..errors import UnsupportedError
from ..points.affine import Affine, offset_of
from ..points.sets import Domain
from ..spaces.space import Space, row_domain
from ..trace.trace import Place
from .expression import Expression, check_side
from .recorder import Recorder, current

ARITHMETIC = frozenset(("add", "sub", "mul", "div", "neg", "abs", "min", "max"))
"""Operations that run in vector registers, for several lines at once."""

Blocks = Sequence[Sequence[tuple[ir.Family, ...]]]
"""The families of each entry of the blocks, row by row."""


def solved_along(
    name: str,
    space: Space,
    axis: int,
    blocks: Blocks,
    right: Sequence[Expression],
    given: Domain,
) -> list[Expression]:
    """Return the solutions of systems along lines."""
    if any(f.box != "any" for row in blocks for found in row for f in found):
        raise UnsupportedError(
            f"{name}.solve along lines within boxes is not staged.",
            hint="Cut the grid so that boxes hold whole lines, and solve with the matrix itself.",
        )
    recorder, sides = current(), []
    for b in right:
        check_side(name, b, space)
        sides.append(_right(b.settled(), recorder))
    entries = _entries(space, axis, blocks)
    _check_pivots(name, len(blocks), entries, given)
    across = _across(space, axis)
    entries = [_taken(e, space, axis, across, recorder) for e in entries]
    if not side_by_side(pieces(_tried(space, axis, entries, sides)), axis):
        entries = [_stored(e, space, recorder) for e in entries]
    return recorder.solve_lines(space, axis, len(blocks), entries, sides)


def _across(space: Space, axis: int) -> str:
    """Return the name of the innermost axis across the lines; empty if there is none."""
    outer = [name for n, name in enumerate(space.axes) if n != axis]
    return outer[-1] if outer else ""


def _entries(space: Space, axis: int, blocks: Blocks) -> list[ir.Entry]:
    """Return the entries of the blocks by place, each as one sum over its families."""
    found: dict[tuple[Affine | None, int, int, int], list[ir.Term]] = {}
    for r, row in enumerate(blocks):
        for c, families in enumerate(row):
            for family in families:
                for f, place in placed(family, axis, space.data.shape[axis]) or ():
                    point, offset = (None, place) if isinstance(place, int) else (place, 0)
                    found.setdefault((point, offset, r, c), []).append(ir.Term(f.domain, f.value))
    order = sorted(found, key=lambda key: (str(key[0] or ""), *key[1:]))
    return [
        ir.Entry(offset, r, c, ir.Sum(tuple(found[point, offset, r, c])), point)
        for point, offset, r, c in order
    ]


def _tried(
    space: Space, axis: int, entries: Sequence[ir.Entry], right: Sequence[ir.Value]
) -> ir.Solve:
    """Return systems as they would be recorded."""
    rows = row_domain(space)
    made = (ir.Assignment("", space.axes, rows, value) for value in right)
    return ir.Solve(tuple(made), axis, 1, tuple(entries))


def computed_on_lines(data: Expression, rows: Space) -> bool:
    """Whether data of a matrix are computed wherever a line reads them, instead of stored.

    That is so for sums and products of fields at their own points.
    """
    if data.space != rows or data.order != "any":
        return False
    divides = any(isinstance(part, ir.Op) and part.name == "div" for part in ir.walk(data.value))
    return _own_points(data) and not divides


def _right(b: Expression, recorder: Recorder) -> ir.Value:
    """Return a right side that reads its own points only, stored if need be."""
    return b.value if _own_points(b) else recorder.store(b).value


def _own_points(b: Expression) -> bool:
    """Whether an expression is the same arithmetic on fields at its own point at all points."""
    own, rows = b.space.indices(), row_domain(b.space)
    near = all(load.index == own for load in ir.loads(b.value))
    whole = all(rows <= term.domain for part in ir.sums(b.value) for term in part.terms)
    return near and whole and _arithmetic(b.value, "")


def _taken(entry: ir.Entry, space: Space, axis: int, across: str, recorder: Recorder) -> ir.Entry:
    """Return an entry that lines can compute, stored if need be."""
    on_line = all(_on_line(load, space, axis) for load in ir.loads(entry.value))
    if on_line and _arithmetic(entry.value, across):
        return entry
    return _stored(entry, space, recorder)


def _on_line(load: ir.Load, space: Space, axis: int) -> bool:
    """Whether an element lies at a constant distance, on the own line."""
    offset = offset_of(load.index, space.indices())
    return offset is not None and not any(offset[:axis] + offset[axis + 1 :])


def _arithmetic(value: ir.Value, across: str) -> bool:
    """Whether a value is arithmetic that differs between lines only by the loaded elements."""
    for part in ir.walk(value):
        match part:
            case ir.Op(name) if name not in ARITHMETIC:
                return False
            case ir.Coordinate(index) if not across or across in index.names():
                return False
            case ir.Gather() | ir.Diagonal():
                return False
    return True


def _stored(entry: ir.Entry, space: Space, recorder: Recorder) -> ir.Entry:
    """Return an entry as a field of its values, zero where a row has none."""
    assert isinstance(entry.value, ir.Sum)
    made = recorder.store(Expression(space, entry.value))
    return replace(entry, value=ir.Sum((ir.Term(row_domain(space), ir.ONE, made.value),)))


def _check_pivots(name: str, size: int, entries: Sequence[ir.Entry], given: Domain) -> None:
    """Check that every pivot is an entry, or is filled in by elimination within its block."""
    filled: dict[Place, Domain] = {(r, c): given - given for r in range(size) for c in range(size)}
    for entry in entries:
        if entry.offset == 0 and entry.point is None:
            assert isinstance(entry.value, ir.Sum)
            filled[entry.row, entry.column] = Domain.union([t.domain for t in entry.value.terms])
    check_filled(name, given, filled)
