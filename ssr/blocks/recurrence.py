"""Row recurrences with scalar or dense block entries, such as block incomplete factorizations.

Block entries are stored like those of scalar recurrences (`recurrences`), identified by their
offset and position in the block. Their sweep is that of a scalar recurrence as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, overload

import numpy as np

from ..algebra.define import check_declaration
from ..errors import SpaceError
from ..matrices.matrix import Matrix
from ..points.affine import Affine
from ..recurrences.declare import Recurrence, check_name, define, traced
from ..recurrences.done import Recursion
from ..spaces.space import Space, VectorSpace
from ..trace.captured import captured
from ..trace.functions import declared_function
from ..trace.trace import Path, ScalarType, check_signature
from .block_data import BlockData, grid
from .block_matrix import BlockMatrix
from .dense import Given, flat_data, splitting, with_components


@overload
def recurrence(
    *, rows: Space, cols: Space, **data: Space | ScalarType
) -> Callable[[Callable[..., Any]], Recurrence]: ...


@overload
def recurrence(
    *, rows: VectorSpace, cols: VectorSpace, **data: Space | VectorSpace | ScalarType
) -> Callable[[Callable[..., Any]], BlockRecurrence]: ...


def recurrence(
    *,
    rows: Space | VectorSpace,
    cols: Space | VectorSpace,
    **data: Space | VectorSpace | ScalarType,
) -> Callable[[Callable[..., Any]], Any]:
    """Declare a matrix by a generator of one row that may read the rows before it.

    The decorated function takes one index for each axis and then ``done``, by which it reads the
    entries of earlier rows in C order: ``done[k, c]`` is the entry in row k and column c, zero
    where row k has no entry. ``A.row(j, i)`` is a row of another matrix as a dictionary from
    columns to values; columns are tuples of indices, in one dimension indices, and compare in C
    order. Otherwise it is a generator as in `ssr.matrix`. On a vector space entries are dense
    blocks: ``done[k, c]`` is an array, of zeros where row k has no entry.

    Parameters
    ----------
    rows, cols
        One space, or one vector space.
    **data
        Keyword-only arguments of the generator, as in `ssr.matrix`. Data of the matrices whose rows
        are read need not be declared: they are data of the recurrence too.

    Raises
    ------
    UnmadeRowError
        If a row is read that has not been computed yet.
    OutOfSpaceError
        If a row or column is read that does not exist.
    SingularMatrixError
        If an entry that is divided by is proved to be zero.
    UnsupportedError
        If a column has no fixed distance from its row.

    Examples
    --------
    An incomplete LU factorization without fill, ILU(0), kept in one matrix:

    >>> import numpy as np, ssr
    >>> cells = ssr.Space(*ssr.sizes("ny nx"))
    >>> weights = {(-1, 0): -1, (0, -1): -1, (0, 0): 4, (0, 1): -1, (1, 0): -1}
    >>> A = ssr.stencil(cells, cells, weights, outside="zero")
    >>> @ssr.recurrence(rows=cells, cols=cells)
    ... def LU(j, i, done):
    ...     row = A.row(j, i)
    ...     for k in [c for c in row if c < (j, i)]:
    ...         row[k] /= done[k, k]
    ...         for c in row:
    ...             if c > k:
    ...                 row[c] -= row[k] * done[k, c]
    ...     yield from row.items()
    >>> F = LU.bind(ny=3, nx=3).compute()
    >>> L, U = F.tril(-1) + ssr.identity(cells), F.triu()
    >>> b = np.ones((3, 3))
    >>> x = U.solve(L.solve(b))
    >>> float(np.linalg.norm(b - A @ x).round(3)), float(np.linalg.norm(b).round(3))
    (0.588, 3.0)

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems (2nd ed. 2003), algorithm 10.4.
    """
    blocks = isinstance(rows, VectorSpace)

    def declare(function: Callable[..., Any]) -> Any:
        function = declared_function("ssr.recurrence", "a generator function", function)
        check_declaration(function, rows, cols, data, (Space, VectorSpace) if blocks else (Space,))
        if rows != cols:
            raise SpaceError(
                f"The recurrence {function.__name__} needs equal spaces of rows and columns.",
                note=f"rows {rows!r}, columns {cols!r}",
            )
        space = rows.space if isinstance(rows, VectorSpace) else rows
        check_signature(function, space, data, ("done",))
        if isinstance(rows, VectorSpace):
            return define_blocks(function, rows, data)
        return define(function, rows, data)  # type: ignore[arg-type]

    return declare


def define_blocks(function: Callable[..., Any], kind: VectorSpace, given: Given) -> BlockRecurrence:
    """Return the recurrence of a generator whose entries are dense blocks."""
    name = function.__name__
    kept = with_components(captured(function), given)
    generator = with_components(function, given)
    whole, found = traced(
        generator, kept, kind.space, flat_data(given), splitting(kind, kind), kind.components
    )
    check_name(name, kind.space, given)
    origin = whole.origin
    assert isinstance(origin, Recursion)

    def component(r: int, c: int) -> Matrix:
        part = replace(
            whole,
            families=found.families.get((Affine.of(r), Affine.of(c)), ()),
            origin=replace(origin, place=(r, c)),
            paths=tuple(
                Path(p.domain, tuple(e for e in p.entries if e.place == (r, c)))
                for p in whole.paths
            ),
        )
        return Matrix(part)

    return BlockRecurrence(grid(name, kind, kind, component), Recurrence(whole, found.made))


class BlockRecurrence(BlockMatrix):
    """A matrix of dense blocks whose rows are made in C order, each from entries of earlier ones.

    Made by `ssr.recurrence` with vector spaces, and used like a `Recurrence`.

    Attributes
    ----------
    numbers
        The recurrence of the stored values, one for each entry of the blocks.

    Examples
    --------
    Products of blocks along a line:

    >>> import numpy as np, ssr
    >>> V = ssr.Space(4).vector(2)
    >>> @ssr.recurrence(rows=V, cols=V, a=V)
    ... def P(i, done, *, a):
    ...     turn = np.array([[0.0, a[0, i]], [a[1, i], 0.0]])
    ...     yield i, turn if i == 0 else turn @ done[i - 1, i - 1]
    >>> P.bind(a=np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 2.0, 2.0]])).compute() @ np.ones((2, 4))
    array([[ 1.,  2.,  3., 16.],
           [ 1.,  1.,  4.,  6.]])
    """

    def __init__(self, definition: BlockData, numbers: Recurrence) -> None:
        super().__init__(definition)
        self.numbers = numbers

    @property
    def entries(self) -> VectorSpace:
        """The space of the stored entries, to declare a field for them: ``v=LU.entries``."""
        return self.numbers.entries

    def bind(self, **data: Any) -> BlockRecurrence:
        """Return the recurrence with values for its data; see `BlockMatrix.bind`."""
        return BlockRecurrence(super().bind(**data).definition, self.numbers.bind(**data))

    def compute(self, out: Any = None, dtype: Any = np.float64) -> BlockRecurrence:
        """Return the matrix with its entries computed from the present values of its data.

        Parameters
        ----------
        out, dtype
            The array or field of the entries, and the type of a new array; see
            `Recurrence.compute`.
        """
        made = self.numbers.compute(out, dtype).definition.bound
        return self.bind(**{name: made[name] for name in self.numbers.made})
