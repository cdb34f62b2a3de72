"""Access to earlier rows in the generator of a recurrence: ``done[row, column]``.

It exists on symbols and on integers. Both forms check that the row lies in the space and precedes
the current row. On symbols an entry is a load of `DONE` at the indices of row and column, which is
resolved when the storage pattern is known. On integers it is a number; the generator then runs row
by row as written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..algebra.matrix_data import MatrixData
from ..algebra.oracle import Leaf, Origin, by_rows, number
from ..errors import ArgumentError, OutOfSpaceError, Span, UnmadeRowError, user_span
from ..matrices.rows import Point, Row, giving, key, point
from ..points.affine import Affine
from ..spaces.space import Space
from ..symbols.values import Value
from ..trace.paths import tracing
from ..trace.trace import Place

if TYPE_CHECKING:
    import scipy.sparse

DONE = "·done"
"""Placeholder for the array of the entries of earlier rows."""


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
        f"done is read at row {_shown(row)}, which has not been computed yet.",
        note=region and f"That is so for {region}.",
        hint="Rows are computed in C order; read only rows before this one: `if k < (j, i):`.",
    )


def _shown(here: Any) -> str:
    return f"({', '.join(map(str, here))})"


class Symbolic:
    """The earlier entries at symbolic indices; records the locations of reads.

    Entries are numbers, or square blocks of ``components`` rows.
    """

    def __init__(self, space: Space, components: int = 0) -> None:
        self.space = space
        self.components = components
        self.places: dict[ir.Load, Span | None] = {}

    def __getitem__(self, place: Any) -> Any:
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
        if not self.components:
            return self._load((*row, *column))
        count = range(self.components)
        places = [[(Affine.of(r), Affine.of(c)) for c in count] for r in count]
        return np.array([[self._load((*row, *column, *p)) for p in line] for line in places])

    def _load(self, index: Point) -> Value:
        load = ir.Load(DONE, index)
        self.places.setdefault(load, user_span())
        return Value(load)


class Numbers:
    """The earlier entries at integers: numbers, or square blocks of ``components`` rows."""

    def __init__(self, space: Space, sizes: Mapping[str, int], components: int = 0) -> None:
        self.space = space
        self.zero = np.zeros((components, components)) if components else np.float64(0.0)
        self.sizes = sizes
        self.box = space.box(sizes)
        self.here: tuple[int, ...] = ()
        self.made: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}

    def start(self, here: tuple[int, ...]) -> None:
        """Go on to a row."""
        self.here = here
        self.made[here] = {}

    def keep(self, column: tuple[int, ...], value: Any) -> None:
        """Add to an entry of the row."""
        self.made[self.here][column] = self.made[self.here].get(column, self.zero) + value

    def __getitem__(self, place: Any) -> Any:
        row, column = (tuple(i.evaluate(self.sizes) for i in p) for p in _pair(place, self.space))
        for what, here in ("row", row), ("column", column):
            if any(not low <= h < high for h, (low, high) in zip(here, self.box, strict=True)):
                raise _outside(what, here, self.space, None)
        if row >= self.here:
            raise _unmade(row, None)
        return self.zero + self.made[row].get(column, self.zero)


@dataclass(frozen=True, slots=True)
class Recursion(Origin):
    """A row generator that reads earlier rows, and rows of other matrices.

    ``names`` pairs the names of all data with those values are bound to, and ``own`` are those the
    generator takes; ``others`` are the spaces of the matrices whose rows are read. If entries are
    blocks of several ``components``, the matrix has the numbers at one ``place`` of them.
    """

    function: Callable[..., Any]
    rows: Space
    names: tuple[tuple[str, str], ...]
    own: tuple[str, ...]
    others: frozenset[Space]
    components: int = 0
    place: Place = (0, 0)

    def spaces(self) -> frozenset[Space]:
        """Return the space of the rows, and those of the matrices whose rows are read."""
        return self.others | {self.rows}

    def data(self) -> frozenset[str]:
        """Return the names of the data of the generator and of these matrices."""
        return frozenset(name for _, name in self.names)

    def renamed(self, names: Mapping[str, str]) -> Recursion:
        """Return the recurrence with data bound by other names."""
        return replace(self, names=tuple((own, names.get(n, n)) for own, n in self.names))

    def assemble(
        self, sizes: Mapping[str, int], values: Mapping[str, Any], leaf: Leaf
    ) -> scipy.sparse.csr_array:
        """Make the rows by plain Python, in C order.

        The columns of a row that is read are those of the staged matrix, whatever its values are;
        the values are those of the definition.
        """
        known = {own: values[name] for own, name in self.names}
        made = Numbers(self.rows, sizes, self.components)
        data = {own: known[own] for own in self.own}

        def run(here: tuple[int, ...]) -> Any:
            made.start(here)
            return self.function(*here, made, **data)

        def entry(column: tuple[int, ...], value: Any) -> float:
            if not self.components:
                found = number(value, sizes)
                made.keep(column, found)
                return found
            block = np.array([[number(v, sizes) for v in row] for row in value])
            made.keep(column, block)
            return float(block[self.place])

        with giving(_rows_of_matrices(sizes, known, leaf)):
            return by_rows(self.rows, self.rows, sizes, run, entry)


def _rows_of_matrices(
    sizes: Mapping[str, int], known: Mapping[str, Any], leaf: Leaf
) -> Callable[[MatrixData, Point], Row]:
    """Return a function that evaluates rows of other matrices for given sizes."""
    entries: dict[int, tuple[MatrixData, Any, list[tuple[ir.Family, frozenset[Any]]]]] = {}

    def row(matrix: MatrixData, here: Point) -> Row:
        index = tuple(i.evaluate(sizes) for i in here)
        if id(matrix) not in entries:
            found = [(f, frozenset(f.domain.fixed(sizes).points())) for f in matrix.families]
            entries[id(matrix)] = matrix, matrix.origin.assemble(sizes, known, leaf), found
        _, whole, found = entries[id(matrix)]
        where = {**sizes, **dict(zip(matrix.rows.axes, index, strict=True))}
        line = _number(index, matrix.rows, sizes)
        columns = [tuple(c.evaluate(where) for c in f.column) for f, at in found if index in at]
        return {
            key(c): np.float64(whole[line, _number(c, matrix.cols, sizes)])
            for c in sorted(set(columns))
        }

    return row


def _number(here: tuple[int, ...], space: Space, sizes: Mapping[str, int]) -> int:
    """Return the number of a point in C order."""
    box = space.box(sizes)
    place = tuple(h - low for h, (low, _) in zip(here, box, strict=True))
    return int(np.ravel_multi_index(place, space.extent(sizes)))
