"""`boundary.fill`: define the ghost fill of a space, and check its rules against the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ssr import Space
from ssr.errors import ArgumentError, SpaceError
from ssr.extension import VectorSpace, flag, label

from ..closure.ruled import Ruled
from ..grid.frame import Frame, owned_of
from ..rules.rule import Rule
from .fill import Fill
from .fill_data import FillData
from .operands import One


def fill(
    space: One | Sequence[One],
    *rules: Rule,
    owned: Space | Sequence[Space] | None = None,
    narrow: bool = True,
    join: bool = True,
    once: bool = True,
) -> Fill:
    """Return the affine matrix that fills the ghosts of a space: ``u_wide = B u + c``.

    Rules have no order. If a rule reads another ghost, that ghost is replaced by its own rule,
    until only owned points are read; where two rules meet, as in a corner, both must give the same
    value. A ghost without a definition, or with two different ones, is an error as soon as a
    program or a product with a matrix reads it.

    Parameters
    ----------
    space
        Owned points and ghosts: ``cells.grow(width)``, or a vector space of it. Where blocks have
        several shapes, a tuple of one for each of `Grid.kinds`; then the fill takes and returns
        tuples of fields.
    *rules
        The definitions of the ghosts: `bc.linked`, `bc.periodic`, `bc.symmetric`, ...
    owned
        The owned points, if they are not those that the space was grown from; a tuple for a tuple
        of spaces. `grow` adds ghosts to the points of a space, whatever the widths: those of
        ``cells.grow((2, 0)).grow(1)`` and of ``cells.grow((3, 1))`` are all but ``cells``. A space
        of the same points that was not made by `grow`, such as ``cells.slab(0, -3, n + 1)``, needs
        ``owned``, because its ghosts are not known.
    narrow
        Whether a program makes only the ghosts that it reads.
    join
        Whether a program makes ghosts of several fields in one pass where it can.
    once
        Whether a program leaves constant ghosts as they are in arrays that are its own.

    Raises
    ------
    SpaceError
        If the ghosts of the space are not known.
    ArgumentError, ShapeError, HaloError
        If a rule does not fit the blocks.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> ny, nx = ssr.sizes("ny nx")
    >>> cells = ssr.Space(ny, nx)
    >>> wide = cells.grow(1)
    >>> fill = bc.fill(wide, bc.periodic(axis=1), bc.symmetric(axis=0, side="low"),
    ...                bc.dirichlet(1.0, axis=0, side="high"))
    >>> fill @ np.array([[1.0, 2, 3], [4, 5, 6]])
    array([[ 3.,  1.,  2.,  3.,  1.],
           [ 3.,  1.,  2.,  3.,  1.],
           [ 6.,  4.,  5.,  6.,  4.],
           [-4., -2., -3., -4., -2.]])
    >>> lap = ssr.stencil(cells, wide, {(0, 0): -4, (0, 1): 1, (0, -1): 1, (1, 0): 1, (-1, 0): 1})
    >>> H = lap @ fill
    >>> H @ np.ones((2, 3))
    array([[0., 0., 0.],
           [0., 0., 0.]])

    References
    ----------
    Mat2Boundary, arXiv 2605.14780.
    """
    several = isinstance(space, (tuple, list))
    kinds: tuple[Any, ...] = tuple(space) if isinstance(space, (tuple, list)) else (space,)
    if not kinds or not all(isinstance(kind, (Space, VectorSpace)) for kind in kinds):
        raise ArgumentError(
            f"bc.fill takes a space with ghosts first, not {_named(space)}.",
            hint="Write bc.fill(cells.grow(1), ...); for blocks of several shapes a tuple of such.",
        )
    points = [kind.space if isinstance(kind, VectorSpace) else kind for kind in kinds]
    inner = _given(owned) or list(map(owned_of, points))
    count = _components(kinds)
    ruled = Ruled.of(Frame.of(points, inner), rules)
    ruled.check(count)
    data = FillData(
        tuple(points),
        tuple(inner),
        several,
        count,
        ruled,
        ruled,
        narrow=flag("fill", "narrow", narrow),
        join=flag("fill", "join", join),
        once=flag("fill", "once", once),
    )
    return Fill(data)


def _named(given: object) -> str:
    if isinstance(given, (tuple, list)):
        return f"a {type(given).__name__} of {', '.join(type(k).__name__ for k in given) or 'none'}"
    return type(given).__name__


def _components(kinds: Sequence[One]) -> int | None:
    """Return the number of components of the fields, the same for all kinds of blocks."""
    counts = {k.components if isinstance(k, VectorSpace) else None for k in kinds}
    if len(counts) > 1:
        raise SpaceError(
            f"The fields of a fill have the same number of components: {label(tuple(kinds))}.",
            hint="A ghost may be the point of a block of another shape.",
        )
    return counts.pop()


def _given(owned: object) -> list[Space]:
    """Return the spaces of owned points that are given, if any are."""
    found: list[Space] = []
    if owned is None:
        return found
    for space in owned if isinstance(owned, (tuple, list)) else [owned]:
        if not isinstance(space, Space):
            raise ArgumentError(f"owned must be a space of points, not {type(space).__name__}.")
        found.append(space)
    return found
