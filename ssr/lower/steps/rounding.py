"""Mark the scalar expressions to be evaluated in double precision in programs on float32 fields.

    before:  u[i] = u[i] + (t * t) * f[i] + s
    after:   u[i] = u[i] + [t * t] * f[i] + [s]     [...]: in double precision, then rounded

Scalars and scalar arithmetic have double precision, whatever the type of the fields. The marks are
set before all other passes and do not change later. An expression that becomes scalar in a later
pass, for example because a ghost value is a constant, is evaluated in the type of the fields.
"""

from __future__ import annotations

from dataclasses import replace

from ... import ir
from ...symbols.operations import of_scalars


def rounding(program: ir.Program, dtype: str) -> ir.Program:
    """Return a program in which the expressions of scalars are marked, if its type is narrower."""
    if dtype == "float64":
        return program
    steps = (ir.with_values(step, _marked) for step in program.steps)
    return replace(program, steps=tuple(steps))


def _marked(value: ir.Value) -> ir.Value:
    """Return a value whose maximal parts that depend on scalars only are marked."""

    def change(here: ir.Value) -> ir.Value | None:
        match here:
            case ir.Scalar():
                return ir.Rounded(here)
            case ir.Op(name, args) if all(isinstance(a, ir.Rounded) or of_scalars(a) for a in args):
                inner = (a.value if isinstance(a, ir.Rounded) else a for a in args)
                return ir.Rounded(ir.Op(name, tuple(inner)))
        return None

    return ir.rewrite(value, change)
