"""Compose block matrices: from a grid of matrices, Kronecker products, or diagonal data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal, NoReturn, overload

import numpy as np

from .. import ir
from ..algebra import combine
from ..algebra.define import zero
from ..errors import ArgumentError, SpaceError
from ..matrices.declare import diagonal as diagonal_of_field
from ..matrices.declare import identity
from ..matrices.matrix import Matrix
from ..points.numbers import Array, plain
from ..spaces.space import Space, VectorSpace
from ..symbols.values import Value, node
from .block_data import BlockData, grid
from .block_matrix import BlockMatrix
from .component_spaces import Kind, kind_of, label, spaces


@overload
def kron(left: Matrix, right: Matrix) -> Matrix: ...


@overload
def kron(left: np.ndarray[Any, Any], right: Matrix) -> BlockMatrix: ...


def kron(left: Matrix | np.ndarray[Any, Any], right: Matrix) -> Matrix | BlockMatrix:
    """Return the Kronecker product of two matrices, or of an array of numbers and a matrix.

    Its spaces have the axes of the left one's, then those of the right one's; the left index is
    the slow one, as in SciPy. Sizes of one name are one size. With an array the slow index is the
    component, and the product a `BlockMatrix`.

    Parameters
    ----------
    left
        A matrix, or an array of numbers of shape (m, n).
    right
        A matrix.

    Raises
    ------
    ArgumentError
        If an operand is not a matrix, or the array does not have two axes.
    SpaceError
        If the spaces would have more than four dimensions.

    Examples
    --------
    The Laplacian in two dimensions, from that in one:

    >>> import ssr
    >>> y, x = (ssr.Space(n) for n in ssr.sizes("ny nx"))
    >>> def laplace(line):
    ...     return ssr.stencil(line, line, {-1: -1, 0: 2, 1: -1}, outside="zero")
    >>> A = ssr.kron(laplace(y), ssr.identity(x)) + ssr.kron(ssr.identity(y), laplace(x))
    >>> A.rows, len(A.families)
    (Space(ny, nx), 5)

    References
    ----------
    SciPy, ``scipy.sparse.kron``.
    """
    if isinstance(left, np.ndarray) and isinstance(right, Matrix):
        return BlockMatrix(_scaled_blocks(left, right))
    for matrix in left, right:
        if not isinstance(matrix, Matrix):
            raise ArgumentError(f"kron takes two matrices, not {type(matrix).__name__}.")
    return Matrix(combine.kron(left.definition, right.definition))


def _scaled_blocks(left: Array, right: Matrix) -> BlockData:
    """Return the block matrix with a multiple of a matrix in each block."""
    if left.ndim != 2 or not left.size:
        raise ArgumentError(
            f"kron takes an array of two axes, not one of shape {left.shape}.",
            hint="Its rows and columns are components.",
        )
    none = Matrix(zero(right.rows, right.cols))
    rows, cols = (s.vector(n) for s, n in zip((right.rows, right.cols), left.shape, strict=True))
    return grid(
        f"kron(array, {right.name})",
        rows,
        cols,
        lambda r, c: right * left[r, c] if node(left[r, c]) != ir.ZERO else none,
    )


Blocks = Sequence[Sequence["Matrix | BlockMatrix | None"]]


def block(
    blocks: Blocks,
    *,
    rows: Sequence[Kind] | Kind | None = None,
    cols: Sequence[Kind] | Kind | None = None,
) -> BlockMatrix:
    """Return the block matrix of matrices, as ``scipy.sparse.block_array`` does.

    Parameters
    ----------
    blocks
        Rows of matrices or block matrices; None stands for zero.
    rows, cols
        The spaces of each row and column of blocks, or a vector space of all of them; needed where
        one has only None. Block matrices among the blocks become parts of one.

    Raises
    ------
    SpaceError
        If the blocks of a row differ in their rows, or those of a column in their columns.
    ArgumentError
        If spaces are unknown, or an entry is neither a matrix nor None.

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
    columns = list(zip(*grid_of, strict=True))
    below = _agreed("row", grid_of, _each("row", grid_of, rows))
    across = _agreed("column", columns, _each("column", columns, cols))
    made: list[tuple[Matrix, ...]] = []
    for row, here in zip(grid_of, below, strict=True):
        for r, space in enumerate(here):
            line: list[Matrix] = []
            for item, there in zip(row, across, strict=True):
                line += (
                    item.blocks[r] if item is not None else [Matrix(zero(space, s)) for s in there]
                )
            made.append(tuple(line))
    names = (", ".join(m.name if m else "None" for m in row) for row in grid_of)
    outer, inner = (kind_of(list(chain(*found))) for found in (below, across))
    return BlockMatrix(BlockData(f"[[{'], ['.join(names)}]]", outer, inner, tuple(made)))


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
        return BlockMatrix(BlockData(item.name, item.rows, item.cols, ((item,),)))
    if item is not None and not isinstance(item, BlockMatrix):
        raise ArgumentError(
            f"ssr.block takes matrices and None, not {type(item).__name__}.",
            hint="A number in every diagonal entry is number * ssr.identity(space).",
        )
    return item


def _each(
    what: Literal["row", "column"],
    lines: Sequence[Sequence[BlockMatrix | None]],
    given: Sequence[Kind] | Kind | None,
) -> Sequence[Kind] | None:
    """Return the given spaces, one for each row or column of blocks."""
    if isinstance(given, (tuple, list)):
        for kind in given:
            if not isinstance(kind, (Space, VectorSpace)):
                _refuse_kind(what, kind)
        return given
    if given is None:
        return None
    if not isinstance(given, (Space, VectorSpace)):
        _refuse_kind(what, given)
    met = [[m.rows if what == "row" else m.cols for m in line if m is not None] for line in lines]
    counts = [len(spaces(kinds[0])) if kinds else 0 for kinds in met]
    rest, alone = len(spaces(given)) - sum(counts), counts.count(0)
    share, more = divmod(rest, alone) if alone else (0, rest)
    if more or (alone and share < 1):
        raise SpaceError(
            f"The {what}s of the blocks do not have the components of {label(given)}.",
            hint="Give a space for each: ssr.block(..., rows=[...], cols=[...]).",
        )
    point = spaces(given)[0]
    each = [count or share for count in counts]
    return [point if count == 1 else point.vector(count) for count in each]


def _refuse_kind(what: str, kind: object) -> NoReturn:
    raise ArgumentError(
        f"The {what}s of the blocks are on {type(kind).__name__}, which is not a space.",
        hint=f"Give a vector space, or a list with a space for each {what} of blocks.",
    )


def _agreed(
    what: Literal["row", "column"],
    lines: Sequence[Sequence[BlockMatrix | None]],
    given: Sequence[Kind] | None,
) -> list[tuple[Space, ...]]:
    """Return the spaces of each row or column of blocks."""
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
                    note=f"{label(kinds[0])} and {label(kind)}",
                )
        found.append(spaces(kinds[0]))
    return found


@overload
def diagonal(space: Space, values: Any = None) -> Matrix: ...


@overload
def diagonal(space: VectorSpace, values: Any) -> BlockMatrix: ...


def diagonal(space: Space | VectorSpace, values: Any = None) -> Matrix | BlockMatrix:
    """Return the diagonal matrix of a field ``d``, or of dense blocks.

    Parameters
    ----------
    space
        Rows and columns.
    values
        An array, or inside a program one of its expressions; by default, bind it later, with
        ``D.bind(d=...)``. On a vector space of n components n rows of n such values, or numbers:
        the block at each point, such as `ssr.jacobian` gives.

    Raises
    ------
    ArgumentError
        If the values on a vector space are not n rows of n values.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> s = ssr.Space(3)
    >>> d = np.array([1.0, 2.0, 4.0])
    >>> D = ssr.diagonal(s, d)
    >>> (D @ ssr.stencil(s, s, {1: 1}, outside="zero")).to_scipy().toarray()
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])

    A block at each point:

    >>> B = ssr.diagonal(s.vector(2), [[1.0, 0.0], [d, 2.0]])
    >>> B.solve(np.ones((2, 3)))
    array([[ 1. ,  1. ,  1. ],
           [ 0. , -0.5, -1.5]])
    """
    if isinstance(space, Space):
        return diagonal_of_field(space, values)
    if not isinstance(space, VectorSpace):
        raise ArgumentError(f"space must be a Space or a vector space, not {space!r}.")
    count, points = range(space.components), space.space
    rows = [_listed(row) for row in _listed(values)]
    if [len(row) for row in rows] != [len(count)] * len(count):
        raise ArgumentError(
            f"ssr.diagonal on {label(space)} takes {len(count)} rows of {len(count)} values.",
            hint="They are the block at each point: fields, or numbers.",
        )

    def entry(r: int, c: int) -> Matrix:
        value = plain(rows[r][c])
        if not isinstance(value, (int, float, Value)):
            return diagonal_of_field(points, value)
        return identity(points) * value if node(value) != ir.ZERO else Matrix(zero(points, points))

    return BlockMatrix(grid("diagonal", space, space, entry))


def _listed(values: Any) -> tuple[Any, ...]:
    """Return the items of a list, tuple or array; an empty tuple for other objects."""
    values = plain(values)
    return tuple(values) if isinstance(values, (list, tuple, np.ndarray)) else ()
