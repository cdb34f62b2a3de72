"""Declare synchronisations: the spaces, weights and bases that a user gives, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssr.errors import ArgumentError, ShapeError, SpaceError
from ssr.extension import Array, VectorSpace

from ..grid.grid import GridSpace
from ..rules.arguments import table
from .means import How, Means
from .synchronise import Synchronise


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
        It is copied.

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
    return Synchronise(Means(tuple(points), components, how, counts, turns))


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
            f"{found[0]!r} has no points that several blocks share.",
            hint="Nodes are shared, and so are the faces normal to all axes.",
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
