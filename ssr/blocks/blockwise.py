"""Block matrices made of matrices: by assembly, products, powers, parts, Kronecker products."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from itertools import chain
from typing import Any, Literal

import numpy as np

from .. import ir
from ..errors import ArgumentError, SpaceError
from ..matrices.declare import define, identity
from ..matrices.matrix import Matrix
from ..points.numbers import integer
from ..spaces.space import Space
from ..symbols.values import node
from .block_matrix import BlockMatrix, grid
from .component_spaces import Kind, chosen, kind_of, like, spaces, told

Array = np.ndarray[Any, np.dtype[Any]]


def zero(rows: Space, cols: Space) -> Matrix:
    """Return the matrix without entries."""

    def zero(*_: Any) -> Any:
        yield from ()

    return define(zero, rows, cols, {})


def repeated(matrix: Matrix, kind: Kind) -> BlockMatrix:
    """Return the block matrix that applies a matrix to each of as many components."""
    rows, cols = (like(kind, space) for space in (matrix.rows, matrix.cols))
    none = zero(matrix.rows, matrix.cols)
    return grid(matrix.name, rows, cols, lambda r, c: matrix if r == c else none)


def product(left: Matrix | BlockMatrix, right: Matrix | BlockMatrix) -> BlockMatrix:
    """Return ``left @ right``: sums of products of blocks; a matrix acts on each component."""
    if isinstance(left, Matrix):
        assert isinstance(right, BlockMatrix)
        left = repeated(left, right.rows)
    if isinstance(right, Matrix):
        right = repeated(right, left.cols)
    if spaces(left.cols) != spaces(right.rows):
        raise SpaceError(
            f"{left.name} @ {right.name}: the columns of the first are not the rows of the second.",
            note=f"{told(left.cols)} and {told(right.rows)}",
        )

    def made(r: int, c: int) -> Matrix:
        pairs = [(a, row[c]) for a, row in zip(left.blocks[r], right.blocks, strict=True)]
        filled = [(a, b) for a, b in pairs if a.families and b.families]
        products: list[Matrix] = [a @ b for a, b in filled or pairs[:1]]
        return reduce(operator.add, products)

    return grid(f"({left.name} @ {right.name})", left.rows, right.cols, made)


def kron(left: Array, right: Matrix) -> BlockMatrix:
    """Return the block matrix with a multiple of a matrix in each block."""
    if left.ndim != 2 or not left.size:
        raise ArgumentError(
            f"kron takes an array of two axes, not one of shape {left.shape}.",
            hint="Its rows and columns are components.",
        )
    none = zero(right.rows, right.cols)
    rows, cols = (s.vector(n) for s, n in zip((right.rows, right.cols), left.shape, strict=True))
    return grid(
        f"kron(array, {right.name})",
        rows,
        cols,
        lambda r, c: right * left[r, c] if node(left[r, c]) != ir.ZERO else none,
    )


Blocks = Sequence[Sequence["Matrix | BlockMatrix | None"]]


def block(
    blocks: Blocks, *, rows: Sequence[Kind] | None = None, cols: Sequence[Kind] | None = None
) -> BlockMatrix:
    """Return the block matrix of matrices, as ``scipy.sparse.block_array`` does.

    Parameters
    ----------
    blocks
        Rows of matrices or block matrices; None stands for zero.
    rows, cols
        The spaces of each row and column; needed where one has only None.

    Raises
    ------
    SpaceError
        If the blocks of a row differ in their rows, or those of a column in their columns.
    ArgumentError
        If spaces are unknown, or there is something else than matrices.

    Examples
    --------
    A saddle point: velocities on the faces between cells, pressures in the cells.

    >>> import numpy as np, ssr
    >>> cells = ssr.Space(3)
    >>> faces = cells.faces(axis=0).grow(-1)
    >>> @ssr.matrix(rows=faces, cols=cells)
    ... def gradient(i):
    ...     yield i - 1, -1.0
    ...     yield i, 1.0
    >>> K = ssr.block([[ssr.identity(faces), gradient], [gradient.T, None]])
    >>> K @ (np.array([1.0, 2.0]), np.array([1.0, 2.0, 4.0]))
    (array([2., 4.]), array([-1., -1.,  2.]))
    """
    grid_of = [[_as_blocks(item) for item in row] for row in _nested(blocks)]
    below = _agreed("row", grid_of, rows)
    across = _agreed("column", list(zip(*grid_of, strict=True)), cols)
    made: list[tuple[Matrix, ...]] = []
    for row, here in zip(grid_of, below, strict=True):
        for r, space in enumerate(here):
            line: list[Matrix] = []
            for item, there in zip(row, across, strict=True):
                line += item.blocks[r] if item is not None else [zero(space, s) for s in there]
            made.append(tuple(line))
    names = (", ".join(m.name if m else "None" for m in row) for row in grid_of)
    outer, inner = (kind_of(list(chain(*found))) for found in (below, across))
    return BlockMatrix(f"[[{'], ['.join(names)}]]", outer, inner, tuple(made))


def _nested(blocks: Blocks) -> Blocks:
    lists = isinstance(blocks, (list, tuple)) and all(isinstance(r, (list, tuple)) for r in blocks)
    if not lists or not blocks or not blocks[0] or len({len(row) for row in blocks}) > 1:
        raise ArgumentError(
            "ssr.block takes rows of equally many matrices.",
            hint="Write ssr.block([[A, B], [C, None]]).",
        )
    return blocks


def _as_blocks(item: object) -> BlockMatrix | None:
    if isinstance(item, Matrix):
        return BlockMatrix(item.name, item.rows, item.cols, ((item,),))
    if item is not None and not isinstance(item, BlockMatrix):
        raise ArgumentError(
            f"ssr.block takes matrices and None, not {type(item).__name__}.",
            hint="A number in every diagonal entry is number * ssr.identity(space).",
        )
    return item


def _agreed(
    what: Literal["row", "column"],
    lines: Sequence[Sequence[BlockMatrix | None]],
    given: Sequence[Kind] | None,
) -> list[tuple[Space, ...]]:
    """Return the spaces of each row or column of blocks.

    Raises
    ------
    ArgumentError, SpaceError
        If they are unknown, or blocks differ.
    """
    if given is not None and len(given) != len(lines):
        raise ArgumentError(f"{len(given)} spaces are given for {len(lines)} {what}s of blocks.")
    found: list[tuple[Space, ...]] = []
    for n, line in enumerate(lines):
        kinds = [m.rows if what == "row" else m.cols for m in line if m is not None]
        kinds += [given[n]] if given is not None else []
        if not kinds:
            raise ArgumentError(
                f"{what.capitalize()} {n} of the blocks has only None.",
                hint="Give the spaces of all: ssr.block(..., rows=[...], cols=[...]).",
            )
        for kind in kinds:
            if spaces(kind) != spaces(kinds[0]):
                raise SpaceError(
                    f"The blocks of {what} {n} have {what}s on other spaces.",
                    note=f"{told(kinds[0])} and {told(kind)}",
                )
        found.append(spaces(kinds[0]))
    return found


def power(matrix: BlockMatrix, exponent: object) -> BlockMatrix:
    """Return ``matrix ** exponent``; the identity for 0.

    Raises
    ------
    ArgumentError
        If the exponent is no integer from 0 on.
    """
    name = f"{matrix.name} ** {exponent}"
    if not matrix._square:
        raise SpaceError(
            f"{name} needs equal spaces of rows and columns.",
            note=f"rows {told(matrix.rows)}, columns {told(matrix.cols)}",
        )
    count = integer(exponent)
    if count is None or count < 0:
        raise ArgumentError(
            f"{matrix.name} is raised to the power {exponent!r}.",
            hint="Powers are integers from 0 on.",
        )
    if not count:
        here = spaces(matrix.rows)
        sizes = {n: v for n, v in matrix.bound_sizes.items() if any(n in s.sizes for s in here)}
        return grid(
            name,
            matrix.rows,
            matrix.cols,
            lambda r, c: identity(here[r]) if r == c else zero(here[r], here[c]),
        ).bind(**sizes)
    return reduce(product, [matrix] * count)._each(name, lambda m: m)


def part(matrix: BlockMatrix, place: object) -> Any:
    """Return ``matrix[r, c]``: a matrix, or a part of the blocks.

    Raises
    ------
    ArgumentError
        If there is no such part.
    """
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
    return BlockMatrix(
        f"{matrix.name}[{text}]",
        chosen(matrix.rows, r),
        chosen(matrix.cols, c),
        tuple(tuple(matrix.blocks[i][j] for j in across) for i in below),
    )


def _text(which: object) -> str:
    """Return an integer or a slice as it is written in brackets."""
    if not isinstance(which, slice):
        return repr(which)
    ends = ["" if end is None else repr(end) for end in (which.start, which.stop, which.step)]
    return ":".join(ends if ends[2] else ends[:2])
