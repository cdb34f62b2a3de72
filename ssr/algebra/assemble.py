"""Fast assembly of matrices in CSR form: NumPy evaluates the traced entries of many rows at once.

The structure is that of the definition: columns of a row ascend, entries at one column are summed
in the order in which a row yields them, and yielded zeros are stored. In addition to the result,
the memory use is bounded by that of a few thousand rows for each value of an expression.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..points.enumeration import Indices, evaluated, places_of, points_within
from ..points.numbers import index_type
from ..spaces.space import Space
from ..symbols.operations import FOLD
from .families import column_order
from .oracle import Definition, Points

if TYPE_CHECKING:
    import scipy.sparse


def by_entries(
    matrix: Definition, sizes: Mapping[str, int], values: Mapping[str, Any]
) -> scipy.sparse.csr_array:
    """Return the matrix of a generator from its traced entries."""
    ascending = sorted(matrix.entries, key=lambda f: column_order(f.column))
    made = _assembled(ascending, matrix, sizes, values)
    if not made.has_canonical_format:  # other order, or duplicate columns
        made = _assembled(matrix.entries, matrix, sizes, values)
        made.sum_duplicates()
    return made


def _assembled(
    entries: Iterable[ir.Family],
    matrix: Definition,
    sizes: Mapping[str, int],
    values: Mapping[str, Any],
) -> scipy.sparse.csr_array:
    """Return the entries as a CSR array, in each row in the order of their families."""
    import scipy.sparse as sparse

    shape = tuple(math.prod(space.extent(sizes)) for space in (matrix.rows, matrix.cols))
    box = matrix.rows.box(sizes)
    entries = tuple(entries)

    def groups() -> Iterator[tuple[ir.Family, Indices]]:
        for family in entries:
            for points in points_within(family.domain, box, sizes):
                yield family, points

    counts = np.zeros(matrix.rows.extent(sizes), np.int64)
    for _, points in groups():
        counts[places_of(points, box)] += 1
    starts = np.concatenate([[0], np.cumsum(counts)])
    count = int(starts[-1])
    free = starts[:-1].reshape(counts.shape).copy()
    columns, data = np.empty(count, index_type(*shape, count)), np.empty(count)
    with np.errstate(all="ignore"):
        for family, points in groups():
            rows = places_of(points, box)
            entry = free[rows]
            where = {**sizes, **dict(zip(family.domain.axes, points, strict=True))}
            column = tuple(evaluated(c, where) for c in family.column)
            columns[entry] = _numbers(column, matrix.cols, sizes)
            data[entry] = _value(family.value, where, values)
            free[rows] += 1
    return sparse.csr_array((data, columns, starts.astype(columns.dtype)), shape=shape)


def _numbers(index: Iterable[Any], space: Space, sizes: Mapping[str, int]) -> Any:
    """Return the numbers that points have in C order."""
    total: Any = 0
    for here, (low, _), extent in zip(index, space.box(sizes), space.extent(sizes), strict=True):
        total = total * extent + (here - low)
    return total


def _value(value: ir.Value, where: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    """Return a value for all rows of a group; parts that are shared are computed once."""
    known: dict[int, Any] = {}

    def visit(part: ir.Value) -> Any:
        if id(part) not in known:
            known[id(part)] = found(part)
        return known[id(part)]

    def found(part: ir.Value) -> Any:
        match part:
            case ir.Const(number):
                return number
            case ir.Scalar(name):
                return values[name]
            case ir.Coordinate(index):
                return np.asarray(evaluated(index, where), float)
            case ir.Load(name, index):
                field: Points = values[name]
                here = (evaluated(i, where) for i in index)
                places = (i - low for i, (low, _) in zip(here, field.box, strict=True))
                return field.array[tuple(places)]
            case ir.Op(name, args):
                return FOLD[name](*map(visit, args))
        raise AssertionError(part)

    return visit(value)
