"""Combine matrices: sums, products, powers, transposes, parts and Kronecker products.

The algebra of entries is in `operations`; this module handles names, spaces, data and errors.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from .. import ir
from ..errors import ArgumentError, ShapeError, SpaceError, UnsupportedError
from ..points.numbers import integer
from ..spaces.space import Space
from . import operations
from .define import identity
from .families import merge, scale
from .matrix_data import MatrixData
from .oracle import Combination, Kronecker, Origin, Product, Restriction, Transpose
from .renaming import renamed_apart


def combined(left: MatrixData, right: MatrixData, factor: float, sign: str) -> MatrixData:
    """Return ``left + factor * right``, which is written with a sign."""
    if (left.rows, left.cols) != (right.rows, right.cols):
        raise SpaceError(
            f"{left.name} {sign} {right.name}: their row or column spaces differ.",
            note=f"{left.cols!r} -> {left.rows!r} and {right.cols!r} -> {right.rows!r}",
        )
    name = f"({left.name} {sign} {right.name})"
    right = beside(left, right, sign)
    added = (*left.families, *scale(right.families, ir.Const(factor)))
    found = operations.attempt(name, lambda: merge(added))
    origin = Combination(left.origin, factor, right.origin)
    return joined(left, right, name, (left.rows, left.cols), found, origin)


def product(left: MatrixData, right: MatrixData) -> MatrixData:
    """Return ``left @ right``."""
    need_whole(left, "@")
    need_whole(right, "@")
    if left.cols != right.rows:
        raise SpaceError(
            f"{left.name} @ {right.name}: the columns of the first are not the rows of the second.",
            note=f"{left.cols!r} and {right.rows!r}",
        )
    name = f"({left.name} @ {right.name})"
    right = beside(left, right, "@")
    found = operations.product(left.families, right.families, name)
    origin = Product(left.origin, right.origin)
    return joined(left, right, name, (left.rows, right.cols), found, origin)


def power(matrix: MatrixData, exponent: object) -> MatrixData:
    """Return ``matrix ** exponent``; the identity for 0."""
    count = integer(exponent)
    if count is None or count < 0:
        raise ArgumentError(
            f"{matrix.name} cannot be raised to the power {exponent!r}.",
            hint="Powers are integers from 0 on; A.solve(b) stands for the inverse of a triangle.",
        )
    if matrix.rows != matrix.cols:
        raise SpaceError(
            f"{matrix.name} ** {count} needs equal spaces of rows and columns.",
            note=f"rows {matrix.rows!r}, columns {matrix.cols!r}",
        )
    if not count:
        known = {n: v for n, v in matrix.bound.items() if n in matrix.rows.sizes}
        return replace(identity(matrix.rows), bound=MappingProxyType(known))
    operations.check_power(matrix.families, matrix.rows, count, matrix.name)
    made = matrix
    for _ in range(count - 1):
        made = product(made, matrix)
    return made if count == 1 else replace(made, name=f"{matrix.name} ** {count}")


def transpose(matrix: MatrixData) -> MatrixData:
    """Return the transpose."""
    return replace(
        matrix,
        name=f"{matrix.name}.T",
        rows=matrix.cols,
        cols=matrix.rows,
        families=operations.transpose(matrix.families, matrix.cols, matrix.name),
        origin=Transpose(matrix.origin),
        paths=(),
    )


def submatrix(matrix: MatrixData, place: object) -> MatrixData:
    """Return ``matrix[rows, cols]``."""
    wanted = place if isinstance(place, tuple) else (place,)
    need_whole(matrix, "[...]")
    rows, cols = part_spaces(matrix.name, (matrix.rows, matrix.cols), wanted)
    shown = (":" if isinstance(space, slice) else repr(space) for space in wanted)
    return replace(
        matrix,
        name=f"{matrix.name}[{', '.join(shown)}]",
        rows=rows,
        cols=cols,
        families=operations.submatrix(matrix.families, rows, cols),
        origin=Restriction(matrix.origin, (matrix.rows, matrix.cols), (rows, cols)),
        paths=(),
    )


def need_whole(matrix: MatrixData, what: str) -> None:
    """Check that a matrix does not depend on the boxes into which spaces are cut."""
    if matrix.is_local:
        raise UnsupportedError(
            f"{matrix.name} {what} is not staged: its entries depend on the boxes of ranks.",
            hint="Apply the matrices one after the other, as in A @ (B.rank_local() @ x).",
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
        if not operations.within(part, known):
            raise SpaceError(
                f"{name}[...]: {part!r} is not a part of the {what}.",
                note=f"The {what} are {known!r}.",
                hint="A part has the location of the whole and lies in it for all sizes, as "
                "cells.grow(-1) does.",
            )
    return rows, cols


def kron(left: MatrixData, right: MatrixData) -> MatrixData:
    """Return the Kronecker product."""
    need_whole(left, "in kron")
    need_whole(right, "in kron")
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
    found = operations.kronecker(left.families, right.families, spaces[0])
    origin = Kronecker(left.origin, right.origin)
    return joined(left, right, name, spaces, found, origin)


def beside(left: MatrixData, right: MatrixData, sign: str) -> MatrixData:
    """Return the right matrix with its data renamed; check sizes that both matrices have bound."""
    ours, theirs = left.bound, right.bound
    for name in left.sizes:
        if ours.get(name) != theirs.get(name) and name in ours and name in theirs:
            raise ShapeError(
                f"{left.name} {sign} {right.name}: size {name} is bound to {ours[name]} and to "
                f"{theirs[name]}."
            )
    return renamed_apart(right, left)


def joined(
    left: MatrixData,
    right: MatrixData,
    name: str,
    spaces: tuple[Space, Space],
    found: tuple[ir.Family, ...],
    origin: Origin,
) -> MatrixData:
    """Return a matrix with the data of two."""
    return MatrixData(
        name=name,
        rows=spaces[0],
        cols=spaces[1],
        families=found,
        origin=origin,
        data={**left.data, **right.data},
        bound={**left.bound, **right.bound},
    )
