"""`boundary.synchronize`: define synchronizations, and check spaces, weights and bases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssr.errors import ArgumentError, ShapeError, SpaceError
from ssr.extension import Array, VectorSpace, is_one_of

from ..grid.grid import GridSpace
from ..rules.arguments import table
from .means import How, Means
from .point_values import PointValues
from .synchronize import Synchronize


def synchronize(
    *spaces: GridSpace | VectorSpace,
    how: How = "average",
    weights: Any = None,
    basis: Any = None,
) -> Synchronize:
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
        Positive weights of copies in the mean, equal by default: one for each block; or one for
        each point, of shape (blocks, *points), in a list of one array for each field if there are
        several. Or a function, as below.
    basis
        For vectors, numbers of shape (m, components, blocks, *points): the components of a copy
        times its basis are the same vector of m numbers for all copies. The average is taken of
        these vectors, and returned to the basis of each copy. A list has one basis for each kind of
        blocks. It is copied. Or a function of a block's number and of indices, an array for each
        axis, that returns (m, components, *points) for these points: it is called for the shared
        points only, when sizes are known, and again if they change.

    Raises
    ------
    SpaceError
        If the spaces have no shared points, or are not of one grid.
    ArgumentError, ShapeError
        If weights or basis do not fit.

    Examples
    --------
    >>> import numpy as np, boundary as bc
    >>> grid = bc.Grid(2 * [(2,)], links=bc.topologies.bricks(2))
    >>> bc.synchronize(grid.cells.nodes()) @ np.array([[0.0, 1, 2], [4, 5, 6]])
    array([[0., 1., 3.],
           [3., 5., 6.]])
    >>> at_points = np.array([[1.0, 1, 3], [1, 1, 1]])
    >>> bc.synchronize(grid.cells.nodes(), weights=at_points) @ np.array([[0.0, 1, 2], [6, 5, 6]])
    array([[0., 1., 3.],
           [3., 5., 6.]])

    References
    ----------
    Mat2Boundary, arXiv 2605.14780.
    """
    points = _points(spaces)
    components = _components(spaces, fluxes=not all(points[0].data.staggered[1:]))
    if not is_one_of(how, ("average", "owner")):
        raise ArgumentError(f'how must be "average" or "owner", not {how!r}.')
    counts = _weights(weights, points)
    turns = None if basis is None else _basis(basis, points, components)
    return Synchronize(Means(tuple(points), components, how, counts, turns))


def _points(spaces: Sequence[object]) -> list[GridSpace]:
    """Return the points of spaces: the nodes or all faces of each kind of blocks of a grid."""
    points = [k.space if isinstance(k, VectorSpace) else k for k in spaces]
    found = [p for p in points if isinstance(p, GridSpace)]
    if not found or len(found) < len(points):
        raise SpaceError(
            "synchronize takes spaces of a grid.", hint="Write bc.synchronize(grid.cells.nodes())."
        )
    grid = found[0].grid
    if any(p.grid is not grid or p.owned != p for p in found):
        raise SpaceError("synchronize takes spaces of one grid, without ghosts.")
    kinds, axes = [kind.blocks for kind in grid.kinds], range(grid.ndim)
    blocks, staggered = [p.blocks for p in found], [p.data.staggered[1:] for p in found]
    nodes = all(map(all, staggered)) and blocks == kinds
    faces = [tuple(a == b for a in axes) for b in axes] * len(kinds)
    if nodes or (staggered == faces and blocks == [b for b in kinds for _ in axes]):
        return found
    if len(found) == 1 and not all(staggered[0]):
        raise SpaceError(
            f"{found[0]!r} has no points that several blocks share.",
            hint="Nodes are shared, and so are the faces normal to all axes.",
        )
    raise SpaceError(
        "Several spaces are the nodes of each kind of blocks, or the faces normal to each axis, "
        "in order.",
        hint="Write bc.synchronize(*(kind.nodes() for kind in grid.kinds)), or "
        "bc.synchronize(*(kind.faces(a) for kind in grid.kinds for a in range(ndim))).",
    )


def _components(spaces: Sequence[object], fluxes: bool) -> int | None:
    """Return the number of components, None for fields of numbers."""
    found = {k.components if isinstance(k, VectorSpace) else None for k in spaces}
    if fluxes and found != {None}:
        raise SpaceError("The components of a flux are fields of numbers.")
    if len(found) > 1:
        raise SpaceError("The vectors of all blocks have the same number of components.")
    return found.pop()


def _basis(
    basis: Any, points: Sequence[GridSpace], components: int | None
) -> tuple[PointValues, ...]:
    """Return the bases of the blocks of each kind."""
    if components is None:
        raise ShapeError("A basis is for vectors.", hint="Give a vector space: nodes.vector(2).")
    found = _each("basis", 2, basis, points)
    for values, space in zip(found, points, strict=True):
        array = values.given
        if isinstance(array, np.ndarray):
            fits = array.ndim == 2 + space.ndim
            if not fits or array.shape[1:3] != (components, len(space.blocks)):
                raise ShapeError(
                    f"The basis has shape {array.shape}.",
                    hint="It is (m, components, blocks, *points), for a vector space.",
                )
            _check("basis", array, array.shape[3:], space)
    return found


def _weights(
    weights: Any, points: Sequence[GridSpace]
) -> tuple[float, ...] | tuple[PointValues, ...]:
    """Return the weights of blocks, or the weights of the points of each field."""
    count = points[0].grid.count
    if weights is None:
        return (1.0,) * count
    if not callable(weights) and not _lists(weights, points):
        found = table("synchronize", "weights", weights)
        if found.ndim <= 1:
            if found.shape != (count,):
                raise ShapeError(f"weights has shape {found.shape}; there are {count} blocks.")
            _check_positive("blocks", found)
            return tuple(map(float, found))
    each = _each("weights", 0, weights, points)
    for values, space in zip(each, points, strict=True):
        array = values.given
        if isinstance(array, np.ndarray):
            if array.ndim != space.ndim or len(array) != len(space.blocks):
                raise ShapeError(
                    f"weights has shape {array.shape}.",
                    hint="It is (blocks,), or (blocks, *points).",
                )
            _check("weights", array, array.shape[1:], space)
            _check_positive("points", array)
    return each


def _lists(given: Any, points: Sequence[GridSpace]) -> bool:
    """Whether values are given field by field."""
    return isinstance(given, (list, tuple)) and len(points) > 1 and any(map(np.ndim, given))


def _each(name: str, lead: int, given: Any, points: Sequence[GridSpace]) -> tuple[PointValues, ...]:
    """Return the values at the points of each field; one function may serve all fields."""
    if callable(given):
        return tuple(PointValues(name, lead, given) for _ in points)
    every = list(given) if len(points) > 1 else [given]
    if len(every) != len(points):
        noun = "bases" if name == "basis" else name
        raise ShapeError(f"{len(every)} {noun} are given for {len(points)} fields.")
    return tuple(
        PointValues(name, lead, one if callable(one) else table("synchronize", name, one))
        for one in every
    )


def _check(name: str, array: Array, given: tuple[int, ...], space: GridSpace) -> None:
    """Check that an array is for the points of blocks of known size, and finite."""
    if not space.sizes and given != space.extent({})[1:]:
        raise ShapeError(
            f"The {name} has shape {array.shape}; the blocks have {space.extent({})[1:]} points."
        )
    if not np.isfinite(array).all():
        raise ArgumentError(f"The {name} has a number that is not finite.")


def _check_positive(of: str, weights: Array) -> None:
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ArgumentError(f"The weights of {of} are positive numbers.")
