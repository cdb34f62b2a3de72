"""SciPy linear operators on flattened arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedError
from ..points.numbers import Array
from ..public import counted
from ..run.check_arrays import dtype_name

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator


def flat_operator(of: Any, shape: tuple[int, int], dtype: Any) -> LinearOperator:
    """Return a matrix, or an approximate inverse of one, as an operator of SciPy."""
    made: LinearOperator = _class()(of, shape, np.dtype(dtype_name(dtype)))
    return made


@cache
def _class() -> Any:
    """Return the class of operators; SciPy is loaded where one is needed."""
    from scipy.sparse.linalg import LinearOperator

    class FlatOperator(LinearOperator):  # type: ignore[misc]
        def __init__(self, of: Any, shape: tuple[int, int], dtype: Any) -> None:
            super().__init__(dtype, shape)
            self.of = of

        def __reduce__(self) -> tuple[Any, ...]:
            return flat_operator, (self.of, self.shape, self.dtype)

        def _matvec(self, x: Array) -> Array:
            return product(self.of._flat, x, self.shape[1], self.dtype)

        def _rmatvec(self, x: Array) -> Array:
            if not hasattr(type(self.of), "T"):
                raise UnsupportedError(f"{self.of!r} has no transpose as an operator of SciPy.")
            return product(self.of.T._flat, x, self.shape[0], self.dtype)

        def _matmat(self, X: Array) -> Array:
            return _by_columns(self._matvec, X, self.shape[0])

        def _rmatmat(self, X: Array) -> Array:
            return _by_columns(self._rmatvec, X, self.shape[1])

    return FlatOperator


def product(apply: Callable[[Array], Array], x: Any, length: int, dtype: Any) -> Array:
    """Return the product of a real matrix and a flattened vector of real or complex numbers."""
    whole = np.asarray(x).reshape(-1)
    if whole.dtype.kind not in "biufc":
        raise ArgumentError(
            f"The operand is {type(x).__name__}, not an array of numbers.",
            hint="Convert it with np.asarray(x, np.float64).",
        )
    if len(whole) != length:
        raise ShapeError(
            f"The operand has {counted(len(whole), 'number', 'numbers')}, and the operator "
            f"{length} columns."
        )
    if whole.dtype.kind == "c":
        real, imag = (product(apply, part, length, dtype) for part in (whole.real, whole.imag))
        return real + 1j * imag
    return apply(np.ascontiguousarray(whole, dtype))


def _by_columns(apply: Callable[[Array], Array], X: Array, rows: int) -> Array:
    """Return the products with the columns of X, of which there may be none."""
    kind = np.result_type(np.float32, X.dtype)
    if not X.shape[1]:
        return np.empty((rows, 0), kind)
    return np.stack([apply(column) for column in X.T], axis=1)
