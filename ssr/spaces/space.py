"""Index spaces of structured grids: half-open boxes of integer points with symbolic extents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

import numpy as np

from ..errors import (
    ArgumentError,
    EmptySpaceError,
    ShapeError,
    SpaceError,
    TooLargeError,
    UnboundError,
)
from ..points.affine import AXES, Affine
from ..points.boxes import Box
from ..points.condition import Condition, sizes_known
from ..points.numbers import integer
from ..points.sets import Domain
from ..public import is_one_of
from ..symbols.index import Index, Least, affine, least_of, merged
from .distributed import Component, is_distributed
from .extents import End, Extent, Extents, bounds, ends, most, owned_within, width_of

LARGEST = 2**63
"""Limit of the number of elements of an array."""


class Space:
    """An index set ``lower <= index < lower + shape`` in NumPy axis order.

    C order of the indices is the order of rows everywhere: in sweeps, in `to_scipy` and in
    ``x.ravel()``.

    Parameters
    ----------
    *shape
        1 to 4 extents: positive integers, or affine expressions of `ssr.size` and `ssr.sizes`. A
        pair (low, high) stands for the indices ``low <= index < high``.

    Raises
    ------
    EmptySpaceError
        If an extent is zero or negative.
    SpaceError
        If the number of extents is not 1 to 4, or a pair stands alone: that may be meant for two
        extents. One axis from 1 to n is ``ssr.Space(n).slab(0, 1, n)``.

    Examples
    --------
    >>> import ssr
    >>> ny, nx = ssr.sizes("ny nx")
    >>> cells = ssr.Space(ny, nx)
    >>> cells.faces(axis=1)
    Space(ny, nx + 1, faces of axis 1)
    >>> ssr.Space(4, 5).grow(1)
    Space(-1:5, -1:6)
    >>> ssr.Space((1, ny), nx)
    Space(1:ny, nx)
    """

    __slots__ = ("_inner", "axes", "data")

    def __init__(self, *shape: Extent) -> None:
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            raise SpaceError(
                "The extents of a space are given one by one.",
                hint="Write ssr.Space(*shape); one axis from low to high is "
                "ssr.Space(high).slab(0, low, high).",
            )
        if not 1 <= len(shape) <= 4:
            raise SpaceError(f"A space must have 1 to 4 dimensions, not {len(shape)}.")
        pairs = [bounds(s) for s in shape]
        extents = tuple(affine(high) - low for low, high in pairs)
        least = merged(*(least_of(end) for s in shape for end in ends(s)))
        data = Extents(tuple(low for low, _ in pairs), extents, (False,) * len(shape), least)
        self._set(data, data)

    def _set(self, data: Extents, owned: Extents | None) -> None:
        for axis, extent in enumerate(data.shape):
            if most(extent, dict(data.least)) < 1:
                raise EmptySpaceError(
                    f"The space has no points along axis {axis}: its extent is {extent}.",
                    hint="Extents are positive.",
                )
            if extent.is_constant and extent.constant > LARGEST:
                raise TooLargeError(
                    f"The space has {extent} points along axis {axis}.",
                    note="No array has so many elements.",
                )
        self.data = data
        self.axes = AXES[len(data.shape)]
        self._inner = owned

    @classmethod
    def _from(cls, data: Extents, owned: Extents | None) -> Space:
        space = cls.__new__(cls)
        space._set(data, owned)
        return space

    def _like(self, data: Extents, owned: Extents | None) -> Space:
        """Return the space of other points in the same coordinates."""
        return Space._from(data, owned)

    @property
    def owned(self) -> Space | None:
        """The points that are not ghosts: those that the space was grown from, or all of them.

        None where `grow` both added points to an axis and took some of the owned ones away: then
        some may be ghosts. Spaces that differ in this property only are equal.

        Examples
        --------
        >>> import ssr
        >>> cells = ssr.Space(ssr.size("n"))
        >>> cells.grow((1, 2)).owned, cells.grow(1).grow(1).owned, cells.grow(-1).owned
        (Space(n), Space(n), Space(1:n - 1))
        """
        if self._inner is None:
            return None
        return self if self._inner == self.data else self._like(self._inner, self._inner)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.data.shape)

    @property
    def shape(self) -> tuple[Index | int, ...]:
        """Extents: integers where known, symbolic elsewhere."""
        least = self.data.least
        return tuple(s.constant if s.is_constant else Index(s, least) for s in self.data.shape)

    @property
    def lower(self) -> tuple[Index | int, ...]:
        """First index of each axis: an integer where it is known, symbolic elsewhere."""
        least = self.data.least
        ends = self.data.lower
        return tuple(e.constant if e.is_constant else Index(e, least) for e in ends)

    def first(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the first index of each axis for given sizes."""
        return tuple(low.evaluate(sizes) for low in self.data.lower)

    @property
    def location(self) -> str:
        """Where the points sit in the grid: ``cells``, ``faces of axis a`` or ``nodes``."""
        staggered = self.data.staggered
        if not any(staggered):
            return "cells"
        if all(staggered) and len(staggered) > 1:
            return "nodes"
        return "faces of axis " + ", ".join(str(a) for a, s in enumerate(staggered) if s)

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes, sorted."""
        edges = (*self.data.shape, *self.data.lower)
        return tuple(sorted(frozenset().union(*(edge.names() for edge in edges))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __repr__(self) -> str:
        lower, shape = self.data.lower, self.data.shape
        parts = [
            str(s) if low == Affine() else f"{low}:{s + low}"
            for low, s in zip(lower, shape, strict=True)
        ]
        parts += [] if self.location == "cells" else [self.location]
        parts += [f"{name} >= {least}" for name, least in self.data.least]
        return f"Space({', '.join(parts)})"

    def __contains__(self, point: object) -> bool:
        index = point if isinstance(point, tuple) else (point,)
        if len(index) != self.ndim:
            raise SpaceError(f"{self!r} has {self.ndim} axes, but {len(index)} indices are given.")
        sizes = sizes_known.get()
        if sizes is not None and all(type(p) is int for p in index):
            edges = zip(self.first(sizes), self.data.shape, strict=True)
            return all(
                0 <= p - low < n.evaluate(sizes) for p, (low, n) in zip(index, edges, strict=True)
            )
        return bool(self.condition(tuple(affine(p) for p in index)))

    def grow(self, *width: int | tuple[int, int]) -> Space:
        """Return the space with ghost points: same coordinates, more of them.

        The added points are ghosts. Points of this space that were owned stay owned; see `owned`.

        Parameters
        ----------
        *width
            Points added on both sides: one integer for all axes, or one entry for each axis, an
            integer or a pair (low, high). Negative widths shrink.

        Raises
        ------
        ArgumentError
            If a width is not an integer or a pair, or their number is not that of the axes.
        EmptySpaceError
            If no points are left along an axis.

        Examples
        --------
        >>> import ssr
        >>> ssr.Space(8, 8).grow((1, 2), 0)
        Space(-1:10, 8)
        """
        entries = width * self.ndim if len(width) == 1 else width
        if len(entries) != self.ndim:
            raise ArgumentError(f"grow got {len(width)} widths for {self.ndim} axes.")
        pairs = [width_of(w) for w in entries]
        lower = tuple(low - w for low, (w, _) in zip(self.data.lower, pairs, strict=True))
        shape = tuple(s + a + b for s, (a, b) in zip(self.data.shape, pairs, strict=True))
        data = replace(self.data, lower=lower, shape=shape)
        return self._like(data, None if self._inner is None else owned_within(self._inner, data))

    def slab(self, axis: int, first: Index | int, stop: Index | int) -> Space:
        """Return the points with ``first <= index < stop`` along an axis.

        They need not be points of this space. Along the axis no point is a ghost.

        Parameters
        ----------
        axis
            The axis; negative numbers count from the last axis.
        first, stop
            The bounds of the index: integers or expressions of sizes.

        Raises
        ------
        ArgumentError
            If there is no such axis, or a bound is not an integer.
        EmptySpaceError
            If the slab has no points.

        Examples
        --------
        >>> import ssr
        >>> ssr.Space(8, 8).slab(0, 0, 2)
        Space(2, 8)
        """
        axis = self._axis(axis)
        for bound in first, stop:
            if integer(bound) is None and not isinstance(bound, Index):
                raise ArgumentError(
                    f"A slab from {first!r} to {stop!r} has bounds that are not integers."
                )
        least = merged(least_of(first), least_of(stop))
        return self._along(axis, affine(first), affine(stop), least)

    def side(self, axis: int, end: End, width: int = 1) -> Space:
        """Return the points next to an end of an axis, in the coordinates of this space.

        ``u[side] = ...`` assigns them in a program, ``A[side, :]`` are their rows of a matrix.

        Parameters
        ----------
        axis
            The axis normal to the side; negative numbers count from the last axis.
        end
            ``"low"`` for the first points along the axis, ``"high"`` for the last ones.
        width
            The number of points along the axis.

        Raises
        ------
        SpaceError
            If the axis has fewer points, or may have fewer.

        Examples
        --------
        >>> import numpy as np, ssr
        >>> cells = ssr.Space(*ssr.sizes("ny nx"))
        >>> west, east = cells.side(1, "low"), cells.side(1, "high")
        >>> west, east
        (Space(ny, 1), Space(ny, nx - 1:nx))
        >>> @ssr.program(u=cells)
        ... def ends(u):
        ...     u[west] = 1.0
        ...     u[east] = 2.0 * u[east]
        >>> u = np.full((2, 4), 5.0)
        >>> ends(u)
        >>> u
        array([[ 1.,  5.,  5., 10.],
               [ 1.,  5.,  5., 10.]])
        """
        axis, count = self._axis(axis), integer(width)
        if not is_one_of(end, ("low", "high")):
            raise ArgumentError(f'end must be "low" or "high", not {end!r}.')
        if count is None or count < 1:
            raise ArgumentError(f"width must be a positive integer, not {width!r}.")
        low, extent = self.data.lower[axis], self.data.shape[axis]
        if not (extent - count).is_constant or (extent - count).constant < 0:
            self._check_width(axis, count)
        start = low if end == "low" else low + extent - count
        return self._along(axis, start, start + count)

    def _along(self, axis: int, low: Affine, high: Affine, least: Least = ()) -> Space:
        """Return the space with other indices along an axis, all of which are owned there."""
        owned = None if self._inner is None else self._inner.along(axis, low, high, least)
        return self._like(self.data.along(axis, low, high, least), owned)

    def _check_width(self, axis: int, width: int) -> None:
        """Check that an axis has at least ``width`` points for all sizes."""
        extent = self.data.shape[axis]
        fewer = Domain.of(self.axes, Condition((((-extent + (width - 1), ">= 0"),),)))
        if (row_domain(self) & fewer).empty:
            return
        raise SpaceError(
            f"A side of {width} points along axis {axis} is more than {self!r} has."
            if extent.is_constant
            else f"A side of {width} points along axis {axis} of {self!r}: it may have fewer.",
            hint=f"Axis {axis} has {extent} points."
            if extent.is_constant
            else f"Say how large sizes are at least: ssr.sizes(..., at_least={width}).",
        )

    def vector(self, components: int) -> VectorSpace:
        """Return the space of fields with several values at each point, arrays (components, ...).

        Examples
        --------
        >>> import ssr
        >>> ssr.Space(4, 5).vector(2).shape
        (2, 4, 5)
        """
        count = integer(components)
        if count is None or count < 1:
            raise ArgumentError(f"A vector must have one or more components, not {components!r}.")
        return VectorSpace(count, self)

    def faces(self, axis: int) -> Space:
        """Return the faces normal to an axis: one point more along it; face f is below cell f.

        Raises
        ------
        ArgumentError
            If there is no such axis.
        SpaceError
            If the points are not cells.
        """
        return self._stagger({self._axis(axis)})

    def nodes(self) -> Space:
        """Return the corners of the cells: one point more along each axis."""
        return self._stagger(set(range(self.ndim)))

    def _axis(self, axis: int) -> int:
        """Return the number of an axis, counted from the first one."""
        found = integer(axis)
        if found is None or not -self.ndim <= found < self.ndim:
            raise ArgumentError(f"There is no axis {axis!r} of a space with {self.ndim} axes.")
        return found % self.ndim

    def _stagger(self, axes: set[int]) -> Space:
        if any(self.data.staggered):
            raise SpaceError(f"{self!r} is staggered already; start from its cells.")

        def staggered(data: Extents) -> Extents:
            shape = tuple(s + (a in axes) for a, s in enumerate(data.shape))
            return replace(data, shape=shape, staggered=tuple(a in axes for a in range(self.ndim)))

        owned = None if self._inner is None else staggered(self._inner)
        return self._like(staggered(self.data), owned)

    def times(self, other: Space) -> Space:
        """Return the Cartesian product with the space ``other``, whose axes come last.

        Raises
        ------
        SpaceError
            If the product has more than four dimensions.
        """
        if not isinstance(other, Space):
            raise ArgumentError(f"Space.times expects a Space, got {other!r}.")
        if self.ndim + other.ndim > 4:
            raise SpaceError(
                f"The product of {self!r} and {other!r} has {self.ndim + other.ndim} dimensions.",
                hint="A space has 1 to 4 dimensions.",
            )

        def pairs(ours: Extents, theirs: Extents) -> Extents:
            return Extents(
                ours.lower + theirs.lower,
                ours.shape + theirs.shape,
                ours.staggered + theirs.staggered,
                merged(ours.least, theirs.least),
            )

        owned = self._inner and other._inner and pairs(self._inner, other._inner)
        return Space._from(pairs(self.data, other.data), owned)

    def indices(self) -> tuple[Affine, ...]:
        """Return the index names as expressions: the identity map."""
        return tuple(Affine.name(a) for a in self.axes)

    def condition(self, point: Sequence[Affine] | None = None) -> Condition:
        """Return the condition that a point, by default the row, lies in the space."""
        case = []
        for here, low, extent in zip(
            point or self.indices(), self.data.lower, self.data.shape, strict=True
        ):
            case += [(here - low, ">= 0"), (extent + low - here - 1, ">= 0")]
        return Condition((tuple(case),))

    def nonempty(self) -> Condition:
        """Return the condition on the sizes that the space has points."""
        return Condition((tuple((s - 1, ">= 0") for s in self.data.shape),))

    def extent(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the shape of an array on this space for given sizes.

        Raises
        ------
        EmptySpaceError
            If the space has no points.
        UnboundError
            If a size has no value.
        """
        _check_sizes(sizes)
        for name in self.sizes:
            if name not in sizes:
                raise UnboundError(f"No value is given for the size {name}.")
        self._check_least(sizes)
        shape = tuple(s.evaluate(sizes) for s in self.data.shape)
        for axis, length in enumerate(shape):
            if length < 1:
                known = [f"{name} = {sizes[name]}" for name in self.sizes]
                raise EmptySpaceError(
                    f"{self!r} has no points along axis {axis}: its extent is {length}.",
                    note=f"for {', '.join(known)}",
                    hint="Extents are positive.",
                )
            if length > LARGEST:
                raise TooLargeError(f"{self!r} has {length} points along axis {axis}.")
        return shape

    def _check_least(self, sizes: Mapping[str, int]) -> None:
        """Check that sizes satisfy their declared lower bounds.

        Raises
        ------
        ShapeError
            If one is not.
        """
        for name, least in self.data.least:
            if sizes.get(name, least) < least:
                raise ShapeError(
                    f"The size {name} is {sizes[name]}, and it is declared as at least {least}.",
                    note=f"the space is {self!r}",
                )

    def box(self, sizes: Mapping[str, int]) -> Box:
        """Return the whole space as one box of indices, for given sizes."""
        shape = self.extent(sizes)
        return tuple((low, low + n) for low, n in zip(self.first(sizes), shape, strict=True))

    def split(self, *parts: int, sizes: Mapping[str, int] | None = None) -> tuple[Box, ...]:
        """Return the space cut into boxes, ``parts`` of nearly equal length along each axis.

        Parameters
        ----------
        *parts
            Numbers of parts, one for each axis.
        sizes
            The integers of symbolic sizes.

        Raises
        ------
        ArgumentError
            If the numbers of parts are not positive, one for each axis.
        UnboundError
            If a size has no value.

        Examples
        --------
        >>> import ssr
        >>> ssr.Space(4, 5).split(1, 2)
        (((0, 4), (0, 3)), ((0, 4), (3, 5)))
        """
        counts = [integer(p) or 0 for p in parts]
        if len(counts) != self.ndim or min(counts) < 1:
            raise ArgumentError(f"split needs {self.ndim} positive numbers of parts.")
        ranges = []
        for (low, high), count in zip(self.box(self._given(sizes)), counts, strict=True):
            count = min(count, high - low)
            share, more = divmod(high - low, count)
            cuts = [low + q * share + min(q, more) for q in range(count + 1)]
            ranges.append(list(pairwise(cuts)))
        return tuple(product(*ranges))

    def _given(self, sizes: Mapping[str, int] | None) -> dict[str, int]:
        """Return integers for all sizes of the space."""
        if sizes is not None:
            _check_sizes(sizes)
        found = {}
        for name in self.sizes:
            value = None if sizes is None else integer(sizes.get(name))
            if value is None:
                every = ", ".join(f'"{n}": ...' for n in self.sizes)
                raise UnboundError(
                    f"No value is given for the size {name}.",
                    hint=f"Give all sizes: split(..., sizes={{{every}}}).",
                )
            found[name] = value
        return found

    def points(self, sizes: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
        """Yield all index tuples in C order, for given sizes."""
        yield from product(*(range(low, high) for low, high in self.box(sizes)))


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """A number of values at each point of a space; made by `Space.vector`.

    Arrays on it have the shape ``(components, *space.shape)``.

    Examples
    --------
    >>> import ssr
    >>> ny, nx = ssr.sizes("ny nx")
    >>> ssr.Space(ny, nx).vector(3)
    Space(ny, nx).vector(3)
    """

    components: int
    space: Space

    def __repr__(self) -> str:
        return f"{self.space!r}.vector({self.components})"

    @property
    def shape(self) -> tuple[Index | int, ...]:
        """Extents of arrays, the number of components first."""
        return self.components, *self.space.shape

    def grow(self, *width: int | tuple[int, int]) -> VectorSpace:
        """Return the vector space with ghost points, as `Space.grow`."""
        return VectorSpace(self.components, self.space.grow(*width))

    def side(self, axis: int, end: End, width: int = 1) -> VectorSpace:
        """Return the vectors at the points next to an end of an axis, as `Space.side`."""
        return VectorSpace(self.components, self.space.side(axis, end, width))

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of the components of a field."""
        return tuple(f"{name}[{n}]" for n in range(self.components))

    def parts(self, name: str, array: Any) -> list[Any]:
        """Return the components of an array."""
        if is_distributed(array) and array.shape[:1] == (self.components,):
            return [Component(array, number) for number in range(self.components)]
        if not isinstance(array, np.ndarray):
            raise ArgumentError(
                f"{name!r} is {type(array).__name__}, not a NumPy array.",
                hint="Convert it with np.asarray.",
            )
        if array.ndim != self.space.ndim + 1 or len(array) != self.components:
            raise ShapeError(
                f"Array {name!r} has shape {array.shape}.",
                note=f"its space is {self!r}",
                hint=f"The first axis has length {self.components}: one array for each component.",
            )
        return list(array)


def _check_sizes(sizes: object) -> None:
    if not isinstance(sizes, Mapping):
        raise ArgumentError(f"sizes must be a dictionary by name, not {sizes!r}.")


def stem(name: str) -> str:
    """Return the name of the vector field of which this is a component, or the name itself.

    >>> stem("u[3]"), stem("dt")
    ('u', 'dt')
    """
    return name.partition("[")[0]


@lru_cache(maxsize=4096)
def points_of(space: Space) -> Domain:
    """Return the points of a space, for any sizes."""
    return Domain.of(space.axes, space.condition())


@lru_cache(maxsize=4096)
def row_domain(rows: Space, others: tuple[Space, ...] = ()) -> Domain:
    """Return the rows of a space, for positive sizes that leave no space empty."""
    domain = Domain.of(rows.axes, rows.condition() & _positive(rows))
    for space in others:
        if space.sizes:
            domain = domain & Domain.of(rows.axes, space.nonempty() & _positive(space))
    return domain


def _positive(space: Space) -> Condition:
    """Return the condition that sizes satisfy their lower bounds, unless extents imply it."""
    extents, least = space.data.shape, dict(space.data.least)
    names = space.sizes
    said = {n for n in names if n not in least and Affine.name(n) in extents}
    lowest = ((Affine.name(n) - least.get(n, 1), ">= 0") for n in names if n not in said)
    return Condition((tuple(lowest),))
