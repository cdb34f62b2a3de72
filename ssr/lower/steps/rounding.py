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
    return replace(program, steps=tuple(map(_marked, program.steps)))


def _marked(step: ir.Step) -> ir.Step:
    match step:
        case ir.Group(assignments):
            return ir.Group(tuple(replace(a, value=_value(a.value)) for a in assignments))
        case ir.Solve(assignments=assignments, entries=entries):
            return replace(
                step,
                assignments=tuple(replace(a, value=_value(a.value)) for a in assignments),
                entries=tuple(replace(e, value=_value(e.value)) for e in entries),
            )
        case ir.Call(scalars=scalars):
            return replace(step, scalars=tuple(map(_value, scalars)))
    return replace(step, value=_value(step.value))


def _value(value: ir.Value) -> ir.Value:
    """Return a value whose largest parts that are made of scalars alone are marked."""
    done: dict[int, ir.Value] = {}

    def visit(here: ir.Value) -> ir.Value:
        if id(here) not in done:
            done[id(here)] = changed(here)
        return done[id(here)]

    def changed(here: ir.Value) -> ir.Value:
        match here:
            case ir.Scalar():
                return ir.Rounded(here)
            case ir.Op(name, args):
                made = tuple(map(visit, args))
                if all(isinstance(a, ir.Rounded) or of_scalars(a) for a in made):
                    return ir.Rounded(here)
                return ir.Op(name, made)
            case ir.Sum(terms):
                return ir.Sum(tuple(map(summand, terms)))
        return here

    def summand(term: ir.Term) -> ir.Term:
        operand = None if term.operand is None else visit(term.operand)
        return replace(term, weight=visit(term.weight), operand=operand)

    return visit(value)
