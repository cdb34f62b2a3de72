"""Finite-volume matrices of a grid with coordinates."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..errors import SpaceError
from ..matrices.matrix import Matrix
from ..spaces.space import Space
from . import operators
from .conduction import conductivities
from .geometry import Geometry
from .operators import Ends, Terms
from .weights import Factor, Values, Weight, reduced, space_of


class FiniteVolumes(Geometry):
    """A space of cells with coordinates, their volumes, and the areas of their faces."""

    def gradient(self, axis: int | str) -> Matrix:
        """Return the matrix of derivatives along an axis, from cells with ghosts to faces.

        The difference of the values on both sides of a face is divided by the distance of the
        centers. Faces without area have an empty row.
        """
        a = self.axis(axis)
        made = operators.gradient(
            self.faces(a), self.wide, self._ends(a), self._terms, self._metric.distances[a]
        )
        return self._bound(made, self._metric.distances[a])

    def divergence(self, axis: int | str) -> Matrix:
        """Return the part of the divergence that an axis has, from faces to cells.

        It is the flux that leaves through the faces of a cell, areas times values, divided by the
        volume of the cell. Volumes times divergences add up to the flux through the boundary.
        """
        a = self.axis(axis)
        area, volume = reduced(self._metric.areas[a], self._metric.volume)
        made = operators.divergence(
            self.cells, self.faces(a), self._ends(a), self._terms, area, volume
        )
        return self._bound(made, area, volume)

    def average(self, axis: int | str) -> Matrix:
        """Return the matrix of means along an axis, from cells with ghosts to faces.

        They are linear between the centers. Faces without area get the value of their cell.
        """
        a = self.axis(axis)
        nearness, kind = self._nearness(a)
        made = operators.average(self.faces(a), self.wide, self._ends(a), kind)
        return made if kind is None else made.bind(nearness=nearness)

    def laplacian(self, conductivity: Any = 1.0) -> Matrix:
        """Return the divergence of the conductivity times the gradient, from cells with ghosts.

        Volumes times this matrix are symmetric.

        Parameters
        ----------
        conductivity
            A number, or ``ssr.scalar`` for one that is bound later by ``.bind(conductivity=...)``.
            A field on the cells, or their space for one that is bound later; at faces it is the
            harmonic mean, as of resistances in series. A tuple with an entry for each axis, of
            numbers or fields on its faces.

        Raises
        ------
        ArgumentError, SpaceError
            If the conductivity has another form, or is on another space.

        Examples
        --------
        >>> import ssr
        >>> from ssr.coordinates import Coordinates, spherical
        >>> line = Coordinates(ssr.Space(3), spherical, r=(0.0, 3.0))
        >>> line.laplacian().to_scipy().toarray().round(3)
        array([[-3.   ,  3.   ,  0.   ,  0.   ],
               [ 0.429, -2.143,  1.714,  0.   ],
               [ 0.   ,  0.632, -2.053,  1.421]])
        """
        values = conductivities(self, conductivity, self._face_values)
        found: Any = 0
        for a in range(self.cells.ndim):
            across, along = self.divergence(a), self.gradient(a)
            found = found + values[a](across, along)
        return found  # type: ignore[no-any-return]

    def volumes(self) -> Matrix:
        """Return the diagonal matrix of the volumes of cells."""
        made = operators.volumes(self.cells, self._terms, self._metric.volume)
        return self._bound(made, self._metric.volume)

    def areas(self, axis: int | str) -> Matrix:
        """Return the diagonal matrix of the areas of the faces normal to an axis."""
        a = self.axis(axis)
        area = self._metric.areas[a]
        return self._bound(operators.areas(self.faces(a), self._ends(a), self._terms, area), area)

    def measure(self, space: Space | None = None) -> Matrix:
        """Return the diagonal matrix of an inner product.

        It has the volumes of cells; or, on the faces of an axis, areas times distances between
        centers, half of that at both ends. So the divergence is minus the transpose of the
        gradient in these inner products, apart from the boundary.

        Parameters
        ----------
        space
            The cells, by default, or the faces normal to an axis.

        Raises
        ------
        SpaceError
            If the space is another one.
        """
        place = self._checked_space(space)
        for a in range(self.cells.ndim):
            if place == self.faces(a):
                area, distance = self._metric.areas[a], self._metric.distances[a]
                made = operators.face_volumes(place, self._ends(a), self._terms, area, distance)
                return self._bound(made, area, distance)
        if place != self.cells:
            raise SpaceError(
                f"The inner product takes fields of cells or of faces, not on {place!r}."
            )
        return self.volumes()

    @cached_property
    def _programs(self) -> dict[object, Any]:
        """The programs of sums, made when they are first needed."""
        return {}

    @cached_property
    def _terms(self) -> Terms:
        names = self._metric.factor_names
        return Terms(names, {factor: self._values.kind(factor) for factor in names})

    @cached_property
    def _values(self) -> Values:
        return Values(
            self.cells, self._positions, self._metric.symbols, self.dtype, self._distribution
        )

    def _bound(self, matrix: Matrix, *weights: Weight) -> Matrix:
        """Return a matrix with the values of its weights."""
        names = self._metric.factor_names
        every = {names[factor]: self._values[factor] for weight in weights for factor in weight}
        return matrix.bind(**every) if every else matrix

    def _ends(self, axis: int) -> Ends:
        first = self.cells.lower[axis]
        closed = self._metric.closed[axis]
        return Ends(axis, first, first + self.cells.shape[axis], closed)

    def _face_values(self, axis: int) -> Matrix:
        """Return the diagonal matrix of the means at faces of a conductivity of cells."""
        nearness, kind = self._nearness(axis)
        periodic = self._positions[axis].axis.periodic
        made = operators.face_values(self.faces(axis), self.cells, self._ends(axis), periodic, kind)
        return made if kind is None else made.bind(nearness=nearness)

    def _nearness(self, axis: int) -> tuple[Any, Space | None]:
        """Return the weights of means along an axis, and their space if they are an array."""
        found = self._near[axis]
        uniform = isinstance(found, float)
        return found, None if uniform else space_of(self.cells, Factor(1, (axis,), ("step",)))

    @cached_property
    def _near(self) -> list[Any]:
        each = (along.nearness for along in self._positions)
        return [one if isinstance(one, float) else one.astype(self.dtype) for one in each]
