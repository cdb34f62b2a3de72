"""Block-edge synchronisation: points that several blocks hold become equal.

A node on a linked side is a point of both blocks, one on an edge or in a corner of more. Each block
holds a copy; synchronisation replaces all copies of a point by their mean, or by that of its owner.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

import ssr
from ssr import Vector
from ssr.errors import ArgumentError, ShapeError, SpaceError
from ssr.extension import Domain, Expression, External, Layout, Tables, VectorSpace, extend

from ..closure.ruled import LARGE, several
from ..fills.operands import declared, kernel_dtype, real
from ..grid.grid import Grid, GridSpace
from ..rules.evaluate import indices, table
from ..tables.machine import Form
from ..tables.machine_source import source
from ..tables.pieces import Part, Piece, Tap
from ..tables.tables import form_of, tables
from .owners import Ranges, owners
from .shared_points import Copy, Shared

if TYPE_CHECKING:
    import scipy.sparse

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
How: TypeAlias = Literal["average", "owner"]


def synchronise(
    *spaces: GridSpace | VectorSpace,
    how: How = "average",
    weights: Sequence[float] | None = None,
    basis: Any = None,
) -> Synchronise:
    """Return the matrix that makes the copies of shared points equal.

    Parameters
    ----------
    *spaces
        Nodes of a grid, or a vector space of them; or the faces normal to each axis, one space
        after the other: then the fields are the components of a flux along the axes, and a sign
        changes where two blocks count in opposite directions. Blocks of several shapes have nodes,
        or faces normal to each axis, for each of `Grid.kinds`.
    how
        ``"average"``: all copies become their mean; ``"owner"``: that of the lowest block, and of
        several on a side that is folded onto itself the one of the lowest index.
    weights
        A positive number for each block, by which its copies count in the mean; all alike by
        default.
    basis
        For vectors, numbers of shape (m, components, blocks, *points): the components of a copy
        times its basis are the same vector of m numbers for all copies. Vectors are averaged so,
        and returned to the basis of each copy. A list has one basis for each kind of blocks.

    Raises
    ------
    SpaceError
        If the spaces have no shared points, or are not of one grid.
    ArgumentError, ShapeError
        If weights or basis do not fit.

    Examples
    --------
    >>> import numpy as np, boundary as bc
    >>> grid = bc.Grid(2 * [(2,)], links=bc.bricks(2))
    >>> bc.synchronise(grid.cells.nodes()) @ np.array([[0.0, 1, 2], [4, 5, 6]])
    array([[0., 1., 3.],
           [3., 5., 6.]])

    References
    ----------
    Mat2Boundary, arXiv 2605.14780.
    """
    points = _points(spaces)
    grid = points[0].grid
    components = _components(spaces, fluxes=not all(points[0].data.staggered[1:]))
    if how not in ("average", "owner"):
        raise ArgumentError(f'how is "average" or "owner", not {how!r}.')
    counts = _weights(weights, grid.count)
    turns = None if basis is None else _basis(basis, points, components)
    return Synchronise(grid, tuple(points), components, how, counts, turns)


def _points(spaces: Sequence[object]) -> list[GridSpace]:
    """Return the points of spaces: the nodes or all faces of each kind of blocks of a grid."""
    points = [k.space if isinstance(k, VectorSpace) else k for k in spaces]
    found = [p for p in points if isinstance(p, GridSpace)]
    if not found or len(found) < len(points):
        raise SpaceError(
            "synchronise takes spaces of a grid.", hint="Write bc.synchronise(grid.cells.nodes())."
        )
    grid = found[0].grid
    if any(p.grid is not grid or p.owned is not p for p in found):
        raise SpaceError("synchronise takes spaces of one grid, without ghosts.")
    kinds, axes = [kind.blocks for kind in grid.kinds], range(grid.ndim)
    blocks, staggered = [p.blocks for p in found], [p.data.staggered[1:] for p in found]
    nodes = all(map(all, staggered)) and blocks == kinds
    faces = [tuple(a == b for a in axes) for b in axes] * len(kinds)
    if nodes or (staggered == faces and blocks == [b for b in kinds for _ in axes]):
        return found
    if len(found) == 1 and not all(staggered[0]):
        raise SpaceError(
            f"{found[0]!r} has no points that several blocks share.", hint="Nodes have."
        )
    raise SpaceError(
        "Several spaces are the nodes of each kind of blocks, or the faces normal to each axis, "
        "in order.",
        hint="Write bc.synchronise(*(kind.nodes() for kind in grid.kinds)), or "
        "bc.synchronise(*(kind.faces(a) for kind in grid.kinds for a in range(ndim))).",
    )


def _components(spaces: Sequence[object], fluxes: bool) -> int | None:
    """Return the number of components, None for fields of numbers."""
    found = {k.components if isinstance(k, VectorSpace) else None for k in spaces}
    if fluxes and found != {None}:
        raise SpaceError("The components of a flux are fields of numbers.")
    if len(found) > 1:
        raise SpaceError("The vectors of all blocks have the same number of components.")
    return found.pop()


def _basis(basis: Any, points: Sequence[GridSpace], components: int | None) -> tuple[Array, ...]:
    """Return the bases of the blocks of each kind."""
    given = list(basis) if len(points) > 1 else [basis]
    if len(given) != len(points):
        raise ShapeError(f"{len(given)} bases are given for {len(points)} kinds of blocks.")
    found = []
    for one, space in zip(given, points, strict=True):
        array = table("synchronise", "basis", one)
        fits = array.ndim == 2 + space.ndim and array.shape[1:3] == (components, len(space.blocks))
        if components is None or not fits:
            raise ShapeError(
                f"The basis has shape {array.shape}.",
                hint="It is (m, components, blocks, *points), for a vector space.",
            )
        if not space.sizes and array.shape[3:] != space.extent({})[1:]:
            raise ShapeError(
                f"The basis has shape {array.shape}; the blocks have {space.extent({})[1:]} points."
            )
        if not np.isfinite(array).all():
            raise ArgumentError("The basis has a number that is not finite.")
        found.append(array)
    return tuple(found)


def _weights(weights: Sequence[float] | None, count: int) -> tuple[float, ...]:
    if weights is None:
        return (1.0,) * count
    found = table("synchronise", "weights", weights)
    if found.shape != (count,):
        raise ShapeError(f"weights has shape {found.shape}; there are {count} blocks.")
    if not (np.isfinite(found).all() and (found > 0).all()):
        raise ArgumentError("The weights of blocks are positive numbers.")
    return tuple(map(float, found))


@dataclass(frozen=True, eq=False)
class Synchronise:
    """The matrix that makes the copies of shared points equal; made by `bc.synchronise`."""

    grid: Grid
    points: tuple[GridSpace, ...]
    components: int | None
    how: How
    weights: tuple[float, ...]
    basis: tuple[Array, ...] | None

    __array_ufunc__ = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"synchronise({', '.join(dict.fromkeys(p.location for p in self.points))})"

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The spaces of the fields."""
        if self.components is None:
            return self.points
        return tuple(p.vector(self.components) for p in self.points)

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes."""
        return tuple(sorted({name for p in self.points for name in p.sizes}))

    def __repr__(self) -> str:
        return f"<Synchronise {', '.join(map(repr, self.kinds))}>"

    def __matmul__(self, x: Any) -> Any:
        """Return synchronised fields: of a field one, of a tuple of fields a tuple."""
        many = isinstance(x, (tuple, list))
        each = list(x) if many else [x]
        if len(each) != len(self.points):
            raise ArgumentError(f"{self.name} is applied to {len(self.points)} fields.")
        if isinstance(each[0], (Expression, Vector)):
            made: Any = self._applied(each)
        else:
            arrays = [real(self.name, a) for a in each]
            made = [np.array(a, kernel_dtype(a)) for a in arrays]
            self._program(*made)
        return tuple(made) if many else made[0]

    def _applied(self, each: list[Any]) -> list[Any]:
        count = self.components
        if count is None:
            return list(extend(_Step(self), each))
        if any(not isinstance(v, Vector) or len(v) != count for v in each):
            raise SpaceError(f"{self.name} is applied to vectors of {count} components.")
        made = list(extend(_Step(self), [part for vector in each for part in vector]))
        return [Vector(made[n : n + count]) for n in range(0, len(made), count)]

    @cached_property
    def _program(self) -> ssr.Program:
        names = [f"x{n}" for n in range(len(self.points))]

        def body(*fields: Any) -> None:
            for field, made in zip(fields, self._applied(list(fields)), strict=True):
                field[:] = made

        body.__name__ = "synchronise"
        return declared(body, dict(zip(names, self.kinds, strict=True)))

    def apply(self, *fields: Array) -> None:
        """Synchronise arrays in place."""
        self._program(*fields)

    @cached_property
    def shared(self) -> Shared:
        """The points that several blocks hold."""
        return Shared(self.grid, self.points)

    def parts(self, sizes: Mapping[str, int]) -> Iterator[Part]:
        """Yield what is made, for given sizes."""
        for copies in self.shared.copies():
            first = copies[0]
            box = self.shared.box(first, sizes)
            if any(low >= high for low, high in box):
                continue
            ordered = sorted(copies, key=lambda copy: copy.place)
            if self.how == "owner":
                for owner, part in owners(self.shared, first, ordered, box, sizes):
                    yield from self._sums(first, [(owner, 1.0)], part, sizes)
            else:
                total = sum(self.weights[c.block] for c in copies)
                used = [(c, self.weights[c.block] / total) for c in ordered]
                yield from self._sums(first, used, box, sizes)

    def _sums(
        self,
        first: Copy,
        used: Sequence[tuple[Copy, float]],
        box: Ranges,
        sizes: Mapping[str, int],
    ) -> Iterator[Part]:
        """Yield weighted sums of copies, component by component."""
        if self.basis is not None:
            yield from self._turned(first, used, box, sizes)
            return
        count = self.components or 1
        for c in range(count):
            taps = tuple(
                self._tap(copy, copy.field * count + c, w * copy.sign * first.sign, box, sizes)
                for copy, w in used
            )
            yield self._piece(first, c, box, taps)

    def _turned(
        self,
        first: Copy,
        used: Sequence[tuple[Copy, float]],
        box: Sequence[tuple[int, int]],
        sizes: Mapping[str, int],
    ) -> Iterator[Part]:
        """Yield vectors averaged in the common basis."""
        assert self.basis is not None
        assert self.components is not None
        back = np.moveaxis(self._at(first, box, sizes), (0, 1), (-2, -1))
        back = np.linalg.pinv(back)
        weights = [
            (copy, w * back @ np.moveaxis(self._at(copy, box, sizes), (0, 1), (-2, -1)))
            for copy, w in used
        ]
        for c in range(self.components):
            taps = tuple(
                self._tap(copy, copy.field * self.components + d, matrix[..., c, d], box, sizes)
                for copy, matrix in weights
                for d in range(self.components)
            )
            yield self._piece(first, c, box, taps)

    def _at(self, copy: Copy, box: Sequence[tuple[int, int]], sizes: Mapping[str, int]) -> Array:
        assert self.basis is not None
        names = indices(self.shared.names, tuple(box), sizes)
        every: Any = slice(None)
        whole = 0 * sum(names[n] for n in self.shared.names)
        places = np.broadcast_arrays(*(a.evaluate(names) + whole for a in copy.index))
        place: Any = (every, every, *self.shared.at(copy, places))
        points, given = self.points[copy.field].extent(sizes)[1:], self.basis[copy.field].shape
        if given[3:] != points:
            raise ShapeError(f"The basis has shape {given}; the blocks have {points} points.")
        found: Array = self.basis[copy.field][place]
        return found

    def _piece(
        self, first: Copy, c: int, box: Sequence[tuple[int, int]], taps: tuple[Tap, ...]
    ) -> Piece:
        ndim = len(box)
        return Piece(
            target=first.field * (self.components or 1) + c,
            start=self.shared.at(first, tuple(low for low, _ in box)),
            steps=tuple((0, *(int(a == b) for b in range(ndim))) for a in range(ndim)),
            extents=tuple(high - low for low, high in box),
            taps=taps,
        )

    def _tap(
        self,
        copy: Copy,
        field: int,
        weight: Any,
        box: Sequence[tuple[int, int]],
        sizes: Mapping[str, int],
    ) -> Tap:
        names = self.shared.names
        start = {**sizes, **{n: low for n, (low, _) in zip(names, box, strict=True)}}
        return Tap(
            source=field,
            start=self.shared.at(copy, tuple(a.evaluate(start) for a in copy.index)),
            steps=tuple((0, *(dict(a.terms).get(name, 0) for a in copy.index)) for name in names),
            weight=weight,
        )

    # -- as a matrix -----------------------------------------------------------------------------

    def to_scipy(self, **sizes: int) -> scipy.sparse.csr_array:
        """Return the matrix; rows are numbered field by field, then component by component.

        It is made of the classes of equal points, found point by point.
        """
        from .oracle import synchronisation

        return synchronisation(self, sizes)


class _Step(External):
    """Synchronisation as a step of programs."""

    data = ()

    def __init__(self, of: Synchronise) -> None:
        self.of = of
        self.name = of.name
        self.fields = tuple((p, p) for p in of.points for _ in range(of.components or 1))

    def source(self, name: str) -> str:
        """Return the text of the function."""
        return source(self._form, name)

    @cached_property
    def _form(self) -> Form:
        names = self.of.sizes
        likely = {n: LARGE + 4 * k for k, n in enumerate(names)}
        made = (
            form_of(list(self.of.parts(sizes)), len(self.fields), staged=True)
            for sizes in several(likely, names)
        )
        return reduce(operator.or_, made)

    def tables(self, sizes: Mapping[str, int], layouts: Sequence[Layout], dtype: Any) -> Tables:
        """Return what the function works through."""
        made = tables(list(self.of.parts(sizes)), self._form, layouts, dtype, staged=True)
        return Tables(made.links, made.weights, made.scratch)

    def reference(
        self, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
    ) -> None:
        """Do the same by the SciPy matrix."""
        known = {n: v for n, v in sizes.items() if n in self.of.sizes}
        made = self.of.to_scipy(**known) @ np.concatenate([a.ravel() for a in arrays])
        place = 0
        for a in arrays:
            a[...] = made[place : place + a.size].reshape(a.shape)
            place += a.size

    def wanted(self, reads: Sequence[Domain], kept: Sequence[bool]) -> External:
        """Return the step itself."""
        return self

    def joined(self, other: External) -> External | None:
        """Return None: each synchronisation is a pass of its own."""
        return None
