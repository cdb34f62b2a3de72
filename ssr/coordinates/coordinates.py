"""The public class of grid coordinates: finite volumes, integrals, labels and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..points.numbers import Array
from ..spaces.space import Space
from .finite_volumes import FiniteVolumes
from .labels import dims, variables
from .sums import inner, integral

if TYPE_CHECKING:
    import matplotlib.axes
    import xarray


class Coordinates(FiniteVolumes):
    """Coordinates of the cells of a grid, from which finite volumes take their weights.

    Parameters
    ----------
    cells
        The space of the cells. Sizes that are symbolic and do not follow from arrays of faces are
        given by `bind`, before there are matrices.
    system
        The system of coordinates: `cartesian`, `cylindrical`, `spherical`, `geographic`, or one
        made by `from_map` or `from_scale_factors`.
    dtype
        The type of fields: float64 or float32. Weights are computed in double precision.
    **axes
        The coordinate along each axis, by name and in the order of the axes: its ends (low, high)
        for cells of equal widths, an array of the faces, or an `Axis`. Coordinates of the system
        that are left out are symmetric: nothing depends on them, and volumes and areas are those of
        a unit of them, such as a radian.

    Raises
    ------
    ArgumentError, ShapeError, SpaceError
        If the axes do not fit the cells or the system.

    Notes
    -----
    Volumes and areas are integrals of products of scale factors by Gauss's rule, exact to
    rounding. They are products of arrays of as few axes as possible: one-dimensional arrays
    where the product of scale factors separates.

    Examples
    --------
    Heat in a disk; at r = 0 faces have no area, so no condition is needed:

    >>> import numpy as np, ssr
    >>> cells = ssr.Space(*ssr.sizes("nr nt"))
    >>> disk = ssr.coordinates.Coordinates(
    ...     cells, ssr.coordinates.cylindrical,
    ...     r=(0.0, 1.0), theta=ssr.coordinates.Axis(0.0, 2 * np.pi, periodic=True),
    ... )
    >>> disk.wide
    Space(nr + 1, -1:nt + 1)
    >>> disk = disk.bind(nr=16, nt=32)
    >>> disk
    <Coordinates cylindrical: r 0..1, theta 0..6.28319 on Space(nr, nt)>
    >>> round(disk.integral(np.ones((16, 32))), 12)
    3.14159265359
    """

    def integral(self, u: Any) -> Any:
        """Return the integral of a field of cells over the grid.

        The sum does not depend on the order of the cells, as `ssr.sum`.

        Parameters
        ----------
        u
            An array, a field of ranks, or a field of a program, where the integral is a value.

        Raises
        ------
        ShapeError, SpaceError
            If it is not a field of cells.

        Examples
        --------
        The volume of a ball, for each steradian:

        >>> import numpy as np, ssr
        >>> from ssr.coordinates import Coordinates, spherical
        >>> ball = Coordinates(ssr.Space(9), spherical, r=(0.0, 3.0))
        >>> ball.integral(np.ones(9))
        9.0
        """
        return integral(self, u)

    def inner(self, u: Any, v: Any) -> Any:
        """Return the inner product of two fields; see `measure`.

        Parameters
        ----------
        u, v
            Arrays, fields of ranks or fields of a program; of cells, or of the faces of an axis.

        Raises
        ------
        ShapeError, SpaceError
            If the fields are not on one space, of cells or of the faces of an axis.
        """
        return inner(self, u, v)

    def dims(self, space: Space | None = None) -> tuple[str, ...]:
        """Return names of the dimensions of arrays on a space: ``r`` for cells, ``r_face``.

        Other spaces, such as those with ghosts, have the range of indices in the name.
        """
        return dims(self, self._checked_space(space))

    def variables(self, space: Space | None = None) -> dict[str, tuple[Any, Any, dict[str, Any]]]:
        """Return the coordinate variables of a space, as `xarray.Dataset` takes them.

        Returns
        -------
        dict
            By name the dimensions, the values and the attributes of the CF conventions. Cells have
            bounds.

        Examples
        --------
        >>> import ssr
        >>> line = ssr.coordinates.Coordinates(
        ...     ssr.Space(2), x=ssr.coordinates.Axis(0.0, 1.0, units="m")
        ... )
        >>> for name, variable in line.variables().items():
        ...     print(name, variable)
        x (('x',), array([0.25, 0.75]), {'axis': 'X', 'units': 'm', 'bounds': 'x_bounds'})
        x_bounds (('x', 'bounds'), array([[0. , 0.5],
               [0.5, 1. ]]), {})
        """
        return variables(self, self._checked_space(space))

    def to_xarray(
        self,
        u: Any,
        space: Space | None = None,
        *,
        name: str | None = None,
        units: str | None = None,
        **attributes: Any,
    ) -> xarray.DataArray:
        """Return a field as a DataArray with its coordinates.

        Parameters
        ----------
        u
            An array, or a field of ranks, which all ranks gather.
        space
            Where its values are; found from the shape by default: cells or faces.
        name, units
            The name of the variable and its units.
        **attributes
            Other attributes, such as ``long_name``.

        Raises
        ------
        ShapeError
            If the array has the shape of no space of the grid.
        UnsupportedError
            If xarray is not installed.
        """
        from .arrays import to_xarray

        more = attributes if units is None else {"units": units, **attributes}
        return to_xarray(self, u, space, name, more)

    def from_xarray(self, array: xarray.DataArray, space: Space | None = None) -> Array:
        """Return the values of a DataArray in the order of the axes.

        Parameters
        ----------
        array
            It has the dimensions of a space of the grid, in any order, and the coordinates of its
            points.
        space
            The location of the values; by default cells or the faces of an axis, by its dimensions.

        Raises
        ------
        ArgumentError, ShapeError
            If dimensions or coordinates differ from those of the grid.
        """
        from .arrays import from_xarray

        return from_xarray(self, array, space)

    def plot(
        self,
        u: Any,
        space: Space | None = None,
        *,
        ax: matplotlib.axes.Axes | None = None,
        label: str | None = None,
        at: dict[str, float] | None = None,
        **style: Any,
    ) -> matplotlib.axes.Axes:
        """Draw a field of cells over one or two coordinates; return the axes of the picture.

        A plane of curvilinear coordinates is drawn in Cartesian ones.

        Parameters
        ----------
        u
            An array, or a field of ranks, which all ranks gather.
        space
            Where its values are: the cells, by default, or faces.
        ax
            The axes of matplotlib to draw in; new ones by default.
        label
            The name of the field, with its units.
        at
            The value of each coordinate that has only one in the picture; the nearest points are
            shown.
        **style
            Arguments of matplotlib: of ``plot`` for one coordinate, of ``pcolormesh`` for two.

        Raises
        ------
        ArgumentError
            If there are more than two coordinates left.
        UnsupportedError
            If matplotlib is not installed.
        """
        from .pictures import plot

        return plot(self, u, space, ax, label, {} if at is None else at, style)
