"""The coordinates of a grid: its axes, its sizes, and the positions of its points."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from ..errors import ArgumentError, ShapeError, SpaceError, UnboundError
from ..points.numbers import Array, integer
from ..public import Immutable
from ..run.check_arrays import dtype_name
from ..spaces.binding import match_sizes
from ..spaces.distributed import is_data
from ..spaces.space import Space
from .axis import Axis, axis_of
from .metric import Metric
from .system import System, cartesian
from .weights import Factor, Positions, space_of


class Geometry(Immutable):
    """A space of cells with a coordinate along each axis."""

    def __init__(
        self, cells: Any, system: System = cartesian, /, *, dtype: Any = np.float64, **axes: Any
    ) -> None:
        if not isinstance(cells, Space) or hasattr(cells, "blocks"):
            raise ArgumentError(
                f"Coordinates are for a space of cells, not for {cells!r}.",
                hint="Grids of blocks have no coordinates here; give one ssr.Space.",
            )
        if not isinstance(system, System):
            raise ArgumentError(f"{system!r} is not a system of ssr.coordinates.")
        if any(cells.data.staggered):
            raise SpaceError(f"Coordinates are for cells, not for {cells.location}.")
        if len(axes) != cells.ndim:
            raise ArgumentError(
                f"{len(axes)} coordinates are given for the {cells.ndim} axes of {cells!r}.",
                hint="Name one for each axis, in their order: r=(0.0, 1.0).",
            )
        self.cells = cells
        self.dtype = np.dtype(dtype_name(dtype))
        self._metric = Metric(system, {name: axis_of(name, a) for name, a in axes.items()})
        given = {n: a.faces for n, a in self._metric.axes.items() if a.faces is not None}
        shapes = [(n, self._along(n), (len(faces) - 1,)) for n, faces in given.items()]
        self.sizes: dict[str, int] = match_sizes(shapes, {})
        self._distribution: Any = None

    def __repr__(self) -> str:
        each = (f"{n} {a.low:g}..{a.high:g}" for n, a in self._metric.axes.items())
        return f"<Coordinates {self.system.name}: {', '.join(each)} on {self.cells!r}>"

    @property
    def system(self) -> System:
        """The system of coordinates."""
        return self._metric.system

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coordinates, axis by axis."""
        return self._metric.names

    @property
    def axes(self) -> Mapping[str, Axis]:
        """The coordinate along each axis, by name and in the order of the axes."""
        return MappingProxyType(self._metric.axes)

    def bind(self, **sizes: int) -> Self:
        """Return the coordinates with values for symbolic sizes.

        Kernels do not depend on the sizes, nor on the coordinates: both are data of the matrices.

        Raises
        ------
        ArgumentError, ShapeError
            If there is no such size, or it does not fit an array of faces.
        """
        for name, value in sizes.items():
            if name not in self.cells.sizes:
                raise ArgumentError(f"{self.cells!r} has no size {name!r}.")
            if (integer(value) or 0) < 1:
                raise ArgumentError(f"The size {name} is {value!r}, not a positive integer.")
        known = {name: int(value) for name, value in sizes.items()}
        for name, value in self.sizes.items():
            if known.setdefault(name, value) != value:
                raise ArgumentError(f"The size {name} is {value}, and cannot be {known[name]}.")
        self.cells._check_least(known)
        return self._with(known, self._distribution)

    def on(self, distribution: Any) -> Self:
        """Return the coordinates whose largest arrays are fields of ranks.

        Weights that do not separate have a value for each cell. Each rank computes and keeps its
        own; all other arrays are small and kept by all ranks. Fields are then those of the same
        distribution. Coordinates whose weights separate need none of this.

        Parameters
        ----------
        distribution
            The cells, as `boundary.distribute` distributes them.

        Raises
        ------
        ArgumentError
            If it is not a distribution.
        """
        if not all(hasattr(distribution, name) for name in ("zeros", "any", "sizes")):
            raise ArgumentError(
                f"distribution must be a distribution, not {distribution!r}.",
                hint="Make one: bc.distribute(coordinates.cells, ...).",
            )
        bound = self.bind(**{n: distribution.sizes[n] for n in self.cells.sizes})
        return bound._with(bound.sizes, distribution)

    def _with(self, sizes: dict[str, int], distribution: Any) -> Self:
        made = type(self)(self.cells, self.system, dtype=self.dtype, **self._metric.axes)
        made._metric, made.sizes, made._distribution = self._metric, sizes, distribution
        return made

    def axis(self, name: int | str) -> int:
        """Return the number of an axis, given by its coordinate or its number.

        Parameters
        ----------
        name
            The name of the coordinate, or the number; -1 is the last axis.

        Raises
        ------
        ArgumentError
            If there is no such axis.
        """
        if isinstance(name, str) and name in self.names:
            return self.names.index(name)
        number = integer(name)
        if number is None or not -self.cells.ndim <= number < self.cells.ndim:
            raise ArgumentError(
                f"There is no axis {name!r}.", hint=f"Axes are {', '.join(self.names)}."
            )
        return number % self.cells.ndim

    @cached_property
    def wide(self) -> Space:
        """The cells and their ghosts: one at each end that is not closed."""
        widths = [(int(not low), int(not high)) for low, high in self._metric.closed]
        return self.cells.grow(*widths)

    def faces(self, axis: int | str) -> Space:
        """Return the space of the faces normal to an axis."""
        return self.cells.faces(self.axis(axis))

    def positions(self, axis: int | str, space: Space | None = None) -> Array:
        """Return the coordinate of the points of a space along an axis.

        Ghosts are mirror images at the ends, or the points at the other end of a periodic axis.

        Parameters
        ----------
        axis
            The axis or its name.
        space
            Cells, faces or nodes, which may have ghosts; the cells by default.

        Raises
        ------
        ArgumentError, SpaceError
            If there is no such axis, or the space is not one of the grid.

        Examples
        --------
        >>> import ssr
        >>> line = ssr.coordinates.Coordinates(ssr.Space(4), x=(0.0, 2.0))
        >>> line.positions("x"), line.positions("x", line.cells.faces(0))
        (array([0.25, 0.75, 1.25, 1.75]), array([0. , 0.5, 1. , 1.5, 2. ]))
        """
        number = self.axis(axis)
        space = self._checked_space(space)
        (low, high) = space.box(self._known_sizes())[number]
        first = self.cells.first(self.sizes)[number]
        staggered = space.data.staggered[number]
        return self._positions[number].around(staggered, low - first, high - first)

    def mesh(self, space: Space | None = None) -> tuple[Array, ...]:
        """Return the coordinates of the points of a space: arrays that broadcast to its shape.

        Examples
        --------
        >>> import ssr
        >>> plane = ssr.coordinates.Coordinates(ssr.Space(2, 3), y=(0.0, 2.0), x=(0.0, 3.0))
        >>> y, x = plane.mesh()
        >>> y + x
        array([[1., 2., 3.],
               [2., 3., 4.]])
        """
        return tuple(np.ix_(*(self.positions(a, space) for a in range(self.cells.ndim))))

    def _checked_space(self, space: Any) -> Space:
        if space is None:
            return self.cells
        if not isinstance(space, Space) or space.ndim != self.cells.ndim:
            raise SpaceError(f"{space!r} is not a space of the grid of {self.cells!r}.")
        return space

    def _known_sizes(self) -> dict[str, int]:
        missing = [name for name in self.cells.sizes if name not in self.sizes]
        if missing:
            raise UnboundError(
                f"No value is given for the size {missing[0]} of the coordinates.",
                hint=f"Bind it first: coordinates.bind({', '.join(f'{m}=...' for m in missing)}).",
            )
        return self.sizes

    @cached_property
    def _positions(self) -> tuple[Positions, ...]:
        shape = self.cells.extent(self._known_sizes())
        axes = self._metric.axes.values()
        return tuple(Positions(axis, count) for axis, count in zip(axes, shape, strict=True))

    def _along(self, name: str) -> Space:
        """Return the cells along an axis as a space of one axis."""
        return space_of(self.cells, Factor(1, (self.names.index(name),), ("cell",)))

    def spaces(self) -> tuple[Space, ...]:
        """Return the spaces of fields: the cells, and the faces normal to each axis."""
        return (self.cells, *(self.faces(axis) for axis in range(self.cells.ndim)))

    def space_of(self, u: Any, space: Space | None = None) -> Space:
        """Return the space of an array or a field: cells or faces, or a given one, after a check.

        Parameters
        ----------
        u
            The array, or a field of ranks.
        space
            The space that it is expected to have; cells and faces by default.

        Raises
        ------
        ArgumentError, ShapeError
            If it is not an array, or has another shape.
        """
        if not is_data(u):
            raise ArgumentError(
                f"{type(u).__name__} is not a field.",
                hint="Give an array, np.asarray(u), or a field of ranks.",
            )
        own, sizes = getattr(u, "space", None), self._known_sizes()
        choices = self.spaces() if space is None else (self._checked_space(space),)
        for choice in choices:
            if (own is None or own == choice) and tuple(u.shape) == choice.extent(sizes):
                return choice
        raise ShapeError(
            f"The field has shape {tuple(u.shape)}.",
            note="; ".join(f"{choice!r} has {choice.extent(sizes)}" for choice in choices),
        )
