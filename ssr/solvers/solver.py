"""The base class of iterative solvers: arguments, stopping criteria, and programs of an iteration.

An iteration is written once, as a function of arrays that calls programs and a preconditioner. If
the preconditioner is also a program, the function itself is traced as a program (`_fused`), so that
the compiler optimizes the whole iteration. Otherwise it runs in Python between programs.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, TypeVar, cast

import numpy as np

from ..compiling import compiling
from ..errors import ArgumentError, DtypeError, NonFiniteError, OutOfRangeError, SpaceError
from ..matrices.matrix import Matrix
from ..matrices.operator import Operator
from ..matrices.stored_matrix import StoredMatrix
from ..programs import reductions
from ..programs.program import Program, begin, own_program
from ..public import explained
from ..run.check_arrays import SUPPORTED
from ..trace.trace import scalar
from . import vectors
from .composed import Composed
from .factorizations import Factored
from .inverse import Inverse
from .preconditioners import Preconditioner, called
from .stopping import DIVERGED, NOT_FINITE, STAGNATED, Breakdown, check_limits
from .vectors import V, Vector

S = TypeVar("S")

MODERATE = {"float64": 2.0**200, "float32": 2.0**20}
"""Norms between the inverse of this bound and the bound have squares and products in range."""


class Solution(tuple[V, int]):
    """The result of a solver: ``x, info``, with the history of the norms of the residuals.

    Attributes
    ----------
    history
        The norm of the residual at the start and after each iteration.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> s = ssr.Space(ssr.size("n"))
    >>> A = ssr.stencil(s, s, {-1: -1, 0: 2, 1: -1}, outside="zero")
    >>> found = ssr.solvers.cg(A, np.ones(4))
    >>> found.x, found.info, found.iterations
    (array([2., 3., 3., 2.]), 0, 2)
    >>> x, info = found
    """

    history: tuple[float, ...]

    def __new__(cls, x: V, info: int, history: Sequence[float]) -> Solution[V]:
        """Return the pair."""
        made = super().__new__(cls, (x, info))
        made.history = tuple(history)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:  # for copies and pickles
        return *self, self.history

    @property
    def x(self) -> V:
        """The solution."""
        return self[0]

    @property
    def info(self) -> int:
        """0 if the residual is small enough; see `Solver.__call__` for other codes."""
        return self[1]

    @property
    def iterations(self) -> int:
        """The number of iterations."""
        return len(self.history) - 1


class Solver(Inverse):
    """An iterative solver of ``A x = b``; its kernels are compiled once and used for many b.

    Parameters
    ----------
    A
        A square matrix, whose data are bound. Arrays among them may change between calls. Stored
        matrices of `ssr.from_scipy`, and sums with them, are allowed.
    M
        A preconditioner, which approximates the inverse of A. A matrix, applied as ``M @ r``, a
        smoother such as `Jacobi`, or a program with the parameters ``(z, r)`` that assigns z
        becomes a part of the compiled iteration. It may also be an incomplete factorization, `ILU`
        or `IC`, made again for each solution; any function ``M(z, r)`` of arrays that fills z, such
        as a `Multigrid`; another solver, which solves with its own tolerance; or a
        ``LinearOperator`` of SciPy, which gets flattened arrays, and no fields of several ranks.

    Raises
    ------
    SpaceError
        If A is not square, or M does not act on the space of its rows.
    UnboundError
        If some of A's data are not bound.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> s = ssr.Space(5)
    >>> A = ssr.stencil(s, s, {-1: -1, 0: 2, 1: -1}, outside="zero")
    >>> solve = ssr.solvers.CG(A)
    >>> for b in np.ones(5), np.arange(5.0):
    ...     x, info = solve(b, rtol=1e-10)
    ...     print(info, bool(np.allclose(A @ x, b)))
    0 True
    0 True
    """

    calls: tuple[str, ...] = ()
    """The attributes that an iteration calls: programs, or functions that call programs."""

    exact = False
    """Whether iterations yield norms of true residuals, which are computed from x."""

    patience = 1.0
    """Exponent p of the divergence criterion: residuals may grow by the factor ``eps**-p``."""

    def __init__(self, A: Matrix | StoredMatrix, M: Preconditioner | None = None) -> None:
        if not isinstance(A, (Matrix, StoredMatrix)):
            raise no_matrix(A)
        if A.rows != A.cols:
            raise SpaceError(
                f"{A.name} is not square: its rows and columns are different spaces.",
                note=f"rows {A.rows!r}, columns {A.cols!r}",
            )
        self.A = A
        self.M = M
        self.space = A.rows
        self._approximate = called(A, M)
        self._fitting: set[tuple[int, ...]] = set()
        self._begun: set[str] = set()
        self._programs: list[Program] = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self.A!r}>"

    @property
    def matrix(self) -> Matrix | StoredMatrix:
        """The matrix A."""
        return self.A

    def solution(self, r: V) -> V:
        """Return the solution for a right side, with the default tolerances."""
        return cast(V, self(r).x)

    @explained
    def __call__(
        self,
        b: V,
        x0: V | Literal["Mb"] | None = None,
        *,
        rtol: float = 1e-5,
        atol: float = 0.0,
        maxiter: int | None = None,
        callback: Callable[[V], Any] | None = None,
    ) -> Solution[V]:
        """Solve ``A x = b`` until ``norm(b - A x) <= max(rtol * norm(b), atol)``.

        Parameters
        ----------
        b
            The right side: an array of the shape of the rows, float64 or float32, or a field of
            several ranks (`boundary.Field`). The solution and all vectors are of its kind.
        x0
            The initial guess, zero by default; it is not changed. With ``"Mb"`` it is ``M @ b``.
        rtol, atol
            Tolerances, relative to the norm of b and absolute. If b is zero, ``rtol`` is relative
            to the first residual, so that a guess is improved, not replaced by zero.
        maxiter
            The largest number of iterations; by default ten times the number of rows.
        callback
            Called with x after each iteration. The next iteration changes this array in place.

        Returns
        -------
        Solution, ``x, info``
            The solution, with the dtype of b, and 0 if the residual ``b - A x``, computed from x at
            the end, is within the tolerance; else one of these codes:

            - the number of iterations, at least 1, if ``maxiter`` is reached;
            - -1 if numbers are not finite;
            - -2 if the residual has grown so far that no digit of the solution is right: the
              method does not converge for A and M;
            - -3 if the residual does not become smaller: the tolerance is below the rounding errors
              of the dtype, or A is singular and b is not in its range;
            - -10 and -11 if the method divides by zero; see each method.

            Its `Solution.history` has the norms of the residuals.

        Raises
        ------
        OutOfRangeError
            If a tolerance is negative or NaN, ``maxiter`` is negative, or x0 is another string.
        ShapeError, DtypeError, ContiguityError
            If b or x0 does not fit A.
        NonFiniteError
            If b or x0 holds infinities or NaN.

        Notes
        -----
        Iterations compute residuals by recurrences, which differ from ``b - A x`` by accumulated
        rounding errors. When the recurrence reaches the tolerance, the residual is computed again,
        and the iteration continues from it if it is too large.

        Numbers may be of any size: if norms are very large or small, the equations are solved for
        multiples of b and x0 by a power of two, which changes roundings at most. Norms are sums
        that do not depend on the order of the terms.
        """
        vectors.check_vector(b)
        check_limits(rtol, atol, maxiter, callback)
        self._begin(b)
        size = self._norm(b)
        self._check_fits(b)
        if isinstance(self._approximate, Factored):
            self._approximate.update(b)
        guess = self._guess(x0, b)
        x, r, first = self._started(b, guess, size)
        if not _is_moderate(b.dtype, size, first):
            exponent = self._exponent(b, guess, r)
            if exponent is None:
                return Solution(x, NOT_FINITE, [math.inf])
            if exponent:
                return self._scaled(b, guess, exponent, rtol, atol, maxiter, callback)
        goal = max(rtol * (size or first), atol)
        limit = 10 * b.size if maxiter is None else maxiter
        history = [first]
        info = self._improve(x, b, r, goal, limit, callback, history)
        return Solution(x, info, history)

    def _improve(
        self,
        x: V,
        b: V,
        r: V,
        goal: float,
        limit: int,
        callback: Callable[[V], Any] | None,
        history: list[float],
    ) -> int:
        """Improve x, whose residual is r, append norms of residuals to a history; return a code."""
        (norm,) = history
        if norm <= goal:
            return 0
        most = norm * float(np.finfo(b.dtype).eps) ** -self.patience
        count, last, best, found = 0, math.inf, norm, 0
        while count < limit:
            try:
                for norms in self._iterations(x, b, r, norm, goal):
                    history.extend(norms)
                    norm, count = norms[-1], count + 1
                    if callback is not None:
                        callback(x)
                    if not math.isfinite(norm):
                        return NOT_FINITE
                    if norm > most:
                        return DIVERGED
                    if norm < best:
                        best, found = norm, count
                    elif count - found > 2 * b.size + 100:
                        return STAGNATED
                    if norm <= goal or count >= limit:
                        break
            except Breakdown as breakdown:
                return breakdown.info
            if norm > goal:
                break
            if not self.exact:
                history[-1] = norm = self._residual(r, b, x)
            if norm <= goal:
                return 0
            if not norm < 0.5 * last:
                return STAGNATED
            last = norm
        return max(count, 1)

    def _guess(self, x0: Any, b: V) -> V | None:
        """Return the initial guess as a vector; None for zero."""
        if isinstance(x0, str):
            if x0 != "Mb":
                raise OutOfRangeError(
                    f"x0 is {x0!r}.", hint='Give a vector, or "Mb" for the preconditioner times b.'
                )
            z = vectors.zeros(b)
            return vectors.copied(cast(V, self._precondition(z, b)))
        if isinstance(x0, np.ndarray) and isinstance(b, np.ndarray) and x0.dtype != b.dtype:
            raise DtypeError(
                f"x0 has dtype {x0.dtype}, and the right side {b.dtype}.",
                hint=f"Convert it: x0.astype({b.dtype.name!r}).",
            )
        return cast("V | None", x0)

    def _started(self, b: V, x0: V | None, size: float) -> tuple[V, V, float]:
        """Return vectors for the solution and its residual, and the norm of that."""
        if x0 is None:
            return vectors.zeros(b), vectors.copied(b), size
        x, r = vectors.copied(x0), vectors.empty(b)
        return x, r, self._residual(r, b, x)

    def _check_fits(self, b: Vector) -> None:
        """Raise a `ShapeError` if A has no rows of this shape."""
        if b.shape not in self._fitting:
            self.A._check_rows(b.shape)
            self._fitting.add(b.shape)

    # -- right sides and guesses of any size ------------------------------------------------------

    def _exponent(self, b: Vector, x0: Vector | None, r: Vector) -> int | None:
        """Return the exponent of the largest number of b and a residual; 0 if these are zero.

        It is None if numbers of the residual are out of range.
        """
        for vector, told in (b, "right side"), (x0, "initial guess x0"):
            if vector is not None and not math.isfinite(self._largest(vector)):
                raise NonFiniteError(f"The {told} is not finite: it holds an infinity or NaN.")
        largest = max(self._largest(b), float(self._largest(r)))
        if not math.isfinite(self._largest(r)):
            return None
        return math.frexp(largest)[1]

    def _scaled(
        self,
        b: V,
        x0: V | None,
        exponent: int,
        rtol: float,
        atol: float,
        maxiter: int | None,
        callback: Callable[[V], Any] | None,
    ) -> Solution[V]:
        """Solve for multiples of b and x0 by a power of two."""
        small = self._multiple(b, -exponent)
        guess = None if x0 is None else self._multiple(x0, -exponent)

        def called_back(x: V) -> None:
            assert callback is not None
            callback(self._multiple(x, exponent))

        found = self(
            small,
            guess,
            rtol=rtol,
            atol=_ldexp(atol, -exponent),
            maxiter=maxiter,
            callback=None if callback is None else called_back,
        )
        x = self._multiple(found.x, exponent)
        info = found.info if math.isfinite(self._largest(x)) else NOT_FINITE
        return Solution(x, info, [_ldexp(norm, exponent) for norm in found.history])

    def _multiple(self, x: V, exponent: int) -> V:
        """Return a vector times a power of two, in two steps that are in range themselves."""
        made, half = vectors.empty(x), exponent // 2
        self._multiply_by(made, x, math.ldexp(1.0, half), math.ldexp(1.0, exponent - half))
        return made

    @cached_property
    def _multiply_by(self) -> Program:
        def multiple(y: Any, x: Any, s: Any, t: Any) -> None:
            y[:] = (x * s) * t

        return self._program(multiple, "s t")

    @cached_property
    def _largest(self) -> Program:
        """The program that returns the largest magnitude of numbers."""

        def largest(b: Any) -> Any:
            return reductions.max(abs(b))

        return self._program(largest)

    @abstractmethod
    def _iterations(
        self, x: Vector, b: Vector, r: Vector, norm: float, goal: float
    ) -> Iterator[tuple[float, ...]]:
        """Improve x repeatedly, beginning with its residual r, and yield norms of new residuals.

        The last norm of each tuple is that of the present x. Raises `Breakdown`.
        """

    # -- programs --------------------------------------------------------------------------------

    def _begin(self, b: Vector) -> None:
        """Begin to build the programs for arrays of the type of b, if it is new."""
        dtype = b.dtype.name
        if not isinstance(b, np.ndarray) or dtype in self._begun or dtype not in SUPPORTED:
            return
        self._check_fits(b)
        self._begun.add(dtype)
        with compiling():
            self._begin_called("_norm", dtype)  # LLVM starts early on a small program
            if isinstance(self._approximate, Composed):
                self._approximate._begin(dtype)
            confirming = () if self.exact or "_residual" in self.calls else ("_residual",)
            for name in (*self.calls, *confirming):
                self._begin_called(name, dtype)

    def _begin_called(self, name: str, dtype: str) -> None:
        """Start the build of the program in an attribute, or of the new programs that it calls."""
        before = len(self._programs)
        part = getattr(self, name)
        for made in [part] if isinstance(part, Program) else self._programs[before:]:
            begin(made, dtype)

    def _program(self, body: Callable[..., Any], scalars: str = "") -> Program:
        """Return the program of a body on fields of the matrix's space, some of them scalars."""
        names = body.__code__.co_varnames[: body.__code__.co_argcount]
        kinds = {name: scalar if name in scalars.split() else self.space for name in names}
        made = own_program(**kinds)(body)
        self._programs.append(made)
        return made

    def _fused(self, body: Callable[..., Any], scalars: str = "") -> Callable[..., Any]:
        """Return a body that calls programs and the preconditioner, as one program if possible.

        Parameters that ``scalars`` names are numbers.

        A preconditioner written in Python cannot be compiled; the body is then returned unchanged.
        """
        return self._program(body, scalars) if self.is_fused else body

    @property
    def is_fused(self) -> bool:
        """Whether the preconditioner is compiled into the programs of the solver; see `_fused`."""
        return self._approximate is None or isinstance(self._approximate, Program)

    def _precondition(self, z: Any, r: Any) -> Any:
        """Return ``M r``, computed in z; without M, return r itself."""
        if self._approximate is None:
            return r
        self._approximate(z, r)
        return z

    @cached_property
    def _norm(self) -> Callable[[Vector], float]:
        """The function that returns the norm of b."""
        return self._norm_alone

    @cached_property
    def _norm_alone(self) -> Program:
        """The program that returns the norm of b."""

        def norm(b: Any) -> Any:
            return reductions.usual_norm(b)

        return self._program(norm)

    @cached_property
    def _residual(self) -> Callable[..., float]:
        """The program ``r[:] = b - A @ x`` that returns the norm."""

        def residual(r: Any, b: Any, x: Any) -> Any:
            r[:] = b - self.A @ x
            return reductions.usual_norm(r)

        return self._program(residual)


def remembered(kind: Callable[..., S], A: Any, *rest: Any) -> S:
    """Return ``kind(A, *rest)``, or the last solver of this kind for A if the rest was the same.

    The solver is stored with the matrix and has the same lifetime.
    """
    if not isinstance(A, (Operator, Program)):
        return kind(A, *rest)
    known: dict[Any, tuple[tuple[Any, ...], Any]] = vars(A).setdefault("solvers", {})
    given, solver = known.get(kind, (None, None))
    if given is None or not all(map(_same, given, rest)):
        solver = kind(A, *rest)
        known[kind] = rest, solver
    return cast(S, solver)


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and bool(a == b))


def no_matrix(A: object) -> ArgumentError:
    """Return the error for an object that is not a matrix, with a hint to convert it."""
    if _is_affine(A):
        return ArgumentError(
            "A is an affine matrix, not a matrix of ssr.",
            hint="Solve with its linear part: cg(A.linear, b - A.offset), where sizes are bound.",
        )
    return ArgumentError(
        f"A is {type(A).__name__}, not a matrix of ssr.",
        hint="Make one of a sparse matrix of SciPy: ssr.from_scipy(A, rows=space, cols=space).",
    )


def _is_moderate(dtype: np.dtype[Any], *norms: float) -> bool:
    """Whether squares of norms, and products of such squares, are in range."""
    most = MODERATE[dtype.name]
    return all(map(math.isfinite, norms)) and 1.0 / most <= max(norms) <= most


def _ldexp(number: float, exponent: int) -> float:
    try:
        return math.ldexp(number, exponent)
    except OverflowError:
        return math.inf


def _is_affine(A: object) -> bool:
    """Whether a value is a matrix with an offset, such as those of the package boundary."""
    return hasattr(type(A), "linear") and hasattr(type(A), "offset")
