"""The programs that compute ``A @ x`` and ``A.solve(b)`` on arrays."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

from .. import ir
from ..algebra.matrix_data import MatrixData
from ..options import Options
from ..spaces.space import Space
from ..symbols.values import Value
from .data import bind
from .expression import Field, recording
from .matrix_rows import apply_rows, solve_rows
from .program import Program
from .recorder import Recorder
from .signature import Signature

What: TypeAlias = Literal["apply", "solve"]


def matrix_program(matrix: MatrixData, what: What, free: Collection[str] = ()) -> Program:
    """Return the program ``y[:] = A @ x`` or ``x[:] = A.solve(b)``.

    Data that are ``free`` are parameters of the program, after the result and the operand.
    """
    recorder = Recorder(f"{matrix.name} {what}")
    source, target = (matrix.cols, matrix.rows) if what == "apply" else (matrix.rows, matrix.cols)
    taken = {*free, *matrix.sizes}
    given, made = (ir.fresh(stem, taken) for stem in (("x", "y") if what == "apply" else "bx"))
    data = {name: matrix.data[name] for name in free}
    fields = {name: kind for name, kind in data.items() if isinstance(kind, Space)}
    recorder.fields = {made: target, given: source, **fields}
    recorder.scalars = {name: None for name in data if name not in fields}
    symbols = {
        name: Field(name, fields[name], recorder) if name in fields else Value(ir.Scalar(name))
        for name in data
    }
    operand = Field(given, source, recorder)
    with recording(recorder):
        rows = apply_rows if what == "apply" else solve_rows
        recorder.assign(made, target, rows(bind(matrix, symbols), operand))
    signature = Signature(recorder.name, ((made, target), (given, source), *data.items()))
    return Program(recorder, signature, Options())
