"""Rows of matrices inside generators of other matrices: ``A.row(j, i)``, a value for each column.

On symbolic indices a row forks the path at the domains of the matrix's families, so that its
columns are known on each path. On integers the reference assembly (`oracle`) evaluates it.
A context variable selects the implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cmp_to_key
from typing import Any, TypeAlias

from .. import ir
from ..algebra.combine import need_whole
from ..algebra.families import add
from ..algebra.matrix_data import MatrixData
from ..algebra.own_box import is_local, own_box
from ..algebra.renaming import same
from ..errors import ArgumentError, OutOfSpaceError, SpaceError
from ..points.affine import Affine
from ..points.condition import Condition
from ..points.sets import Domain
from ..spaces.space import Space
from ..symbols.index import Index, affine
from ..symbols.values import Value
from ..trace.paths import Tracer, tracing
from ..trace.trace import ScalarType

Point: TypeAlias = tuple[Affine, ...]
Row: TypeAlias = dict[Any, Any]
"""Values by column: a tuple of indices, or the index itself in one dimension."""

FORKS = 16
"""Limit of the possible distances from the row to a column; beyond it the column is unchanged."""

_rows: ContextVar[Callable[[MatrixData, Point], Row] | None] = ContextVar("rows", default=None)


@contextmanager
def giving(rows: Callable[[MatrixData, Point], Row]) -> Iterator[None]:
    """Let ``rows`` answer ``A.row`` inside the block."""
    token = _rows.set(rows)
    try:
        yield
    finally:
        _rows.reset(token)


def row(matrix: MatrixData, index: tuple[Any, ...]) -> Row:
    """Return a row of a matrix, inside the generator of a recurrence."""
    rows = _rows.get()
    if rows is None:
        raise ArgumentError(
            f"{matrix.name}.row is read outside the generator of a recurrence.",
            hint="Use A.explain(), or A.to_scipy().",
        )
    return rows(matrix, point(index, matrix.rows, f"The row of {matrix.name}"))


def point(index: Any, space: Space, what: str) -> Point:
    """Return a point of a space, given as one index or a tuple of them."""
    found = index if isinstance(index, tuple) else (index,)
    if len(found) != space.ndim:
        raise SpaceError(f"{what} is given by {space.ndim} indices, not {len(found)}.")
    return tuple(affine(i) for i in found)


def key(column: tuple[Any, ...]) -> Any:
    """Return a column as generators write it."""
    return column if len(column) > 1 else column[0]


def _indices(column: Any) -> tuple[Index, ...]:
    return column if isinstance(column, tuple) else (column,)


def _sizes(column: tuple[Index, ...]) -> int:
    """Return the number of names in a column, by which columns without sizes are sorted first."""
    return sum(len(index.affine.terms) for index in column)


class Reading:
    """Returns the rows of matrices at symbolic indices, and collects the data of the matrices."""

    def __init__(self, data: Mapping[str, Space | ScalarType]) -> None:
        self.data = dict(data)
        self.bound: dict[str, Any] = {}
        self.spaces: set[Space] = set()

    def __call__(self, matrix: MatrixData, here: Point) -> Row:
        """Return the entries of a row; the path is forked until its columns are known."""
        if any(f.box == "other" or is_local(f.domain) for f in matrix.families):
            need_whole(matrix, ".row")
        self._take(matrix)
        tracer = tracing()
        beyond = tracer.outside(matrix.rows, here)
        if beyond is not None:
            raise OutOfSpaceError(
                f"Row ({', '.join(map(str, here))}) of {matrix.name} lies outside {matrix.rows!r}.",
                note=f"That is so for {beyond.simplified(tracer.domain).notation()}.",
                hint="Guard it with `if row in space:`.",
            )
        where = dict(zip(matrix.rows.axes, here, strict=True))
        found: dict[Any, ir.Value] = {}
        for f in matrix.families:
            present = f.domain.preimage(here, tracer.domain.axes)
            if f.box == "own":
                present = _in_own_box(f, matrix.rows, here, tracer)
            if tracer.decide(present):
                column = _beside(tuple(c.substitute(where) for c in f.column), present, tracer)
                value = ir.substituted(f.value, where)
                for known in [c for c in found if c == key(column)]:
                    value = add(found.pop(known), value)
                    column = min(_indices(known), column, key=_sizes)
                found[key(column)] = value
        return {column: Value(found[column]) for column in sorted(found, key=cmp_to_key(_order))}

    def _take(self, matrix: MatrixData) -> None:
        """Record the data, bound values and spaces of a matrix."""
        for name, kind in matrix.data.items():
            known = self.data.setdefault(name, kind)
            if known != kind:
                raise ArgumentError(f"{name!r} is on {known!r}, and on {kind!r} in {matrix.name}.")
        for name, value in matrix.bound.items():
            if not same(self.bound.setdefault(name, value), value):
                raise ArgumentError(
                    f"{name!r} has two values in the matrices whose rows are read.",
                    hint="Give the data of one of the matrices another name.",
                )
        self.spaces |= {matrix.rows, matrix.cols}


def _in_own_box(family: ir.Family, space: Space, here: Point, tracer: Tracer) -> Domain:
    """Return the rows for which a row of a matrix has an entry that exists within boxes only.

    The row of the generator, the row that is read, and the column are in the same box, whose
    bounds are parameters. The path is forked at the rows of the box first. Conditions implied by
    the bounds of the space are removed, since the box lies within it. All paths get the same set.
    """
    axes, where = tracer.domain.axes, dict(zip(space.axes, here, strict=True))
    own = own_box(axes, ir.Field("", space.data.lower, space.data.shape))
    rows = own & own.preimage(here, axes)
    if not tracer.decide(rows):
        return rows
    inside = own.preimage(tuple(c.substitute(where) for c in family.column), axes)
    return inside & family.domain.preimage(here, axes).simplified(rows & inside)


def _beside(column: Point, rows: Domain, tracer: Tracer) -> tuple[Index, ...]:
    """Return the column that the rows of a path have, by its distance from the row.

    Equal columns are then equal keys. The path is forked where the distance varies; if it has too
    many values, the column remains unchanged.
    """
    if len(column) != len(rows.axes):
        return tuple(map(Index, column))
    found = []
    for c, r in zip(column, map(Affine.name, rows.axes), strict=True):
        values = rows.values(c - r, FORKS)
        same = (v for v in values if len(values) == 1 or tracer.decide(_equal(c - r, v)))
        found.append(Index(r + next(same)))
    return tuple(found)


def _equal(a: Affine, b: Affine) -> Condition:
    return Condition((((a - b, "= 0"),),))


def _order(a: Any, b: Any) -> int:
    """Return -1 if a column comes before another one, 1 otherwise."""
    return -1 if a < b else 1
