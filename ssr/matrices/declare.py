"""Predefined matrices: constant stencils, the identity and diagonal matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..algebra.define import define
from ..algebra.define import identity as identity_on
from ..errors import ArgumentError, SpaceError, UnsupportedError
from ..points.numbers import integer
from ..public import is_one_of
from ..spaces.space import Space
from ..symbols.operations import known_early
from ..symbols.values import node
from .matrix import Matrix


def stencil(
    rows: Space,
    cols: Space,
    weights: Mapping[Any, float],
    *,
    outside: Literal["error", "zero"] = "error",
) -> Matrix:
    """Return the matrix with the same weights, by offset, in every row.

    Parameters
    ----------
    rows, cols
        Spaces of equal location; ``cols`` is usually ``rows.grow(width)``.
    weights
        Offset (an integer or a tuple) to weight.
    outside
        Entries outside ``cols``: ``"error"`` refuses them, ``"zero"`` drops them, so that values
        outside are zero.

    Raises
    ------
    ArgumentError
        If an offset does not have one integer for each axis, or an argument has another form.
    OutOfSpaceError
        If an entry lies outside ``cols`` and ``outside`` is ``"error"``.
    SpaceError
        If the locations of ``rows`` and ``cols`` differ.

    Examples
    --------
    >>> import ssr
    >>> s = ssr.Space(3)
    >>> ssr.stencil(s, s.grow(1), {-1: -1, 1: 1}).to_scipy().toarray()
    array([[-1.,  0.,  1.,  0.,  0.],
           [ 0., -1.,  0.,  1.,  0.],
           [ 0.,  0., -1.,  0.,  1.]])
    """
    for what, space in (("rows", rows), ("cols", cols)):
        if not isinstance(space, Space):
            raise ArgumentError(f"{what} must be a Space, not {space!r}.")
    if rows.data.staggered != cols.data.staggered:
        raise SpaceError(
            f"A stencil between {rows.location} and {cols.location} mixes locations.",
            hint="Write it with ssr.matrix, where the shift between the locations is explicit.",
        )
    if not is_one_of(outside, ("error", "zero")):
        raise ArgumentError(f'outside must be "error" or "zero", not {outside!r}.')
    if not isinstance(weights, Mapping):
        raise ArgumentError(
            f"The weights of a stencil map offsets to numbers, not {type(weights).__name__}."
        )
    taps = [(_offset(o, rows), w) for o, w in weights.items()]
    for offset, weight in taps:
        if not known_early(node(weight)):
            raise UnsupportedError(
                f"The weight {weight!r} at offset {offset} is known only at run time.",
                hint="Declare it as data with ssr.matrix, or multiply the matrix by it.",
            )

    def stencil(*index: Any) -> Any:
        for offset, weight in taps:
            yield tuple(here + o for here, o in zip(index, offset, strict=True)), weight

    return Matrix(define(stencil, rows, cols, {}, outside=outside))


def _offset(offset: Any, rows: Space) -> tuple[int, ...]:
    """Return an offset as a tuple of Python's integers."""
    parts = tuple(offset) if isinstance(offset, tuple) else (offset,)
    whole = tuple(integer(part) for part in parts)
    found = tuple(part for part in whole if part is not None)
    if len(found) < len(parts):
        raise ArgumentError(f"Offset {offset!r} is not made of integers.")
    if len(found) != rows.ndim:
        raise ArgumentError(f"Offset {found} has {len(found)} of {rows.ndim} components.")
    return found


def identity(space: Space) -> Matrix:
    """Return the identity matrix on a space.

    Examples
    --------
    >>> import ssr
    >>> ssr.identity(ssr.Space(2)).to_scipy().toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    return Matrix(identity_on(space))


def diagonal(space: Space, values: Any = None) -> Matrix:
    """Return the diagonal matrix of a field ``d``, of values that are given now or bound later."""

    def diagonal(*index: Any, d: Any) -> Any:
        yield index, d[index]

    made = Matrix(define(diagonal, space, space, {"d": space}))
    return made if values is None else made.bind(d=values)
