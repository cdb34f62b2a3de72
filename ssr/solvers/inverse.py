"""Approximate inverses of matrices as SciPy linear operators."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import ArgumentError, UnsupportedError
from ..matrices.matrix import Matrix
from ..matrices.stored_matrix import StoredMatrix
from ..points.numbers import Array, integer
from .vectors import V

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator


class Inverse(ABC):
    """An approximate inverse of a matrix; SciPy takes it as ``M=`` where all sizes are bound."""

    @property
    @abstractmethod
    def matrix(self) -> Matrix | StoredMatrix:
        """The matrix that is inverted."""

    @abstractmethod
    def solution(self, r: V) -> V:
        """Return an approximate solution of ``A z = r``, of the kind of r."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns; needs all sizes."""
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of numbers for SciPy."""
        return np.dtype(np.float64)

    def matvec(self, r: Any) -> Any:
        """Return an approximate solution, flattened; sizes are bound.

        Parameters
        ----------
        r
            The right side, flattened.
        """
        from ..matrices.linear_operator import product

        extents = self.matrix._extents()[0]
        return product(_Flat(self, extents)._flat, r, math.prod(extents), self.dtype)

    def aslinearoperator(
        self, extents: Sequence[int] | None = None, dtype: Any = np.float64
    ) -> LinearOperator:
        """Return a ``LinearOperator`` of SciPy that maps a flattened r to an approximate solution.

        Parameters
        ----------
        extents
            The numbers of grid points along each axis; needed where sizes of the matrix have no
            value, as in a hierarchy that is one matrix for all grids.
        dtype
            The type of numbers of the operator: float64 or float32.

        Raises
        ------
        UnboundError
            If a size has no value, and no extents are given.
        ShapeError
            If the extents are not those of rows of the matrix.

        Examples
        --------
        >>> import numpy as np, scipy.sparse.linalg, ssr
        >>> s = ssr.Space(63)
        >>> A = ssr.stencil(s, s, {-1: -1, 0: 2, 1: -1}, outside="zero")
        >>> M = ssr.solvers.Multigrid.galerkin(A, 4).aslinearoperator()
        >>> x, info = scipy.sparse.linalg.cg(A.aslinearoperator(), np.ones(63), M=M)
        >>> info, bool(np.allclose(A @ x, 1.0, rtol=1e-4))
        (0, True)
        """
        from ..matrices.linear_operator import flat_operator

        if extents is None:
            shape = self.matrix._extents()[0]
        else:
            given: Any = extents
            known = [integer(n) for n in given] if isinstance(given, Sequence) else []
            shape = tuple(n for n in known if n is not None)
            if not shape or len(shape) < len(known):
                raise ArgumentError(f"The extents are {extents!r}, not a sequence of integers.")
            self.matrix._check_rows(shape)
        return flat_operator(_Flat(self, shape), (math.prod(shape), math.prod(shape)), dtype)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise UnsupportedError(
            f"{self!r} cannot be pickled.",
            note="It is made of matrices and compiled programs.",
            hint="Make it again in each process; kernels come from the cache.",
        )


class _Flat:
    """An approximate inverse on flattened arrays of a grid."""

    def __init__(self, of: Inverse, extents: tuple[int, ...]) -> None:
        self.of = of
        self.extents = extents

    def __repr__(self) -> str:
        return repr(self.of)

    def _flat(self, r: Array) -> Array:
        return self.of.solution(r.reshape(self.extents)).ravel()
