"""Matrices of which a part is stored: sparse data without structure beside staged matrices."""

from __future__ import annotations

import numbers
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import ir
from .binding import match_sizes
from .errors import ArgumentError, DtypeError, ShapeError, SpaceError, UnsupportedError
from .expression import Expression, apply_rows, current
from .index import plain
from .matrix import Matrix
from .oracle import need
from .program import Program, program
from .space import Space

if TYPE_CHECKING:
    import scipy.sparse

Array = np.ndarray[Any, np.dtype[Any]]


class Assembled:
    """The sum of a stored sparse matrix and, possibly, a staged one.

    Made by `from_scipy` and by sums with it. It is applied by ``@`` to arrays and, in programs, to
    fields; nothing is known of its structure, so there is no `solve`.
    """

    __array_ufunc__ = None

    def __init__(
        self,
        stored: scipy.sparse.csr_array,
        rows: Space,
        cols: Space,
        staged: Matrix | None = None,
    ) -> None:
        self.stored = stored
        self.rows = rows
        self.cols = cols
        self.staged = staged

    def __repr__(self) -> str:
        more = "" if self.staged is None else f" + {self.staged.name}"
        return (
            f"<Assembled{more}: {self.cols!r} -> {self.rows!r}, {self.stored.nnz} stored entries>"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        rows, cols = self.stored.shape
        return int(rows), int(cols)

    # -- algebra ---------------------------------------------------------------------------------

    def __add__(self, other: object) -> Any:
        if not isinstance(other, (Matrix, Assembled)):
            return NotImplemented
        if (self.rows, self.cols) != (other.rows, other.cols):
            raise SpaceError(
                "Matrices between other spaces are added.",
                note=f"{self.cols!r} -> {self.rows!r} and {other.cols!r} -> {other.rows!r}",
            )
        staged = other if isinstance(other, Matrix) else other.staged
        stored = self.stored + other.stored if isinstance(other, Assembled) else self.stored
        both = [m for m in (self.staged, staged) if m is not None]
        together = both[0] + both[1] if len(both) == 2 else both[0] if both else None
        return Assembled(stored, self.rows, self.cols, together)

    __radd__ = __add__

    def __neg__(self) -> Assembled:
        return self._scaled(-1.0)

    def __sub__(self, other: object) -> Any:
        return self + -other if isinstance(other, (Matrix, Assembled)) else NotImplemented

    def __rsub__(self, other: object) -> Any:
        return -self + other

    def __mul__(self, factor: object) -> Any:
        factor = plain(factor)
        if not isinstance(factor, numbers.Real):
            raise UnsupportedError(
                "A stored matrix is multiplied by what is no number.",
                hint="Apply it first, as in a * (S @ x).",
            )
        return self._scaled(float(factor))

    __rmul__ = __mul__

    def _scaled(self, factor: float) -> Assembled:
        staged: Any = None if self.staged is None else factor * self.staged
        return Assembled(factor * self.stored, self.rows, self.cols, staged)

    @cached_property
    def T(self) -> Assembled:
        """The transpose."""
        staged = None if self.staged is None else self.staged.T
        return Assembled(self.stored.T.tocsr(), self.cols, self.rows, staged)

    # -- application -----------------------------------------------------------------------------

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, Expression):
            return self._rows(x)
        if not isinstance(x, np.ndarray):
            raise ArgumentError(
                f"A stored matrix is applied to {type(x).__name__}.",
                hint="The operand is a NumPy array or a field.",
            )
        return self.apply(x)

    def __rmatmul__(self, x: object) -> NoReturn:
        raise UnsupportedError(
            "A product with a stored matrix on the right is not staged.",
            hint="Apply one after the other, A @ (S @ x); or apply the transpose, S.T @ x.",
        )

    def apply(self, x: Array, out: Array | None = None) -> Array:
        """Return the product with an array of the shape of ``cols``."""
        if out is None:
            sizes = match_sizes([("x", self.cols, x.shape)], {})
            need(tuple(self.rows.sizes), sizes, "size")
            out = np.empty(self.rows.extent(sizes), x.dtype)
        self._apply(out, x)
        return out

    @cached_property
    def _apply(self) -> Program:
        def apply(y: Any, x: Any) -> None:
            y[:] = self @ x

        return program(y=self.rows, x=self.cols)(apply)

    def _rows(self, x: Expression) -> Expression:
        """Return the row of the product; that of the stored part is computed before, in a field."""
        if x.space != self.cols:
            raise SpaceError(
                f"A stored matrix @ an expression on {x.space!r}: the columns are {self.cols!r}."
            )
        recorder = current()
        field = recorder.store(x)
        name = f"csr{len(recorder.stored)}"
        recorder.stored[name] = self.stored
        rows, cols = (
            ir.Field(n, s.lower, s.data.shape)
            for n, s in ((name, self.rows), (field.name, x.space))
        )
        gather = ir.Gather(name, self.rows.indices(), rows, cols)
        made: Expression = recorder.store(Expression(self.rows, gather))
        return made if self.staged is None else made + apply_rows(self.staged, field)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the matrix as a SciPy CSR array."""
        return self.stored if self.staged is None else self.stored + self.staged.to_scipy()


def from_scipy(matrix: Any, *, rows: Space, cols: Space) -> Assembled:
    """Return a sparse matrix of SciPy as a matrix between spaces, its structure unknown.

    The points of a space are numbered in C order. The product adds the entries of a row as they are
    stored, each by one fused multiply-add. The matrix is copied where it is not in CSR form, and
    its values are converted to a kernel's type once: change it by making it again.

    Parameters
    ----------
    matrix
        Any sparse matrix or array of SciPy, of real numbers.
    rows, cols
        Spaces with as many points as the matrix has rows and columns.

    Raises
    ------
    ArgumentError
        If the matrix is not sparse.
    DtypeError
        If its numbers are not real.
    ShapeError
        If it does not fit spaces whose sizes are known; other sizes are compared at a call.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, ssr
    >>> points = ssr.Space(3)
    >>> turn = scipy.sparse.csr_array(([1.0, 1.0, 1.0], ([0, 1, 2], [2, 0, 1])))
    >>> S = from_scipy(turn, rows=points, cols=points)
    >>> S @ np.array([1.0, 2.0, 4.0])
    array([4., 1., 2.])
    >>> A = ssr.stencil(points, points, {-1: 1, 0: 2}, outside="drop")
    >>> (A + S).to_scipy().toarray()
    array([[2., 0., 1.],
           [2., 2., 0.],
           [0., 2., 2.]])
    """
    import scipy.sparse as sparse

    if not sparse.issparse(matrix):
        raise ArgumentError(
            f"{type(matrix).__name__} is not a sparse matrix of SciPy.",
            hint="Convert it with scipy.sparse.csr_array.",
        )
    if matrix.dtype.kind not in "fiu":
        raise DtypeError(f"A stored matrix has dtype {matrix.dtype}; kernels know real numbers.")
    stored = sparse.csr_array(matrix)
    for what, space, count in ("rows", rows, stored.shape[0]), ("columns", cols, stored.shape[1]):
        if not space.sizes and int(np.prod(space.extent({}))) != count:
            raise ShapeError(f"The matrix has {count} {what}; {space!r} has other points.")
    return Assembled(stored, rows, cols)
