"""The decorator `matrix`: define a matrix by a row generator of numbers or dense blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from ..algebra.define import define
from ..matrices.matrix import Matrix
from ..spaces.space import Space, VectorSpace
from ..trace.functions import declared_function
from ..trace.trace import ScalarType
from .block_matrix import BlockMatrix


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
        a vector space one that is read as ``u[c, i, j]``, or as an array ``u[:, i, j]``, where a
        point may be one tuple, ``u[:, row]`` or ``u[row]``;
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
        function = declared_function("ssr.matrix", "a generator function", function)
        if any(isinstance(kind, VectorSpace) for kind in (rows, cols, *data.values())):
            from .dense import define_blocks

            return define_blocks(function, rows, cols, data)
        return Matrix(define(function, rows, cols, data))  # type: ignore[arg-type]

    return declare
