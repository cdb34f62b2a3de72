"""Multigrid coarsening: interpolation, and Galerkin products stored by diagonals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np

from ..algebra.lines import distance
from ..algebra.matrix_data import MatrixData
from ..algebra.oracle import need
from ..blocks.block_matrix import BlockMatrix
from ..blocks.declare import matrix
from ..blocks.dense import define_blocks
from ..errors import ArgumentError, SpaceError, UnsupportedError
from ..matrices.matrix import Matrix
from ..points.affine import Affine, Offset
from ..points.numbers import allocated, integer
from ..programs import reductions
from ..programs.matrix_rows import entries
from ..programs.program import Program, own_program
from ..programs.vectors import Vector
from ..public import is_one_of
from ..spaces.space import Space
from ..symbols.index import affine, sizes
from . import vectors
from .grid_sizes import is_odd, too_many

Taps = list[tuple[Any, float]]


def interpolation(
    fine: Space, coarse: Space, *, centering: Literal["vertex", "cell"] = "vertex"
) -> Matrix:
    """Return linear interpolation between grids, one of which has half as many points.

    Parameters
    ----------
    fine, coarse
        Spaces of rows and columns.
    centering
        How the grids lie. With ``"vertex"`` every other fine point is a coarse one: along an axis
        with c coarse points there are ``2 c + 1`` fine ones, where the first and the last are fine
        only and values beyond them are zero; or ``2 c - 1``, where the first and the last are
        coarse points too. With ``"cell"`` a coarse cell is two fine ones, ``2 c`` in all, whose
        centres lie a quarter of its width from its own; the first and the last take the value of
        their coarse cell. In both cases an axis with c fine points is not coarsened.

    Raises
    ------
    SpaceError
        If the extents do not fit.

    Examples
    --------
    >>> import ssr
    >>> ssr.solvers.interpolation(ssr.Space(5), ssr.Space(2)).to_scipy().toarray()
    array([[0.5, 0. ],
           [1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ],
           [0. , 0.5]])
    >>> cells = ssr.Space(4), ssr.Space(2)
    >>> ssr.solvers.interpolation(*cells, centering="cell").to_scipy().toarray()
    array([[1.  , 0.  ],
           [0.75, 0.25],
           [0.25, 0.75],
           [0.  , 1.  ]])

    References
    ----------
    Briggs, Henson and McCormick, A Multigrid Tutorial (2nd ed. 2000), chapter 3; Trottenberg,
    Oosterlee and Schüller, Multigrid (2001), section 2.8.4.
    """
    for what, space in (("fine", fine), ("coarse", coarse)):
        if not isinstance(space, Space):
            raise ArgumentError(f"{what} must be a Space, not {space!r}.")
    if not is_one_of(centering, ("vertex", "cell")):
        raise ArgumentError(f'centering must be "vertex" or "cell", not {centering!r}.')
    if (
        fine.ndim != coarse.ndim
        or fine.location != coarse.location
        or any(low != Affine() for low in fine.data.lower + coarse.data.lower)
    ):
        raise SpaceError(f"There is no interpolation from {coarse!r} to {fine!r}.")
    axes = [_axis(*extents, centering) for extents in zip(fine.shape, coarse.shape, strict=True)]

    def interpolation(*index: Any) -> Iterator[Any]:
        for taps in product(*(taps(here) for taps, here in zip(axes, index, strict=True))):
            column = tuple(place for place, _ in taps)
            if column in coarse:
                yield column, float(np.prod([weight for _, weight in taps]))

    return matrix(rows=fine, cols=coarse)(interpolation)


def _axis(fine: Any, coarse: Any, centering: str) -> Callable[[Any], Taps]:
    """Return the function from a fine point to its coarse points and weights along an axis."""
    many, few = affine(fine), affine(coarse)
    if many == few:
        return lambda here: [(here, 1.0)]
    if centering == "cell" and many == 2 * few:
        return partial(_of_cells, coarse)
    if centering == "vertex" and many in (2 * few + 1, 2 * few - 1):
        return partial(_of_points, 1 if many == 2 * few + 1 else 0)
    known = "2*c + 1, 2*c - 1" if centering == "vertex" else "2*c"
    raise SpaceError(
        f"An axis of {coarse} {centering} does not coarsen one of {fine}.",
        hint=f"An axis with c coarse {centering} has {known} or c fine ones.",
    )


def _of_points(shift: int, fine: Any) -> Taps:
    """Return the coefficients of a fine point; ``shift`` is the index of the first coarse point."""
    here = fine - shift
    if here % 2 == 0:
        return [(here // 2, 1.0)]
    return [((here - 1) // 2, 0.5), ((here + 1) // 2, 0.5)]


def _of_cells(count: Any, here: Any) -> Taps:
    """Return the coefficients of a fine cell, for a count of coarse cells."""
    own = here // 2
    next_one = own - 1 if here % 2 == 0 else own + 1
    if next_one >= 0 and next_one < count:
        return [(own, 0.75), (next_one, 0.25)]
    return [(own, 1.0)]


@dataclass(frozen=True)
class Hierarchy:
    """Matrices of several grids, finest first, with the prolongations between them.

    Attributes
    ----------
    refresh
        Computes stored entries again.
    magnitude
        Returns the size of the terms that entries of the coarsest matrix are computed from; 0 if
        these are not computed from numbers.
    """

    matrices: tuple[Matrix, ...]
    prolongations: tuple[Matrix, ...]
    refresh: Callable[[], None] = lambda: None
    magnitude: Callable[[], float] = float


def coarsened(A: Any, levels: Any) -> Hierarchy:
    """Return a matrix with its Galerkin products; see `Multigrid.galerkin`."""
    count = integer(levels)
    if not isinstance(A, Matrix) or count is None or count < 1:
        raise ArgumentError(
            f"Galerkin products need a matrix and a number of levels, not {A!r} and {levels!r}.",
            hint="Give a matrix, and the number of grids: Multigrid.galerkin(A, 4).",
        )
    data = A.definition
    if data.is_local:
        raise UnsupportedError(
            f"Galerkin products of {A.name}: its entries depend on the boxes of a distribution.",
            hint="Take those of the whole matrix; smoothers may stay within boxes.",
        )
    if data.distributed and any(low != Affine() for low in data.rows.data.lower):
        raise SpaceError(
            f"Galerkin products on ranks of {A.name}: the indices of {data.rows!r} do not begin "
            "with 0.",
            hint="Write the matrix for rows and columns whose indices do.",
        )
    if data.data or any(size in data.bound for size in data.sizes):
        return _stored(A, count)
    matrices, prolongations = [A], list[Matrix]()
    for _ in range(count - 1):
        fine = matrices[-1].rows
        if not all(is_odd(extent) for extent in fine.shape):
            raise too_many(A.rows.shape, fine.shape, count)
        coarse = Space(*((extent - 1) // 2 for extent in fine.shape))
        P = interpolation(fine, coarse)
        prolongations.append(P)
        matrices.append(P.T @ matrices[-1] @ P)
    return Hierarchy(tuple(matrices), tuple(prolongations))


def _stored(A: Matrix, levels: int) -> Hierarchy:
    """Return a matrix with its Galerkin products, whose entries are stored by diagonals.

    The grids but the finest have symbolic sizes, so that one set of kernels serves all of them.
    """
    offsets = _box(A.definition)
    shapes = [A.rows.extent(A.definition.all_sizes())]
    need(A.definition.unbound, A.definition.bound, "data")
    for _ in range(levels - 1):
        if not all(map(is_odd, shapes[-1])):
            raise too_many(shapes[0], shapes[-1], levels)
        shapes.append(tuple(extent // 2 for extent in shapes[-1]))
    if levels == 1:
        return Hierarchy((A,), ())
    fine, coarse, coarsen = _coarsening(A.rows.ndim, offsets)

    @own_program(d=A.rows.vector(len(offsets)))
    def finest(d: Any) -> None:
        d[:] = Vector(entries(A.definition, offsets))

    @own_program(d=fine.vector(len(offsets)))
    def largest(d: Any) -> Any:
        return reductions.max(Vector([abs(diagonal) for diagonal in d]))

    first, *below = _diagonals(A.definition, (fine, coarse), len(offsets), shapes)

    def refresh() -> None:
        finest(first.made)
        for above, here in pairwise((first, *below)):
            coarsen(here.made, above.used)
            if here.used is not here.made:
                vectors.assign(here.used, here.made)

    refresh()
    middle, last = by_diagonals(fine, offsets), by_diagonals(coarse, offsets)
    matrices = [A, *(middle.bind(d=here.used) for here in below[:-1])]
    matrices.append(last.bind(d=below[-1].used))
    P = interpolation(fine, coarse)
    above = (first, *below)[-2].used
    return Hierarchy(
        tuple(matrices), (P,) * (levels - 1), refresh, lambda: 2.0**fine.ndim * largest(above)
    )


@dataclass(frozen=True)
class Diagonals:
    """The diagonals of the matrix of a grid, as a vector field.

    Attributes
    ----------
    made
        Where the next finer grid has the points.
    used
        Where the matrix is used. On ranks that may be fewer of them; else it is the same vector.
    """

    made: vectors.Vector
    used: vectors.Vector


def _diagonals(
    A: MatrixData, grids: tuple[Space, Space], count: int, shapes: Sequence[tuple[int, ...]]
) -> Iterator[Diagonals]:
    """Yield diagonals without values for all grids, finest first."""
    if not A.distributed:
        for shape in shapes:
            array = allocated((count, *shape), _dtype(A))
            yield Diagonals(array, array)
        return
    fine, coarse = (space.vector(count) for space in grids)
    used = vectors.known_as(A.distributed[0], A.rows.vector(count), fine)
    yield Diagonals(used, used)
    for _ in shapes[1:-1]:
        made = vectors.known_as(used, coarse, fine)
        used = vectors.gathered(made)
        yield Diagonals(made, used)
    last = vectors.known_as(used, coarse, coarse)
    yield Diagonals(last, last)


def _dtype(matrix: MatrixData) -> np.dtype[Any]:
    """Return the type of the numbers of a matrix: that of its arrays."""
    arrays = [a for a in matrix.bound.values() if isinstance(a, np.ndarray)]
    return np.result_type(*arrays) if arrays else np.dtype(np.float64)


def _box(matrix: MatrixData) -> tuple[Offset, ...]:
    """Return all offsets up to the largest of the matrix; its coarse products need no others."""
    found = [distance(family) for family in matrix.families]
    if None in found:
        raise SpaceError(
            f"{matrix.name} has columns at no fixed distance from their rows.",
            hint="Give all matrices: Multigrid([A, B], P).",
        )
    most = max((abs(step) for offset in found for step in offset or ()), default=0)
    return tuple(product(range(-max(most, 1), max(most, 1) + 1), repeat=matrix.rows.ndim))


@cache
def _coarsening(ndim: int, offsets: tuple[Offset, ...]) -> tuple[Space, Space, Program]:
    """Return a fine grid, a coarse one, and the program of the Galerkin product between them.

    The product is taken axis by axis, which needs fewer multiplications than all axes at once.
    """
    counts = sizes(" ".join(f"c{axis}" for axis in range(ndim)))
    grids = [
        Space(*(c if axis < done else 2 * c + 1 for axis, c in enumerate(counts)))
        for done in range(ndim + 1)
    ]
    halves = [_halved(axis, *pair, offsets) for axis, pair in enumerate(pairwise(grids))]

    @own_program(made=grids[-1].vector(len(offsets)), d=grids[0].vector(len(offsets)))
    def coarsen(made: Any, d: Any) -> None:
        for half in halves:
            d = half @ d
        made[:] = d

    return grids[0], grids[-1], coarsen


def _halved(axis: int, fine: Space, coarse: Space, offsets: Sequence[Offset]) -> BlockMatrix:
    """Return the matrix from the diagonals of A to those of ``P.T @ A @ P`` along an axis.

    Row I of the product combines the rows ``2 I + 1 + r`` of A, and its column J the columns
    ``2 J + 1 + s``, r and s from -1 to 1. All of these are points of the fine grid if I and J are
    points of the coarse one. Other values of the diagonals, where J is outside, are not read.
    """
    weights = {-1: 0.5, 0: 1.0, 1: 0.5}

    def halved(*index: Any) -> Iterator[Any]:
        for r, weight in weights.items():
            row = (*index[:axis], 2 * index[axis] + 1 + r, *index[axis + 1 :])
            yield row, [[weight * taken(to, of, r) for of in offsets] for to in offsets]

    def taken(to: Offset, of: Offset, r: int) -> float:
        """Return the weight of the column at an offset from fine rows in one of coarse rows."""
        others = to[:axis] + to[axis + 1 :] == of[:axis] + of[axis + 1 :]
        return weights.get(r + of[axis] - 2 * to[axis], 0.0) if others else 0.0

    count = len(offsets)
    return matrix(rows=coarse.vector(count), cols=fine.vector(count))(halved)


def by_diagonals(space: Space, offsets: Sequence[Offset]) -> Matrix:
    """Return the matrix whose entries at each offset from the row are a component of its data d.

    Values of d for columns outside the space are ignored.
    """

    def stored(*index: Any, d: Any) -> Iterator[Any]:
        for component, offset in enumerate(offsets):
            column = tuple(here + step for here, step in zip(index, offset, strict=True))
            yield column, d[(component, *index)]

    data = {"d": space.vector(len(offsets))}
    made: Matrix = define_blocks(stored, space, space, data, outside="zero")
    return made
