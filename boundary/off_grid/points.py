"""Off-grid points: positions, interpolation, injection, and migration between ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

import ssr
from ssr import Space
from ssr.errors import ArgumentError, Error, ShapeError, SpaceError, UnsupportedError
from ssr.extension import Array, VectorSpace, integer

from ..fills.fill import Fill
from ..parallel.programs.distribution import Distribution
from ..parallel.ranks.field import Field
from ..parallel.ranks.given_values import real_array
from .operands import Bases, operand
from .operators import Operators
from .places import Places
from .stencils import Method
from .transfers import Transfers

if TYPE_CHECKING:
    from ssr import StoredMatrix


class Points:
    """Points off the grid, to which fields are interpolated, and from which values are injected.

    Made by `boundary.points`. Each point has a number, and is owned by the rank that owns its cell.
    Where ranks are processes, arrays have a row for each point that the ranks of this process own,
    in the order of their numbers; in one process that is a row for each point.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(4, 6)
    >>> stations = bc.points(cells, [(1.5, 2.0), (2.25, 4.5)])
    >>> j, i = np.mgrid[:4, :6]
    >>> stations.interpolate(10.0 * j + i)
    array([17., 27.])
    """

    def __init__(self, places: Places, method: Method) -> None:
        self._places = places
        self._operators = Operators(places, method)
        self._folds: WeakKeyDictionary[Fill, ssr.Program] = WeakKeyDictionary()

    @property
    def distribution(self) -> Distribution:
        """The cells and their owners."""
        return self._places.distribution

    @property
    def count(self) -> int:
        """The number of points on all ranks."""
        return self._places.count

    @property
    def numbers(self) -> Array:
        """The numbers of the points of this process, which increase; only read."""
        return self._places.numbers

    @property
    def coordinates(self) -> Array:
        """The coordinates of the points of this process, shape (points, axes), only read.

        Those of periodic axes are within the domain.
        """
        return self._places.coordinates

    @property
    def method(self) -> str:
        """The method of interpolation."""
        return self._operators.method.name

    def __len__(self) -> int:
        """Return the number of points of this process."""
        return len(self.numbers)

    def __repr__(self) -> str:
        return f"<Points: {self.count}, {self.method}, {self.distribution!r}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise UnsupportedError(
            f"{self!r} can neither be copied nor pickled.",
            note="Each rank has a part of the points.",
            hint="Make them again by bc.points from their coordinates.",
        )

    # -- positions -------------------------------------------------------------------------------

    def move(self, coordinates: Any, *data: Any) -> tuple[Array, ...]:
        """Move the points; all ranks call it. Nothing is compiled.

        Points whose new cells other ranks own become points of these, with their data.

        Parameters
        ----------
        coordinates
            New coordinates, a row for each point of this process, as `boundary.points` takes them.
        *data
            Arrays with a row for each point of this process, such as the positions at the start of
            a step, or the ages of particles.

        Returns
        -------
        tuple
            The arrays with the rows of the points that this process has now, one for each given.

        Raises
        ------
        ArgumentError, DtypeError, OutOfRangeError, ShapeError
            If arrays are not real numbers or have other shapes, coordinates are NaN, or points are
            outside, as far as that is refused. The error is raised on all ranks, and nothing has
            moved.

        Examples
        --------
        >>> import numpy as np, ssr, boundary as bc
        >>> drifters = bc.points(ssr.Space(8), [[1.0], [6.5]], periodic=(0,))
        >>> (age,) = drifters.move(drifters.coordinates + 2.0, np.array([3, 4]))
        >>> drifters.coordinates.ravel(), age
        (array([3. , 0.5]), array([3, 4]))
        """
        places, problem = self._places, None
        moved, carried = self.coordinates, []
        try:
            moved = places.checked(coordinates, len(self))
            carried = [places.row_data(array) for array in data]
        except Error as error:
            problem = error
        places.refuse(problem)
        return tuple(places.place(self.numbers, moved, carried))

    # -- values ----------------------------------------------------------------------------------

    def interpolate(self, u: Field | Array, space: Space | None = None, fill: Any = None) -> Array:
        """Return the values of a field at the points; all ranks call it.

        Parameters
        ----------
        u
            A field of the distribution: of cells, faces, nodes or points with ghosts, or a vector
            field. In a job of one rank also an array.
        space
            The space of an array; by default the cells.
        fill
            A ghost fill, made by `boundary.fill`: ``fill @ u`` is interpolated, so that stencils
            next to a boundary have the values of its ghosts.

        Returns
        -------
        array
            The values, shape (points,), or (points, components) for a vector field, of the type of
            the field; NaN for points that are outside.

        Raises
        ------
        ArgumentError, ContiguityError, DtypeError, ShapeError
            If the field is on another distribution, or the array does not fit.
        OutOfRangeError
            If the stencil of ``sinc`` does not fit at a point.
        SpaceError
            If the space has other cells.
        """
        if fill is not None:
            return self.interpolate(_fill(fill) @ u, grid_of(fill.rows))
        found, bases = self._transfers(u, space, written=False)
        made = np.empty((len(self), found.components or 1), found.dtype)
        found.interpolate(bases, self._places.rows, made)
        return made[:, 0] if found.components is None else made

    def inject(
        self, u: Field | Array, values: Any, space: Space | None = None, fill: Any = None
    ) -> None:
        """Add values at the points to a field, ``u += P.T @ values``; all ranks call it.

        It is the transpose of `interpolate`. The weights of a point sum up to one; for a density,
        divide the values by the volume of a cell. Contributions to a value are added in the order
        of the points' numbers.

        Parameters
        ----------
        u
            A field or an array, as for `interpolate`.
        values
            The values, shape (points,), or (points, components) for a vector field, or one for all.
        space
            The space of an array; by default the cells.
        fill
            A ghost fill: values injected to ghosts are added to the points that define these
            ghosts, by the transpose of its linear part.

        Raises
        ------
        ArgumentError, ContiguityError, DtypeError, ReadOnlyError, ShapeError
            If the field is on another distribution, or arrays do not fit.
        OutOfRangeError
            If the stencil of ``sinc`` does not fit at a point.
        SpaceError
            If the space has other cells.

        Examples
        --------
        >>> import numpy as np, ssr, boundary as bc
        >>> source = bc.points(ssr.Space(5), [[1.25]])
        >>> u = np.zeros(5)
        >>> source.inject(u, 4.0)
        >>> u
        array([0., 3., 1., 0., 0.])
        """
        if fill is not None:
            self._inject_through(u, values, fill)
            return
        found, bases = self._transfers(u, space, written=True)
        shape = (len(self),) if found.components is None else (len(self), found.components)
        given = real_array("Values", values)
        try:
            given = np.broadcast_to(given, shape)
        except ValueError:
            raise ShapeError(
                f"Values have shape {np.shape(values)}, not {shape}.",
                hint="Give one for each point of this process: values_of_all[points.numbers].",
            ) from None
        rows = np.array(given, np.float64).reshape(len(self), found.components or 1)
        found.inject(bases, self._places.rows, rows)
        if isinstance(u, Field):
            u.values.changes += 1

    def _transfers(self, u: Any, space: Any, *, written: bool) -> tuple[Transfers, Bases]:
        """Return the transfers for a field or an array, and the addresses of its values."""
        given = self._places.cells if space is None else space
        found, bases = self._operators.on(u, given, written=written)
        if space is not None and found.space != space:
            raise SpaceError(f"The field is on {found.space!r}, not on {space!r}.")
        return found, bases

    def _inject_through(self, u: Any, values: Any, fill: Any) -> None:
        """Inject to the ghosted points of a fill, and add the transpose of the fill."""
        inner, wide = grid_of(_fill(fill).cols), grid_of(fill.rows)
        lead = operand(self.distribution, u, inner, written=True).components
        ghosted: Any
        if isinstance(u, Field):
            ghosted = self.distribution.zeros(fill.rows, u.dtype)
        else:
            extent = wide.extent(self.distribution.sizes)
            ghosted = np.zeros(extent if lead is None else (lead, *extent), u.dtype)
        self.inject(ghosted, values, wide)
        if fill not in self._folds:
            self._folds[fill] = folding(fill)
        self._folds[fill](u, ghosted)

    def gather(self, values: Any, root: int | None = None) -> Array | None:
        """Return the values of all points in the order of their numbers; all ranks call it.

        Parameters
        ----------
        values
            An array with a row for each point of this process, such as `interpolate` returns.
        root
            The rank that gets it; the others get None. By default all ranks get it.

        Raises
        ------
        ArgumentError, ShapeError
            If there is no such rank, or the array has other rows.
        """
        problem, rows = None, np.zeros(0)
        world, target = self.distribution.world, 0 if root is None else integer(root)
        try:
            rows = self._places.row_data(values)
            if target is None or not 0 <= target < world.ranks:
                raise ArgumentError(
                    f"There is no rank {root!r} of {world.ranks}.", hint="Ranks are counted from 0."
                )
        except Error as error:
            problem = error
        self._places.refuse(problem)
        assert target is not None
        if len(world.here) == world.ranks:
            return rows.copy()
        every = np.full(len(rows), target)
        numbers, found = self._places.delivered(every, [self.numbers, rows])
        whole = np.empty((self.count, *rows.shape[1:]), rows.dtype)
        if world.rank == target:
            whole[numbers] = found
        if root is None:
            world.broadcast(whole, target, "the gathering of points")
        return whole if root is None or world.rank == target else None

    def as_matrix(self, space: Space | None = None) -> StoredMatrix:
        """Return the interpolation as a stored matrix P, with a row for each point.

        ``P.T`` injects; both replace any matrix in programs and solvers. Its products sum
        in the order of the columns, which may differ from `interpolate` by rounding.

        Parameters
        ----------
        space
            The space of its columns; by default the cells.

        Raises
        ------
        UnsupportedError
            If this process does not have all points, or there are none, or some are outside.
        """
        import scipy.sparse as sparse

        if len(self) < self.count or not self.count or self._places.missing.any():
            raise UnsupportedError(
                "There is no matrix of points of other processes, of no points, or of points that "
                "are outside.",
                hint="Use interpolate and inject.",
            )
        space = self._places.cells if space is None else space
        made = self._operators.stencils(space, np.arange(len(self)))
        extent = space.extent(self.distribution.sizes)
        strides = np.cumprod([1, *extent[:0:-1]])[::-1]
        zero = -int(np.array(space.first(self.distribution.sizes)) @ strides)
        columns = made.places(zero, strides.tolist()).ravel()
        starts = np.arange(len(self) + 1) * made.shape[1]
        entries = made.weights.ravel(), columns, starts
        matrix = sparse.csr_array(entries, shape=(len(self), int(np.prod(extent))))
        return ssr.from_scipy(matrix, rows=Space(len(self)), cols=space)


def _fill(given: Any) -> Fill:
    """Return a fill of one space that a user gives."""
    if not isinstance(given, Fill) or isinstance(given.rows, tuple):
        raise ArgumentError(f"fill is {given!r}, not a fill of one space.")
    return given


def grid_of(kind: Any) -> Space:
    """Return the space of a space or of a vector space."""
    found: Space = kind.space if isinstance(kind, VectorSpace) else kind
    return found


def folding(fill: Fill) -> ssr.Program:
    """Return the program that adds ghosted values to a field by the transpose of a fill."""

    def fold(u: Any, ghosted: Any) -> None:
        u[:] = u + fill.T @ ghosted

    kinds: dict[str, Any] = {"u": fill.cols, "ghosted": fill.rows}
    return ssr.program(**kinds)(fold)
