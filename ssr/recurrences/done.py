"""What a recurrence has made before a row: ``done[row, column]``, on symbols and on integers.

Both forms check that the row lies in the space and comes before the row that is made. On symbols
an entry is a load of `DONE` at the indices of row and column, to be resolved when the pattern is
known. On integers it is a number; the generator is then run as it stands, row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..algebra.oracle import Recursion, assemble, by_rows
from ..errors import ArgumentError, OutOfSpaceError, Span, UnmadeRowError, user_span
from ..matrices.rows import Point, Row, giving, key, point
from ..spaces.space import Space
from ..symbols.values import Value
from ..trace.trace import tracing

if TYPE_CHECKING:
    import scipy.sparse

    from ..matrices.matrix import Matrix

DONE = "·done"
"""The array name that stands for the entries made before."""


def _pair(place: Any, space: Space) -> tuple[Point, Point]:
    """Return row and column of ``done[row, column]``."""
    if not isinstance(place, tuple) or len(place) != 2:
        raise ArgumentError(
            f"done[...] takes a row and a column, not {place!r}.",
            hint="Write done[k, c] with tuples of indices k and c.",
        )
    return point(place[0], space, "The row of done"), point(place[1], space, "The column of done")


def _outside(what: str, here: Any, space: Space, region: str | None) -> OutOfSpaceError:
    return OutOfSpaceError(
        f"done is read at the {what} {_shown(here)}, outside {space!r}.",
        note=region and f"That is outside for {region}.",
        hint="Guard the read with `if`, as in `if k in space:`.",
    )


def _unmade(row: Any, region: str | None) -> UnmadeRowError:
    return UnmadeRowError(
        f"done is read at row {_shown(row)}, which is not made yet.",
        note=region and f"That is so for {region}.",
        hint="Rows are made in C order; read rows before the own one only: `if k < (j, i):`.",
    )


def _shown(here: Any) -> str:
    return f"({', '.join(map(str, here))})"


class Symbolic:
    """The entries made before, on symbolic indices; remembers where they are read."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.places: dict[ir.Load, Span | None] = {}

    def __getitem__(self, place: Any) -> Value:
        row, column = _pair(place, self.space)
        tracer = tracing()
        for what, here in ("row", row), ("column", column):
            beyond = tracer.outside(self.space, here)
            if beyond is not None:
                raise _outside(what, here, self.space, beyond.simplified(tracer.domain).notation())
        if not tracer.again:
            late = tracer.domain - tracer.domain.before(row, self.space.indices())
            if not late.empty:
                raise _unmade(row, late.simplified(tracer.domain).notation())
        load = ir.Load(DONE, (*row, *column))
        self.places.setdefault(load, user_span())
        return Value(load)


class Numbers:
    """The entries made before, on integers."""

    def __init__(self, origin: Recursion, sizes: Mapping[str, int]) -> None:
        self.space = origin.rows
        self.sizes = sizes
        self.box = origin.rows.box(sizes)
        self.here: tuple[int, ...] = ()
        self.made: dict[tuple[int, ...], dict[tuple[int, ...], float]] = {}

    def start(self, here: tuple[int, ...]) -> None:
        """Go on to a row."""
        self.here = here
        self.made[here] = {}

    def keep(self, column: tuple[int, ...], value: float) -> None:
        """Add to an entry of the row."""
        self.made[self.here][column] = self.made[self.here].get(column, 0.0) + value

    def __getitem__(self, place: Any) -> np.float64:
        row, column = (tuple(i.evaluate(self.sizes) for i in p) for p in _pair(place, self.space))
        for what, here in ("row", row), ("column", column):
            if any(not low <= h < high for h, (low, high) in zip(here, self.box, strict=True)):
                raise _outside(what, here, self.space, None)
        if row >= self.here:
            raise _unmade(row, None)
        return np.float64(self.made[row].get(column, 0.0))


def recursion(
    origin: Recursion, sizes: Mapping[str, int], values: Mapping[str, Any]
) -> scipy.sparse.csr_array:
    """Return the matrix of a recurrence, its rows made by plain Python.

    The columns of a row that is read are those of the staged matrix, whatever its values are; the
    values are those of the definition.
    """
    known = {own: values[name] for own, name in origin.data}
    entries: dict[int, tuple[Matrix, Any, list[tuple[ir.Family, frozenset[Any]]]]] = {}

    def row(matrix: Matrix, here: Point) -> Row:
        index = tuple(i.evaluate(sizes) for i in here)
        if id(matrix) not in entries:
            found = [(f, frozenset(f.domain.fixed(sizes).points())) for f in matrix.families]
            entries[id(matrix)] = matrix, assemble(matrix.parts.origin, sizes, known), found
        _, whole, found = entries[id(matrix)]
        where = {**sizes, **dict(zip(matrix.rows.axes, index, strict=True))}
        line = _number(index, matrix.rows, sizes)
        columns = [tuple(c.evaluate(where) for c in f.column) for f, at in found if index in at]
        return {
            key(c): np.float64(whole[line, _number(c, matrix.cols, sizes)])
            for c in sorted(set(columns))
        }

    made = Numbers(origin, sizes)
    data = {own: known[own] for own in origin.own}

    def run(here: tuple[int, ...]) -> Any:
        made.start(here)
        return origin.function(*here, made, **data)

    with giving(row):
        return by_rows(origin, sizes, run, made.keep)


def _number(here: tuple[int, ...], space: Space, sizes: Mapping[str, int]) -> int:
    """Return the number of a point in C order."""
    box = space.box(sizes)
    place = tuple(h - low for h, (low, _) in zip(here, box, strict=True))
    return int(np.ravel_multi_index(place, space.extent(sizes)))
