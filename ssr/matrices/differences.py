"""Sums along axes, as differences and averages between cells, faces and nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np

from ..algebra.define import define
from ..errors import ArgumentError, OutOfSpaceError, SpaceError
from ..points.numbers import integer
from ..spaces.space import Space
from ..symbols.index import affine
from ..trace.trace import ScalarType
from .matrix import Matrix

Weights: TypeAlias = Mapping[int, float]
"""Weights of points of one line, by their distance from the row's index."""

Outside: TypeAlias = Literal["error", "drop", "one-sided"]
"""What rows do whose points are not all there."""

Spacing: TypeAlias = "float | ScalarType | Space | np.ndarray[Any, Any]"
"""The distance between points: a number, or data."""


@dataclass(frozen=True)
class _Line:
    """The weights of rows along one axis.

    Attributes
    ----------
    axis
        The axis.
    middle
        The weights of most rows.
    low, high
        Those of the first rows, from the first on, and of the last rows, from the last back.
    """

    axis: int
    middle: Weights
    low: tuple[Weights, ...] = ()
    high: tuple[Weights, ...] = ()

    def of(self, rows: Space, index: Sequence[Any]) -> Weights:
        """Return the weights of a row."""
        at, first = index[self.axis], rows.lower[self.axis]
        last = first + rows.shape[self.axis] - 1
        for place, weights in enumerate(self.low):
            if at == first + place:
                return weights
        for place, weights in enumerate(self.high):
            if at == last - place:
                return weights
        return self.middle


def along(
    rows: Space,
    cols: Space,
    axis: int,
    weights: Mapping[int, float],
    *,
    outside: Literal["error", "drop"] = "error",
) -> Matrix:
    """Return the matrix with the same weights along an axis in every row.

    Parameters
    ----------
    rows, cols
        Spaces whose locations differ along this axis at most: face i lies before cell i.
    axis
        The axis, counted as that of an array; -1 is the last one.
    weights
        For the index of a column less that of its row, along the axis, the weight.
    outside
        What to do with columns that are not there: an error, or drop the entry (zero outside).

    Raises
    ------
    ArgumentError, SpaceError
        If there is no such axis, the weights are none, or locations differ along another axis.

    Examples
    --------
    The difference of the faces on both sides of a cell:

    >>> import ssr
    >>> cells = ssr.Space(3)
    >>> ssr.along(cells, cells.faces(0), 0, {0: -1.0, 1: 1.0}).to_scipy().toarray()
    array([[-1.,  1.,  0.,  0.],
           [ 0., -1.,  1.,  0.],
           [ 0.,  0., -1.,  1.]])
    """
    place = _axis(rows, cols, axis, outside, ("error", "drop"))
    _check_weights(weights)
    return _matrix("along", rows, cols, [_Line(place, dict(weights))], outside)


def difference(
    rows: Space,
    cols: Space,
    axis: int,
    *,
    derivative: int = 1,
    order: int = 2,
    spacing: Spacing = 1.0,
    outside: Outside = "error",
) -> Matrix:
    """Return a derivative along an axis as a difference of values at equal distances.

    The points of a row lie around it, as many as the order asks for; their weights are those of the
    polynomial through them. Between cells and faces the distances are 1/2, 3/2, and so on.

    Parameters
    ----------
    rows, cols
        Where the derivative is wanted, and where values are: cells, faces or nodes.
    axis
        The axis, counted as that of an array; -1 is the last one.
    derivative
        Which derivative: 1 for the first.
    order
        The order of accuracy, even.
    spacing
        The distance between points: a number; ``ssr.scalar``, or the space of the rows, for data
        that is bound later by ``.bind(spacing=...)``; or an array with a value for each row.
    outside
        What to do in rows whose points are not all there: an error; drop those that are not (zero
        outside); or take as many points as the order asks for on the other side.

    Raises
    ------
    ArgumentError, SpaceError
        If an argument is not as above, or the spaces do not fit.

    References
    ----------
    B. Fornberg, Math. Comp. 51, 699 (1988), has tables of the weights.

    Examples
    --------
    >>> import ssr
    >>> n = ssr.size("n")
    >>> line = ssr.Space(n)
    >>> second = ssr.difference(line, line.grow(1), 0, derivative=2, spacing=0.5)
    >>> second.bind(n=3).to_scipy().toarray()
    array([[ 4., -8.,  4.,  0.,  0.],
           [ 0.,  4., -8.,  4.,  0.],
           [ 0.,  0.,  4., -8.,  4.]])

    Lines with one-sided rows have as many points as these take, whatever the sizes:

    >>> line = ssr.Space(n + 2)
    >>> first = ssr.difference(line, line, 0, outside="one-sided")
    >>> first.bind(n=2).to_scipy().toarray()
    array([[-1.5,  2. , -0.5,  0. ],
           [-0.5,  0. ,  0.5,  0. ],
           [ 0. , -0.5,  0. ,  0.5],
           [ 0. ,  0.5, -2. ,  1.5]])
    """
    place = _axis(rows, cols, axis, outside, ("error", "drop", "one-sided"))
    _check_order(derivative, order, least=1)
    line = _line(rows, cols, place, derivative, order, outside)
    return _matrix("difference", rows, cols, [line], outside, derivative, spacing)


def average(
    rows: Space,
    cols: Space,
    axis: int | None = None,
    *,
    order: int = 2,
    outside: Outside = "error",
) -> Matrix:
    """Return values between points: those of the polynomial through the points around.

    Parameters
    ----------
    rows, cols
        Where values are wanted, and where they are: cells, faces or nodes.
    axis
        The axis along which the locations differ; by default all of these.
    order
        The order of accuracy, even: 2 is the mean of two points.
    outside
        As for `difference`.

    Raises
    ------
    ArgumentError, SpaceError
        If an argument is not as above, or the spaces do not fit.

    Examples
    --------
    >>> import ssr
    >>> cells = ssr.Space(3)
    >>> ssr.average(cells, cells.faces(0)).to_scipy().toarray()
    array([[0.5, 0.5, 0. , 0. ],
           [0. , 0.5, 0.5, 0. ],
           [0. , 0. , 0.5, 0.5]])
    """
    _check_order(0, order, least=0)
    if axis is not None:
        axes = [_axis(rows, cols, axis, outside, ("error", "drop", "one-sided"))]
    else:
        _check_spaces(rows, cols, outside, ("error", "drop", "one-sided"))
        axes = _apart(rows, cols)
    lines = [_line(rows, cols, place, 0, order, outside) for place in axes]
    return _matrix("average", rows, cols, lines, outside)


# -- what is asked for ---------------------------------------------------------------------------


def _check_spaces(rows: Any, cols: Any, outside: Any, ways: Sequence[str]) -> None:
    for what, space in (("rows", rows), ("cols", cols)):
        if not isinstance(space, Space):
            raise ArgumentError(f"{what} is a Space, not {space!r}.")
    if rows.ndim != cols.ndim:
        raise SpaceError(f"{rows!r} has {rows.ndim} axes, and {cols!r} has {cols.ndim}.")
    if outside not in ways:
        known = ", ".join(f'"{way}"' for way in ways)
        raise ArgumentError(f"outside is one of {known}, not {outside!r}.")


def _axis(rows: Any, cols: Any, axis: Any, outside: Any, ways: Sequence[str]) -> int:
    """Return the number of an axis from 0, after a check of all that it goes with."""
    _check_spaces(rows, cols, outside, ways)
    number = integer(axis)
    if number is None or not -rows.ndim <= number < rows.ndim:
        raise ArgumentError(f"There is no axis {axis!r} of {rows!r}.")
    place = number % int(rows.ndim)
    others = [other for other in _apart(rows, cols) if other != place]
    if others:
        raise SpaceError(
            f"{rows.location} and {cols.location} differ along axis {others[0]}, too.",
            hint="Go from one to the other axis by axis: A @ B.",
        )
    return place


def _apart(rows: Space, cols: Space) -> list[int]:
    """Return the axes along which locations differ."""
    pairs = zip(rows.data.staggered, cols.data.staggered, strict=True)
    return [axis for axis, (one, other) in enumerate(pairs) if one != other]


def _check_weights(weights: Any) -> None:
    if not isinstance(weights, Mapping) or any(integer(offset) is None for offset in weights):
        raise ArgumentError(f"The weights map integers to numbers, and are {weights!r}.")


def _check_order(derivative: Any, order: Any, least: int) -> None:
    power, accuracy = integer(derivative), integer(order)
    if power is None or power < least:
        raise ArgumentError(f"derivative is {derivative!r}, not a positive integer.")
    if accuracy is None or accuracy < 2 or accuracy % 2:
        raise ArgumentError(
            f"order is {order!r}, not an even number.",
            hint="Weights of one side are given by ssr.along.",
        )


# -- weights -------------------------------------------------------------------------------------


def _line(
    rows: Space, cols: Space, axis: int, derivative: int, order: int, outside: Outside
) -> _Line:
    """Return the weights of all rows along an axis."""
    apart = axis in _apart(rows, cols)
    shift = Fraction(int(cols.data.staggered[axis]) - int(rows.data.staggered[axis]), -2)
    if apart:
        half = order // 2 + derivative // 2
        first = -half if shift > 0 else 1 - half
        offsets = range(first, first + 2 * half)
    else:
        half = order // 2 - 1 + (derivative + 1) // 2
        offsets = range(-half, half + 1)

    def weighted(offsets: Sequence[int]) -> Weights:
        found = _weights([offset + shift for offset in offsets], derivative)
        return {o: float(w) for o, w in zip(offsets, found, strict=True) if w}

    middle = weighted(offsets)
    if outside != "one-sided":
        return _Line(axis, middle)
    low, high = cols.lower[axis] - rows.lower[axis], _beyond(rows, cols, axis)
    count = derivative + order  # points on one side
    return _Line(
        axis,
        middle,
        tuple(
            weighted(range(low - row, low - row + count))
            for row in range(low - min(middle, default=0))
        ),
        tuple(
            weighted(range(row - high - count + 1, row - high + 1))
            for row in range(max(middle, default=0) + high)
        ),
    )


def _beyond(rows: Space, cols: Space, axis: int) -> int:
    """Return how far the last row lies beyond the last column."""
    ends = [space.data.shape[axis] + affine(space.lower[axis]) for space in (rows, cols)]
    found = ends[0] - ends[1]
    if not found.is_constant:
        raise SpaceError(
            f"Which rows of {rows!r} are near the end of {cols!r} is not known.",
            note=f"Along axis {axis} they have other sizes.",
        )
    return int(found.constant)


def _weights(points: Sequence[Fraction], derivative: int) -> list[Fraction]:
    """Return the weights of values at points for a derivative at zero.

    They are derivatives of Lagrange's polynomials, each one at one of the points and zero at the
    others.
    """
    found = []
    for own in points:
        series = [Fraction(1)] + [Fraction(0)] * derivative  # the polynomial, up to this power
        for other in points:
            if other != own:
                shifted = [Fraction(0), *series[:-1]]
                series = [
                    (up - other * here) / (own - other)
                    for up, here in zip(shifted, series, strict=True)
                ]
        found.append(math.factorial(derivative) * series[derivative])
    return found


# -- matrices ------------------------------------------------------------------------------------


def _matrix(
    name: str,
    rows: Space,
    cols: Space,
    lines: Sequence[_Line],
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
    try:
        data = {"spacing": given} if is_data else {}
        drop: Literal["error", "drop"] = "drop" if outside == "drop" else "error"
        made = Matrix(define(function, rows, cols, data, outside=drop))
    except OutOfSpaceError as error:
        if outside != "one-sided":
            raise
        count = max(len(w) for line in lines for w in (line.middle, *line.low, *line.high))
        raise OutOfSpaceError(
            f"Lines of {cols!r} may have fewer points than one-sided rows take, {count}.",
            hint=f"Let sizes be sums, such as more + {count} for a size called more.",
        ) from error
    return made if values is None else made.bind(spacing=values)


def _number(spacing: Any) -> float:
    """Return a spacing that is a number."""
    try:
        found = float(spacing)
    except (TypeError, ValueError):
        found = math.nan
    if not 0.0 < found < math.inf:
        raise ArgumentError(
            f"The spacing is {spacing!r}, not a positive number.",
            hint="For data give ssr.scalar or the space of the rows, and bind it later.",
        )
    return found
