"""Incomplete factorizations, ILU(0) and IC(0), as preconditioners."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..blocks.recurrence import recurrence
from ..errors import ArgumentError
from ..matrices.declare import identity
from ..matrices.matrix import Matrix
from ..programs.program import Program, begin, own_program
from ..public import flag
from ..recurrences.declare import Recurrence
from ..symbols.functions import sqrt
from . import vectors
from .composed import Composed


@dataclass(frozen=True)
class Factorization(ABC):
    """The base class of incomplete factorizations, `ILU` and `IC`.

    As a preconditioner, ``M=ILU()``, it is computed for the matrix of the solver at the beginning
    of each solution, so that data of the matrix may change in between. On fields of several ranks,
    the factors and the iterations are those of one rank: rows wait for rows of other ranks, so that
    ranks work one after the other, unless it is ``rank_local``.

    Parameters
    ----------
    rank_local
        Whether ``A.rank_local()`` is factorized, the entries within boxes, so that no box of a
        distribution waits for another: block Jacobi with incomplete factors. On arrays there is one
        box. The number of iterations depends on the boxes.

    Raises
    ------
    ArgumentError
        If ``rank_local`` is not True or False.
    """

    rank_local: bool = False

    def __post_init__(self) -> None:
        flag(type(self).__name__, "rank_local", self.rank_local)

    @abstractmethod
    def factors(self, A: Matrix) -> Recurrence:
        """Return the factors of a matrix A as one matrix, whose rows are made in C order."""

    @abstractmethod
    def solve(self, F: Matrix, r: Any) -> Any:
        """Return the solution with the factors F and the right side r, expressions of a program."""


@dataclass(frozen=True)
class ILU(Factorization):
    """Incomplete LU factorization without fill, ILU(0), as a preconditioner of any matrix.

    L (unit lower triangular) and U have the sparsity pattern of the matrix A, and ``L @ U`` is
    equal to A on that pattern. Columns of A must have fixed distances from their rows.

    Parameters
    ----------
    rank_local
        Whether rows and columns of different boxes are left out; see `Factorization`.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> cells = ssr.Space(*ssr.sizes("ny nx"))
    >>> weights = {(-1, 0): -1, (0, -1): -2, (0, 0): 5, (0, 1): -1, (1, 0): -1}
    >>> A = ssr.stencil(cells, cells, weights, outside="zero")
    >>> b = np.ones((20, 20))
    >>> for M in None, ssr.solvers.ILU():
    ...     found = ssr.solvers.bicgstab(A, b, M=M)
    ...     print(found.info, found.iterations)
    0 30
    0 9

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems (2nd ed. 2003), algorithm 10.4.
    """

    def factors(self, A: Matrix) -> Recurrence:
        """Return L without its diagonal, and U."""
        _check(A)

        @recurrence(rows=A.rows, cols=A.cols)
        def ilu(*place: Any) -> Any:
            *index, done = place
            own = tuple(index) if len(index) > 1 else index[0]
            row = A.row(*index)
            for k in [c for c in row if c < own]:
                row[k] /= done[k, k]
                for c in row:
                    if c > k:
                        row[c] -= row[k] * done[k, c]
            yield from row.items()

        return ilu

    def solve(self, F: Matrix, r: Any) -> Any:
        """Return the solution of ``L U z = r``."""
        return F.triu().solve((F.tril(-1) + identity(F.rows)).solve(r))


@dataclass(frozen=True)
class IC(Factorization):
    """Incomplete Cholesky factorization without fill, IC(0): for symmetric positive matrices.

    L has the sparsity pattern of the lower triangle of the matrix A, and ``L @ L.T`` is equal to A
    on that pattern. The square roots exist for M-matrices, such as the usual differences of
    diffusion; otherwise entries are NaN, and solvers return ``info == -1``.

    Parameters
    ----------
    rank_local
        Whether rows and columns of different boxes are left out; see `Factorization`.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> cells = ssr.Space(*ssr.sizes("ny nx"))
    >>> weights = {(-1, 0): -1, (0, -1): -1, (0, 0): 4, (0, 1): -1, (1, 0): -1}
    >>> A = ssr.stencil(cells, cells, weights, outside="zero")
    >>> b = np.random.default_rng(0).standard_normal((20, 20))
    >>> for M in None, ssr.solvers.IC():
    ...     found = ssr.solvers.cg(A, b, M=M)
    ...     print(found.info, found.iterations)
    0 50
    0 17

    References
    ----------
    J. A. Meijerink and H. A. van der Vorst, Math. Comp. 31, 148 (1977).
    """

    def factors(self, A: Matrix) -> Recurrence:
        """Return L."""
        _check(A)

        @recurrence(rows=A.rows, cols=A.cols)
        def ic(*place: Any) -> Any:
            *index, done = place
            own = tuple(index) if len(index) > 1 else index[0]
            row = {c: value for c, value in A.row(*index).items() if c <= own}
            for k in row:
                for c in [c for c in row if c < k]:
                    row[k] -= row[c] * (row[c] if k == own else done[k, c])
                row[k] = sqrt(row[k]) if k == own else row[k] / done[k, k]
            yield from row.items()

        return ic

    def solve(self, F: Matrix, r: Any) -> Any:
        """Return the solution of ``L L.T z = r``."""
        return F.T.solve(F.solve(r))


def _check(A: object) -> None:
    if not isinstance(A, Matrix):
        raise ArgumentError(f"A is {type(A).__name__}, not a matrix of ssr.")


class Factored(Composed):
    """The factors of a matrix and how to solve with them: a function ``(z, r)`` of vectors."""

    def __init__(self, A: Matrix, how: Factorization) -> None:
        self.how = how
        self.factors = how.factors(A.rank_local() if how.rank_local else A)
        self._numbers: vectors.Vector | None = None
        self._layout: Hashable = None

    def update(self, like: vectors.Vector) -> None:
        """Factorize the matrix with the values its data have now, for vectors like another one."""
        if self.factors.made:
            if self._numbers is None or self._layout != vectors.layout(like):
                self._numbers = vectors.several(like, self.factors.entries)
                self._layout = vectors.layout(like)
            self.factors.program("compute")(self._numbers)

    def _begin(self, dtype: str) -> None:
        """Begin to build the programs for vectors of a dtype."""
        if self.factors.made:
            begin(self.factors.program("compute"), dtype)
        begin(self._solve, dtype)

    def __call__(self, z: vectors.Vector, r: vectors.Vector) -> None:
        """Assign to z the solution of the factorized equations with the right side r."""
        if self._numbers is None:
            self._solve(z, r)
        else:
            self._solve(z, r, self._numbers)

    @cached_property
    def _solve(self) -> Program:
        """The program of one solution."""
        space, factors, how = self.factors.rows, self.factors, self.how
        if not factors.made:

            @own_program(z=space, r=space)
            def solve(z: Any, r: Any) -> None:
                z[:] = how.solve(factors, r)

            return solve

        @own_program(z=space, r=space, numbers=factors.entries)
        def solve_with(z: Any, r: Any, numbers: Any) -> None:
            z[:] = how.solve(factors.bind(**{factors.name: numbers}), r)

        return solve_with
