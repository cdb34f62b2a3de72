"""Declare matrices: by a row generator, by stencil weights, the identity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

from ..algebra import families as algebra
from ..algebra.definition import Parts
from ..algebra.oracle import Definition
from ..errors import ArgumentError, SpaceError, UnsupportedError
from ..points.numbers import integer
from ..spaces.space import Space, VectorSpace
from ..symbols.operations import known_early
from ..symbols.values import node
from ..trace.trace import ScalarType, check_signature, trace
from .matrix import Matrix

if TYPE_CHECKING:
    from ..blocks.block_matrix import BlockMatrix


@overload
def matrix(
    *, rows: Space, cols: Space, **data: Space | VectorSpace | ScalarType
) -> Callable[[Callable[..., Any]], Matrix]: ...


@overload
def matrix(
    *, rows: VectorSpace, cols: Space | VectorSpace, **data: Space | VectorSpace | ScalarType
) -> Callable[[Callable[..., Any]], BlockMatrix]: ...


@overload
def matrix(
    *, rows: Space, cols: VectorSpace, **data: Space | VectorSpace | ScalarType
) -> Callable[[Callable[..., Any]], BlockMatrix]: ...


def matrix(
    *,
    rows: Space | VectorSpace,
    cols: Space | VectorSpace,
    **data: Space | VectorSpace | ScalarType,
) -> Callable[[Callable[..., Any]], Any]:
    """Declare a matrix by a generator of one row.

    The decorated function takes one index for each axis of ``rows`` and yields ``column, value``
    pairs. It is ordinary Python: loops over ranges, conditions on indices and sizes, helper
    functions, early return. Conditions are decided symbolically, so it runs once for each path
    and must be pure. Two entries at one column are added.

    Parameters
    ----------
    rows, cols
        Spaces of rows and columns. With a vector space of n components for the rows and one of m
        for the columns, every value is an n x m array and the result a `BlockMatrix`.
    **data
        Keyword-only arguments of the generator: a Space declares a field, read as ``u[i, j]``;
        a vector space one that is read as ``u[c, i, j]``, or as an array ``u[:, i, j]``;
        ``ssr.scalar`` a number. Values are given by `Matrix.bind`.

    Raises
    ------
    NotAffineError
        If a column is not affine in the indices and sizes.
    OutOfSpaceError
        If a column may lie outside ``cols``.
    RuntimeConditionError
        If a Python condition depends on data.
    ImpureGeneratorError, TooManyPathsError
        If the generator cannot be staged.

    Examples
    --------
    >>> import ssr
    >>> ny, nx = ssr.sizes("ny nx")
    >>> cells = ssr.Space(ny, nx)
    >>> @ssr.matrix(rows=cells, cols=cells)
    ... def A(j, i):
    ...     yield (j, i), 4.0
    ...     for c in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
    ...         if c in cells:
    ...             yield c, -1.0
    >>> A
    <Matrix A: Space(ny, nx) -> Space(ny, nx), 5 families>

    References
    ----------
    Staged Sparse Row, arXiv 2204.13304.
    """

    def declare(function: Callable[..., Any]) -> Any:
        if any(isinstance(kind, VectorSpace) for kind in (rows, cols, *data.values())):
            from ..blocks.dense import define_blocks

            return define_blocks(function, rows, cols, data)
        return define(function, rows, cols, data)  # type: ignore[arg-type]

    return declare


def define(
    function: Callable[..., Any], rows: Space, cols: Space, data: Mapping[str, Space | ScalarType]
) -> Matrix:
    """Return the matrix of a row generator."""
    check_declaration(function, rows, cols, data, (Space,))
    check_signature(function, rows, data)
    paths = trace(function, rows, cols, data)
    origin = Definition(function, rows, cols, tuple((n, n) for n in data))
    found = algebra.gather(paths, rows)
    return Matrix(
        Parts(function.__name__, rows, cols, found, origin, MappingProxyType(dict(data)), {}, paths)
    )


def check_declaration(
    function: Callable[..., Any],
    rows: object,
    cols: object,
    data: Mapping[str, Any],
    kinds: tuple[type, ...],
) -> None:
    """Check what a matrix is declared with; its spaces are of these kinds."""
    if not callable(function):
        raise ArgumentError(f"ssr.matrix decorates a generator function, not {function!r}.")
    for what, space in (("rows", rows), ("cols", cols)):
        if not isinstance(space, kinds):
            raise ArgumentError(f"{what} is a Space, not {space!r}.")
    for name, kind in data.items():
        if not isinstance(kind, (*kinds, ScalarType)):
            raise ArgumentError(
                f"Data {name!r} of {function.__name__} is declared as {kind!r}.",
                hint="Use a Space for a field, or ssr.scalar for a number.",
            )


def stencil(
    rows: Space,
    cols: Space,
    weights: Mapping[int | tuple[int, ...], float],
    *,
    outside: Literal["error", "drop"] = "error",
) -> Matrix:
    """Return the matrix with the same weights, by offset, in every row.

    Parameters
    ----------
    rows, cols
        Spaces of equal location; ``cols`` is usually ``rows.grow(width)``.
    weights
        Offset (an integer or a tuple) to weight.
    outside
        What to do with offsets that leave ``cols``: an error, or drop the entry (zero outside).

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
            raise ArgumentError(f"{what} is a Space, not {space!r}.")
    if rows.data.staggered != cols.data.staggered:
        raise SpaceError(
            f"A stencil between {rows.location} and {cols.location} mixes locations.",
            hint="Write it with ssr.matrix, where the shift between the locations is explicit.",
        )
    if outside not in ("error", "drop"):
        raise ArgumentError(f'outside is "error" or "drop", not {outside!r}.')
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
            column = tuple(here + o for here, o in zip(index, offset, strict=True))
            if outside == "error" or column in cols:
                yield column, weight

    return define(stencil, rows, cols, {})


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

    def identity(*index: Any) -> Any:
        yield index, 1.0

    return define(identity, space, space, {})


def diagonal(space: Space, values: Any = None) -> Matrix:
    """Return the diagonal matrix of a field ``d``.

    Parameters
    ----------
    space
        Rows and columns.
    values
        An array, or inside a program one of its fields; by default, bind it later, with
        ``D.bind(d=...)``.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> s = ssr.Space(3)
    >>> D = ssr.diagonal(s, np.array([1.0, 2.0, 4.0]))
    >>> (D @ ssr.stencil(s, s, {1: 1}, outside="drop")).to_scipy().toarray()
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """

    def diagonal(*index: Any, d: Any) -> Any:
        yield index, d[index]

    made = define(diagonal, space, space, {"d": space})
    return made if values is None else made.bind(d=values)
