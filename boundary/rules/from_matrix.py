"""Unstructured ghost rules: rows of a user's sparse matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from ssr.errors import ArgumentError, ShapeError
from ssr.extension import Affine, ir

from ..grid.frame import Frame
from ..grid.link import Side
from ..grid.numbering import Numbering
from .arguments import table
from .rows.affine_rows import Entry, Row
from .rows.strips import Strip
from .rows.text import rule_text
from .rule import Ends, Rule, rule_of


def from_matrix(
    matrix: Any,
    offset: Any = None,
    axis: int | None = None,
    side: Ends = "both",
    *,
    block: int | None = None,
) -> Rule:
    """Return ghosts that are rows of a sparse matrix: ``u[ghost] = matrix[ghost, :] u + offset``.

    This is for geometry that no formula describes: another program writes the rows, point by point.
    The rows that are used are those of ghosts beyond the sides of the rule, and beyond no others;
    a row without entries makes a ghost zero. Each ghost is a separate sum, and costs about as
    much as in a product with a matrix in CSR; making the fill takes about a millisecond per ghost.

    Parameters
    ----------
    matrix
        A SciPy sparse matrix, or an array: a row for each point of the wide space and a column for
        each owned point, both in C order, blocks first; blocks of several shapes kind by kind, as
        in `Fill.to_scipy`. The sizes of the spaces are numbers. It is copied when the rule is made.
    offset
        A number for each row; zero by default.
    axis, side, block
        The sides, as for `bc.zero`.

    Raises
    ------
    ArgumentError, ShapeError
        If a number is NaN or infinite, or, when the fill is made, if the shapes do not fit.

    Examples
    --------
    Three points, and a ghost on either side; the first is the mean of all points, the last is 7:

    >>> import numpy as np, scipy.sparse, ssr, boundary as bc
    >>> matrix = scipy.sparse.lil_array((5, 3))
    >>> matrix[0] = 1 / 3
    >>> fill = bc.fill(ssr.Space(3).grow(1), bc.from_matrix(matrix, [0, 0, 0, 0, 7]))
    >>> fill @ np.array([1.0, 2, 6])
    array([3., 1., 2., 6., 7.])
    """
    import scipy.sparse

    text = rule_text("from_matrix", axis, side, block, matrix, offset=(offset, None))
    try:
        given = scipy.sparse.csr_array(matrix)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{text}: this is not a matrix of numbers.") from error
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise ArgumentError(
            f"{text}: this is not a matrix of real numbers.",
            note=f"it has {given.ndim} axes and dtype {given.dtype}",
        )
    rows = given.astype(np.float64)
    rows.sum_duplicates()
    known = np.zeros(rows.shape[0]) if offset is None else table(text, "the offset", offset)
    if known.shape != rows.shape[:1]:
        raise ShapeError(f"{text}: the offset has shape {known.shape}, the matrix {rows.shape}.")
    for name, numbers in (("the matrix", rows.data), ("the offset", known)):
        if not np.isfinite(numbers).all():
            raise ArgumentError(f"{text}: {name} has a number that is NaN or infinite.")

    def make(frame: Frame, here: Side, name: Callable[[str], str]) -> list[Strip]:
        _check_extents(text, frame)
        points, owned = (Numbering(frame, {}, 1, ghosts) for ghosts in (True, False))
        wanted = points.count, owned.count
        if rows.shape != wanted:
            raise ShapeError(
                f"{text}: the matrix has shape {rows.shape}.",
                note=f"there are {wanted[0]} points with ghosts, and {wanted[1]} owned ones",
            )
        about = set(rule.sides(frame))
        found = []
        for index in _beyond(frame, here, about):
            number = points.number(here.block, index)
            part = slice(rows.indptr[number], rows.indptr[number + 1])
            entries = []
            for column, weight in zip(rows.indices[part], rows.data[part], strict=True):
                source, place = owned.point(int(column))
                at = tuple(map(Affine.of, place))
                entries.append(Entry(source, at, ir.Const(float(weight))))
            row = Row(tuple(entries), (ir.Const(float(known[number])),))
            found.append(Strip(row, point=index))
        return found

    rule = rule_of(text, axis, side, block, make)
    return rule


def _check_extents(text: str, frame: Frame) -> None:
    """Refuse blocks of symbolic sizes."""
    for block in frame.blocks:
        for n in block.shape:
            if not n.is_constant:
                raise ArgumentError(
                    f"{text}: blocks have the symbolic extent {n}.",
                    hint="The rows of a sparse matrix are for blocks of known sizes: give numbers.",
                )


def _beyond(frame: Frame, here: Side, about: set[Side]) -> Iterator[tuple[int, ...]]:
    """Yield the ghosts beyond a side that are beyond no side to which the rule does not apply."""
    block = frame.blocks[here.block]
    stops = [f + n for f, n in zip(block.first, block.inner({}), strict=True)]
    ends = [stop + high for stop, high in zip(stops, block.high, strict=True)]
    ranges = list(map(range, block.start, ends))
    a, low = here.axis, here.end == "low"
    ranges[a] = range(block.start[a], block.first[a]) if low else range(stops[a], ends[a])
    for index in product(*ranges):
        out = {
            Side(here.block, axis, "low" if x < first else "high")
            for axis, (x, first, stop) in enumerate(zip(index, block.first, stops, strict=True))
            if not first <= x < stop
        }
        if out <= about:
            yield index
