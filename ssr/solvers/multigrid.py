"""Geometric multigrid: V-cycles with smoothing on each level and a direct solve on the coarsest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from ..errors import ArgumentError, NonFiniteError, ShapeError, SpaceError
from ..matrices.matrix import Matrix
from ..points.numbers import Array, integer
from ..programs.program import Program, begin, own_program
from . import dense, vectors
from .coarsening import coarsened
from .composed import Composed
from .grid_sizes import check_grids, points
from .inverse import Inverse
from .smoothers import GaussSeidel, Smoother
from .solver import Solution
from .stationary import Richardson
from .vectors import V, Vector

DENSE = 2000
"""Limit of the points of the coarsest grid, whose matrix is inverted densely."""

Programs = tuple[Callable[..., Any], Callable[..., Any]]


class Multigrid(Composed, Inverse):
    """V-cycles over a hierarchy of matrices: a solver (`solve`), or a preconditioner (``M=``).

    A cycle begins with ``z = 0`` and improves it towards the solution of ``A z = r``: it smooths,
    restricts the residual to the next coarser grid, does the same there, adds the interpolated
    correction, and smooths in reverse order. On the coarsest grid the equations are solved.

    Grids exchange arrays only, so one matrix with symbolic sizes may stand for all of them: one set
    of kernels then serves any number of points and levels, as in the example below.

    Parameters
    ----------
    matrices
        The matrices of the grids, finest first, or one matrix for all of them.
    prolongations
        A matrix from each grid but the finest to the next finer one, or one for all of them.
    restrictions
        The same in the other direction; by default the transposes of the prolongations.
    smoother
        `GaussSeidel`, `Jacobi`, or an object with the methods of `Smoother`.
    sweeps
        The numbers of sweeps before and after the correction. If they are equal, the cycle of
        symmetric matrices is symmetric.
    coarsest
        With one matrix for all grids: the number of points from which on a grid is small enough not
        to be made coarser.

    Raises
    ------
    SpaceError
        If a matrix is not square, or a prolongation does not come from another grid.
    ArgumentError
        If the numbers of matrices do not fit together, or the coarsest grid has too many points.
    ShapeError
        When a right side is given whose grid cannot be coarsened to ``coarsest`` points or fewer.
        The message names the nearest extents that can.

    Notes
    -----
    The right side on a coarse grid is ``R r``, and its matrix must be scaled accordingly: it is
    ``R A P``, or a discretisation of the same equation times the sum of a row of R.

    The pseudoinverse of the coarsest matrix is computed once, so the matrix may be singular. Call
    `update` when the data of the matrices have changed. With fields of several ranks, every process
    computes the pseudoinverse and solves the equations of the coarsest grid. The result has the
    same bits on every processor: sums are in a fixed order, without BLAS.

    Examples
    --------
    The matrix is the second difference without its divisor, the square of the distance of points.
    At twice the distance the same matrix is four times the operator; accordingly, the rows of
    ``2 * P.T`` sum to four.

    >>> import numpy as np, ssr
    >>> n = ssr.size("n")
    >>> fine, coarse = ssr.Space(2 * n + 1), ssr.Space(n)
    >>> A = ssr.stencil(fine, fine, {-1: -1, 0: 2, 1: -1}, outside="zero")
    >>> P = ssr.solvers.interpolation(fine, coarse)
    >>> multigrid = ssr.solvers.Multigrid(A, P, 2.0 * P.T)
    >>> for size in 127, 1023:
    ...     found = multigrid.solve(np.ones(size), rtol=1e-8)
    ...     print(found.info, len(found.history) < 14)
    0 True
    0 True

    Convection by upwind differences, discretised again on each grid: the distances of points double
    from grid to grid, so the convective part of the matrix, times the squared distance, does too.

    >>> def upwind(space, wind):
    ...     return ssr.stencil(space, space, {-1: -1 - wind, 0: 2 + wind, 1: -1}, outside="zero")
    >>> spaces = [ssr.Space(extent) for extent in (127, 63, 31, 15)]
    >>> matrices = [upwind(space, 2.0**level) for level, space in enumerate(spaces)]
    >>> P = [ssr.solvers.interpolation(*pair) for pair in zip(spaces, spaces[1:])]
    >>> R = [2.0 * p.T for p in P]
    >>> found = ssr.solvers.Multigrid(matrices, P, R).solve(np.ones(127), rtol=1e-8)
    >>> found.info, found.iterations < 30
    (0, True)

    References
    ----------
    Trottenberg, Oosterlee and Schüller, Multigrid (2001), section 2.4; Briggs, Henson and
    McCormick, A Multigrid Tutorial (2nd ed. 2000), chapter 3.
    """

    def __init__(
        self,
        matrices: Matrix | Sequence[Matrix],
        prolongations: Matrix | Sequence[Matrix],
        restrictions: Matrix | Sequence[Matrix] | None = None,
        *,
        smoother: Smoother | None = None,
        sweeps: tuple[int, int] = (1, 1),
        coarsest: int = 50,
    ) -> None:
        self.smoother = GaussSeidel() if smoother is None else _checked(smoother)
        self.sweeps = sweeps
        counts = [integer(n) for n in np.ravel(np.array(sweeps, object))]
        if len(counts) != 2 or any(n is None or n < 1 for n in counts):
            raise ArgumentError(
                f"sweeps is {sweeps!r}, not two positive integers.",
                hint="Give the sweeps before and after the correction: sweeps=(1, 1).",
            )
        most = integer(coarsest)
        if most is None or most < 1:
            raise ArgumentError(f"coarsest is {coarsest!r}, not a positive integer.")
        alone = isinstance(matrices, Matrix)
        self.matrices = _several(matrices, "matrices")
        self.prolongations = _several(prolongations, "prolongations")
        if restrictions is None:
            restrictions = [P.T for P in self.prolongations]
        self.restrictions = _several(restrictions, "restrictions")
        wanted = len(self.matrices) - (not alone)
        if {len(self.prolongations), len(self.restrictions)} != {wanted}:
            raise ArgumentError(
                f"{len(self.matrices)} matrices, {len(self.prolongations)} prolongations and "
                f"{len(self.restrictions)} restrictions do not make a hierarchy.",
                hint="Give one of each between two grids, or one of each kind for all grids.",
            )
        for A in self.matrices:
            if A.rows != A.cols:
                raise SpaceError(f"{A.name} is not square: rows {A.rows!r}, columns {A.cols!r}.")
        for P in self.prolongations:
            if P.rows == P.cols:
                raise SpaceError(
                    f"The prolongation {P.name} leads from {P.cols!r} to the same space.",
                    hint="Give ssr.solvers.interpolation(fine, coarse) of two different sizes.",
                )
        self.coarsest = most if alone else None
        self._refresh: Callable[[], None] = _nothing
        self._magnitude: Callable[[], float] = float
        self._programs: dict[int, Programs] = {}
        self._vectors: dict[Any, tuple[Any, ...]] = {}
        self._inverses: dict[Any, Array] = {}

    @classmethod
    def galerkin(
        cls,
        A: Matrix,
        levels: int,
        *,
        smoother: Smoother | None = None,
        sweeps: tuple[int, int] = (1, 1),
    ) -> Multigrid:
        """Return the hierarchy of matrices ``P.T @ A @ P``, where P interpolates linearly.

        A grid has ``2 c + 1`` points along each axis if the next coarser one has c; values outside
        of a grid are zero. This suits operators of second order whose coefficients vary slowly
        from point to point. Convection by upwind differences makes cycles diverge where the mesh
        Péclet number, which doubles from grid to grid, exceeds about 10 on coarse grids.
        Linear interpolation is inaccurate where coefficients jump by large factors. Where cycles
        diverge, `solve` ends with ``info == -2``: give matrices that are discretised again on each
        grid then, see `Multigrid`, or precondition by `ILU`.

        Extents may be symbols if A has no data: the products are then matrices for all sizes. If it
        has data, such as variable coefficients, or sizes are bound, the entries of the coarse
        matrices are computed once and stored by diagonals; `update` computes them again. If data
        are fields of several ranks, the stored entries are fields too: a coarse row is on the rank
        of its fine one, and small grids are on fewer ranks. All ranks call `galerkin` and `update`
        together.

        Parameters
        ----------
        A
            The matrix of the finest grid. If it has data, these are bound, and columns have fixed
            distances from their rows.
        levels
            The number of grids.
        smoother, sweeps
            See `Multigrid`.

        Raises
        ------
        SpaceError
            If a grid has an even number of points, or columns have no fixed distances; or if data
            are on ranks, and the indices of the rows do not begin with 0.
        UnboundError
            If A has data, and not all data and sizes are bound.
        UnsupportedError
            If A has only the entries within boxes, see `Matrix.rank_local`.

        Examples
        --------
        >>> import ssr
        >>> s = ssr.Space(4 * ssr.size("n") + 3)
        >>> A = ssr.stencil(s, s, {-1: -1, 0: 2, 1: -1}, outside="zero")
        >>> ssr.solvers.Multigrid.galerkin(A, 3)
        <Multigrid with 3 levels: Space(4*n + 3), Space(2*n + 1), Space(n)>
        """
        hierarchy = coarsened(A, levels)
        made = cls(hierarchy.matrices, hierarchy.prolongations, smoother=smoother, sweeps=sweeps)
        made._refresh, made._magnitude = hierarchy.refresh, hierarchy.magnitude
        return made

    def __repr__(self) -> str:
        if self.coarsest is not None:
            return f"<Multigrid with {self.matrices[0]!r} on all levels>"
        spaces = ", ".join(repr(A.rows) for A in self.matrices)
        return f"<Multigrid with {len(self.matrices)} levels: {spaces}>"

    def __call__(self, z: V, r: V) -> None:
        """Do one cycle: assign to z an approximate solution of ``A z = r``."""
        vectors.check_vector(r)
        vectors.check_alike(z, r)
        self._cycle(0, z, r)

    @property
    def matrix(self) -> Matrix:
        """The matrix of the finest grid."""
        return self.matrices[0]

    def solution(self, r: V) -> V:
        """Return the result of one cycle for a right side, from z = 0 on."""
        vectors.check_vector(r)
        z = vectors.empty(r)
        self(z, r)
        return z

    def solve(
        self,
        b: V,
        x0: V | None = None,
        *,
        rtol: float = 1e-5,
        atol: float = 0.0,
        maxiter: int | None = None,
        callback: Callable[[V], Any] | None = None,
    ) -> Solution[V]:
        """Solve ``A x = b`` by cycles, from ``x0`` on.

        The arguments ``b``, ``x0``, ``rtol``, ``atol``, ``maxiter`` and ``callback``, the result
        and the errors are those of `Solver.__call__`.
        """
        return self._solver(b, x0, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback)

    def _begin(self, dtype: str) -> None:
        """Begin to build the programs of all levels but the coarsest, for vectors of a dtype."""
        for level in range(len(self.matrices) - (self.coarsest is None)):
            for part in self._programs.get(level) or self._made(level):
                if isinstance(part, Program):
                    begin(part, dtype)

    def update(self) -> None:
        """Compute all stored matrices again after data of the matrices have changed.

        These are the inverse of the coarsest matrix and the coarse matrices of `galerkin`.
        """
        self._refresh()
        self._inverses.clear()

    @cached_property
    def _solver(self) -> Richardson:
        return Richardson(self.matrices[0], self)

    def _cycle(self, level: int, z: Vector, r: Vector) -> None:
        if self.coarsest is None:
            last = level + 1 == len(self.matrices)
        else:
            last, level = r.size <= self.coarsest, 0
        if last:
            right = vectors.whole(r)
            inverse = self._inverse(level, r, right)
            vectors.assign(z, dense.apply(inverse, right.ravel()).reshape(right.shape))
            return
        down, up = self._programs.get(level) or self._made(level)
        key = level, vectors.layout(r)
        known = self._vectors.get(key) or self._allocated(level, r)
        fine, coarse, correction, right, solution = known
        down(z, r, fine, coarse)
        if right is not coarse:
            vectors.assign(right, coarse)
        self._cycle(level + 1, solution, right)
        if solution is not correction:
            vectors.assign(correction, solution)
        up(z, r, fine, correction)

    def _made(self, level: int) -> Programs:
        """Return the programs of the ways down and up from a level: one each, if the spaces fit.

        They take the solution, the right side, a vector of the points that the prolongation leads
        to, and one of the coarser level. The third one is the residual on the way down. On the way
        up it is not read: the solution may have these points as another space, and on ranks sizes
        are known by a vector that has them as this one.
        """
        A, P, R = self.matrices[level], self.prolongations[level], self.restrictions[level]
        smoother, (before, after) = self.smoother, self.sweeps

        @own_program(z=A.rows, r=A.rows, residual=A.rows)
        def smooth(z: Any, r: Any, residual: Any) -> None:
            smoother.start(A, z, r)
            for _ in range(before - 1):
                smoother.sweep(A, z, r)
            residual[:] = r - A @ z

        @own_program(coarse=R.rows, residual=R.cols)
        def restrict(coarse: Any, residual: Any) -> None:
            coarse[:] = R @ residual

        def down(z: Any, r: Any, residual: Any, coarse: Any) -> None:
            smooth(z, r, residual)
            restrict(coarse, residual)

        @own_program(z=P.rows, known=P.rows, correction=P.cols)
        def correct(z: Any, known: Any, correction: Any) -> None:
            z[:] = z + P @ correction

        @own_program(z=A.rows, r=A.rows)
        def smooth_again(z: Any, r: Any) -> None:
            for _ in range(after):
                smoother.reverse(A, z, r)

        def up(z: Any, r: Any, known: Any, correction: Any) -> None:
            correct(z, known, correction)
            smooth_again(z, r)

        made: Programs = down, up
        if A.rows == P.rows == R.cols:
            made = (
                own_program(z=A.rows, r=A.rows, residual=A.rows, coarse=R.rows)(down),
                own_program(z=A.rows, r=A.rows, known=A.rows, correction=P.cols)(up),
            )
        return self._programs.setdefault(level, made)

    def _allocated(self, level: int, r: V) -> tuple[V, V, V, V, V]:
        """Return vectors for the residual, the coarse right side and the correction.

        The last two exist twice: on the ranks that have their points on the finer grid, and on the
        ranks of the coarse level. These are the ranks of the data of its matrix; without such data
        they are as few as is efficient, but the coarsest level is solved on all ranks.
        """
        A, R = self.matrices[level], self.restrictions[level]
        below = self.matrices[level if self.coarsest is not None else level + 1]
        residual = vectors.empty(r) if A.rows == R.cols else vectors.known_as(r, A.rows, R.cols)
        if self.coarsest is not None:
            check_grids(R, self.matrix.rows, r.shape, self.coarsest, DENSE)
        coarse = vectors.coarser(residual, R, below.rows)
        if self.coarsest is not None and coarse.size >= residual.size:
            raise ShapeError(
                f"The restriction makes {points(coarse.shape)} of {points(residual.shape)}.",
                hint="Coarse grids have fewer points: are prolongation and restriction exchanged?",
            )
        last = level + 2 == len(self.matrices)
        if self.coarsest is not None:
            last = coarse.size <= self.coarsest
        right, data = coarse, below._distributed
        if data:
            right = vectors.beside(coarse, data[0])
        elif not last:
            right = vectors.gathered(coarse)
        correction = vectors.empty(coarse)
        solution = correction if right is coarse else vectors.empty(right)
        made = residual, coarse, correction, right, solution
        self._vectors[level, vectors.layout(r)] = made
        return made

    def _inverse(self, level: int, like: Vector, r: Array) -> Array:
        """Return the inverse of the coarsest matrix, for a right side and the array of it."""
        found = self._inverses.get((r.shape, r.dtype))
        if found is None:
            if r.size > DENSE:
                raise ArgumentError(
                    f"The coarsest grid has {r.size} points, more than {DENSE}.",
                    hint="Use more levels.",
                )
            A = self.matrices[level]
            columns = list(_columns(A, like if A._distributed else r, r))
            epsilon = float(np.finfo(r.dtype).eps)
            whole = np.array(columns, np.float64).T
            if not np.isfinite(whole).all():
                raise NonFiniteError(f"The matrix of the coarsest grid, {A.name}, is not finite.")
            if r.size == 1 and abs(whole) <= dense.ROUNDED * epsilon * self._magnitude():
                whole[:] = 0.0
            found = dense.pseudoinverse(whole, epsilon).astype(r.dtype)
            self._inverses[r.shape, r.dtype] = found
        return found


def _checked(smoother: Any) -> Smoother:
    """Return a smoother; refuse a class."""
    if isinstance(smoother, type) or not isinstance(smoother, Smoother):
        told = smoother.__name__ if isinstance(smoother, type) else type(smoother).__name__
        raise ArgumentError(f"The smoother is {told}.", hint="Make one, such as Jacobi().")
    return smoother


def _nothing() -> None:
    """Do nothing: matrices whose data are those of the user are always up to date."""


def _columns(A: Matrix, like: Vector, r: Array) -> Iterator[Array]:
    """Yield the columns of a matrix, by products with vectors as another, of the shape of r."""
    unit, column = np.zeros(r.shape, r.dtype), vectors.empty(like)
    for place in range(unit.size):
        unit.flat[place] = 1.0
        vectors.assign(column, unit)
        yield vectors.whole(cast(Vector, A @ column)).ravel()
        unit.flat[place] = 0.0


def _several(given: Matrix | Sequence[Matrix], what: str) -> tuple[Matrix, ...]:
    """Return one matrix or several as a tuple."""
    found = (given,) if isinstance(given, Matrix) or not np.iterable(given) else tuple(given)
    if not all(isinstance(matrix, Matrix) for matrix in found):
        raise ArgumentError(f"The {what} are not matrices of ssr.")
    return found
