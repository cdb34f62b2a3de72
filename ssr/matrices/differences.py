"""Finite differences and averages along axes, between cells, faces and nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ..errors import ArgumentError, SpaceError
from ..points.numbers import integer
from ..public import is_one_of
from ..spaces.space import Space
from .line_weights import Line, Outside, axes_apart, line_of
from .matrix import Matrix
from .weighted_lines import Coordinates, Spacing, on_coordinates, weighted

POINTS = 32
"""Limit of the stencil points of a row along an axis."""


def axis_stencil(
    rows: Space,
    cols: Space,
    axis: int,
    weights: Mapping[int, float],
    *,
    outside: Literal["error", "zero"] = "error",
) -> Matrix:
    """Return the matrix with the same weights along an axis in every row.

    Parameters
    ----------
    rows, cols
        Spaces whose locations differ along this axis at most: face i lies before cell i.
    axis
        The axis, counted as that of an array; -1 is the last one.
    weights
        A mapping from offsets to weights; an offset is the index of the column minus that of the
        row, along the axis.
    outside
        Entries outside ``cols``, as for `stencil`.

    Raises
    ------
    ArgumentError, SpaceError
        If there is no such axis, the weights are invalid, or locations differ along another axis.

    Examples
    --------
    The difference of the faces on both sides of a cell:

    >>> import ssr
    >>> cells = ssr.Space(3)
    >>> ssr.axis_stencil(cells, cells.faces(0), 0, {0: -1.0, 1: 1.0}).to_scipy().toarray()
    array([[-1.,  1.,  0.,  0.],
           [ 0., -1.,  1.,  0.],
           [ 0.,  0., -1.,  1.]])
    """
    place = _axis(rows, cols, axis, outside, ("error", "zero"))
    _check_weights(weights)
    return weighted("along", rows, cols, [Line(place, dict(weights))], outside)


def difference(
    rows: Space,
    cols: Space,
    axis: int,
    *,
    derivative: int = 1,
    order: int = 2,
    spacing: Spacing = 1.0,
    coordinates: Coordinates = None,
    outside: Outside = "error",
) -> Matrix:
    """Return a derivative along an axis as a weighted sum of values at points around each row.

    There are as many points as the order needs; the weights are those of the polynomial through
    them. By default points have equal distances; between cells and faces these are 1/2, 3/2, and so
    on. With `coordinates` they lie anywhere.

    Parameters
    ----------
    rows, cols
        The points of the derivative, and those of the values: cells, faces or nodes.
    axis
        The axis, counted as that of an array; -1 is the last one.
    derivative
        Which derivative: 1 for the first.
    order
        The order of accuracy at equal distances, even.
    spacing
        The distance between points: a number, or ``ssr.scalar`` for a number that is bound later by
        ``.bind(spacing=...)``. For a first derivative of order 2 between cells and faces also
        the distance of the two points of each row: an array with a value for each row, or the space
        of the rows for one that is bound later.
    coordinates
        The positions of the points of `cols` along the axis, increasing or decreasing: an array of
        one axis, or a space of one axis for an array that is bound later by
        ``.bind(coordinates=...)``. Where the points of `rows` are not among them, as between cells
        and faces, a pair: the positions of the points of `rows`, bound by
        ``.bind(row_coordinates=...)``, and those of the points of `cols`. Or the coordinates of the
        grid, `ssr.coordinates.Coordinates`; the derivative is that by the coordinate.
    outside
        Rows some of whose points lie outside ``cols``: ``"error"`` refuses them; ``"zero"`` drops
        these points, so that values there are zero; ``"one-sided"`` takes points from the other
        side instead, as many as the order needs.

    Raises
    ------
    ArgumentError, SpaceError
        If an argument is not as above, or the spaces do not fit.

    Notes
    -----
    With p points the order of derivative d is p - d on any grid. At equal distances, and on grids
    that are smooth functions of the index, symmetry adds one for even derivatives between like
    points and for odd ones between cells and faces: so on a rough grid the order is one less
    than `order` there. One-sided rows have ``derivative + order`` points. Kernels compute weights
    from coordinates wherever they use them; ``outside="zero"`` is not possible.

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

    A second derivative on an uneven grid, exact for polynomials of degree 2:

    >>> import numpy as np
    >>> x = np.array([0.0, 0.1, 0.3, 0.6, 1.0])
    >>> points = ssr.Space(3)
    >>> second = ssr.difference(points, points.grow(1), 0, derivative=2, coordinates=x)
    >>> (second @ x**2).round(12)
    array([2., 2., 2.])
    """
    place = _axis(rows, cols, axis, outside, ("error", "zero", "one-sided"))
    _check_order(derivative, order, least=1)
    even = coordinates is None
    line = line_of(rows, cols, place, derivative, order, outside, even=even)
    if not even:
        if not (isinstance(spacing, float) and spacing == 1.0):
            raise ArgumentError("difference has a spacing and coordinates; it takes one of them.")
        return on_coordinates("difference", rows, cols, line, outside, derivative, coordinates)
    two = derivative == 1 and line.most == 2 and place in axes_apart(rows, cols)
    if isinstance(spacing, (Space, np.ndarray)) and not two:
        raise ArgumentError(
            "A spacing for each row gives the weights of two points between cells and faces only.",
            hint="Give the positions of the points: coordinates=x.",
        )
    return weighted("difference", rows, cols, [line], outside, derivative, spacing)


def average(
    rows: Space,
    cols: Space,
    axis: int | None = None,
    *,
    order: int = 2,
    coordinates: Coordinates = None,
    outside: Outside = "error",
) -> Matrix:
    """Return the interpolation to points in between, by polynomials through the points around.

    Parameters
    ----------
    rows, cols
        The points of the results, and those of the values: cells, faces or nodes.
    axis
        The axis along which the locations differ; by default all of these.
    order
        The order of accuracy, even: 2 is the mean of two points.
    coordinates
        The positions of points, as for `difference`; it takes an `axis`. The order is then `order`
        on any grid.
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
    if coordinates is not None:
        place = _axis(rows, cols, axis, outside, ("error", "zero", "one-sided"))
        line = line_of(rows, cols, place, 0, order, outside, even=False)
        return on_coordinates("average", rows, cols, line, outside, 0, coordinates)
    if axis is not None:
        axes = [_axis(rows, cols, axis, outside, ("error", "zero", "one-sided"))]
    else:
        _check_spaces(rows, cols, outside, ("error", "zero", "one-sided"))
        axes = axes_apart(rows, cols)
    lines = [line_of(rows, cols, place, 0, order, outside) for place in axes]
    return weighted("average", rows, cols, lines, outside)


# -- arguments -----------------------------------------------------------------------------------


def _check_spaces(rows: Any, cols: Any, outside: Any, ways: Sequence[str]) -> None:
    for what, space in (("rows", rows), ("cols", cols)):
        if not isinstance(space, Space):
            raise ArgumentError(f"{what} must be a Space, not {space!r}.")
    if rows.ndim != cols.ndim:
        raise SpaceError(f"{rows!r} has {rows.ndim} axes, and {cols!r} has {cols.ndim}.")
    if not is_one_of(outside, ways):
        known = ", ".join(f'"{way}"' for way in ways)
        raise ArgumentError(f"outside must be one of {known}, not {outside!r}.")


def _axis(rows: Any, cols: Any, axis: Any, outside: Any, ways: Sequence[str]) -> int:
    """Return the number of an axis from 0, after validating it and the other arguments."""
    _check_spaces(rows, cols, outside, ways)
    number = integer(axis)
    if number is None or not -rows.ndim <= number < rows.ndim:
        raise ArgumentError(f"There is no axis {axis!r} of {rows!r}.")
    place = number % int(rows.ndim)
    others = [other for other in axes_apart(rows, cols) if other != place]
    if others:
        raise SpaceError(
            f"{rows.location} and {cols.location} differ along axis {others[0]}, too.",
            hint="Go from one to the other axis by axis: A @ B.",
        )
    return place


def _check_weights(weights: Any) -> None:
    if not isinstance(weights, Mapping) or any(integer(offset) is None for offset in weights):
        raise ArgumentError(f"Expected weights from integers to numbers, got {weights!r}.")


def _check_order(derivative: Any, order: Any, least: int) -> None:
    power, accuracy = integer(derivative), integer(order)
    if power is None or power < least:
        raise ArgumentError(f"derivative is {derivative!r}, not a positive integer.")
    if accuracy is None or accuracy < 2 or accuracy % 2:
        raise ArgumentError(
            f"order is {order!r}, not a positive even integer.",
            hint="For other weights, such as those of one side, use ssr.axis_stencil.",
        )
    if power + accuracy > POINTS:
        raise ArgumentError(
            f"Derivative {power} of order {accuracy} takes {power + accuracy} points or more along "
            f"an axis; at most {POINTS} are allowed.",
            note="Rounding grows with the number of points.",
            hint="Choose a lower order: 2 to 8 are usual.",
        )
