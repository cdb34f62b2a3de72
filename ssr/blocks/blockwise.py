"""Algebra of block matrices: products, powers and parts, block by block."""

from __future__ import annotations

import operator
from functools import reduce

from ..algebra.define import identity, zero
from ..errors import ArgumentError, SpaceError
from ..matrices.matrix import Matrix
from ..points.numbers import integer
from .block_data import BlockData, grid
from .component_spaces import Kind, chosen, label, like, spaces


def repeated(matrix: Matrix, kind: Kind) -> BlockData:
    """Return the block matrix that applies a matrix to each of as many components."""
    rows, cols = (like(kind, space) for space in (matrix.rows, matrix.cols))
    none = Matrix(zero(matrix.rows, matrix.cols))
    return grid(matrix.name, rows, cols, lambda r, c: matrix if r == c else none)


def product(left: Matrix | BlockData, right: Matrix | BlockData) -> BlockData:
    """Return ``left @ right``: sums of products of blocks; a matrix acts on each component."""
    if isinstance(left, Matrix):
        assert isinstance(right, BlockData)
        left = repeated(left, right.rows)
    if isinstance(right, Matrix):
        right = repeated(right, left.cols)
    if spaces(left.cols) != spaces(right.rows):
        raise SpaceError(
            f"{left.name} @ {right.name}: the columns of the first are not the rows of the second.",
            note=f"{label(left.cols)} and {label(right.rows)}",
        )

    def made(r: int, c: int) -> Matrix:
        pairs = [(a, row[c]) for a, row in zip(left.blocks[r], right.blocks, strict=True)]
        filled = [(a, b) for a, b in pairs if a.families and b.families]
        products: list[Matrix] = [a @ b for a, b in filled or pairs[:1]]
        return reduce(operator.add, products)

    return grid(f"({left.name} @ {right.name})", left.rows, right.cols, made)


def power(matrix: BlockData, exponent: object) -> BlockData:
    """Return ``matrix ** exponent``; the identity for 0."""
    name = f"{matrix.name} ** {exponent}"
    if not matrix.square:
        raise SpaceError(
            f"{name} needs equal spaces of rows and columns.",
            note=f"rows {label(matrix.rows)}, columns {label(matrix.cols)}",
        )
    count = integer(exponent)
    if count is None or count < 0:
        raise ArgumentError(
            f"{matrix.name} cannot be raised to the power {exponent!r}.",
            hint="Powers are integers from 0 on.",
        )
    if not count:
        here = spaces(matrix.rows)
        sizes = {n: v for n, v in matrix.bound_sizes.items() if any(n in s.sizes for s in here)}
        return grid(
            name,
            matrix.rows,
            matrix.cols,
            lambda r, c: Matrix(identity(here[r]) if r == c else zero(here[r], here[c])).bind(
                **{n: v for n, v in sizes.items() if n in here[r].sizes + here[c].sizes}
            ),
        )
    return reduce(product, [matrix] * count).each(name, lambda m: m)


def part(matrix: BlockData, place: object) -> Matrix | BlockData:
    """Return ``matrix[r, c]``: a matrix, or a part of the blocks."""
    which = place if isinstance(place, tuple) else (place,)
    counts = len(matrix.blocks), len(matrix.blocks[0])
    text = ", ".join(map(_text, which))
    try:
        r, c = (range(n)[w] for n, w in zip(counts, which, strict=True))
    except (IndexError, TypeError, ValueError):
        r = c = range(0)
    if isinstance(r, int) and isinstance(c, int):
        return matrix.blocks[r][c]
    below, across = ([i] if isinstance(i, int) else list(i) for i in (r, c))
    if not below or not across:
        raise ArgumentError(
            f"{matrix.name} of {counts[0]} x {counts[1]} blocks has no part [{text}].",
            hint="X[r, c] is the matrix between two components; slices choose several.",
        )
    return BlockData(
        f"{matrix.name}[{text}]",
        chosen(matrix.rows, r),
        chosen(matrix.cols, c),
        tuple(tuple(matrix.blocks[i][j] for j in across) for i in below),
    )


def _text(which: object) -> str:
    """Return an integer or a slice as written in brackets."""
    if not isinstance(which, slice):
        return repr(which)
    ends = ["" if end is None else repr(end) for end in (which.start, which.stop, which.step)]
    return ":".join(ends if ends[2] else ends[:2])
