"""What acts on arrays: matrices of all kinds, and the programs by which they do."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ..errors import ArgumentError

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

    from ..programs.program import Program

What: TypeAlias = Literal["apply", "solve"]


class Applied:
    """A matrix with a program to apply it and one to solve with it, each made when first used."""

    @cached_property
    def _programs(self) -> dict[str, Program]:
        return {}

    def program(self, what: What) -> Program:
        """Return the program behind ``A @ x`` or ``A.solve(b)``."""
        if what not in ("apply", "solve"):
            raise ArgumentError(f'A matrix has the programs "apply" and "solve", not {what!r}.')
        found = self._programs.get(what)
        return found or self._programs.setdefault(what, self._declared(what))

    def _declared(self, what: What) -> Program:
        raise NotImplementedError


def linear_operator(
    matrix: Any, rows: tuple[int, ...], cols: tuple[int, ...], dtype: Any
) -> LinearOperator:
    """Return a SciPy ``LinearOperator`` on flattened arrays of these shapes."""
    from scipy.sparse.linalg import LinearOperator

    def flat(which: Any, x: Any, shape: tuple[int, ...]) -> Any:
        return which.apply(np.ascontiguousarray(x, dtype).reshape(shape)).ravel()

    return LinearOperator(
        (int(np.prod(rows)), int(np.prod(cols))),
        matvec=lambda x: flat(matrix, x, cols),
        rmatvec=lambda x: flat(matrix.T, x, rows),
        dtype=np.dtype(dtype),
    )
