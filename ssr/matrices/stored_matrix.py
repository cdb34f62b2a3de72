"""Matrices with a stored part: assembled sparse data, optionally added to a matrix-free matrix."""

from __future__ import annotations

import math
import numbers
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..algebra.combine import part_spaces
from ..algebra.families import Triangle
from ..algebra.oracle import need, numbers_in
from ..algebra.stored import Stored
from ..errors import ArgumentError, ShapeError, SpaceError, UnsupportedError
from ..points.numbers import Array, integer, is_zero, plain
from ..programs.expression import Expression
from ..programs.gather import apply_stored, solve_stored
from ..programs.matrix_program import What
from ..programs.matrix_rows import apply_rows
from ..programs.program import Program, own_program
from ..programs.vectors import Vector
from ..spaces.binding import match_sizes
from ..spaces.space import Space
from ..symbols.values import takes_over
from .matrix import Matrix
from .operator import Operator

if TYPE_CHECKING:
    import scipy.sparse


class StoredMatrix(Operator["StoredMatrix"]):
    """A part of a stored sparse matrix and, possibly, a staged matrix added to it.

    Made by `from_scipy` and by operations. In programs and on arrays it is used like a `Matrix`.
    A sum with a staged matrix keeps both; products, powers and solves are assembled by SciPy when
    they are declared, which needs all sizes and data of the staged matrices in them.

    Examples
    --------
    >>> import numpy as np, scipy.sparse, ssr
    >>> points = ssr.Space(3)
    >>> turn = scipy.sparse.csr_array(np.roll(np.eye(3), 1, axis=0))
    >>> S = ssr.from_scipy(turn, rows=points, cols=points)
    >>> (S + 2.0 * ssr.identity(points)) @ np.array([1.0, 2.0, 4.0])
    array([ 6.,  5., 10.])
    """

    def __init__(
        self, stored: Stored, part: ir.Range = ir.WHOLE, staged: Matrix | None = None
    ) -> None:
        self.stored = stored
        self.part = part
        self.staged = staged

    @property
    def name(self) -> str:
        """The name of the matrix in messages."""
        return "stored" if self.staged is None else f"(stored + {self.staged.name})"

    @property
    def rows(self) -> Space:
        """The space of the rows."""
        return self.stored.rows

    @property
    def cols(self) -> Space:
        """The space of the columns."""
        return self.stored.cols

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        rows, cols = self.stored.csr.shape
        return int(rows), int(cols)

    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that follow from the stored matrix, and from the staged one."""
        return self.stored.sizes | ({} if self.staged is None else self.staged.known_sizes())

    def __repr__(self) -> str:
        count = self.stored.part(self.part).nnz
        return f"<StoredMatrix {self.name}: {self.cols!r} -> {self.rows!r}, {count} stored entries>"

    # -- algebra ---------------------------------------------------------------------------------

    def __add__(self, other: object) -> Any:
        self._check_summand(other)
        if not isinstance(other, (Matrix, StoredMatrix)):
            return NotImplemented
        if (self.rows, self.cols) != (other.rows, other.cols):
            raise SpaceError(
                "Cannot add matrices between different spaces.",
                note=f"{self.cols!r} -> {self.rows!r} and {other.cols!r} -> {other.rows!r}",
            )
        if isinstance(other, Matrix):
            staged = other if self.staged is None else self.staged + other
            return StoredMatrix(self.stored, self.part, staged)
        both = self._entries + other._entries
        made = StoredMatrix(Stored.made(both, self.rows, self.cols), staged=self.staged)
        return made if other.staged is None else made + other.staged

    def __radd__(self, other: object) -> Any:
        return self if is_zero(other) else self + other

    def __neg__(self) -> StoredMatrix:
        return self * -1.0

    def __sub__(self, other: object) -> Any:
        if other is self:  # as in A - A.rank_local()
            return self._rescaled(
                type(self.stored.csr)(self.shape, dtype=self.stored.csr.dtype), None
            )
        return self + -other if isinstance(other, (Matrix, StoredMatrix)) else NotImplemented

    def __rsub__(self, other: object) -> Any:
        return -self + other

    def __mul__(self, factor: object) -> StoredMatrix:
        factor = plain(factor)
        if not isinstance(factor, numbers.Real):
            raise UnsupportedError(
                f"Cannot multiply a stored matrix by {type(factor).__name__}; numbers only.",
                hint="The matrix product is written `@`."
                if isinstance(factor, (Matrix, StoredMatrix))
                else "Apply it first, as in a * (S @ x).",
            )
        staged: Any = None if self.staged is None else float(factor) * self.staged
        return self._rescaled(self.stored.csr * float(factor), staged)

    def __truediv__(self, divisor: object) -> StoredMatrix:
        divisor = plain(divisor)
        if not isinstance(divisor, numbers.Real):
            return self * divisor
        if not divisor:
            raise ArgumentError("A stored matrix is divided by zero.")
        staged: Any = None if self.staged is None else self.staged / float(divisor)
        return self._rescaled(self.stored.csr / float(divisor), staged)

    def _rescaled(self, csr: scipy.sparse.csr_array, staged: Matrix | None) -> StoredMatrix:
        return StoredMatrix(Stored.made(csr, self.rows, self.cols), self.part, staged)

    @cached_property
    def T(self) -> StoredMatrix:
        """The transpose."""
        staged = None if self.staged is None else self.staged.T
        turned = Stored.made(self.stored.csr.T.tocsr(), self.cols, self.rows)
        return StoredMatrix(turned, (3 - self.part[1], 3 - self.part[0]), staged)

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, Expression):
            row = apply_stored(self.stored, self.part, x)
            return row if self.staged is None else row + apply_rows(self.staged.definition, x)
        if isinstance(x, Vector):
            return Vector([self @ component for component in x])
        if isinstance(x, (Matrix, StoredMatrix)):
            return product(self, x)
        return NotImplemented if takes_over(x) else self.apply(x)

    def __rmatmul__(self, other: object) -> Any:
        if isinstance(other, Matrix):
            return product(other, self)
        return super().__rmatmul__(other)

    def __pow__(self, exponent: object) -> StoredMatrix:
        count = integer(exponent)
        if count is None or count < 0:
            raise ArgumentError(
                f"A stored matrix cannot be raised to the power {exponent!r}.",
                hint="Powers are integers from 0 on; S.solve(b) stands for the inverse of a "
                "triangle.",
            )
        self._need_square("**")
        import scipy.sparse as sparse

        made: Any = sparse.eye_array(self.shape[0], format="csr")
        for _ in range(count):
            made = made @ self.whole._entries
        return StoredMatrix(Stored.made(made, self.rows, self.cols))

    def __getitem__(self, place: object) -> StoredMatrix:
        """Return the entries in some rows and columns, as `Matrix` does."""
        spaces = self.rows, self.cols
        wanted = place if isinstance(place, tuple) else (place,)
        chosen = part_spaces(self.name, spaces, wanted)
        rows, cols = (
            numbers_in(part, space, self.stored.sizes)
            for part, space in zip(chosen, spaces, strict=True)
        )
        found = Stored.made(self._entries[rows, :][:, cols], *chosen)
        return StoredMatrix(found, staged=None if self.staged is None else self.staged[chosen])

    def _part(self, which: Triangle, k: int) -> StoredMatrix:
        self._need_square(f".{which}")
        part = {"tril": (0, 2 + k), "triu": (1 + k, 3), "diagonal": (1, 2)}[which]
        both = max(self.part[0], part[0]), min(self.part[1], part[1])
        staged = None if self.staged is None else self.staged._part(which, k)
        return StoredMatrix(self.stored, both, staged)

    @property
    def _local(self) -> StoredMatrix:
        self._need_square(".local")
        return self

    def equals(self, other: Matrix | StoredMatrix) -> bool:
        """Return whether ``other`` has the same entries; symbolic matrices are assembled."""
        self._need_matrix(other)
        if (self.rows, self.cols) != (other.rows, other.cols):
            return False
        ours, theirs = self.whole._entries, _entries(other, self.stored)
        return bool(ours.shape == theirs.shape and (ours != theirs).nnz == 0)

    # -- application -----------------------------------------------------------------------------

    def apply(self, x: Array, out: Array | None = None) -> Array:
        """Return the product with an array x of the shape of ``cols``, in ``out`` if given."""
        if not isinstance(x, np.ndarray):
            raise ArgumentError(
                f"A stored matrix is applied to {type(x).__name__}.",
                hint="The operand is a NumPy array or a field.",
            )
        return self._eager("apply", x, out)

    def solve(self, b: Any, out: Array | None = None) -> Any:
        """Return x with ``S x = b`` for a triangular matrix, by substitution in row order.

        Parameters
        ----------
        b
            Right side: array of the shape of ``rows``, or a field expression in a program.
        out
            Array that receives the solution; must not overlap ``b``.

        Raises
        ------
        NotTriangularError
            If the matrix has entries on both sides of the diagonal.
        SingularMatrixError
            If a row has no diagonal entry; a stored zero does not count.

        Examples
        --------
        >>> import numpy as np, scipy.sparse, ssr
        >>> points = ssr.Space(3)
        >>> full = scipy.sparse.csr_array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
        >>> S = ssr.from_scipy(full, rows=points, cols=points)
        >>> S.tril().solve(np.array([2.0, 3.0, 1.0]))
        array([1., 1., 0.])
        """
        self._need_square(".solve")
        if isinstance(b, Expression):
            whole = self.whole
            return solve_stored(whole.stored, whole.part, b)
        if not isinstance(b, np.ndarray):
            raise ArgumentError(f"The right side must be a NumPy array, not {type(b).__name__}.")
        return self._eager("solve", b, out)

    def _declared(self, what: What) -> Program:
        def apply(y: Any, x: Any) -> None:
            y[:] = self @ x

        def solve(x: Any, b: Any) -> None:
            x[:] = self.solve(b)

        if what == "apply":
            return own_program(y=self.rows, x=self.cols)(apply)
        return own_program(x=self.cols, b=self.rows)(solve)

    def _eager(self, what: What, x: Array, out: Array | None) -> Array:
        if out is None:
            sizes = match_sizes([("x", self.cols, x.shape)], self.stored.sizes)
            need(tuple(self.rows.sizes), sizes, "size")
            out = np.empty(self.rows.extent(sizes), x.dtype)
        self.program(what)(out, x)
        return out

    def _flat(self, x: Array) -> Array:
        return self.apply(x.reshape(self._extents()[1])).ravel()

    def _extents(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        sizes = self.stored.sizes
        return self.rows.extent(sizes), self.cols.extent(sizes)

    def _check_rows(self, shape: tuple[int, ...]) -> None:
        """Raise a `ShapeError` if an array of a shape has other rows."""
        match_sizes([("b", self.rows, shape)], self.stored.sizes)
        if math.prod(shape) != self.shape[0]:
            raise ShapeError(f"Array 'b' has {math.prod(shape)} points, {self!r} {self.shape[0]}.")

    @property
    def _distributed(self) -> tuple[Any, ...]:
        """The data of the staged part that are fields of several ranks."""
        return () if self.staged is None else self.staged._distributed

    # -- entries ---------------------------------------------------------------------------------

    @property
    def _entries(self) -> scipy.sparse.csr_array:
        """The entries of the stored part, not to be changed."""
        return self.stored.part(self.part)

    @cached_property
    def whole(self) -> StoredMatrix:
        """The matrix with its staged part stored too."""
        if self.staged is None:
            return self
        ours, theirs = self._entries, _entries(self.staged, self.stored)
        if ours.shape != theirs.shape:
            shapes = " and ".join(f"{m} x {n}" for m, n in (ours.shape, theirs.shape))
            raise ShapeError(f"{self.name}: the matrices added are {shapes}.")
        both = ours + theirs
        return StoredMatrix(Stored.made(both, self.rows, self.cols))

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the matrix as a SciPy CSR array; sizes and data of a staged part must be bound."""
        return self.whole._entries.copy()


def product(left: Matrix | StoredMatrix, right: Matrix | StoredMatrix) -> StoredMatrix:
    """Return the product of two matrices of which one is stored, assembled by SciPy."""
    if left.cols != right.rows:
        raise SpaceError(
            f"{left.name} @ {right.name}: the columns of the first are not the rows of the second.",
            note=f"{left.cols!r} and {right.rows!r}",
        )
    known = next(m.stored for m in (left, right) if isinstance(m, StoredMatrix))
    a, b = _entries(left, known), _entries(right, known)
    if a.shape[1] != b.shape[0]:
        raise ShapeError(
            f"{left.name} @ {right.name}: the first has {a.shape[1]} columns, the second "
            f"{b.shape[0]} rows."
        )
    return StoredMatrix(Stored.made(a @ b, left.rows, right.cols))


def _entries(matrix: Matrix | StoredMatrix, beside: Stored) -> scipy.sparse.csr_array:
    """Return the entries of a matrix, which must not be modified.

    A symbolic matrix gets its unbound sizes from ``beside``, the stored operand.
    """
    if isinstance(matrix, StoredMatrix):
        return matrix.whole._entries
    bound = matrix.definition.bound
    more = {n: v for n, v in beside.sizes.items() if n in matrix.sizes and n not in bound}
    return matrix.bind(**more).to_scipy()
