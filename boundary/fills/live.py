"""Ghost points with run-time coefficients: assignments after the table-driven ghost step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ssr
from ssr import Space
from ssr.errors import OutOfSpaceError, SpaceError
from ssr.extension import Expression, overwrite

from ..closure.linear_rows import RowData, constant_rows, index_of, linear_rows
from ..closure.ruled import Ruled
from ..grid.boxes import Orthant
from .fill_data import FillData


def overwritten(
    data: FillData, fields: Sequence[Expression], made: Sequence[Expression]
) -> list[Expression]:
    """Return fields with ghosts after assignment of the ghosts computed by the program."""
    found, count = list(made), data.components or 1
    for kind, orthant in data.ruled.live_orthants:
        part = _part(data.ruled, kind, data.wide[kind], orthant)
        for c in range(count):
            place = kind * count + c
            found[place] = overwrite(found[place], part, _rows(data, kind, c, part, fields))
    return found


def _rows(
    data: FillData, kind: int, c: int, part: Space, fields: Sequence[Expression]
) -> Expression:
    """Return the ghosts of a part of a field: rows of matrices times fields, and constants."""
    ruled, count = data.ruled, data.components or 1
    known = RowData.of(ruled, constants=True)
    generator = constant_rows(ruled, kind, c, tuple(known.kinds))
    constants = _declared(part, data.owned[kind], known, generator)
    one = fields[kind * count + c]._lift(1.0)
    total: Any = constants.bind(**known.arrays, **_of(known, data.bound)) @ one
    for source, owned in enumerate(data.owned):
        matrix = rows_matrix(ruled, part, owned, (kind, source, c), data.bound)
        total = matrix @ fields[source * count + c] + total
    return total  # type: ignore[no-any-return]


def rows_matrix(
    ruled: Ruled,
    rows: Space,
    cols: Space,
    kinds: tuple[int, int, int],
    values: Mapping[str, Any],
) -> ssr.Matrix:
    """Return rows of the linear part, with the coefficients that vary as data."""
    data = RowData.of(ruled, constants=False)
    generator = linear_rows(ruled, *kinds, tuple(data.kinds))
    matrix = _declared(rows, cols, data, generator)
    return matrix.bind(**data.arrays, **_of(data, values))


def _declared(rows: Space, cols: Space, data: RowData, generator: Any) -> ssr.Matrix:
    try:
        return ssr.matrix(rows=rows, cols=cols, **data.kinds)(generator)
    except OutOfSpaceError as error:
        fields = {name: kind for name, kind in data.kinds.items() if isinstance(kind, Space)}
        raise SpaceError(
            "A field for a parameter of a fill does not hold all points next to the side.",
            note=", ".join(f"{name!r} is on {kind!r}" for name, kind in fields.items()),
            hint="Give it on cells.side(axis, end), or on all cells.",
        ) from error


def _of(data: RowData, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in data.kinds if name in values}


def _part(ruled: Ruled, kind: int, wide: Space, orthant: Orthant) -> Space:
    """Return the points of a space in an orthant."""
    skip = int(ruled.frame.gridded)
    block = ruled.frame.blocks[ruled.frame.kinds[kind][0]]
    for axis, (low, high) in enumerate(block.box(orthant)):
        wide = Space.slab(wide, axis + skip, index_of(low), index_of(high))
    return wide
