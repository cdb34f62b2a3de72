"""Store the reciprocal pivots of systems along lines in fields, for the debug build.

    before:  A x[k, j, i] = b[k, j, i]
    after:   the same, and pivot[k, j, i] = 1 / the pivot of the row

A zero pivot makes the rest of its line infinite or NaN. The first reciprocal pivot of a line that
is not finite therefore locates the zero pivot.
"""

from __future__ import annotations

from dataclasses import replace

from ... import ir


def pivots(program: ir.Program) -> ir.Program:
    """Return a program whose solves along lines store reciprocal pivots in temporaries."""
    names = {*(f.name for f in (*program.fields, *program.temporaries)), *program.scalars}
    made: list[ir.Field] = []
    steps: list[ir.Step] = []
    for step in program.steps:
        if isinstance(step, ir.Solve):
            rows, made_here = program.rows(step.assignments[0]), list[str]()
            for _ in range(step.size):
                made_here.append(ir.fresh("pivot", {*names, *(f.name for f in made)}))
                made.append(replace(rows, name=made_here[-1]))
            step = replace(step, pivots=tuple(made_here))
        steps.append(step)
    temporaries = (*program.temporaries, *made)
    return replace(program, temporaries=temporaries, steps=tuple(steps))
