"""Block-edge synchronisation: points that several blocks hold become equal.

A node on a linked side is a point of both blocks, one on an edge or in a corner of more. Each block
holds a copy; synchronisation replaces all copies of a point by their mean, or by that of its owner.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

import ssr
from ssr.affine import Affine
from ssr.errors import ArgumentError, ShapeError, SpaceError
from ssr.expression import Expression
from ssr.external import External, Tables, extend
from ssr.sets import Domain
from ssr.vectors import Vector, VectorSpace

from .chain import declared, kernel_dtype
from .evaluate import indices, table
from .grid import Grid, GridSpace
from .pieces import Part, Piece, Tap
from .ruled import LARGE, several
from .tables import form_of, tables
from .write import Form, source

if TYPE_CHECKING:
    import scipy.sparse

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
How: TypeAlias = Literal["average", "owner"]
Orthant: TypeAlias = tuple[int, ...]


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
        changes where two blocks count in opposite directions.
    how
        ``"average"``: all copies become their mean; ``"owner"``: that of the lowest block.
    weights
        A positive number for each block, by which its copies count in the mean; all alike by
        default.
    basis
        For vectors, numbers of shape (m, components, blocks, *points): the components of a copy
        times its basis are the same vector of m numbers for all copies. Vectors are averaged so,
        and returned to the basis of each copy.

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
    kinds = list(spaces)
    given = [k.space if isinstance(k, VectorSpace) else k for k in kinds]
    points = [p for p in given if isinstance(p, GridSpace)]
    if not points or len(points) < len(given):
        raise SpaceError(
            "synchronise takes spaces of a grid.", hint="Write bc.synchronise(grid.cells.nodes())."
        )
    grid = points[0].grid
    if any(p.grid is not grid or p.owned is not p for p in points):
        raise SpaceError("synchronise takes spaces of one grid, without ghosts.")
    ndim = len(grid.shape)
    normal = len(points) > 1
    staggered = [p.data.staggered[1:] for p in points]
    if normal and staggered != [tuple(a == b for a in range(ndim)) for b in range(ndim)]:
        raise SpaceError(
            "Several spaces are the faces normal to each axis, in order.",
            hint="Write bc.synchronise(*(grid.cells.faces(a) for a in range(ndim))).",
        )
    if not normal and not all(staggered[0]):
        raise SpaceError(
            f"{points[0]!r} has no points that several blocks share.", hint="Nodes have."
        )
    components = [k.components if isinstance(k, VectorSpace) else None for k in kinds]
    if normal and any(c is not None for c in components):
        raise SpaceError("The components of a flux are fields of numbers.")
    if how not in ("average", "owner"):
        raise ArgumentError(f'how is "average" or "owner", not {how!r}.')
    counts = _weights(weights, grid.count)
    if basis is not None:
        basis = table("synchronise", "basis", basis)
        fits = basis.ndim == 3 + ndim and basis.shape[1:3] == (components[0], grid.count)
        if components[0] is None or not fits:
            raise ShapeError(
                f"The basis has shape {basis.shape}.",
                hint="It is (m, components, blocks, *points), for a vector space.",
            )
        if not np.isfinite(basis).all():
            raise ArgumentError("The basis has a number that is not finite.")
    return Synchronise(grid, tuple(points), components[0], how, counts, basis)


def _weights(weights: Sequence[float] | None, count: int) -> tuple[float, ...]:
    if weights is None:
        return (1.0,) * count
    found = table("synchronise", "weights", weights)
    if found.shape != (count,):
        raise ShapeError(f"weights has shape {found.shape}; there are {count} blocks.")
    if not (np.isfinite(found).all() and (found > 0).all()):
        raise ArgumentError("The weights of blocks are positive numbers.")
    return tuple(map(float, found))


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of the points of a part of a block's surface.

    Attributes
    ----------
    field, block
        Where it is.
    orthant
        The part of that block's surface: -1 and 1 for axes at an end.
    index
        Its index, in that of the first copy.
    sign
        1, or -1 where fluxes count in the opposite direction.
    """

    field: int
    block: int
    orthant: Orthant
    index: tuple[Affine, ...]
    sign: int


@dataclass(frozen=True, eq=False)
class Synchronise:
    """The matrix that makes the copies of shared points equal; made by `bc.synchronise`."""

    grid: Grid
    points: tuple[GridSpace, ...]
    components: int | None
    how: How
    weights: tuple[float, ...]
    basis: Array | None

    __array_ufunc__ = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"synchronise({', '.join(p.location for p in self.points)})"

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The spaces of the fields."""
        if self.components is None:
            return self.points
        return tuple(p.vector(self.components) for p in self.points)

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
            made = [np.array(a, kernel_dtype(a)) for a in each]
            self._program(*made)
        return tuple(made) if many else made[0]

    def _applied(self, each: list[Any]) -> list[Any]:
        if self.components is None:
            return list(extend(_Step(self), each))
        (vector,) = each
        if not isinstance(vector, Vector) or len(vector) != self.components:
            raise SpaceError(f"{self.name} is applied to vectors of {self.components} components.")
        return [Vector(list(extend(_Step(self), list(vector))))]

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

    # -- copies ----------------------------------------------------------------------------------

    def copies(self) -> Iterator[tuple[Copy, ...]]:
        """Yield the copies of each part of a block's surface that is shared, the part's own first.

        A part has its indices fixed at ends of some axes, and runs between the ends of the others.
        """
        for field, point in enumerate(self.points):
            places = [(-1, 0, 1) if s else (0,) for s in point.data.staggered[1:]]
            ends = [{-1: Affine.of(0), 1: n - 1} for n in point.data.shape[1:]]
            for orthant in filter(any, product(*places)):
                own = tuple(
                    end.get(place, Affine.name(name))
                    for name, end, place in zip(self._names, ends, orthant, strict=True)
                )
                for block in range(self.grid.count):
                    found = self._closed(Copy(field, block, orthant, own, 1))
                    if len(found) > 1:
                        yield found

    def _closed(self, first: Copy) -> tuple[Copy, ...]:
        """Return a copy with all that links lead to from it."""
        found, new = [first], [first]
        while new:
            here = new.pop()
            for there in self._across(here):
                if there not in found:
                    found.append(there)
                    new.append(there)
        return tuple(found)

    def _across(self, here: Copy) -> Iterator[Copy]:
        """Yield the copies beyond the linked sides of a part of a block's surface."""
        shape = self.points[0].grid.cells.data.shape[1:]
        staggered = self.points[here.field].data.staggered[1:]
        for link in self.grid.links.links_of(here.block):
            axis = link.here.axis
            if here.orthant[axis] != (1 if link.here.end == "high" else -1):
                continue
            maps = link.source(shape, staggered)
            index = tuple(here.index[a] * sign + offset for a, sign, offset in maps)
            orthant = [here.orthant[a] * sign for a, sign, _ in maps]
            # Across the side itself the distance outside is one inside: ends change sides.
            orthant[link.there.axis] = 1 if link.there.end == "high" else -1
            sign, field = here.sign, here.field
            if len(self.points) > 1:
                field = link.seen(staggered).index(True)
                (sign,) = (here.sign * s for (a, s) in link.turn if a == axis)
            yield Copy(field, link.there.block, tuple(orthant), index, sign)

    def parts(self, sizes: Mapping[str, int]) -> Iterator[Part]:
        """Yield what is made, for given sizes."""
        count = self.components or 1
        for copies in self.copies():
            first = copies[0]
            box = self._box(first, sizes)
            if any(low >= high for low, high in box):
                continue
            ordered = sorted(copies, key=_place)
            if self.how == "owner":
                used = [(ordered[0], 1.0)]
                if _place(ordered[0]) == _place(ordered[1]):
                    raise ArgumentError(
                        f"{self.name}: of points on a side that is folded onto itself none is the "
                        "owner.",
                        hint='Use how="average".',
                    )
                if ordered[0] is first:
                    continue
            else:
                total = sum(self.weights[c.block] for c in copies)
                used = [(c, self.weights[c.block] / total) for c in ordered]
            if self.basis is not None:
                yield from self._turned(first, used, box, sizes)
                continue
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
                self._tap(copy, d, matrix[..., c, d], box, sizes)
                for copy, matrix in weights
                for d in range(self.components)
            )
            yield self._piece(first, c, box, taps)

    def _at(self, copy: Copy, box: Sequence[tuple[int, int]], sizes: Mapping[str, int]) -> Array:
        assert self.basis is not None
        names = indices(self._names, tuple(box), sizes)
        places = np.broadcast_arrays(
            *(a.evaluate(names) + 0 * sum(names[n] for n in self._names) for a in copy.index)
        )
        every: Any = slice(None)
        found: Array = self.basis[(every, every, copy.block, *places)]
        return found

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"x{a}" for a in range(len(self.grid.shape)))

    def _box(self, copy: Copy, sizes: Mapping[str, int]) -> list[tuple[int, int]]:
        extents = [n.evaluate(sizes) for n in self.points[copy.field].data.shape[1:]]
        staggered = self.points[copy.field].data.staggered[1:]
        box = []
        for place, n, s in zip(copy.orthant, extents, staggered, strict=True):
            inner = (1, n - 1) if s else (0, n)
            box.append({-1: (0, 1), 1: (n - 1, n)}.get(place, inner))
        return box

    def _piece(
        self, first: Copy, c: int, box: Sequence[tuple[int, int]], taps: tuple[Tap, ...]
    ) -> Piece:
        ndim = len(box)
        return Piece(
            target=first.field * (self.components or 1) + c,
            start=(first.block, *(low for low, _ in box)),
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
        start = {**sizes, **{n: low for n, (low, _) in zip(self._names, box, strict=True)}}
        return Tap(
            source=field,
            start=(copy.block, *(a.evaluate(start) for a in copy.index)),
            steps=tuple(
                (0, *(dict(a.terms).get(name, 0) for a in copy.index)) for name in self._names
            ),
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
        names = self.of.points[0].sizes
        likely = {n: LARGE + 4 * k for k, n in enumerate(names)}
        axes = [whole.ndim for _, whole in self.fields]
        made = (
            form_of(list(self.of.parts(sizes)), axes, staged=True)
            for sizes in several(likely, names)
        )
        return reduce(operator.or_, made)

    def tables(self, sizes: Mapping[str, int], dtype: Any) -> Tables:
        """Return what the function works through."""
        made = tables(list(self.of.parts(sizes)), self._form, dtype, staged=True)
        return Tables(made.links, made.weights, made.scratch)

    def reference(
        self, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
    ) -> None:
        """Do the same by the SciPy matrix."""
        known = {n: v for n, v in sizes.items() if n in self.of.points[0].sizes}
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


def _place(copy: Copy) -> tuple[Any, ...]:
    """Return the part of a surface a copy is of; it puts copies in one order for all of them.

    Where a side is folded onto itself there are two copies of one part.
    """
    return copy.block, copy.field, copy.orthant
