"""Mark the expressions of scalars that are rounded in programs on float32 fields.

    before:  u[i] = u[i] + (t * t) * f[i] + s
    after:   u[i] = u[i] + [t * t] * f[i] + [s]     [...]: in double precision, then rounded

Scalars are numbers in double precision, and so is their arithmetic, whatever the type of the fields
is. What is marked here, before anything else is decided, stays so: an expression that becomes one
of scalars later, since a ghost point turns out to be a number, is computed in the fields' type.
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
    """Return a value whose largest parts that are made of scalars alone are marked."""

    def change(here: ir.Value) -> ir.Value | None:
        match here:
            case ir.Scalar():
                return ir.Rounded(here)
            case ir.Op(name, args) if all(isinstance(a, ir.Rounded) or of_scalars(a) for a in args):
                inner = (a.value if isinstance(a, ir.Rounded) else a for a in args)
                return ir.Rounded(ir.Op(name, tuple(inner)))
        return None

    return ir.rewrite(value, change)
