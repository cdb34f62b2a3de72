"""Run assignments in place where dependences allow it, otherwise through a temporary. Bit-exact.

before:  x[i] = f(x[i - 1], x[i + 1])
after:   x_new[i] = f(x[i - 1], x[i + 1]);  x[i] = x_new[i]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ... import ir
from ...algebra.analyse import Sweep, sweep
from ...points.affine import Affine


def in_place(program: ir.Program) -> ir.Program:
    """Return the program with temporaries where an assignment cannot run in place."""
    steps: list[ir.Step] = []
    temporaries = list(program.temporaries)
    for step, found, name in _decided(program):
        if not isinstance(step, ir.Assignment) or found is None:
            steps.append(step)
        elif found.in_place:
            steps.append(replace(step, order=found.order))
        else:
            temporaries.append(replace(program.rows(step), name=name))
            row = tuple(Affine.name(x) for x in step.axes)
            value = ir.reading(step.value, step.target, name)
            steps.append(replace(step, target=name, value=value, part=None))
            steps.append(replace(step, value=ir.Load(name, row), order="any"))
    return replace(program, steps=tuple(steps), temporaries=tuple(temporaries))


def _decided(program: ir.Program) -> Iterator[tuple[ir.Step, Sweep | None, str]]:
    """Yield each step, how it runs if it is an assignment, and the name of a temporary for it."""
    taken = {f.name for f in (*program.fields, *program.temporaries)}
    taken |= {*program.scalars, *program.sizes}
    for step in program.steps:
        found, name = None, ""
        if isinstance(step, ir.Assignment):
            found = sweep(step)
            if not found.in_place:
                name = ir.fresh(f"{step.target}_new", taken)
                taken.add(name)
        yield step, found, name


def in_place_notes(program: ir.Program) -> tuple[str, ...]:
    """Return for each step of a program how it runs."""
    return tuple(_note(*decided) for decided in _decided(program))


def _note(step: ir.Step, found: Sweep | None, temporary: str) -> str:
    names = ", ".join(ir.made(step))
    match step:
        case ir.Reduction(name, kind):
            return f"{name} is the {kind} of all rows."
        case ir.Call(name):
            return f"{name} makes more points of {names} in place."
        case ir.Solve(assignments, axis):
            return f"{names} are found on lines along {assignments[0].axes[axis]}, in place."
        case ir.Group():
            return f"{names} are made together, row by row."
    assert found is not None
    left = f"{step.target}[{':' if step.part is None else step.part.slices}]"
    how = f"through the temporary {temporary}" if temporary else "in place"
    return f"{left} runs {how}: {found.reason}."
