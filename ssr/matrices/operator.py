"""The common interface of all matrices: parts, programs and use in SciPy."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NoReturn, TypeVar

import numpy as np

from ..algebra.families import Triangle, checked_part
from ..errors import ArgumentError, SpaceError, UnsupportedError
from ..points.numbers import Array
from ..programs.matrix_program import What
from ..programs.program import Program
from ..public import Immutable, is_one_of
from ..symbols.index import Index
from ..symbols.values import Row, Symbol

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

Made = TypeVar("Made", bound="Operator[Any]")
"""The class of the result of an operation."""


class Operator(Immutable, ABC, Generic[Made]):
    """A matrix of any kind.

    It has a program to apply it and one to solve with it, each made when it is first used.
    """

    __array_ufunc__ = None

    habits: ClassVar[Mapping[str, str]] = {
        "toarray": "Write A.to_scipy().toarray(), with sizes and data bound.",
        "todense": "Write A.to_scipy().toarray(), with sizes and data bound.",
        "tocsr": "Write A.to_scipy().tocsr(), with sizes and data bound.",
        "nnz": "Entries are counted once sizes are bound: A.to_scipy().nnz.",
        "dot": "Write A @ x.",
        "transpose": "Write A.T.",
        "H": "Numbers are real: write A.T.",
        "inv": "Write A.solve(b) for triangles and lines, or use a solver of ssr.solvers.",
        "copy": "Matrices never change: use it in both places.",
        "sum": "Multiply by ones: A @ np.ones(...).",
        "with_options": "Options belong to programs: A.program('apply').with_options(...).",
    }

    # -- abstract methods --------------------------------------------------------------------------

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the matrix in messages."""

    @property
    @abstractmethod
    def rows(self) -> Any:
        """The space of the result."""

    @property
    @abstractmethod
    def cols(self) -> Any:
        """The space of the operand."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns; needs all sizes."""

    @abstractmethod
    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that are bound, or that follow from arrays that are bound."""

    @property
    @abstractmethod
    def T(self) -> Made:
        """The transpose."""

    @abstractmethod
    def __mul__(self, factor: object) -> Any:
        """Return a multiple."""

    @abstractmethod
    def apply(self, x: Any, out: Any = None) -> Any:
        """Return the product with an operand of the shape of the columns."""

    @abstractmethod
    def equals(self, other: Any) -> bool:
        """Return whether the matrices are proved equal, for all sizes."""

    @abstractmethod
    def _part(self, which: Triangle, k: int) -> Made:
        """Return a triangle or the diagonal."""

    @property
    @abstractmethod
    def _local(self) -> Made:
        """The entries within boxes."""

    @abstractmethod
    def _declared(self, what: What) -> Program:
        """Return the program to apply the matrix or to solve with it."""

    @abstractmethod
    def _flat(self, x: Array) -> Array:
        """Return the product with a flattened operand, flattened."""

    # -- common methods ----------------------------------------------------------------------------

    def __rmul__(self, factor: object) -> Any:
        return self * factor

    def __rmatmul__(self, x: object) -> NoReturn:
        raise UnsupportedError(
            f"A product with {self.name} on the right is not staged.",
            hint="Apply the transpose: A.T @ x.",
        )

    def tril(self, k: Literal[0, -1] = 0) -> Made:
        """Return the entries whose column comes before the row in row order, or is it (k = 0).

        In a block matrix the points of row and column are compared.
        """
        return self._part("tril", checked_part("tril", k))

    def triu(self, k: Literal[0, 1] = 0) -> Made:
        """Return the entries whose column comes after the row in row order, or is it (k = 0).

        In a block matrix the points of row and column are compared.
        """
        return self._part("triu", checked_part("triu", k))

    def diagonal(self) -> Made:
        """Return the entries on the diagonal, as a matrix.

        In a block matrix this is one dense block for each point.
        """
        return self._part("diagonal", 0)

    def rank_local(self) -> Made:
        """Return the entries whose column is in the same box as the row.

        Boxes are those into which a space is cut where it is shared by ranks, or by ``boxes=`` of
        `boundary.distribute`; a program that runs on arrays has one box, and there
        ``A.rank_local()`` is A itself. It makes smoothers possible whose sweeps do not wait for
        other ranks. The other entries go to the right side, so that the equation remains that of A:

            near = A.rank_local()
            s = b - (A - near) @ x
            x[:] = near.tril().solve(s - near.triu(1) @ x)
            x[:] = near.triu().solve(s - near.tril(-1) @ x)

        Such matrices have sums, multiples, triangles and transposes, and recurrences may read their
        rows; products with other matrices are not staged.

        Examples
        --------
        >>> import ssr
        >>> points = ssr.Space(ssr.size("n"))
        >>> A = ssr.stencil(points, points, {-1: -1, 0: 2, 1: -1}, outside="zero")
        >>> print((A - A.rank_local()).explain("sets"))
        <Matrix (stencil - stencil.rank_local()): Space(n) -> Space(n), 2 families>
          row (i)  column (i - 1)  -1.0  where 0 < i < n         in another box
          row (i)  column (i + 1)  -1.0  where 0 <= i <= -2 + n  in another box
        """
        return self._local

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise UnsupportedError(
            f"Cannot convert {self.name} to a NumPy array.",
            note="Its entries are not stored.",
            hint="Write A.to_scipy().toarray() with sizes and data bound, or A @ x.",
        )

    def _need_matrix(self, other: object) -> None:
        if not isinstance(other, Operator):
            raise ArgumentError(
                f"{self.name} is compared with {type(other).__name__}, not a matrix of ssr.",
                hint="Compare numbers: A.to_scipy() with sizes and data bound.",
            )

    def _check_summand(self, other: object) -> None:
        """Raise an error for numbers, arrays and fields as summands of a matrix."""
        if isinstance(other, (numbers.Number, np.ndarray, Symbol, Index)):
            raise ArgumentError(
                f"Cannot add {self.name} and {type(other).__name__}; only matrices can be added.",
                hint=f"Apply the matrix first, as in b + {self.name} @ x."
                if isinstance(other, Row)
                else "A multiple of the identity is 2.0 * ssr.identity(space).",
            )

    def _need_square(self, what: str) -> None:
        if self.rows != self.cols:
            raise SpaceError(
                f"{self.name}{what} needs equal spaces of rows and columns.",
                note=f"rows {self.rows!r}, columns {self.cols!r}",
            )

    @cached_property
    def _programs(self) -> dict[str, Program]:
        return {}

    def program(self, what: What) -> Program:
        """Return the program of ``A @ x`` or ``A.solve(b)``: ``what`` is "apply" or "solve"."""
        if not is_one_of(what, ("apply", "solve")):
            raise ArgumentError(f'A matrix has the programs "apply" and "solve", not {what!r}.')
        known = self._programs.get(what)
        return known or self._programs.setdefault(what, self._declared(what))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of numbers for SciPy, which takes matrices for linear operators."""
        return np.dtype(np.float64)

    def matvec(self, x: Any) -> Any:
        """Return the product with a flattened operand x, for SciPy; sizes are bound."""
        from .linear_operator import product

        return product(self._flat, x, self.shape[1], self.dtype)

    def rmatvec(self, x: Any) -> Any:
        """Return the product of the transpose with a flattened operand x; sizes are bound."""
        return self.T.matvec(x)

    def aslinearoperator(self, dtype: Any = np.float64) -> LinearOperator:
        """Return a SciPy ``LinearOperator`` on flattened arrays; all sizes must be bound.

        Its ``rmatvec`` applies the transpose, which is made when it is first needed. The elements
        of block matrices are numbered component by component. The real and the imaginary part of
        complex vectors are multiplied one after the other.

        Parameters
        ----------
        dtype
            The type of numbers of the operator: float64 or float32.

        Raises
        ------
        UnboundError
            If a size has no value.

        Notes
        -----
        An operator is pickled with its matrix, which is pickled by the name of the variable of a
        module that holds it. Pickle ``A.to_scipy()`` for others.

        Examples
        --------
        >>> import numpy as np, ssr
        >>> s = ssr.Space(3)
        >>> ssr.identity(s).aslinearoperator() @ np.ones(3)
        array([1., 1., 1.])
        """
        from .linear_operator import flat_operator

        return flat_operator(self, self.shape, dtype)
