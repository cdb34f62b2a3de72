"""The programs that compute ``A @ x`` and ``A.solve(b)`` on arrays."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, TypeAlias

from .. import ir
from ..algebra.matrix_data import MatrixData
from .data import bind
from .matrix_rows import apply_rows, solve_rows
from .program import Program, array_program

What: TypeAlias = Literal["apply", "solve"]


def matrix_program(matrix: MatrixData, what: What, free: Collection[str] = ()) -> Program:
    """Return the program ``y[:] = A @ x`` or ``x[:] = A.solve(b)``.

    Data that are ``free`` are parameters of the program, after the result and the operand.
    """
    source, target = (matrix.cols, matrix.rows) if what == "apply" else (matrix.rows, matrix.cols)
    taken = {*free, *matrix.sizes}
    given, made = (ir.fresh(stem, taken) for stem in (("x", "y") if what == "apply" else "bx"))
    rows = apply_rows if what == "apply" else solve_rows

    def body(result: Any, operand: Any, *data: Any) -> None:
        result[:] = rows(bind(matrix, dict(zip(free, data, strict=True))), operand)

    kinds = {made: target, given: source, **{name: matrix.data[name] for name in free}}
    return array_program(f"{matrix.name} {what}", body, kinds)
