"""Stencil matrices of weighted sums along axes, on uniform and nonuniform grid lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from ..algebra.define import define
from ..errors import ArgumentError, OutOfSpaceError, SpaceError
from ..points.numbers import real
from ..spaces.space import Space
from ..trace.trace import ScalarType
from .line_weights import Line, axes_apart, lagrange_weights
from .matrix import Matrix

Spacing: TypeAlias = "float | ScalarType | Space | np.ndarray[Any, Any]"
"""The grid spacing: a number, or data of the matrix."""

Positions: TypeAlias = "Space | np.ndarray[Any, Any]"
"""The coordinates of points of a line: an array, or the space of an array that is bound later."""


class HasPositions(Protocol):
    """Coordinates of a grid."""

    def positions(self, axis: int, space: Space) -> Any:
        """Return where the points of a space are along an axis."""


Coordinates: TypeAlias = "Positions | tuple[Positions, Positions] | HasPositions | None"
"""The coordinates along an axis of the column points, or of the row and the column points."""


def weighted(
    name: str,
    rows: Space,
    cols: Space,
    lines: Sequence[Line],
    outside: str,
    derivative: int = 0,
    spacing: Spacing = 1.0,
) -> Matrix:
    """Return the matrix of weights along axes, divided by a power of the spacing."""
    values = spacing if isinstance(spacing, np.ndarray) else None
    given: Any = rows if values is not None else spacing
    scale = 1.0
    if not isinstance(given, (ScalarType, Space)):
        scale = _number(given)
    elif isinstance(given, Space) and given != rows:
        raise SpaceError(f"The spacing is a field on the rows, {rows!r}, not on {given!r}.")

    def entries(*index: Any, divisor: Any = 1.0) -> Iterator[Any]:
        each = [line.of(rows, index).items() for line in lines]
        for taps in product(*each):
            column = list(index)
            for line, (offset, _) in zip(lines, taps, strict=True):
                column[line.axis] = column[line.axis] + offset
            yield tuple(column), math.prod(weight for _, weight in taps) / divisor

    def plain(*index: Any) -> Iterator[Any]:
        yield from entries(*index, divisor=scale**derivative)

    def scaled(*index: Any, spacing: Any) -> Iterator[Any]:
        value = spacing[index] if isinstance(given, Space) else spacing
        yield from entries(*index, divisor=value**derivative)

    is_data = isinstance(given, (ScalarType, Space))
    function = scaled if is_data else plain
    function.__name__ = name
    made = _declared(function, rows, cols, {"spacing": given} if is_data else {}, lines, outside)
    return made if values is None else made.bind(spacing=values)


def _declared(
    function: Callable[..., Any],
    rows: Space,
    cols: Space,
    data: Mapping[str, Space | ScalarType],
    lines: Sequence[Line],
    outside: str,
) -> Matrix:
    """Return the matrix of a generator of weighted sums."""
    try:
        drop: Literal["error", "zero"] = "zero" if outside == "zero" else "error"
        return Matrix(define(function, rows, cols, data, outside=drop))
    except OutOfSpaceError as error:
        if outside != "one-sided":
            raise
        raise _too_short(cols, lines) from error


def on_coordinates(
    name: str,
    rows: Space,
    cols: Space,
    line: Line,
    outside: str,
    derivative: int,
    coordinates: Any,
) -> Matrix:
    """Return the matrix of a derivative at points anywhere on the lines of an axis."""
    if outside == "zero":
        raise ArgumentError(
            'With coordinates, outside must be "error" or "one-sided".',
            note="Points that are not there have no position.",
        )
    axis = line.axis
    if hasattr(coordinates, "positions"):  # coordinates of a grid
        coordinates = tuple(coordinates.positions(axis, space) for space in (rows, cols))
        coordinates = coordinates if axis in axes_apart(rows, cols) else coordinates[1]
    given = coordinates if isinstance(coordinates, tuple) else (coordinates,)
    if len(given) not in (1, 2) or (len(given) == 1 and axis in axes_apart(rows, cols)):
        raise ArgumentError(
            f"{len(given)} positions are given for {rows.location} and {cols.location}.",
            hint="Between locations coordinates is a pair: those of rows, and those of columns.",
        )
    names = ("row_coordinates", "coordinates")[-len(given) :]
    lines = dict(zip(names, _lines(rows, cols, axis, given), strict=True))

    def entries(index: Sequence[Any], x: Any, centre: Any) -> Iterator[Any]:
        at, offsets, alone = index[axis], tuple(line.of(rows, index)), len(given) == 1
        points = [centre if alone and not offset else x[at + offset] for offset in offsets]
        found = lagrange_weights(points, derivative, centre)
        for offset, weight in zip(offsets, found, strict=True):
            yield (*index[:axis], at + offset, *index[axis + 1 :]), weight

    def among(*index: Any, coordinates: Any) -> Iterator[Any]:
        yield from entries(index, coordinates, coordinates[index[axis]])

    def between(*index: Any, row_coordinates: Any, coordinates: Any) -> Iterator[Any]:
        yield from entries(index, coordinates, row_coordinates[index[axis]])

    function = among if len(given) == 1 else between
    function.__name__ = name
    made = _declared(function, rows, cols, lines, [line], outside)
    values = {
        n: np.ascontiguousarray(p, p.dtype if p.dtype.kind == "f" else float)
        for n, p in zip(names, given, strict=True)
        if isinstance(p, np.ndarray)
    }
    return made.bind(**values) if values else made


def _lines(rows: Space, cols: Space, axis: int, given: Sequence[Any]) -> Iterator[Space]:
    """Yield the spaces of positions, after a check of these."""
    for space, positions in zip((rows, cols)[-len(given) :], given, strict=True):
        line = _along(space, axis)
        if isinstance(positions, Space):
            if (positions.data.lower, positions.data.shape) != (line.data.lower, line.data.shape):
                raise SpaceError(
                    f"Positions on {positions!r} are given for {space!r}, axis {axis}.",
                    hint="Their space has the points that lie along the axis.",
                )
            line = positions
        elif not isinstance(positions, np.ndarray) or positions.ndim != 1:
            raise ArgumentError(f"coordinates must be an array of one axis, not {positions!r}.")
        else:
            steps = np.diff(positions)
            if not (np.isfinite(positions).all() and ((steps > 0).all() or (steps < 0).all())):
                raise ArgumentError(
                    "coordinates neither increase nor decrease from point to point."
                )
        yield line


def _along(space: Space, axis: int) -> Space:
    """Return the points along one axis, as a space of their own."""
    data, one = space.data, slice(axis, axis + 1)
    line = replace(data, lower=data.lower[one], shape=data.shape[one], staggered=(False,))
    return Space._from(line, None)


def _too_short(cols: Space, lines: Sequence[Line]) -> OutOfSpaceError:
    """Return the error of one-sided rows that take more points than an axis has."""
    counts = {line.axis: line.most for line in lines}
    for axis, count in counts.items():
        extent = cols.shape[axis]
        if isinstance(extent, int) and extent < count:
            return OutOfSpaceError(
                f"{cols!r} has {extent} points along axis {axis}; one-sided rows take {count}.",
                hint="Choose a lower order.",
            )
    axis, count = max(counts.items(), key=lambda item: item[1])
    name = next(iter(cols.sizes), "n")
    return OutOfSpaceError(
        f"{cols!r} may have fewer than {count} points along axis {axis}; one-sided rows take "
        f"{count}.",
        hint=f'Declare the size with a smallest value: ssr.size("{name}", at_least={count}).',
    )


def _number(spacing: Any) -> float:
    """Return a spacing that is a number."""
    found = real(spacing)
    if found is None or not 0.0 < found < math.inf:
        raise ArgumentError(
            f"The spacing is {spacing!r}, not a positive number.",
            hint="For data give ssr.scalar or the space of the rows, and bind it later.",
        )
    return found
