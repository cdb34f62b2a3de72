"""`boundary.points`: define points off the grid, and check the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import ssr
from ssr import Space
from ssr.errors import ArgumentError, ShapeError, SpaceError, UnsupportedError
from ssr.extension import Array, integer, is_one_of

from ..grid.grid import Grid
from ..parallel.programs.distribute import distribute
from ..parallel.programs.distribution import Distribution
from ..parallel.ranks.given_values import real_array
from .frame import Frame, Ruler
from .places import Places
from .points import Points
from .stencils import KAISER, WIDTHS, Axis, method_of

METHODS = (*WIDTHS, "sinc")
OUTSIDE = ("raise", "clamp", "nan")


def points(
    cells: Distribution | Grid | Space,
    coordinates: Any,
    method: str = "linear",
    *,
    axes: ssr.coordinates.Coordinates | Sequence[Any] | None = None,
    periodic: Sequence[int] = (),
    outside: str = "raise",
    radius: int = 4,
    numbers: Any = None,
    **sizes: Any,
) -> Points:
    """Return points off the grid, to interpolate fields to them and inject values from them.

    Parameters
    ----------
    cells
        The cells, spread over ranks by `boundary.distribute`; or a space or grid in a job of one
        rank.
    coordinates
        Where the points are, shape (points, axes), in the order of the axes of an array. Cell i of
        an axis reaches from i - 1/2 to i + 1/2, and its center is at i. On a grid the first
        coordinate is the number of the block.
    method
        ``"nearest"`` takes the cell of the point, ``"linear"`` is linear along each axis,
        ``"cubic"`` the polynomial of Lagrange on four points along each axis, which is exact for
        cubics, and ``"sinc"`` the sinc function with a Kaiser window (Hicks, Geophysics 67,
        156-166, 2002), whose weights are scaled so that their sum is one. At the ends of an axis
        polynomials take the nearest points of the space; ``"sinc"`` needs ghosts there.
    axes
        The coordinates of the cells' centers along each axis, arrays that increase, for points in
        the same units. An axis with None has indices, and so has that of the blocks of a grid,
        which is not counted. Between centers, indices are linear in coordinates. Or the
        `ssr.coordinates.Coordinates` of the cells: then the outer sides are their outer faces, and
        their periodic axes are periodic.
    periodic
        The axes along which values repeat after the last cell, counted as ``axes``.
    outside
        For points outside the cells: ``"raise"`` refuses them, ``"clamp"`` moves them to the side,
        and ``"nan"`` gives NaN and injects nothing.
    radius
        Half the number of points along an axis for ``"sinc"``, from 1 to 10.
    numbers
        The numbers of the points, where each rank gives other ones; on all ranks together they are
        the integers from 0 on. By default all ranks give the same coordinates of all points.
    **sizes
        Values of the symbolic sizes of a space or grid; by default those of the coordinates.

    Raises
    ------
    ArgumentError, DtypeError, OutOfRangeError, ShapeError
        If an argument has another form, coordinates are NaN, or points are outside.
    SpaceError
        If coordinates are those of other cells.
    UnboundError
        If a size has no value.
    UnsupportedError
        If the blocks of a grid have several shapes.

    Examples
    --------
    Waves of a source at one point are recorded at two others:

    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(*ssr.sizes("ny nx"))
    >>> x = 0.1 * (np.arange(20) + 0.5)
    >>> receivers = bc.points(cells, [(0.5, 0.7), (1.0, 1.9)], axes=(x, x), ny=20, nx=20)
    >>> receivers
    <Points: 2, linear, 1 box on 1 rank>
    >>> receivers.interpolate(x[:, None] + 10 * x)
    array([ 7.5, 20. ])
    """
    if isinstance(axes, ssr.coordinates.Coordinates) and axes.cells == cells:
        sizes = {**axes.sizes, **sizes}
    on = _distributed(cells, sizes)
    if not is_one_of(method, METHODS):
        raise ArgumentError(f"method is {method!r}, not one of {', '.join(METHODS)}.")
    if not is_one_of(outside, OUTSIDE):
        raise ArgumentError(f"outside is {outside!r}, not one of {', '.join(OUTSIDE)}.")
    half = integer(radius)
    if half is None or not 1 <= half <= len(KAISER):
        raise ArgumentError(f"radius is {radius!r}, not an integer from 1 to {len(KAISER)}.")
    places = Places(on, _frame(on, axes, periodic), outside)
    places.begin(coordinates, numbers)
    return Points(places, method_of(method, half))


def _distributed(cells: Any, sizes: dict[str, Any]) -> Distribution:
    if isinstance(cells, Distribution):
        if sizes:
            raise ArgumentError(
                f"Sizes are given for a distribution: {', '.join(sizes)}.",
                hint="Give them where the cells are spread.",
            )
        found = cells
    elif isinstance(cells, (Grid, Space)):
        found = distribute(cells, **sizes)
    else:
        raise ArgumentError(f"Points lie on a distribution, a grid or a space, not on {cells!r}.")
    if len(found.cells) > 1:
        raise UnsupportedError(
            f"Points lie on blocks of one shape; the grid has {len(found.cells)}.",
            hint="Distribute the blocks of each shape as a grid of their own.",
        )
    return found


def _frame(on: Distribution, axes: Any, periodic: Any) -> Frame:
    """Return the coordinates of the cells."""
    (cells,) = on.cells
    box, lead = cells.box(on.sizes), on.partition.lead
    own = box[lead:]
    around = {_axis(axis, len(own)) for axis in _items("periodic", periodic)}
    if isinstance(axes, ssr.coordinates.Coordinates):
        return Frame(_rulers(on, axes, around))
    given = [None] * len(own) if axes is None else _items("axes", axes)
    if len(given) != len(own):
        raise ShapeError(f"axes has {len(given)} entries; the cells have {len(own)} axes.")
    rulers = [Ruler(Axis(low, high, is_block=True)) for low, high in box[:lead]]
    for number, ((low, high), centers) in enumerate(zip(own, given, strict=True)):
        period = (low, high - low) if number in around else None
        array = None if centers is None else _centers(number, centers, high - low)
        rulers.append(Ruler(Axis(low, high, period=period), array))
    return Frame(rulers)


def _rulers(on: Distribution, given: ssr.coordinates.Coordinates, around: set[int]) -> list[Ruler]:
    """Return the rulers of coordinates, including periodic axes."""
    (cells,) = on.cells
    if on.partition.lead or given.cells != cells:
        raise SpaceError(
            f"The coordinates are those of {given.cells!r}, and the points lie on {on.cells[0]!r}"
            f"{' of blocks' if on.partition.lead else ''}."
        )
    bound = given.bind(**{name: on.sizes[name] for name in cells.sizes})
    rulers = []
    for number, (low, high) in enumerate(cells.box(on.sizes)):
        faces = bound.positions(number, bound.faces(number))
        repeats = number in around or bound.axes[bound.names[number]].periodic
        axis = Axis(low, high, period=(low, high - low) if repeats else None)
        sides = float(faces[0]), float(faces[-1])
        rulers.append(Ruler(axis, bound.positions(number), sides))
    return rulers


def _items(name: str, given: Any) -> list[Any]:
    try:
        return list(given)
    except TypeError:
        raise ArgumentError(f"{name} is {given!r}, not a sequence.") from None


def _axis(given: Any, count: int) -> int:
    number = integer(given)
    if number is None or not -count <= number < count:
        raise ArgumentError(f"There is no axis {given!r} of {count}.")
    return number % count


def _centers(number: int, given: Any, count: int) -> Array:
    """Return the coordinates of cells along an axis."""
    if count < 2:
        raise ArgumentError(
            f"Coordinates are given for axis {number}, which has one cell of unknown width.",
            hint="Give None: points have indices along this axis, from -1/2 to 1/2.",
        )
    found = real_array(f"The coordinates of axis {number}", given).astype(np.float64)
    if found.shape != (count,):
        raise ShapeError(
            f"The coordinates of axis {number} have shape {found.shape}, not ({count},).",
            hint="Give one for each cell, that of its center.",
        )
    if not np.isfinite(found).all() or not (np.diff(found) > 0).all():
        raise ArgumentError(
            f"The coordinates of axis {number} do not increase.",
            hint="Give a descending axis in reverse order, and the field too.",
        )
    return found
