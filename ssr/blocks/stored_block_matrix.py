"""Stored matrices between vector fields, or between tuples of fields.

Their algebra is that of SciPy, on the whole matrix. In programs each component of a result is
a sum of products with stored blocks.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .. import ir
from ..algebra.families import Triangle
from ..algebra.stored import Stored
from ..errors import ArgumentError, ShapeError, SpaceError, UnboundError, UnsupportedError
from ..matrices.matrix import Matrix
from ..matrices.operator import Operator
from ..matrices.stored_matrix import StoredMatrix
from ..points.numbers import Array, is_zero, plain
from ..programs.expression import Expression
from ..programs.matrix_program import What
from ..programs.program import Program, own_program
from ..spaces.binding import match_sizes
from ..spaces.space import Space, VectorSpace
from ..symbols.values import takes_over
from .block_matrix import BlockMatrix
from .component_spaces import Kind, joined, label, parts, spaces

if TYPE_CHECKING:
    import scipy.sparse


class StoredBlockMatrix(Operator["StoredBlockMatrix"]):
    """A stored sparse matrix between vector fields, or between tuples of fields.

    Made by `from_scipy` with vector spaces or tuples of spaces, and by operations. Rows and columns
    are numbered field by field, the points of each in C order. Sums and products with other
    matrices are assembled by SciPy, which needs all sizes and data of these matrices.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, ssr
    >>> pair = ssr.Space(2).vector(2)
    >>> turn = scipy.sparse.csr_array(np.kron([[0.0, -1.0], [1.0, 0.0]], np.eye(2)))
    >>> R = ssr.from_scipy(turn, rows=pair, cols=pair)
    >>> R @ np.array([[1.0, 2.0], [3.0, 4.0]])
    array([[-3., -4.],
           [ 1.,  2.]])
    >>> (R.T @ R).equals(ssr.kron(np.eye(2), ssr.identity(ssr.Space(2))))
    True
    """

    def __init__(self, csr: scipy.sparse.csr_array, rows: Kind, cols: Kind) -> None:
        self._csr = csr
        self._rows = rows
        self._cols = cols

    @property
    def name(self) -> str:
        """The name of the matrix in messages."""
        return "stored"

    @property
    def rows(self) -> Kind:
        """The spaces of the result."""
        return self._rows

    @property
    def cols(self) -> Kind:
        """The spaces of the operand."""
        return self._cols

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        rows, cols = self._csr.shape
        return int(rows), int(cols)

    def __repr__(self) -> str:
        count = self._csr.nnz
        return (
            f"<StoredBlockMatrix {label(self.cols)} -> {label(self.rows)}, {count} stored entries>"
        )

    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that follow from the numbers of rows and columns of the blocks."""
        return {n: v for row in self.blocks for b in row for n, v in b.stored.sizes.items()}

    @cached_property
    def blocks(self) -> tuple[tuple[StoredMatrix, ...], ...]:
        """The stored matrix between each component of the columns and each of the rows."""
        below, across = ends_of(self._csr.shape[0], self.rows), ends_of(self.shape[1], self.cols)
        return tuple(
            tuple(
                StoredMatrix(Stored.made(self._csr[first:last, left:right], row, column))
                for (left, right), column in zip(across, spaces(self.cols), strict=True)
            )
            for (first, last), row in zip(below, spaces(self.rows), strict=True)
        )

    # -- algebra ---------------------------------------------------------------------------------

    def __add__(self, other: object) -> StoredBlockMatrix:
        return self._sum(other, 1.0)

    def __radd__(self, other: object) -> StoredBlockMatrix:
        return self if is_zero(other) else self._sum(other, 1.0)

    def __sub__(self, other: object) -> StoredBlockMatrix:
        return self._sum(other, -1.0)

    def __rsub__(self, other: object) -> StoredBlockMatrix:
        return -self + other

    def __neg__(self) -> StoredBlockMatrix:
        return self * -1.0

    def _sum(self, other: object, sign: float) -> StoredBlockMatrix:
        if not isinstance(other, (StoredBlockMatrix, BlockMatrix)):
            raise ArgumentError(
                f"Cannot add a stored matrix of blocks and {type(other).__name__}.",
                hint="The sum of matrices between the same fields is meant.",
            )
        ours, theirs = ((spaces(m.rows), spaces(m.cols)) for m in (self, other))
        if ours != theirs:
            raise SpaceError(
                "Cannot add matrices between different spaces.",
                note=f"{label(self.cols)} -> {label(self.rows)} and "
                f"{label(other.cols)} -> {label(other.rows)}",
            )
        return self._made(self._csr + sign * _entries(other), self.rows, self.cols)

    def __mul__(self, factor: object) -> StoredBlockMatrix:
        factor = plain(factor)
        if not isinstance(factor, numbers.Real):
            raise UnsupportedError(
                f"A stored matrix is multiplied by {type(factor).__name__}, not by a number.",
                hint="The matrix product is written `@`; apply it first, as in a * (S @ x).",
            )
        return self._made(self._csr * float(factor), self.rows, self.cols)

    def __truediv__(self, divisor: object) -> StoredBlockMatrix:
        number = plain(divisor)
        if isinstance(number, numbers.Real) and not number:
            raise ArgumentError("A stored matrix is divided by zero.")
        return self * (1.0 / number if isinstance(number, numbers.Real) else divisor)

    @cached_property
    def T(self) -> StoredBlockMatrix:
        """The transpose."""
        return self._made(self._csr.T, self.cols, self.rows)

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, (Matrix, StoredMatrix, BlockMatrix, StoredBlockMatrix)):
            return product(self, x)
        return NotImplemented if takes_over(x) else self.apply(x)

    def __rmatmul__(self, other: object) -> Any:
        if isinstance(other, (Matrix, StoredMatrix, BlockMatrix)):
            return product(other, self)
        return super().__rmatmul__(other)

    def equals(self, other: Any) -> bool:
        """Return whether ``other`` has the same entries; those of staged matrices are assembled."""
        self._need_matrix(other)
        ours, theirs = ((spaces(m.rows), spaces(m.cols)) for m in (self, other))
        return ours == theirs and (self._csr != _entries(other)).nnz == 0

    @staticmethod
    def _made(csr: Any, rows: Kind, cols: Kind) -> StoredBlockMatrix:
        import scipy.sparse as sparse

        return StoredBlockMatrix(sparse.csr_array(csr), rows, cols)

    def _part(self, which: Triangle, k: int) -> StoredBlockMatrix:
        raise UnsupportedError(
            f"A stored matrix of blocks has no .{which}().", hint="Cut what to_scipy() returns."
        )

    @property
    def _local(self) -> StoredBlockMatrix:
        return self

    # -- application -----------------------------------------------------------------------------

    def apply(self, x: Any, out: Any = None) -> Any:
        """Return the product with an operand of the kind of `cols`, in ``out`` if given.

        Parameters
        ----------
        x
            An array (components, ...) for a vector space, a tuple of arrays for several spaces; in
            programs a vector or a tuple of expressions.
        out
            The memory of the result, an array or a tuple of arrays; must not overlap ``x``.
        """
        given = parts(self.cols, x, "stored apply")
        if isinstance(given[0], Expression):
            return joined(self.rows, self._applied(given), x)
        if out is None:
            out = self._memory(given)
        targets = out if isinstance(self.rows, tuple) else (out,)
        stacked = isinstance(self.cols, VectorSpace) and isinstance(x, (tuple, list))
        sources = (np.stack(given),) if stacked else x if isinstance(self.cols, tuple) else (x,)
        self.program("apply")(*targets, *sources)
        return out

    def _memory(self, given: Sequence[Array]) -> Any:
        """Return memory for a result."""
        arrays = [("x", s, a.shape) for s, a in zip(spaces(self.cols), given, strict=True)]
        sizes, dtype = match_sizes(arrays, {}), given[0].dtype
        if isinstance(self.rows, VectorSpace):
            return np.empty((self.rows.components, *self.rows.space.extent(sizes)), dtype)
        made = tuple(np.empty(space.extent(sizes), dtype) for space in spaces(self.rows))
        return made if isinstance(self.rows, tuple) else made[0]

    def _applied(self, given: Sequence[Expression]) -> list[Expression]:
        """Return the components of the product in a program."""
        found = []
        for space, row in zip(spaces(self.rows), self.blocks, strict=True):
            total = Expression(space, ir.Sum(()))
            for block, operand in zip(row, given, strict=True):
                total = total + block @ operand if block.stored.csr.nnz else total
            found.append(total)
        return found

    def _declared(self, what: What) -> Program:
        if what == "solve":
            raise UnsupportedError(
                "A stored matrix of blocks cannot be solved.",
                hint="Use scipy.sparse.linalg with to_scipy(), or an iterative solver.",
            )
        made, given = _named("y", self.rows), _named("x", self.cols)

        def apply(*fields: Any) -> None:
            targets, operand = fields[: len(made)], fields[len(made) :]
            found = self @ (operand if isinstance(self.cols, tuple) else operand[0])
            values = found if isinstance(self.rows, tuple) else [found]
            for target, value in zip(targets, values, strict=True):
                target[:] = value

        return own_program(**made, **given)(apply)

    def _flat(self, x: Array) -> Array:
        return np.asarray(self._csr @ x.ravel())

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the matrix as a SciPy CSR array."""
        return self._csr.copy()


def product(left: Any, right: Any) -> StoredBlockMatrix:
    """Return the product of two matrices of which one is stored between several fields."""
    import scipy.sparse as sparse

    one, other = _entries(left), _entries(right)
    rows, cols = left.rows, right.cols
    if isinstance(left, (Matrix, StoredMatrix)) and not isinstance(right.rows, Space):
        one = sparse.kron(sparse.eye_array(len(spaces(right.rows))), one)
        rows = _repeated(left.rows, left.cols, right.rows, left, right)
    elif isinstance(right, (Matrix, StoredMatrix)) and not isinstance(left.cols, Space):
        other = sparse.kron(sparse.eye_array(len(spaces(left.cols))), other)
        cols = _repeated(right.cols, right.rows, left.cols, left, right)
    elif spaces(left.cols) != spaces(right.rows):
        raise _unequal(left, right)
    return StoredBlockMatrix._made(sparse.csr_array(one) @ sparse.csr_array(other), rows, cols)


def _repeated(far: Space, near: Space, kind: Kind, left: Any, right: Any) -> Kind:
    """Return the kind of a matrix that acts on each component of a kind in the same way."""
    if set(spaces(kind)) != {near}:
        raise _unequal(left, right)
    return VectorSpace(len(spaces(kind)), far)


def _unequal(left: Any, right: Any) -> SpaceError:
    return SpaceError(
        f"{left.name} @ {right.name}: the columns of the first are not the rows of the second.",
        note=f"{label(left.cols)} and {label(right.rows)}",
    )


def _entries(matrix: Any) -> Any:
    return matrix._csr if isinstance(matrix, StoredBlockMatrix) else matrix.to_scipy()


def ends_of(count: int, kind: Kind) -> list[tuple[int, int]]:
    """Return where the points of each component begin and end among all rows or columns."""
    each = spaces(kind)
    if len(set(each)) == 1 and each[0].sizes:
        if count % len(each):
            raise ShapeError(f"{count} rows or columns are not those of {label(kind)}.")
        counts = [count // len(each)] * len(each)
    else:
        for space in each:
            for name in space.sizes:
                raise UnboundError(
                    f"No value is given for the size {name}.",
                    note=f"the fields are on {label(kind)}",
                    hint="Give spaces whose sizes are numbers.",
                )
        counts = [math.prod(space.extent({})) for space in each]
        if sum(counts) != count:
            raise ShapeError(
                f"The matrix has {count} rows or columns; {label(kind)} has {sum(counts)} elements."
            )
    stops = np.cumsum(counts).tolist()
    return list(zip([0, *stops[:-1]], stops, strict=True))


def _named(name: str, kind: Kind) -> dict[str, Any]:
    """Return the fields of an operand by their names in a program."""
    each = kind if isinstance(kind, tuple) else (kind,)
    return {f"{name}{n}" if len(each) > 1 else name: one for n, one in enumerate(each)}


@overload
def from_scipy(matrix: Any, *, rows: Space, cols: Space) -> StoredMatrix: ...


@overload
def from_scipy(matrix: Any, *, rows: Kind, cols: Kind) -> StoredMatrix | StoredBlockMatrix: ...


def from_scipy(matrix: Any, *, rows: Kind, cols: Kind) -> StoredMatrix | StoredBlockMatrix:
    """Return a sparse matrix of SciPy as a stored matrix between spaces.

    The points of a space are numbered in C order. A product adds the entries of a row by ascending
    columns, in two alternating partial sums, each entry by one fused multiply-add. The matrix is
    copied: duplicate entries are summed, zeros are left out, and numbers other than float32 become
    float64.

    Parameters
    ----------
    matrix
        Any sparse matrix or array of SciPy, of real numbers.
    rows, cols
        Spaces with as many points as the matrix has rows and columns. With vector spaces or tuples
        of spaces elements are numbered field by field, the points of a field in C order; the result
        is then a `StoredBlockMatrix`.

    Raises
    ------
    ArgumentError
        If the matrix is not sparse, or its indices are not valid.
    DtypeError
        If its numbers are not real.
    ShapeError
        If it does not fit spaces whose sizes are known; other sizes are compared at a call.
    UnboundError
        If fields on several spaces have sizes that are not known.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, ssr
    >>> points = ssr.Space(3)
    >>> turn = scipy.sparse.csr_array(([1.0, 1.0, 1.0], ([0, 1, 2], [2, 0, 1])))
    >>> S = from_scipy(turn, rows=points, cols=points)
    >>> S @ np.array([1.0, 2.0, 4.0])
    array([4., 1., 2.])
    >>> A = ssr.stencil(points, points, {-1: 1, 0: 2}, outside="zero")
    >>> (A @ S + S.T).to_scipy().toarray()
    array([[0., 1., 2.],
           [2., 0., 2.],
           [2., 2., 0.]])
    """
    if isinstance(rows, Space) and isinstance(cols, Space):
        return StoredMatrix(Stored.of(matrix, rows, cols))
    for kind in rows, cols:
        _check_kind(kind)
    checked = Stored.checked(matrix)
    made = StoredBlockMatrix(checked, rows, cols)
    made.blocks  # noqa: B018  checks that the matrix fits
    return made


def _check_kind(kind: Any) -> None:
    """Refuse something else than a space, a vector space or a tuple of spaces."""
    each = kind if isinstance(kind, tuple) and kind else (kind,)
    alone = len(each) == 1
    if not all(isinstance(k, Space) or (alone and isinstance(k, VectorSpace)) for k in each):
        raise ArgumentError(
            f"from_scipy takes spaces, not {label(kind)}.",
            hint="Give a space, a vector space, or a tuple of spaces.",
        )
