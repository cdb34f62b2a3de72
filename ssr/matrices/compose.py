"""Matrices made of matrices: sums, products, powers, transposes, parts, Kronecker products.

What happens to the entries is in `algebra`; here are names, spaces, data and errors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .. import ir
from ..algebra import operations as algebra
from ..algebra.definition import Parts
from ..algebra.families import merge, scale
from ..algebra.oracle import Combination, Kronecker, Origin, Product, Restriction, Transpose
from ..errors import ArgumentError, ShapeError, SpaceError
from ..points.numbers import integer
from ..spaces.space import Space
from .data import renamed_apart
from .declare import identity
from .matrix import Matrix

if TYPE_CHECKING:
    from ..blocks.block_matrix import BlockMatrix


def combined(left: Matrix, right: Matrix, factor: float, sign: str) -> Matrix:
    """Return ``left + factor * right``, which is written with a sign.

    Raises
    ------
    SpaceError
        If their spaces are not equal.
    """
    if (left.rows, left.cols) != (right.rows, right.cols):
        raise SpaceError(
            f"{left.name} {sign} {right.name}: the matrices act between other spaces.",
            note=f"{left.cols!r} -> {left.rows!r} and {right.cols!r} -> {right.rows!r}",
        )
    name = f"({left.name} {sign} {right.name})"
    right = beside(left, right, sign)
    found = merge((*left.families, *scale(right.families, ir.Const(factor))))
    origin = Combination(left.parts.origin, factor, right.parts.origin)
    return joined(left, right, name, (left.rows, left.cols), found, origin)


def product(left: Matrix, right: Matrix) -> Matrix:
    """Return ``left @ right``."""
    if left.cols != right.rows:
        raise SpaceError(
            f"{left.name} @ {right.name}: the columns of the first are not the rows of the second.",
            note=f"{left.cols!r} and {right.rows!r}",
        )
    name = f"({left.name} @ {right.name})"
    right = beside(left, right, "@")
    found = algebra.product(left.families, right.families)
    origin = Product(left.parts.origin, right.parts.origin)
    return joined(left, right, name, (left.rows, right.cols), found, origin)


def power(matrix: Matrix, exponent: object) -> Matrix:
    """Return ``matrix ** exponent``; the identity for 0.

    Raises
    ------
    ArgumentError
        If the exponent is no integer from 0 on.
    """
    count = integer(exponent)
    if count is None or count < 0:
        raise ArgumentError(
            f"{matrix.name} is raised to the power {exponent!r}.",
            hint="Powers are integers from 0 on; A.solve(b) stands for the inverse of a triangle.",
        )
    if matrix.rows != matrix.cols:
        raise SpaceError(
            f"{matrix.name} ** {count} needs equal spaces of rows and columns.",
            note=f"rows {matrix.rows!r}, columns {matrix.cols!r}",
        )
    if not count:
        known = {n: v for n, v in matrix.parts.bound.items() if n in matrix.rows.sizes}
        return identity(matrix.rows).bind(**known)
    made = matrix
    for _ in range(count - 1):
        made = product(made, matrix)
    return made if count == 1 else Matrix(replace(made.parts, name=f"{matrix.name} ** {count}"))


def transpose(matrix: Matrix) -> Matrix:
    """Return the transpose."""
    parts = matrix.parts
    return Matrix(
        replace(
            parts,
            name=f"{parts.name}.T",
            rows=parts.cols,
            cols=parts.rows,
            families=algebra.transpose(parts.families, parts.cols, parts.name),
            origin=Transpose(parts.origin),
            paths=(),
        )
    )


def submatrix(matrix: Matrix, place: object) -> Matrix:
    """Return ``matrix[rows, cols]``.

    Raises
    ------
    ArgumentError
        If the rows or columns are no space and not all of them.
    SpaceError
        If they are no part of the matrix's own.
    """
    wanted = place if isinstance(place, tuple) else (place,)
    rows, cols = part_spaces(matrix.name, (matrix.rows, matrix.cols), wanted)
    shown = (":" if isinstance(space, slice) else repr(space) for space in wanted)
    return Matrix(
        replace(
            matrix.parts,
            name=f"{matrix.name}[{', '.join(shown)}]",
            rows=rows,
            cols=cols,
            families=algebra.submatrix(matrix.families, rows, cols),
            origin=Restriction((matrix.rows, matrix.cols), (rows, cols), matrix.parts.origin),
            paths=(),
        )
    )


def part_spaces(
    name: str, whole: tuple[Space, Space], wanted: tuple[object, ...]
) -> tuple[Space, Space]:
    """Return the spaces meant by ``matrix[rows, cols]``; errors are those of `submatrix`."""
    given = [
        known if isinstance(space, slice) and space == slice(None) else space
        for space, known in zip(wanted, whole, strict=False)
    ]
    found = [space for space in given if isinstance(space, Space)]
    if len(wanted) != 2 or len(found) != 2:
        raise ArgumentError(
            f"Entries of {name} cannot be read one by one.",
            hint=f"{name}[rows, cols] takes spaces, or : for all; see "
            f"{name}.explain(), or use A.to_scipy().",
        )
    rows, cols = found
    for what, part, known in ("rows", rows, whole[0]), ("columns", cols, whole[1]):
        if not algebra.within(part, known):
            raise SpaceError(
                f"{name}[...]: {part!r} is not a part of the {what}.",
                note=f"The {what} are {known!r}.",
                hint="A part has the location of the whole and lies in it for all sizes, as "
                "cells.grow(-1) does.",
            )
    return rows, cols


@overload
def kron(left: Matrix, right: Matrix) -> Matrix: ...


@overload
def kron(left: np.ndarray[Any, Any], right: Matrix) -> BlockMatrix: ...


def kron(left: Matrix | np.ndarray[Any, Any], right: Matrix) -> Matrix | BlockMatrix:
    """Return the Kronecker product of two matrices, or of an array of numbers and a matrix.

    Its spaces have the axes of the left one's, then those of the right one's; the left index is
    the slow one, as in SciPy. Sizes of one name are one size. With an array the slow index is the
    component, and the product a `BlockMatrix`.

    Raises
    ------
    SpaceError
        If the spaces would have more than four dimensions.

    Examples
    --------
    The Laplacian in two dimensions, from that in one:

    >>> import ssr
    >>> y, x = (ssr.Space(n) for n in ssr.sizes("ny nx"))
    >>> def laplace(line):
    ...     return ssr.stencil(line, line, {-1: -1, 0: 2, 1: -1}, outside="drop")
    >>> A = ssr.kron(laplace(y), ssr.identity(x)) + ssr.kron(ssr.identity(y), laplace(x))
    >>> A.rows, len(A.families)
    (Space(ny, nx), 5)

    References
    ----------
    SciPy, ``scipy.sparse.kron``.
    """
    if isinstance(left, np.ndarray) and isinstance(right, Matrix):
        from ..blocks import blockwise

        return blockwise.kron(left, right)
    for matrix in left, right:
        if not isinstance(matrix, Matrix):
            raise ArgumentError(f"kron takes two matrices, not {type(matrix).__name__}.")
    for what, a, b in ("rows", left.rows, right.rows), ("columns", left.cols, right.cols):
        if a.ndim + b.ndim > 4:
            raise SpaceError(
                f"The {what} of kron({left.name}, {right.name}) have {a.ndim + b.ndim} dimensions.",
                note=f"{a!r} and {b!r}",
                hint="A space has 1 to 4 dimensions.",
            )
    name = f"kron({left.name}, {right.name})"
    right = beside(left, right, "and")
    spaces = left.rows.times(right.rows), left.cols.times(right.cols)
    found = algebra.kronecker(left.families, right.families, spaces[0])
    origin = Kronecker(left.parts.origin, right.parts.origin)
    return joined(left, right, name, spaces, found, origin)


def beside(left: Matrix, right: Matrix, sign: str) -> Matrix:
    """Return the right matrix as it may stand in one expression with the left one.

    Raises
    ------
    ShapeError
        If a size is bound differently.
    """
    ours, theirs = left.parts.bound, right.parts.bound
    for name in left.sizes:
        if ours.get(name) != theirs.get(name) and name in ours and name in theirs:
            raise ShapeError(
                f"{left.name} {sign} {right.name}: size {name} is bound to {ours[name]} and to "
                f"{theirs[name]}."
            )
    return Matrix(renamed_apart(right.parts, left.parts))


def joined(
    left: Matrix,
    right: Matrix,
    name: str,
    spaces: tuple[Space, Space],
    found: tuple[ir.Family, ...],
    origin: Origin,
) -> Matrix:
    """Return a matrix with the data of two."""
    return Matrix(
        Parts(
            name=name,
            rows=spaces[0],
            cols=spaces[1],
            families=found,
            origin=origin,
            data={**left.parts.data, **right.parts.data},
            bound={**left.parts.bound, **right.parts.bound},
        )
    )
