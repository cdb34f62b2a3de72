"""Iterations without dot products: Richardson iteration and Chebyshev iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..errors import OutOfRangeError
from ..matrices.matrix import Matrix
from ..matrices.stored_matrix import StoredMatrix
from ..points.numbers import real
from ..programs.program import Program
from ..programs.reductions import usual_norm as norm
from . import vectors
from .preconditioners import Preconditioner
from .solver import Solution, Solver, remembered
from .vectors import V, Vector


class Stationary(Solver):
    """A solver whose iteration is one program that adds a correction to x."""

    calls = ("_step",)
    patience = 0.5

    @cached_property
    def _correct(self) -> Program:
        def correct(x: Any, r: Any, z: Any) -> Any:
            x[:] = x + z
            r[:] = r - self.A @ z
            return norm(r)

        return self._program(correct)


class Richardson(Stationary):
    """The iteration ``x = x + M (b - A x)``; see `richardson`. One iteration is one program."""

    @cached_property
    def _step(self) -> Callable[..., Any]:
        correct = self._correct

        def step(x: Any, r: Any, z: Any) -> Any:
            return correct(x, r, self._precondition(z, r))

        return self._fused(step)

    def _iterations(
        self, x: Vector, b: Vector, r: Vector, norm: float, goal: float
    ) -> Iterator[tuple[float, ...]]:
        z = vectors.empty(b)
        while True:
            yield (self._step(x, r, z),)


def richardson(
    A: Matrix | StoredMatrix,
    b: V,
    x0: V | Literal["Mb"] | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Preconditioner | None = None,
    callback: Callable[[V], Any] | None = None,
) -> Solution[V]:
    """Solve ``A x = b`` by ``x = x + M (b - A x)``, where M approximates the inverse of A.

    If M is a smoother, an iteration is a sweep; if M is a `Multigrid`, it is a cycle.

    Parameters
    ----------
    A, M
        Matrix and preconditioner, see `Solver`.
    b, x0, rtol, atol, maxiter, callback
        See `Solver.__call__`.

    Returns
    -------
    Solution, ``x, info``
        See `Solver.__call__`.

    Raises
    ------
    ArgumentError, SpaceError, UnboundError
        If A or M does not fit, see `Solver`.
    ShapeError, DtypeError, ContiguityError, NonFiniteError, OutOfRangeError
        If another argument does not fit, see `Solver.__call__`.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> s = ssr.Space(ssr.size("n"))
    >>> A = ssr.stencil(s, s, {-1: -1, 0: 4, 1: -1}, outside="zero")
    >>> x, info = ssr.solvers.richardson(A, np.ones(5), M=ssr.solvers.GaussSeidel())
    >>> info, bool(np.allclose(A @ x, 1.0, rtol=1e-4))
    (0, True)

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems (2nd ed. 2003), section 4.2.
    """
    solver = remembered(Richardson, A, M)
    return solver(b, x0, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback)


def checked_bounds(bounds: Any) -> tuple[float, float]:
    """Return bounds of eigenvalues."""
    pair = tuple(bounds) if isinstance(bounds, (Sequence, np.ndarray)) and np.ndim(bounds) else ()
    low, high = (real(bound) or 0.0 for bound in pair) if len(pair) == 2 else (0.0, 0.0)
    if not 0.0 < low <= high:
        raise OutOfRangeError(
            f"The bounds of the eigenvalues are {bounds!r}.",
            hint="Give bounds=(low, high) with 0 < low <= high.",
        )
    return low, high


class Chebyshev(Stationary):
    """Chebyshev iteration for a product M A whose eigenvalues lie in an interval; see `chebyshev`.

    One iteration is one program.

    Parameters
    ----------
    A, M
        Matrix and preconditioner, see `Solver`.
    bounds
        Two positive numbers, the smaller one first.

    Raises
    ------
    OutOfRangeError
        If not ``0 < bounds[0] <= bounds[1]``.
    """

    def __init__(
        self,
        A: Matrix | StoredMatrix,
        bounds: tuple[float, float],
        M: Preconditioner | None = None,
    ) -> None:
        super().__init__(A, M)
        low, high = checked_bounds(bounds)
        self.middle, self.square = (low + high) / 2, ((high - low) / 2) ** 2

    @cached_property
    def _step(self) -> Callable[..., Any]:
        correct, turn = self._correct, self._turn

        def step(x: Any, r: Any, z: Any, d: Any, keep: Any, add: Any) -> Any:
            turn(d, self._precondition(z, r), keep, add)
            return correct(x, r, d)

        return self._fused(step, "keep add")

    @cached_property
    def _turn(self) -> Program:
        def turn(d: Any, z: Any, keep: Any, add: Any) -> None:
            d[:] = keep * d + add * z

        return self._program(turn, "keep add")

    def _iterations(
        self, x: Vector, b: Vector, r: Vector, norm: float, goal: float
    ) -> Iterator[tuple[float, ...]]:
        z, d = vectors.zeros(b), vectors.zeros(b)
        scale = 1.0 / self.middle
        keep, add = 0.0, scale
        while True:
            yield (self._step(x, r, z, d, keep, add),)
            scale, before = 1.0 / (2.0 * self.middle - self.square * scale), scale
            keep, add = self.square * scale * before, 2.0 * scale


def chebyshev(
    A: Matrix | StoredMatrix,
    b: V,
    x0: V | Literal["Mb"] | None = None,
    *,
    bounds: tuple[float, float],
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Preconditioner | None = None,
    callback: Callable[[V], Any] | None = None,
) -> Solution[V]:
    """Solve ``A x = b`` by Chebyshev iteration; the eigenvalues of M A are real and within bounds.

    Its steps need no dot products. It converges as fast as conjugate gradients do in the worst
    case: by a factor ``(sqrt(k) - 1) / (sqrt(k) + 1)`` a step, where k is the ratio of the bounds.

    Parameters
    ----------
    A, M
        Matrix and preconditioner, see `Solver`.
    b, x0, rtol, atol, maxiter, callback
        See `Solver.__call__`.
    bounds
        Two positive numbers between which all eigenvalues of M A lie. The iteration diverges if
        some are larger, and is slow if some are smaller.

    Returns
    -------
    Solution, ``x, info``
        See `Solver.__call__`.

    Raises
    ------
    ArgumentError, SpaceError, UnboundError
        If A or M does not fit, see `Solver`.
    ShapeError, DtypeError, ContiguityError, NonFiniteError, OutOfRangeError
        If another argument does not fit, see `Solver.__call__`.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> s = ssr.Space(ssr.size("n"))
    >>> A = ssr.stencil(s, s, {-1: -1, 0: 4, 1: -1}, outside="zero")
    >>> x, info = ssr.solvers.chebyshev(A, np.ones(5), bounds=(2.0, 6.0))
    >>> info, bool(np.allclose(A @ x, 1.0, rtol=1e-4))
    (0, True)

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems (2nd ed. 2003), algorithm 12.1.
    """
    solver = remembered(Chebyshev, A, checked_bounds(bounds), M)
    return solver(b, x0, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback)
