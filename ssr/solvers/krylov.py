"""Krylov subspace methods: CG, BiCGStab and restarted GMRES."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np

from ..errors import OutOfRangeError
from ..matrices.matrix import Matrix
from ..matrices.stored_matrix import StoredMatrix
from ..points.numbers import integer
from ..programs.program import Program
from ..programs.reductions import dot
from ..programs.reductions import usual_norm as norm
from ..spaces.distributed import is_distributed
from ..symbols.functions import where
from . import vectors
from .preconditioners import Preconditioner
from .solver import Solution, Solver, remembered
from .stopping import STAGNATED, Breakdown
from .vectors import V, Vector

T = TypeVar("T")

SLOWEST = 1.0 - 1e-6
"""GMRES has stagnated after a cycle that reduces the residual by less than this factor."""


ROUNDED = 16.0
"""Relative error of products with A, in units of rounding."""


class CG(Solver):
    """Conjugate gradients, for symmetric positive definite A and M; see `cg`.

    One iteration is one program with a product with A, an application of M and three dot products.
    """

    calls = "_step", "_start"

    @cached_property
    def _norm(self) -> Callable[[Vector], float]:
        """The norm, by the program of directions if M is not compiled, which saves a build."""
        if self.is_fused:
            return self._norm_alone
        turn = self._direction

        def norm(b: Vector) -> float:
            if is_distributed(b):  # a program cannot take a field twice
                return float(self._norm_alone(b))
            return math.sqrt(turn(vectors.empty(b), b, b, 1.0))

        return norm

    @cached_property
    def _start(self) -> Callable[..., Any]:
        turn = self._direction

        def start(r: Any, z: Any, p: Any, rz: Any) -> Any:
            return turn(p, self._precondition(z, r), r, rz)

        return self._fused(start, "rz")

    @cached_property
    def _residual(self) -> Callable[..., float]:
        """The residual, by the programs of iterations if M is not compiled, which saves a build."""
        if self.is_fused:
            return super()._residual
        product, move = self._product, self._move

        def residual(r: Vector, b: Vector, x: Vector) -> float:
            q, moved = vectors.empty(b), vectors.zeros(b)
            product(q, x)
            vectors.assign(r, b)
            return float(move(moved, r, x, q, 1.0, 1.0))

        return residual

    @cached_property
    def _step(self) -> Callable[..., Any]:
        product, move, turn = self._product, self._move, self._direction

        def step(x: Any, r: Any, z: Any, p: Any, q: Any, rz: Any) -> Any:
            curvature = product(q, p)
            norm = move(x, r, p, q, rz, curvature)
            return norm, curvature, turn(p, self._precondition(z, r), r, rz)

        return self._fused(step, "rz")

    @cached_property
    def _product(self) -> Program:
        def product(q: Any, p: Any) -> Any:
            q[:] = self.A @ p
            return dot(p, q)

        return self._program(product)

    @cached_property
    def _move(self) -> Program:
        """The program that updates x along p such that the error is least in the norm of A."""

        def move(x: Any, r: Any, p: Any, q: Any, rz: Any, curvature: Any) -> Any:
            alpha = where(curvature != 0.0, rz / curvature, 0.0)
            x[:] = x + alpha * p
            r[:] = r - alpha * q
            return norm(r)

        return self._program(move, "rz curvature")

    @cached_property
    def _direction(self) -> Program:
        """The program of the next direction p; before the first one, p is zero."""

        def direction(p: Any, z: Any, r: Any, rz: Any) -> Any:
            new = dot(r, z)
            p[:] = z + (new / rz) * p
            return new

        return self._program(direction, "rz")

    def _iterations(
        self, x: Vector, b: Vector, r: Vector, norm: float, goal: float
    ) -> Iterator[tuple[float, ...]]:
        z, p, q = vectors.empty(b), vectors.zeros(b), vectors.empty(b)
        rz = self._start(r, z, p, 1.0)
        tiny, least = ROUNDED * float(np.finfo(b.dtype).eps), math.inf
        while True:
            if rz == 0.0:
                raise Breakdown(-10)
            square = rz
            norm, curvature, rz = self._step(x, r, z, p, q, square)
            if curvature == 0.0:
                raise Breakdown(-11)
            yield (norm,)
            length = abs(square / curvature)
            least = min(least, length)
            if tiny * length > least:
                raise Breakdown(STAGNATED)


def cg(
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
    """Solve ``A x = b`` by conjugate gradients, for symmetric positive definite A and M.

    The call is that of SciPy, but arrays have the shape of the grid. The programs are kept with the
    matrix for the next call; use `CG` to hold them explicitly.

    Parameters
    ----------
    A, M
        Matrix and preconditioner, see `Solver`.
    b, x0, rtol, atol, maxiter, callback
        See `Solver.__call__`.

    Returns
    -------
    Solution, ``x, info``
        See `Solver.__call__`; info is -10 if ``r·M r`` is zero and -11 if ``p·A p`` is zero, which
        means that M or A is not positive definite. It is -3 if the lengths of steps, which lie
        between the reciprocals of the largest and the smallest eigenvalue, differ so far that A is
        singular to within rounding errors, and b not in its range; if b is in the range of a
        singular A, the method converges.

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
    >>> A = ssr.stencil(s, s, {-1: -1, 0: 2, 1: -1}, outside="zero")
    >>> found = ssr.solvers.cg(A, np.ones(5))
    >>> found.x, found.info, found.iterations
    (array([2.5, 4. , 4.5, 4. , 2.5]), 0, 3)

    References
    ----------
    Saad, Iterative Methods for Sparse Linear Systems (2nd ed. 2003), algorithm 9.1.
    """
    solver = remembered(CG, A, M)
    return solver(b, x0, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback)


class BiCGStab(Solver):
    """Stabilised biconjugate gradients, for any A; see `bicgstab`.

    One iteration is one program with two products with A and two applications of M.
    """

    calls = ("_step",)

    @cached_property
    def _step(self) -> Callable[..., Any]:
        first, second, third = self._direction, self._half, self._whole

        def step(
            x: Any, r: Any, r0: Any, p: Any, v: Any, y: Any, z: Any, t: Any,
            beta: Any, omega: Any, rho: Any,
        ) -> Any:  # fmt: skip
            first(p, r, v, beta, omega)
            denominator, alpha = second(x, r, r0, v, self._precondition(y, p), rho)
            return denominator, alpha, *third(x, r, r0, self._precondition(z, r), t)

        return self._fused(step, "beta omega rho")

    @cached_property
    def _direction(self) -> Program:
        def direction(p: Any, r: Any, v: Any, beta: Any, omega: Any) -> None:
            p[:] = r + beta * (p - omega * v)

        return self._program(direction, "beta omega")

    @cached_property
    def _half(self) -> Program:
        def half(x: Any, r: Any, r0: Any, v: Any, y: Any, rho: Any) -> Any:
            v[:] = self.A @ y
            denominator = dot(r0, v)
            alpha = where(denominator != 0.0, rho / denominator, 0.0)
            x[:] = x + alpha * y
            r[:] = r - alpha * v
            return denominator, alpha

        return self._program(half, "rho")

    @cached_property
    def _whole(self) -> Program:
        def whole(x: Any, r: Any, r0: Any, z: Any, t: Any) -> Any:
            t[:] = self.A @ z
            square = dot(t, t)
            omega = where(square != 0.0, dot(t, r) / square, 0.0)
            x[:] = x + omega * z
            r[:] = r - omega * t
            return omega, dot(r0, r), norm(r)

        return self._program(whole)

    def _iterations(
        self, x: Vector, b: Vector, r: Vector, norm: float, goal: float
    ) -> Iterator[tuple[float, ...]]:
        y, z, t = (vectors.empty(b) for _ in range(3))
        p, v = vectors.zeros(b), vectors.zeros(b)
        r0, rho, beta, omega = vectors.copied(r), norm * norm, 0.0, 0.0
        while True:
            if rho == 0.0:
                raise Breakdown(-10)
            denominator, alpha, omega, new, norm = self._step(
                x, r, r0, p, v, y, z, t, beta, omega, rho
            )
            if denominator == 0.0 or (omega == 0.0 and norm > goal):
                raise Breakdown(-11)
            yield (norm,)
            beta, rho = (new / rho) * (alpha / omega), new


def bicgstab(
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
    """Solve ``A x = b`` by stabilised biconjugate gradients; A need not be symmetric.

    The call is that of SciPy, but arrays have the shape of the grid. M is applied from the right,
    so that the residuals are those of the system itself.

    Parameters
    ----------
    A, M
        Matrix and preconditioner, see `Solver`.
    b, x0, rtol, atol, maxiter, callback
        See `Solver.__call__`.

    Returns
    -------
    Solution, ``x, info``
        See `Solver.__call__`; info is -10 if the residual is orthogonal to the first one, and -11
        if a step has length zero.

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
    >>> A = ssr.stencil(s, s, {-1: -2, 0: 4, 1: -1}, outside="zero")
    >>> x, info = ssr.solvers.bicgstab(A, np.ones(5), rtol=1e-10)
    >>> info, bool(np.allclose(A @ x, 1.0))
    (0, True)

    References
    ----------
    H. A. van der Vorst, Bi-CGSTAB, SIAM J. Sci. Stat. Comput. 13, 1992.
    """
    solver = remembered(BiCGStab, A, M)
    return solver(b, x0, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback)


class GMRES(Solver):
    """The restarted generalised minimal residual method, for any A; see `gmres`.

    The basis grows during a cycle. So a step is one program for the product and the
    preconditioner, and one for each vector that the new one is made orthogonal to.

    Parameters
    ----------
    A, M
        Matrix and preconditioner, see `Solver`.
    restart
        The largest number of vectors in a basis.

    Raises
    ------
    OutOfRangeError
        If ``restart`` is not a positive integer.
    """

    exact = True
    calls = "_divide", "_multiply", "_project", "_add", "_correct", "_residual"

    def __init__(
        self, A: Matrix | StoredMatrix, M: Preconditioner | None = None, restart: int = 20
    ) -> None:
        super().__init__(A, M)
        if (integer(restart) or 0) < 1:
            raise OutOfRangeError(f"restart is {restart!r}, but a basis has at least one vector.")
        self.restart = restart

    @cached_property
    def _multiply(self) -> Callable[..., Any]:
        product = self._product

        def multiply(w: Any, z: Any, v: Any) -> Any:
            return product(w, self._precondition(z, v))

        return self._fused(multiply)

    @cached_property
    def _product(self) -> Program:
        def product(w: Any, z: Any) -> Any:
            w[:] = self.A @ z
            return norm(w)

        return self._program(product)

    @cached_property
    def _project(self) -> Program:
        def project(w: Any, v: Any) -> Any:
            part = dot(w, v)
            w[:] = w - part * v
            return part, norm(w)

        return self._program(project)

    @cached_property
    def _divide(self) -> Program:
        def divide(v: Any, w: Any, a: Any) -> None:
            v[:] = w / a

        return self._program(divide, "a")

    @cached_property
    def _add(self) -> Program:
        def add(x: Any, v: Any, a: Any) -> None:
            x[:] = x + a * v

        return self._program(add, "a")

    @cached_property
    def _correct(self) -> Callable[..., Any]:
        add = self._add

        def correct(x: Any, z: Any, w: Any) -> None:
            add(x, self._precondition(z, w), 1.0)

        return self._fused(correct)

    def _iterations(
        self, x: Vector, b: Vector, r: Vector, norm: float, goal: float
    ) -> Iterator[tuple[float, ...]]:
        w, z, basis = vectors.empty(b), vectors.empty(b), [vectors.empty(b)]
        while True:
            norms, weights = self._cycle(r, w, z, basis, norm, goal)
            vectors.assign(w, 0.0)
            for v, weight in zip(basis, weights, strict=False):
                self._add(w, v, weight)
            self._correct(x, z, w)
            before, norm = norm, self._residual(r, b, x)
            yield (*norms[:-1], norm)
            if not norm < SLOWEST * before:
                raise Breakdown(STAGNATED)

    def _cycle(
        self, r: Vector, w: Vector, z: Vector, basis: list[Vector], norm: float, goal: float
    ) -> tuple[list[float], list[float]]:
        """Build a basis; return the residual norms and the weights of its vectors in the best x.

        New vectors of the basis are allocated when they are needed.
        """

        def extend(last: int, size: float) -> None:
            if last == len(basis):
                basis.append(vectors.empty(w))
            self._divide(basis[last], w, size)

        self._divide(basis[0], r, norm)
        return arnoldi(
            basis,
            lambda v: self._multiply(w, z, v),
            lambda v: self._project(w, v),
            extend,
            norm=norm,
            goal=goal,
            tiny=float(np.finfo(r.dtype).eps),
            most=min(self.restart, r.size),
        )


def arnoldi(
    basis: Sequence[T],
    multiply: Callable[[T], float],
    project: Callable[[T], tuple[float, float]],
    extend: Callable[[int, float], None],
    *,
    norm: float,
    goal: float,
    tiny: float,
    most: int,
) -> tuple[list[float], list[float]]:
    """Build the basis of a cycle of GMRES; return norms of residuals, and the weights of the basis.

    ``multiply`` assigns the product with a vector to a work vector w; ``project`` takes the part
    along a vector away from w; both return the norm of w, ``project`` after the part. ``extend``
    makes w, whose norm is given, the vector of the basis with a number. The cycle ends at ``most``
    vectors, with a residual of ``goal``, or where w is less than ``tiny`` times the product.
    """
    best, norms = LeastSquares(norm), list[float]()
    for last in range(1, most + 1):
        rest = size = multiply(basis[last - 1])
        column = []
        for v in basis[:last]:
            part, rest = project(v)
            column.append(part)
        dependent = rest <= tiny * size
        column.append(0.0 if dependent else rest)
        if not best.add(column):
            break
        norms.append(best.residual)
        if norms[-1] <= goal or dependent or last == most:
            break
        extend(last, rest)
    return norms, best.solution()


class LeastSquares:
    """The least-squares problem of GMRES with a Hessenberg matrix, which is given column by column.

    Rotations make the matrix triangular; the residual is the last entry of the right side after
    them (Saad and Schultz 1986).
    """

    def __init__(self, norm: float) -> None:
        self._columns: list[list[float]] = []
        self._turns: list[tuple[float, float]] = []
        self._right = [norm]

    @property
    def residual(self) -> float:
        """The norm of the residual of the best solution."""
        return abs(self._right[-1])

    def add(self, column: list[float]) -> bool:
        """Add a column of the matrix, unless it vanishes; return whether it is added."""
        column = [*column]
        for k, (c, s) in enumerate(self._turns):
            a, b = column[k : k + 2]
            column[k : k + 2] = c * a + s * b, c * b - s * a
        length = math.hypot(*column[-2:])
        if length == 0.0:
            return False
        c, s = column[-2] / length, column[-1] / length
        self._turns.append((c, s))
        self._columns.append([*column[:-2], length])
        self._right[-1:] = c * self._right[-1], -s * self._right[-1]
        return True

    def solution(self) -> list[float]:
        """Solve with the triangular matrix."""
        found = self._right[: len(self._columns)]
        for k in reversed(range(len(found))):
            found[k] /= self._columns[k][k]
            for j in range(k):
                found[j] -= self._columns[k][j] * found[k]
        return found


def gmres(
    A: Matrix | StoredMatrix,
    b: V,
    x0: V | Literal["Mb"] | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int | None = None,
    M: Preconditioner | None = None,
    callback: Callable[[V], Any] | None = None,
) -> Solution[V]:
    """Solve ``A x = b`` by the generalised minimal residual method; A need not be symmetric.

    The call is that of SciPy, but arrays have the shape of the grid, and M is applied from the
    right, so that the residuals are those of the system itself.

    Parameters
    ----------
    A, M
        Matrix and preconditioner, see `Solver`.
    b, x0, rtol, atol
        See `Solver.__call__`.
    restart
        The largest number of vectors in the basis, 20 by default. When it is reached, x is improved
        and a new basis is begun.
    maxiter
        The largest number of these cycles, as in SciPy; by default ten times the number of rows.
    callback
        Called with x after each cycle.

    Returns
    -------
    Solution, ``x, info``
        See `Solver.__call__`; the history has a norm for each vector, and info is -3 if a cycle
        has not made the residual smaller.

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
    >>> A = ssr.stencil(s, s, {-1: -2, 0: 4, 1: -1}, outside="zero")
    >>> x, info = ssr.solvers.gmres(A, np.ones(5), rtol=1e-10)
    >>> info, bool(np.allclose(A @ x, 1.0))
    (0, True)

    References
    ----------
    Y. Saad and M. H. Schultz, GMRES, SIAM J. Sci. Stat. Comput. 7, 1986; Saad, Iterative Methods
    for Sparse Linear Systems (2nd ed. 2003), algorithm 9.5.
    """
    solver = remembered(GMRES, A, M, 20 if restart is None else restart)
    return solver(b, x0, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback)
