"""Matrices stored as CSR arrays, as kernels take them: where rows start, what is read, values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import ir
from .errors import ShapeError

if TYPE_CHECKING:
    import scipy.sparse

Array = np.ndarray[Any, np.dtype[Any]]


def gathers(program: ir.Program) -> tuple[ir.Gather, ...]:
    """Return the products with stored matrices of a program, in order."""
    values = (v for step in program.steps for v in ir.walk(step.value))
    return tuple(dict.fromkeys(v for v in values if isinstance(v, ir.Gather)))


def arguments(gather: ir.Gather) -> tuple[str, str, str]:
    """Return the names of a kernel's arguments for a stored matrix."""
    return f"{gather.matrix}_rows", f"{gather.matrix}_places", f"{gather.matrix}_values"


def arrays(
    gather: ir.Gather,
    matrix: scipy.sparse.csr_array,
    sizes: Mapping[str, int],
    strides: Sequence[int] | None,
    dtype: Any,
) -> tuple[Array, Array, Array]:
    """Return the arguments of a kernel for a stored matrix.

    Parameters
    ----------
    gather
        The product.
    matrix
        The stored matrix; its columns become places in the operand's memory.
    sizes
        The integers of all sizes.
    strides
        Elements from one to the next along each axis of the operand; None if it is in C order.
    dtype
        The kernel's type.

    Raises
    ------
    ShapeError
        If the matrix does not fit its spaces.
    """
    extents = [
        tuple(n.evaluate(sizes) for n in field.shape) for field in (gather.rows, gather.cols)
    ]
    wanted = tuple(int(np.prod(extent)) for extent in extents)
    if matrix.shape != wanted:
        raise ShapeError(
            f"A stored matrix has the shape {matrix.shape}; its spaces have {wanted} points."
        )
    columns = matrix.indices.astype(np.int64)
    if strides is not None:
        index = np.unravel_index(columns, extents[1])
        columns = sum((i * s for i, s in zip(index, strides, strict=True)), np.zeros_like(columns))
    return matrix.indptr.astype(np.int64), columns, matrix.data.astype(dtype)
