"""LOBPCG: eigenvalues of symmetric matrices by the block conjugate gradient method."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ...errors import ArgumentError, DtypeError, ShapeError
from ...points.numbers import Array
from ...public import flag
from ...run.check_arrays import SUPPORTED
from ...spaces.distributed import is_distributed
from .. import vectors
from ..preconditioners import Preconditioner
from ..solver import remembered
from ..stopping import check_limits
from ..vectors import Vector
from .pencil import Linear, Pencil
from .rayleigh_ritz import Search

X_ = TypeVar("X_")


class Eigenpairs(tuple[Array, Any]):
    """Eigenvalues and eigenvectors, ``w, v``, with the residuals on the way.

    Attributes
    ----------
    info
        0 if all residuals are small enough; see `lobpcg` for other codes.
    eigenvalue_history
        The eigenvalues at the start and after each iteration, array (iterations + 1, k).
    residual_history
        The norms of their residuals, array (iterations + 1, k).

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> A = ssr.stencil(points, points, {-1: -1, 0: 2, 1: -1}, outside="zero")
    >>> found = ssr.solvers.lobpcg(A, np.eye(2, 9))
    >>> w, v = found
    >>> w.round(6), found.converged
    (array([0.097887, 0.381966]), True)
    """

    info: int
    eigenvalue_history: Array
    residual_history: Array

    def __new__(
        cls, w: Array, v: Any, info: int, eigenvalues: Array, residuals: Array
    ) -> Eigenpairs:
        """Return the pair."""
        made = super().__new__(cls, (w, v))
        made.info, made.eigenvalue_history, made.residual_history = info, eigenvalues, residuals
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:  # for copies and pickles
        return *self, self.info, self.eigenvalue_history, self.residual_history

    @property
    def eigenvalues(self) -> Array:
        """The eigenvalues."""
        return self[0]

    @property
    def eigenvectors(self) -> Any:
        """The eigenvectors, an array (k, ...) or a list, as the initial guess."""
        return self[1]

    @property
    def residuals(self) -> Array:
        """The norms of ``A v - w B v``, for eigenvectors with ``v·B v = 1``."""
        return self.residual_history[-1]  # type: ignore[no-any-return]

    @property
    def iterations(self) -> int:
        """The number of iterations."""
        return len(self.residual_history) - 1

    @property
    def converged(self) -> bool:
        """Whether all residuals are small enough."""
        return self.info == 0


class LOBPCG:
    """The locally optimal block preconditioned conjugate gradient method; see `lobpcg`.

    Its programs are made once and used for many initial guesses.

    Parameters
    ----------
    A, B, M
        See `lobpcg`.
    """

    def __init__(self, A: Linear, B: Linear | None = None, M: Preconditioner | None = None) -> None:
        self.A, self.B, self.M = A, B, M
        self._pencil = Pencil(A, B, M)

    def __repr__(self) -> str:
        return f"<LOBPCG for {self.A!r}>"

    def __call__(
        self,
        X: Any,
        *,
        Y: Any = None,
        rtol: float = 1e-5,
        atol: float = 0.0,
        maxiter: int | None = None,
        largest: bool = False,
    ) -> Eigenpairs:
        """Find eigenvalues from an initial guess for the eigenvectors.

        The arguments ``X``, ``Y``, ``rtol``, ``atol``, ``maxiter`` and ``largest``, the result
        and the errors are those of `lobpcg`.
        """
        check_limits(rtol, atol, maxiter, None)
        largest = flag("lobpcg", "largest", largest)
        given = _columns("X", X)
        if not given:
            raise ArgumentError(
                "X holds no vectors.", hint="Give one for each eigenvalue that is to be found."
            )
        known = [] if Y is None else _columns("Y", Y)
        for vector in (*given, *known):
            _check_alike(vector, given[0])
        if len(given) + len(known) > given[0].size:
            raise ArgumentError(
                f"X and Y are {len(given) + len(known)} vectors of {given[0].size} values.",
                hint="There are as many eigenvectors as a vector has values.",
            )
        search = Search(self._pencil, given, known, largest=largest)
        info = search.run(rtol, atol, 1000 if maxiter is None else maxiter)
        found: Any = search.eigenvectors
        return Eigenpairs(
            search.values.astype(given[0].dtype),
            np.stack(found) if isinstance(X, np.ndarray) else found,
            info,
            np.array(search.eigenvalue_history),
            np.array(search.residual_history),
        )


def lobpcg(
    A: Linear,
    X: Any,
    B: Linear | None = None,
    M: Preconditioner | None = None,
    Y: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    largest: bool = False,
) -> Eigenpairs:
    """Find the smallest or largest eigenvalues of ``A x = lambda B x``, for symmetric A.

    The names are those of SciPy's function, but vectors have the shape of the grid, tolerances are
    those of the other solvers here, and the smallest eigenvalues are the default. The programs are
    kept with A for the next call; use `LOBPCG` to hold them explicitly.

    Parameters
    ----------
    A
        A symmetric matrix, whose data are bound: of the package, of `from_scipy`, or of blocks on
        a vector space. Or a program with the parameters ``(y, x)`` that assigns y the product of
        the matrix with x.
    X
        The initial guess, k linearly independent vectors: an array (k, ...) of float64 or float32,
        whose other axes are those of a vector, or a list of arrays or of fields of several ranks
        (`boundary.Field`). It is not changed. Random vectors are good guesses.
    B
        A symmetric positive definite matrix or a program, by default the identity: a mass matrix.
    M
        A preconditioner, which approximates the inverse of A, see `Solver`. It should be symmetric
        and positive definite, and helps for the smallest eigenvalues.
    Y
        Vectors to which the eigenvectors are B-orthogonal, as X, such as eigenvectors that are
        known.
    rtol, atol
        A pair is found if ``norm(A x - lambda B x)`` is ``max(rtol * s * norm(B x), atol)`` or
        less, where s is the largest magnitude of the k eigenvalues, and ``x·B x = 1``; or if it is
        within the rounding errors of the product A x. An eigenvalue then has a relative error of
        about the square of ``rtol``, if it is not close to one that is not among the k.
    maxiter
        The largest number of iterations, by default 1000. One multiplies each vector of the block
        with A, B and M at most once.
    largest
        Whether the largest eigenvalues are found, not the smallest.

    Returns
    -------
    Eigenpairs, ``w, v``
        The k eigenvalues, the smallest (or the largest) first, and B-orthonormal eigenvectors, an
        array (k, ...) or a list, as X. Its attributes are the ``residuals``, the ``iterations``,
        both histories, whether it has ``converged``, and ``info``:

        - 0 if all pairs are found;
        - the number of iterations, at least 1, if ``maxiter`` is reached;
        - -1 if numbers are not finite;
        - -3 if residuals do not become smaller: the tolerance is below the rounding errors.

    Raises
    ------
    ArgumentError
        If the vectors of X are not independent of each other and of Y; if A, or B, is found not to
        be symmetric, or B not to be positive definite.
    ShapeError, DtypeError, NonFiniteError
        If a vector has another shape or type than A takes, or is not finite.
    OutOfRangeError
        If a tolerance is negative or NaN, or ``maxiter`` is negative.

    Notes
    -----
    Each iteration finds the best vectors in the space of the block, of the preconditioned residuals
    and of the last directions. Pairs that are found leave the last two, but not the block (soft
    locking). A basis is selected by the inner products, so that dependent directions are dropped.
    A block that is somewhat larger than the number of wanted eigenvalues converges faster, above
    all where the last of these is close to the next one. Eigenvalues of any multiplicity are found
    as often as the block has room for them.

    Inner products do not depend on the order of the points, and dense problems are solved in a
    fixed order: results are bitwise identical on threads and ranks.

    Examples
    --------
    Vibrations of a square membrane, preconditioned by multigrid:

    >>> import numpy as np, ssr
    >>> points = ssr.Space(63, 63)
    >>> star = {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.0, (1, 0): -1.0, (-1, 0): -1.0}
    >>> A = 64.0**2 * ssr.stencil(points, points, star, outside="zero")
    >>> X = np.random.default_rng(0).standard_normal((4, 63, 63))
    >>> found = ssr.solvers.lobpcg(A, X, M=ssr.solvers.Multigrid.galerkin(A, 3))
    >>> (found.eigenvalues / np.pi**2).round(3)
    array([2.   , 4.997, 4.997, 7.994])
    >>> found.converged, found.iterations < 20
    (True, True)

    References
    ----------
    A. V. Knyazev, Toward the optimal preconditioned eigensolver, SIAM J. Sci. Comput. 23, 517
    (2001); J. A. Duersch, M. Shao, C. Yang and M. Gu, A robust and efficient implementation of
    LOBPCG, SIAM J. Sci. Comput. 40, C655 (2018).
    """
    solver = remembered(LOBPCG, A, B, M)
    return solver(X, Y=Y, rtol=rtol, atol=atol, maxiter=maxiter, largest=largest)


def _columns(name: str, given: Any) -> list[Vector]:
    """Return the vectors of a guess, which are not copied."""
    several = isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim > 1)
    if not several or not all(isinstance(v, np.ndarray) or is_distributed(v) for v in given):
        raise ArgumentError(
            f"{name} is {type(given).__name__}, not several vectors.",
            hint="Give an array whose first axis counts the vectors, or a list of vectors.",
        )
    return list(given)


def _check_alike(vector: Vector, first: Vector) -> None:
    """Raise if vectors have not the same points and the same dtype, which has to be supported."""
    if vector.dtype.name not in SUPPORTED:
        raise DtypeError(
            f"A vector has dtype {vector.dtype}.", hint="Use float64 or float32: X.astype(float)."
        )
    if type(vector) is not type(first) or vectors.layout(vector) != vectors.layout(first):
        raise ShapeError(
            f"The vectors differ: {_told(first)} and {_told(vector)}.",
            hint="All vectors of X and Y have the same points and the same dtype.",
        )


def _told(vector: Vector) -> str:
    return f"{type(vector).__name__} of shape {vector.shape} and {vector.dtype}"
