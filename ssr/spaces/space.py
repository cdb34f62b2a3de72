"""Index sets of structured grids."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, TypeAlias

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
from ..points.condition import Condition, sizes_known
from ..points.numbers import integer
from ..points.sets import Domain
from ..symbols.index import Index, Least, affine, least_of, merged
from .distributed import Component, is_distributed

Box: TypeAlias = tuple[tuple[int, int], ...]
"""Half-open index ranges, one for each axis."""

Extent: TypeAlias = "Index | int | tuple[int, Index | int]"
"""The indices of an axis: their number, from 0 on, or a pair (low, high), half-open."""

LARGEST = 2**63
"""No array has more elements."""


@dataclass(frozen=True, slots=True)
class Extents:
    """The data of a space: first index, number of points, and staggering, axis by axis.

    `least` has the sizes that are known to be larger than one, with what they are at least.
    """

    lower: tuple[int, ...]
    shape: tuple[Affine, ...]
    staggered: tuple[bool, ...]
    least: Least = ()


class Space:
    """An index set ``lower <= index < lower + shape`` in NumPy axis order.

    C order of the indices is the order of rows everywhere: in sweeps, in `to_scipy` and in
    ``x.ravel()``.

    Parameters
    ----------
    *shape
        1 to 4 extents: positive integers, or affine expressions of `ssr.size` and `ssr.sizes`. A
        pair (low, high) stands for the indices ``low <= index < high``, where low is an integer.

    Raises
    ------
    EmptySpaceError
        If an extent is zero or negative.
    SpaceError
        If the number of extents is not 1 to 4, or a pair stands alone: that may be meant for two
        extents. One axis from 1 to n is ``ssr.Space(n).grow((-1, 0))``.

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

    __slots__ = ("axes", "data")

    def __init__(self, *shape: Extent) -> None:
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            raise SpaceError(
                "The extents of a space are given one by one.",
                hint="Write ssr.Space(*shape); along one axis, low to high is "
                "ssr.Space(high).grow((-low, 0)).",
            )
        if not 1 <= len(shape) <= 4:
            raise SpaceError(f"A space has 1 to 4 dimensions, not {len(shape)}.")
        pairs = [_bounds(s) for s in shape]
        extents = tuple(affine(high) - low for low, high in pairs)
        least = merged(*(least_of(high) for _, high in pairs))
        self._set(Extents(tuple(low for low, _ in pairs), extents, (False,) * len(shape), least))

    def _set(self, data: Extents) -> None:
        for axis, extent in enumerate(data.shape):
            if _most(extent, dict(data.least)) < 1:
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

    @classmethod
    def _from(cls, data: Extents) -> Space:
        space = cls.__new__(cls)
        space._set(data)
        return space

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
    def lower(self) -> tuple[int, ...]:
        """First index of each axis."""
        return self.data.lower

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
        return tuple(sorted(frozenset().union(*(s.names() for s in self.data.shape))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __repr__(self) -> str:
        lower, shape = self.data.lower, self.data.shape
        parts = [
            str(s) if low == 0 else f"{low}:{s + low}" for low, s in zip(lower, shape, strict=True)
        ]
        parts += [] if self.location == "cells" else [self.location]
        parts += [f"{name} >= {least}" for name, least in self.data.least]
        return f"Space({', '.join(parts)})"

    def __contains__(self, point: object) -> bool:
        index = point if isinstance(point, tuple) else (point,)
        if len(index) != self.ndim:
            raise SpaceError(f"A point of {len(index)} indices is asked for in {self!r}.")
        sizes = sizes_known.get()
        if sizes is not None and all(type(p) is int for p in index):
            edges = zip(self.data.lower, self.data.shape, strict=True)
            return all(
                0 <= p - low < n.evaluate(sizes) for p, (low, n) in zip(index, edges, strict=True)
            )
        return bool(self.condition(tuple(affine(p) for p in index)))

    def grow(self, *width: int | tuple[int, int]) -> Space:
        """Return the space with ghost points: same coordinates, more of them.

        Parameters
        ----------
        *width
            Points added on both sides: one integer for all axes, or one entry for each axis, an
            integer or a pair (low, high). Negative widths shrink.

        Examples
        --------
        >>> import ssr
        >>> ssr.Space(8, 8).grow((1, 2), 0)
        Space(-1:10, 8)
        """
        entries = width * self.ndim if len(width) == 1 else width
        if len(entries) != self.ndim:
            raise ArgumentError(f"grow got {len(width)} widths for {self.ndim} axes.")
        pairs = [_pair(w) for w in entries]
        lower = tuple(low - w for low, (w, _) in zip(self.data.lower, pairs, strict=True))
        shape = tuple(s + a + b for s, (a, b) in zip(self.data.shape, pairs, strict=True))
        return Space._from(replace(self.data, lower=lower, shape=shape))

    def slab(self, axis: int, first: int, stop: int) -> Space:
        """Return the points whose index along an axis is at least the first and before the stop.

        They need not be points of this space.

        Examples
        --------
        >>> import ssr
        >>> ssr.Space(8, 8).slab(0, 0, 2)
        Space(2, 8)
        """
        axis = self._axis(axis)
        low, high = integer(first), integer(stop)
        if low is None or high is None:
            raise ArgumentError(
                f"A slab from {first!r} to {stop!r} has bounds that are no integers."
            )
        lower, shape = list(self.data.lower), list(self.data.shape)
        lower[axis], shape[axis] = low, affine(high - low)
        return Space._from(replace(self.data, lower=tuple(lower), shape=tuple(shape)))

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
            raise ArgumentError(f"A vector has one or more components, not {components!r}.")
        return VectorSpace(count, self)

    def faces(self, axis: int) -> Space:
        """Return the faces normal to an axis: one point more along it; face f is below cell f."""
        return self._stagger({self._axis(axis)})

    def nodes(self) -> Space:
        """Return the corners of the cells: one point more along each axis."""
        return self._stagger(set(range(self.ndim)))

    def _axis(self, axis: int) -> int:
        """Return the number of an axis, counted from the first one."""
        found = integer(axis)
        if found is None or not -self.ndim <= found < self.ndim:
            raise ArgumentError(f"Axis {axis!r} of a space with {self.ndim} axes.")
        return found % self.ndim

    def _stagger(self, axes: set[int]) -> Space:
        if any(self.data.staggered):
            raise SpaceError(f"{self!r} is staggered already; start from its cells.")
        shape = tuple(s + (a in axes) for a, s in enumerate(self.data.shape))
        staggered = tuple(a in axes for a in range(self.ndim))
        return Space._from(replace(self.data, shape=shape, staggered=staggered))

    def times(self, other: Space) -> Space:
        """Return the space of pairs of points: the axes of this space, then those of the other."""
        if not isinstance(other, Space):
            raise ArgumentError(f"The space of pairs with {other!r}, which is no space.")
        ours, theirs = self.data, other.data
        return Space._from(
            Extents(
                ours.lower + theirs.lower,
                ours.shape + theirs.shape,
                ours.staggered + theirs.staggered,
                merged(ours.least, theirs.least),
            )
        )

    def indices(self) -> tuple[Affine, ...]:
        """Return the index names as expressions: the identity map."""
        return tuple(Affine.name(a) for a in self.axes)

    def condition(self, point: Sequence[Affine] | None = None) -> Condition:
        """Return the condition that a point lies in the space."""
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
        if not isinstance(sizes, Mapping):
            raise ArgumentError(f"Sizes are a dictionary by name, not {sizes!r}.")
        for name in self.sizes:
            if name not in sizes:
                raise UnboundError(f"No value is given for the size {name}.")
        self.check_least(sizes)
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

    def check_least(self, sizes: Mapping[str, int]) -> None:
        """Check that sizes are as large as they are declared to be.

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
        return tuple((low, low + n) for low, n in zip(self.data.lower, shape, strict=True))

    def split(self, *parts: int, sizes: Mapping[str, int] | None = None) -> tuple[Box, ...]:
        """Return the space cut into boxes, ``parts`` of nearly equal length along each axis.

        Parameters
        ----------
        *parts
            Numbers of parts, one for each axis.
        sizes
            The integers of symbolic sizes.

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
        found = {}
        for name in self.sizes:
            value = integer((sizes or {}).get(name))
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


def _bounds(extent: Any) -> tuple[int, Any]:
    """Return the first index of an axis, and the one after its last."""
    if not isinstance(extent, (tuple, list)):
        return 0, extent
    low = integer(extent[0]) if len(extent) == 2 else None
    if low is None:
        raise SpaceError(
            f"An axis is given as {extent!r}.",
            hint="Give its extent, or a pair (low, high) whose low is an integer.",
        )
    return low, extent[1]


def _most(extent: Affine, least: Mapping[str, int]) -> float:
    """Return the largest value of an extent, for sizes from 1 on, or from what is least."""
    if any(not isinstance(atom, str) or factor > 0 for atom, factor in extent.terms):
        return math.inf
    return extent.evaluate({atom: least.get(atom, 1) for atom in extent.names()})


def _pair(width: Any) -> tuple[int, int]:
    """Return a width as the numbers of points added below and above."""
    whole = integer(width)
    if whole is not None:
        return whole, whole
    pair = [integer(w) for w in width] if isinstance(width, (tuple, list)) else []
    if len(pair) == 2 and pair[0] is not None and pair[1] is not None:
        return pair[0], pair[1]
    raise ArgumentError(f"A width is an integer or a pair of integers, not {width!r}.")


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

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of the components of a field."""
        return tuple(f"{name}[{n}]" for n in range(self.components))

    def parts(self, name: str, array: Any) -> list[Any]:
        """Return the components of an array.

        Raises
        ------
        ArgumentError, ShapeError
            If it is no array with this number of components.
        """
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
        if not all(s.is_constant for s in space.data.shape):
            domain = domain & Domain.of(rows.axes, space.nonempty() & _positive(space))
    return domain


def _positive(space: Space) -> Condition:
    """Return the condition that the sizes are what they are at least, where rows do not say it."""
    extents, least = space.data.shape, dict(space.data.least)
    names = sorted(frozenset().union(*(e.names() for e in extents)))
    said = {n for n in names if n not in least and Affine.name(n) in extents}
    lowest = ((Affine.name(n) - least.get(n, 1), ">= 0") for n in names if n not in said)
    return Condition((tuple(lowest),))
