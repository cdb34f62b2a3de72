"""Matrices that couple rows along the grid lines of one axis, and the row classes of their lines.

Such a matrix is one banded system for each line. Rows with the same entries are a *piece*. The
pieces of adjacent lines must begin and end at the same indices, so that several lines can be solved
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .. import ir
from ..points.affine import Affine, Offset, offset_of
from ..points.sets import Domain

MOST_PIECES = 24
"""Limit of the pieces, since each has its own source code."""

MOST_SHIFTS = 4
"""Limit of the row-column distances of one family; ``(i + 1) % 8`` has two."""


def distance(family: ir.Family) -> Offset | None:
    """Return the offset of the columns of a family from their rows; None if it differs.

    It may be the same only for the rows of the family, such as those on a side.
    """
    found = offset_of(family.column, family.row)
    if found is not None:
        return found
    shifts = (there - here for there, here in zip(family.column, family.row, strict=True))
    each = [family.domain.values(shift, 1) for shift in shifts]
    if any(len(values) != 1 or not values[0].is_constant for values in each):
        return None
    return tuple(values[0].constant for values in each)


def offsets_of(found: Iterable[ir.Family]) -> tuple[Offset, ...] | None:
    """Return the offsets from rows to columns, each once; None if one is not the same for all."""
    offsets: dict[Offset, None] = {}
    for family in found:
        offset = offset_of(family.column, family.row)
        if offset is None:
            return None
        offsets[offset] = None
    return tuple(offsets)


def placed(
    family: ir.Family, axis: int, extent: Affine
) -> tuple[tuple[ir.Family, int | Affine], ...] | None:
    """Return the positions of a family's columns on lines along an axis; None if not on the line.

    A position is the distance from row to column or, if all columns are at one point of the line,
    as at the ends of periodic lines, the index of this point as an affine expression of sizes.
    A family is divided where the distance differs between its rows.
    """
    axes = family.domain.axes
    row = tuple(map(Affine.name, axes))
    if any(c != r for a, (c, r) in enumerate(zip(family.column, row, strict=True)) if a != axis):
        return None
    column, here = family.column[axis], row[axis]
    if column.names().isdisjoint(axes):
        return ((family, column),)
    found: list[tuple[ir.Family, int | Affine]] = []
    for shift in family.domain.values(column - here, MOST_SHIFTS):
        part = family
        if column != here + shift:
            part = replace(family, domain=family.domain.equal((column,), (here + shift,)))
        near = shift.is_constant and (
            not extent.is_constant or 2 * abs(shift.constant) <= extent.constant
        )
        parts = None if near else _cut(part, here, shift)
        if parts is None and not shift.is_constant:
            return None
        found += [(part, shift.constant)] if parts is None else parts
    return tuple(found)


def _cut(family: ir.Family, here: Affine, shift: Affine) -> list[tuple[ir.Family, Affine]] | None:
    """Divide a family by the points of its columns on lines; None if there are too many."""
    rows, column = family.domain, here + shift
    for value in column, here:
        values = rows.values(value, MOST_SHIFTS)
        if all(point.names().isdisjoint(rows.axes) for point in (*values, column - value)):
            return [
                (replace(family, domain=rows.equal((value,), (point,))), point + (column - value))
                for point in values
            ]
    return None


def line_axis(found: Sequence[ir.Family], extents: Sequence[Affine]) -> int | None:
    """Return the only axis along which columns differ from their rows.

    None if there are several or none, or if the positions of columns along it are not uniform.
    """
    met = {
        axis
        for family in found
        for axis, name in enumerate(family.domain.axes)
        if family.column[axis] != Affine.name(name)
    }
    if len(met) != 1:
        return None
    (axis,) = met
    return None if any(placed(f, axis, extents[axis]) is None for f in found) else axis


def two_sided_axis(
    found: Sequence[ir.Family], extents: Sequence[Affine], given: Domain
) -> int | None:
    """Return the axis of the lines that a matrix couples in both directions; None otherwise.

    ``given`` is a condition on the sizes for which this is tested.
    """
    axis = line_axis(found, extents)
    if axis is None:
        return None
    sides = set[bool]()
    for f in found:
        shift = f.column[axis] - Affine.name(f.domain.axes[axis])
        if shift.is_constant:
            sides |= {shift.constant > 0} if shift.constant else set()
            continue
        for after, pair in (False, (f.column, f.row)), (True, (f.row, f.column)):
            if not (f.domain.before(*pair) & given).empty:
                sides.add(after)
    return axis if len(sides) == 2 else None


def crossing(found: Iterable[ir.Family]) -> tuple[Offset, Offset] | None:
    """Return two offsets that are not along a single axis; None if there are none."""
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
    """Divide rows into parts, each of which lies within each domain or outside of it."""
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
        term.domain for value in ir.values(solve) for part in ir.sums(value) for term in part.terms
    ]
    reach = solve.reach
    shifts = [n for n in range(-reach, reach + 1) if n]
    return cut(rows, [*terms, *(shifted(rows, axis, n) for n in shifts)])


def shifted(rows: Domain, axis: int, steps: int) -> Domain:
    """Return the rows for which the row some steps further along an axis exists."""
    row = [*map(Affine.name, rows.axes)]
    row[axis] = row[axis] + steps
    return rows.preimage(tuple(row), rows.axes)


def side_by_side(parts: Sequence[Domain], axis: int) -> bool:
    """Whether lines can be batched: parts begin and end at the same rows on neighbouring lines."""
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
