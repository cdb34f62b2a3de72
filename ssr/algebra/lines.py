"""Which matrices couple rows along the lines of one axis only, and where rows of a line are alike.

The systems of such a matrix are one for each line. Rows with the same entries are a *piece*; the
pieces of all lines that lie side by side must begin and end at the same places, so that lines can
be worked on together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import ir
from ..points.affine import Affine
from ..points.sets import Domain

MOST_PIECES = 24
"""Pieces of which each has source of its own."""

Offset = tuple[int, ...]


def offset_of(index: Sequence[Affine], axes: Sequence[str]) -> Offset | None:
    """Return how far an index lies from the row; None if that is not the same for all rows."""
    shifts = [place - Affine.name(axis) for place, axis in zip(index, axes, strict=True)]
    return tuple(s.constant for s in shifts) if all(s.is_constant for s in shifts) else None


def offsets_of(found: Iterable[ir.Family]) -> tuple[Offset, ...] | None:
    """Return the offsets from rows to columns, each once; None if one is not the same for all."""
    offsets: dict[Offset, None] = {}
    for family in found:
        offset = offset_of(family.column, family.domain.axes)
        if offset is None:
            return None
        offsets[offset] = None
    return tuple(offsets)


def line_axis(found: Iterable[ir.Family]) -> int | None:
    """Return the axis along which all columns lie from their rows; None if they lie otherwise.

    It is None, too, if each column is its row.
    """
    offsets = offsets_of(found)
    if offsets is None:
        return None
    met = {axis for offset in offsets for axis, steps in enumerate(offset) if steps}
    return met.pop() if len(met) == 1 else None


def two_sided_axis(found: Sequence[ir.Family]) -> int | None:
    """Return the axis of the lines that a matrix couples in both directions; None otherwise."""
    axis = line_axis(found)
    if axis is None:
        return None
    sides = {offset[axis] > 0 for offset in offsets_of(found) or () if offset[axis]}
    return axis if len(sides) == 2 else None


def crossing(found: Iterable[ir.Family]) -> tuple[Offset, Offset] | None:
    """Return two offsets that do not lie along one axis, if there are such."""
    by_axes: dict[tuple[int, ...], Offset] = {}
    for offset in offsets_of(found) or ():
        axes = tuple(axis for axis, steps in enumerate(offset) if steps)
        if axes:
            by_axes.setdefault(axes, offset)
    several = [offset for axes, offset in by_axes.items() if len(axes) > 1]
    if several:
        first = next((o for o in by_axes.values() if o is not several[0]), several[0])
        return first, several[0]
    return tuple(by_axes.values())[:2] if len(by_axes) > 1 else None  # type: ignore[return-value]


def cut(rows: Domain, domains: Iterable[Domain]) -> list[Domain]:
    """Return rows cut into parts, each of which lies within a domain or outside of it."""
    parts = [rows]
    for domain in dict.fromkeys(domains):
        if domain == rows or rows <= domain:
            continue
        halves = ((part & domain, part - domain) for part in parts)
        parts = [half.simplified() for pair in halves for half in pair if not half.empty]
        if len(parts) > MOST_PIECES:
            break
    return parts


def pieces(solve: ir.Solve) -> list[Domain]:
    """Return the rows of a solve with the same terms and the same columns, as parts."""
    rows, axis = solve.assignments[0].domain, solve.axis
    terms = [
        term.domain
        for value in ir.values(solve)
        for part in ir.walk(value)
        if isinstance(part, ir.Sum)
        for term in part.terms
    ]
    reach = max(abs(entry.offset) for entry in solve.entries)
    shifts = [n for n in range(-reach, reach + 1) if n]
    return cut(rows, [*terms, *(shifted(rows, axis, n) for n in shifts)])


def shifted(rows: Domain, axis: int, steps: int) -> Domain:
    """Return the rows that have another row so many points further on."""
    row = [*map(Affine.name, rows.axes)]
    row[axis] = row[axis] + steps
    return rows.preimage(tuple(row), rows.axes)


def side_by_side(parts: Sequence[Domain], axis: int) -> bool:
    """Whether lines can be worked on together: parts begin and end alike on neighbouring lines."""
    if len(parts) > MOST_PIECES:
        return False
    axes = parts[0].axes
    if len(axes) == 1:
        return True
    outer = [name for n, name in enumerate(axes) if n != axis]
    beside = [name for name in axes if name != outer[-1]]
    for part in parts:
        lines = inside(part.project(outer), axes)
        alike = inside(part.project(beside), axes)
        if not (lines & alike) <= part:
            return False
    return True


def inside(lines: Domain, axes: tuple[str, ...]) -> Domain:
    """Return the rows whose indices along some axes are in a set over these."""
    return lines.preimage(tuple(map(Affine.name, lines.axes)), axes)
