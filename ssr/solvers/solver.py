"""What all iterative solvers share: arguments, stopping, and the programs of an iteration.

An iteration is written once, as a function of arrays that calls programs and a preconditioner.
Where the preconditioner is a program too, the function is itself declared as a program (`fused`),
so that the compiler sees the whole iteration. Otherwise it runs as Python between programs.
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np

from .. import ir
from ..compiling import compiling
from ..errors import ArgumentError, NonFiniteError, SpaceError
from ..matrices.matrix import Matrix
from ..points.numbers import integer, real
from ..programs import reductions
from ..programs.program import Program, begin, program
from ..public import explained
from ..run.check_arrays import SUPPORTED
from ..spaces.distributed import is_distributed
from ..trace.trace import scalar
from . import vectors
from .composed import Composed
from .factorisations import Factored, Factorisation
from .smoothers import Smoother
from .vectors import V, Vector

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator


Preconditioner: TypeAlias = (
    "Matrix | Program | Smoother | Factorisation | LinearOperator | Callable[[Any, Any], Any]"
)
"""An approximate inverse: applied as ``M @ r``, or called as ``M(z, r)`` to assign z."""

S = TypeVar("S", bound="Solver")


class Breakdown(Exception):
    """A method cannot continue, because it would divide by zero."""

    def __init__(self, info: int) -> None:
        super().__init__(info)
        self.info = info


class Solution(tuple[V, int]):
    """What a solver has found: ``x, info``, with the norms of the residuals on the way.

    Attributes
    ----------
    history
        The norm of the residual at the start and after each iteration.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> s = ssr.Space(ssr.size("n"))
    >>> A = ssr.stencil(s, s, {-1: -1, 0: 2, 1: -1}, outside="drop")
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

    @property
    def x(self) -> V:
        """The solution."""
        return self[0]

    @property
    def info(self) -> int:
        """0 if the residual has become small enough; see `Solver.__call__`."""
        return self[1]

    @property
    def iterations(self) -> int:
        """The number of iterations."""
        return len(self.history) - 1


class Solver(ABC):
    """An iterative method for ``A x = b``; its programs are made once and used for many b.

    Parameters
    ----------
    A
        A square matrix, whose data are bound. Arrays among them may change between calls.
    M
        A preconditioner, which approximates the inverse of A. A matrix, applied as ``M @ r``, a
        smoother such as `Jacobi`, or a program with the parameters ``(z, r)`` that assigns z
        becomes a part of the compiled iteration. It may also be an incomplete factorisation, `ILU`
        or `IC`, made anew for each solution; any function ``M(z, r)`` of arrays that fills z, such
        as a `Multigrid`; or a ``LinearOperator`` of SciPy, which gets flattened arrays, and no
        fields of several ranks.

    Raises
    ------
    SpaceError
        If A is not square, or M does not act on the space of its rows.
    UnboundError
        If some of A's data are not bound.
    """

    calls: tuple[str, ...] = ()
    """The attributes with what an iteration calls: programs, or functions that call some."""

    def __init__(self, A: Matrix, M: Preconditioner | None = None) -> None:
        if not isinstance(A, Matrix):
            raise ArgumentError(f"A is {_told(A)}, not a matrix of ssr.", hint=_hint(A))
        if A.rows != A.cols:
            raise SpaceError(
                f"{A.name} is not square: its rows and columns are different spaces.",
                note=f"rows {A.rows!r}, columns {A.cols!r}",
            )
        self.A = A
        self.M = M
        self.space = A.rows
        self._approximate = _called(A, M)
        self._fitting: set[tuple[int, ...]] = set()
        self._begun: set[str] = set()
        self._programs: list[Program] = []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self.A!r}>"

    @explained
    def __call__(
        self,
        b: V,
        x0: V | None = None,
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
            The initial guess, zero by default; it is not changed.
        rtol, atol
            Tolerances, relative to the norm of b and absolute.
        maxiter
            The largest number of iterations; by default ten times the number of rows.
        callback
            Called with x after each iteration. The next iteration changes this array in place.

        Returns
        -------
        Solution, ``x, info``
            The solution, with the dtype of b, and 0 if it has converged, the number of iterations
            if it has not, or a negative number if the method broke down: -10 and -11 for a division
            by zero, -1 for numbers that are not finite. Its `Solution.history` has the norms of the
            residuals.

        Raises
        ------
        ArgumentError
            If a tolerance is negative or NaN.
        ShapeError, DtypeError, ContiguityError
            If b or x0 does not fit A.
        NonFiniteError
            If b holds infinities or NaN, or its norm overflows.
        """
        vectors.check_vector(b)
        _check_limits(rtol, atol, maxiter, callback)
        self._begin(b)
        size = self._norm(b)
        self._check_fits(b)
        if not math.isfinite(size):
            raise NonFiniteError(
                "The right side is not finite.",
                note="It holds an infinity or NaN, or its norm overflows its dtype.",
            )
        if size == 0.0:
            return Solution(vectors.zeros(b), 0, [0.0])
        if x0 is None:
            x, r, first = vectors.zeros(b), vectors.copied(b), size
        else:
            x, r = vectors.copied(x0), vectors.empty(b)
            first = self._residual(r, b, x)
        limit = 10 * b.size if maxiter is None else maxiter
        goal = max(rtol * size, atol)
        if isinstance(self._approximate, Factored):
            self._approximate.renew(b)
        history: list[float] = []
        try:
            steps = self._iterations(x, b, r, first, goal)
            for count, norms in enumerate(chain([(first,)], steps)):
                history.extend(norms)
                if count and callback is not None:
                    callback(x)
                if norms[-1] <= goal:
                    return Solution(x, 0, history)
                if not math.isfinite(norms[-1]):
                    return Solution(x, -1, history)
                if count >= limit:
                    return Solution(x, max(limit, 1), history)
        except Breakdown as breakdown:
            return Solution(x, breakdown.info, history)
        raise AssertionError("iterations end by returning, or by a Breakdown")

    def _check_fits(self, b: Vector) -> None:
        """Raise a `ShapeError` if A has no rows of this shape."""
        if b.shape not in self._fitting:
            self.A.definition.matched(("b", self.space, b.shape))
            self._fitting.add(b.shape)

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
            self._begin_called("_norm", dtype)  # a small one first: LLVM is idle until it is there
            if isinstance(self._approximate, Composed):
                self._approximate._begin(dtype)
            for name in self.calls:
                self._begin_called(name, dtype)

    def _begin_called(self, name: str, dtype: str) -> None:
        """Begin to build the program that an attribute is, or the new ones that it calls."""
        before = len(self._programs)
        part = getattr(self, name)
        for made in [part] if isinstance(part, Program) else self._programs[before:]:
            begin(made, dtype)

    def program(self, body: Callable[..., Any], scalars: str = "") -> Program:
        """Return the program of a body on fields of the matrix's space, some of them scalars."""
        names = body.__code__.co_varnames[: body.__code__.co_argcount]
        kinds = {name: scalar if name in scalars.split() else self.space for name in names}
        made = program(options=None, **kinds)(body)
        self._programs.append(made)
        return made

    def fused(self, body: Callable[..., Any], scalars: str = "") -> Callable[..., Any]:
        """Return a body that calls programs and the preconditioner, as one program if possible.

        Parameters that ``scalars`` names are numbers.

        A preconditioner written in Python cannot be compiled; the function is then left as it is.
        """
        return self.program(body, scalars) if self.is_fused else body

    @property
    def is_fused(self) -> bool:
        """Whether what calls the preconditioner is compiled with it; see `fused`."""
        return self._approximate is None or isinstance(self._approximate, Program)

    def precondition(self, z: Any, r: Any) -> Any:
        """Return ``M r``, computed in z; without M, return r itself."""
        if self._approximate is None:
            return r
        self._approximate(z, r)
        return z

    @cached_property
    def _norm(self) -> Callable[[Vector], float]:
        """What returns the norm of b."""
        return self._norm_alone

    @cached_property
    def _norm_alone(self) -> Program:
        """The program that returns the norm of b."""

        def norm(b: Any) -> Any:
            return reductions.norm(b)

        return self.program(norm)

    @cached_property
    def _residual(self) -> Program:
        """The program ``r[:] = b - A @ x`` that returns the norm."""

        def residual(r: Any, b: Any, x: Any) -> Any:
            r[:] = b - self.A @ x
            return reductions.norm(r)

        return self.program(residual)


def _check_assigns(M: Callable[..., Any]) -> None:
    """Check that a program or function may assign its first parameter from its second."""
    if isinstance(M, Program):
        names = [name for name, _ in M.signature.kinds]
        assigned = {name for step in M.ir.steps for name in ir.made(step)}
        if len(names) != 2 or names[0] not in assigned:
            raise ArgumentError(
                f"The preconditioner {M!r} does not assign its first parameter from its second.",
                hint="Write a program (z, r) with z[:] = ...",
            )
        return
    try:
        signature = inspect.signature(M)
    except (TypeError, ValueError):  # of some functions that are not Python's
        return
    try:
        signature.bind(None, None)
    except TypeError:
        raise ArgumentError(
            f"The preconditioner {M!r} does not take two arrays.",
            hint="It is called as M(z, r), and fills z.",
        ) from None


def _check_limits(rtol: Any, atol: Any, maxiter: Any, callback: Any) -> None:
    """Check what ends an iteration, and what is called on its way."""
    for name, tolerance in ("rtol", rtol), ("atol", atol):
        found = real(tolerance)
        if found is None or not found >= 0.0:
            raise ArgumentError(
                f"The tolerance {name} is {tolerance!r}.", hint="Tolerances are 0 or more."
            )
    count = 0 if maxiter is None else integer(maxiter)
    if count is None or count < 0:
        raise ArgumentError(f"maxiter is {maxiter!r}; it is an integer from 0 on.")
    if callback is not None and not callable(callback):
        raise ArgumentError(f"callback is {callback!r}; it is a function of x.")


def _called(A: Matrix, M: Preconditioner | None) -> Callable[..., Any] | None:
    """Return a preconditioner as a function ``(z, r)`` of arrays, if possible as a program."""
    if M is None:
        return None
    if isinstance(M, type):
        raise ArgumentError(
            f"The preconditioner is the class {M.__name__}.", hint=f"Make one: {M.__name__}()."
        )
    if isinstance(M, Factorisation):
        return Factored(A, M)
    if isinstance(M, Smoother):

        def apply(z: Any, r: Any) -> None:
            M.precondition(A, z, r)

    elif isinstance(M, Matrix):
        if (M.rows, M.cols) != (A.rows, A.cols):
            raise SpaceError(
                f"The preconditioner {M.name} acts on other spaces than {A.name}.",
                note=f"{M.cols!r} -> {M.rows!r} and {A.cols!r} -> {A.rows!r}",
            )

        def apply(z: Any, r: Any) -> None:
            z[:] = M @ r

    elif hasattr(M, "matvec"):
        return _flattened(M)
    elif callable(M):
        _check_assigns(M)
        return M
    else:
        raise ArgumentError(
            f"The preconditioner is {type(M).__name__}.",
            hint="Use a matrix, a smoother, ILU(), a program (z, r), or a function (z, r).",
        )
    return program(z=A.rows, r=A.rows)(apply)


def _flattened(M: Any) -> Callable[..., Any]:
    """Return an operator of SciPy as a function ``(z, r)`` of arrays."""

    def apply(z: Any, r: Any) -> None:
        if is_distributed(r):
            raise ArgumentError(
                f"The preconditioner {type(M).__name__} of SciPy takes arrays, and the right side "
                "is a field of several ranks.",
                hint="Use a matrix, ssr.solvers.Jacobi(), a Multigrid, or a function of fields.",
            )
        np.copyto(z, M.matvec(r.ravel()).reshape(r.shape))

    return apply


def remembered(kind: type[S], A: Any, *rest: Any) -> S:
    """Return ``kind(A, *rest)``, or the last solver of this kind for A if the rest was the same.

    The solver is kept with the matrix and lives as long.
    """
    if not isinstance(A, Matrix):
        return kind(A, *rest)
    known: dict[type[Solver], tuple[tuple[Any, ...], Any]] = vars(A).setdefault("solvers", {})
    given, solver = known.get(kind, (None, None))
    if given is None or not all(map(_same, given, rest)):
        solver = kind(A, *rest)
        known[kind] = rest, solver
    return cast(S, solver)


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and bool(a == b))


def _told(A: object) -> str:
    return "an affine matrix" if _is_affine(A) else type(A).__name__


def _hint(A: object) -> str:
    """Return what to do with something that is no matrix."""
    if _is_affine(A):
        return "Solve with its linear part: cg(A.linear, b - A.offset), where sizes are bound."
    return "For stored matrices use the solvers of scipy.sparse.linalg."


def _is_affine(A: object) -> bool:
    """Whether something is a matrix with an offset, as those of the package boundary are."""
    return hasattr(type(A), "linear") and hasattr(type(A), "offset")
