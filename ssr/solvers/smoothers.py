"""Smoothers as parts of programs: Jacobi and Gauss-Seidel iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..errors import ArgumentError
from ..matrices.matrix import Matrix
from ..points.numbers import real
from ..public import flag


@runtime_checkable
class Smoother(Protocol):
    """An iteration ``x = x + B (b - A x)`` with a simple B, as parts of a program's body.

    Its methods assign the field x. Any object with these methods is a smoother.
    """

    def start(self, A: Matrix, x: Any, b: Any) -> None:
        """Do one sweep for ``A x = b`` from x = 0."""

    def sweep(self, A: Matrix, x: Any, b: Any) -> None:
        """Do one sweep for ``A x = b``."""

    def reverse(self, A: Matrix, x: Any, b: Any) -> None:
        """Do one sweep for ``A x = b`` with the transpose of B, if A is symmetric."""

    def precondition(self, A: Matrix, x: Any, b: Any) -> None:
        """Assign an approximate solution of ``A x = b``, by a symmetric matrix if A is."""


@dataclass(frozen=True)
class Jacobi:
    """Damped Jacobi: ``x = x + damping * (b - A x) / diagonal``, all rows at once.

    Parameters
    ----------
    damping
        A number between 0 and 1. For smoothing, 2/3 suits the second difference in one dimension,
        4/5 the five-point and 6/7 the seven-point Laplacian.

    Raises
    ------
    ArgumentError
        If ``damping`` is not a positive number.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> s = ssr.Space(5)
    >>> A = ssr.stencil(s, s, {-1: -1, 0: 3, 1: -1}, outside="zero")
    >>> x, info = ssr.solvers.cg(A, np.ones(5), M=ssr.solvers.Jacobi())
    >>> info, bool(np.allclose(A @ x, 1.0))
    (0, True)

    References
    ----------
    Trottenberg, Oosterlee and Schüller, Multigrid (2001), section 2.1.
    """

    damping: float = 0.8

    def __post_init__(self) -> None:
        if not (real(self.damping) or 0.0) > 0.0:
            raise ArgumentError(f"damping is {self.damping!r}, not a positive number.")

    def start(self, A: Matrix, x: Any, b: Any) -> None:
        """Do one sweep for ``A x = b`` from x = 0."""
        x[:] = self.damping * A.diagonal().solve(b)

    def sweep(self, A: Matrix, x: Any, b: Any) -> None:
        """Do one sweep for ``A x = b``."""
        x[:] = x + self.damping * A.diagonal().solve(b - A @ x)

    def reverse(self, A: Matrix, x: Any, b: Any) -> None:
        """Do one sweep for ``A x = b``, which is its own adjoint."""
        self.sweep(A, x, b)

    def precondition(self, A: Matrix, x: Any, b: Any) -> None:
        """Assign b divided by the diagonal of A to x; damping would change nothing."""
        x[:] = A.diagonal().solve(b)


@dataclass(frozen=True)
class GaussSeidel:
    """Gauss-Seidel: each row uses the new values of the rows before it.

    As a preconditioner it does one sweep in row order and one in reverse (symmetric Gauss-Seidel).
    On fields of several ranks, rows wait for the rows before them on other ranks.

    Parameters
    ----------
    rank_local
        Whether rows use new values of their own box only, and old ones of others, so that no box of
        a distribution waits for another; see `Matrix.rank_local`. On arrays there is one box. The
        iteration then depends on the boxes, and converges if A is symmetric and has a diagonal that
        is at least the sum of the other entries of a row, for example.

    Raises
    ------
    ArgumentError
        If ``rank_local`` is not True or False.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> s = ssr.Space(5)
    >>> A = ssr.stencil(s, s, {-1: -1, 0: 3, 1: -1}, outside="zero")
    >>> x, info = ssr.solvers.cg(A, np.ones(5), M=ssr.solvers.GaussSeidel())
    >>> info, bool(np.allclose(A @ x, 1.0))
    (0, True)

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems (2nd ed. 2003), sections 4.1 and 10.2.
    """

    rank_local: bool = False

    def __post_init__(self) -> None:
        flag(type(self).__name__, "rank_local", self.rank_local)

    def start(self, A: Matrix, x: Any, b: Any) -> None:
        """Do one sweep for ``A x = b`` in row order, from x = 0."""
        x[:] = self._near(A).tril().solve(b)

    def sweep(self, A: Matrix, x: Any, b: Any) -> None:
        """Do one sweep for ``A x = b`` in row order."""
        near = self._near(A)
        x[:] = near.tril().solve(self._right(A, x, b) - near.triu(1) @ x)

    def reverse(self, A: Matrix, x: Any, b: Any) -> None:
        """Do one sweep for ``A x = b`` in reverse row order."""
        near = self._near(A)
        x[:] = near.triu().solve(self._right(A, x, b) - near.tril(-1) @ x)

    def precondition(self, A: Matrix, x: Any, b: Any) -> None:
        """Do one symmetric sweep for ``A x = b`` from x = 0."""
        self.start(A, x, b)
        self.reverse(A, x, b)

    def _near(self, A: Matrix) -> Matrix:
        return A.rank_local() if self.rank_local else A

    def _right(self, A: Matrix, x: Any, b: Any) -> Any:
        return b - (A - A.rank_local()) @ x if self.rank_local else b
