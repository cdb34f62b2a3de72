"""Save the lines of a field that an in-place step reads after they are overwritten. Bit-exact.

    before:  t = u, completed by a call;  u[:] = f(t)
    after:   saved = u[first lines];  u_new[:] = f(u, saved);  u[:] = u_new

After the inlining of ghost points (`ghost_inlining`) a step may read the field that it overwrites.
It then writes to a temporary, which is copied to the field. If the two steps share a nest
(`fusion`), only a few lines of the temporary are live, since old values at bounded distances are
read before they are overwritten. The distance is unbounded for some points, such as those of the
first line, which the last line reads in a periodic field. Such lines are saved before the nest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import ir
from ...ir.external import Made
from ...points.affine import AXES, Affine
from ...points.sets import Domain
from ..step_nest import step_nest
from .place_calls import copied


def delayed(
    source: str, place: int, program: ir.Program, nests: Sequence[ir.Made]
) -> tuple[ir.Program, tuple[ir.Made, ...]] | None:
    """Return a program in which a step writes a temporary, which then replaces a field.

    None if the step is not an assignment of the field whose rows are independent.
    """
    step, made = program.steps[place], nests[place]
    if not isinstance(step, ir.Assignment) or not isinstance(made, ir.Nest):
        return None
    if step.target != source or step.order != "any" or copied(step) is not None:
        return None
    taken = {f.name for f in (*program.fields, *program.temporaries)}
    name = ir.fresh(f"{source}_new", taken | {*program.scalars, *program.sizes})
    rows = replace(program.rows(step), name=name)
    first = replace(step, target=name, part=None)
    row = tuple(map(Affine.name, step.axes))
    last = replace(step, value=ir.Load(name, row))
    statements = tuple(replace(s, array=name) if s.array == source else s for s in made.statements)
    steps = (*program.steps[:place], first, last, *program.steps[place + 1 :])
    program = replace(program, steps=steps, temporaries=(*program.temporaries, rows))
    early = replace(made, target=name, rows=rows, statements=statements)
    return program, (*nests[:place], early, step_nest(last, program), *nests[place + 1 :])


def saved(source: ir.Field, made: Made, taken: set[str]) -> tuple[Made, ir.Field | None]:
    """Return values that read saved lines, and their field; None if no lines are saved."""
    axes = AXES[len(source.shape)]
    if len(axes) == 1:
        return made, None
    along = max(len(axes) - 3, 0)
    here, line = Affine.name(axes[along]), Affine.name("d")
    name = ir.fresh(f"{source.name}_old", taken)
    lines: list[Domain] = []
    changed = []
    for points, value in made:
        loads = {v for v in ir.walk(value) if isinstance(v, ir.Load) and v.array == source.name}
        far = {v for v in loads if points.largest(here - v.index[along]) is None}
        lines += [points.image((load.index[along],), ("d",)) for load in far]

        def change(node: ir.Value, far: set[ir.Load] = far) -> ir.Value | None:
            return replace(node, array=name) if isinstance(node, ir.Load) and node in far else None

        changed.append((points, ir.rewrite(value, change) if far else value))
    ends = [(found.largest(-line), found.largest(line)) for found in lines]
    known = [(-low, high) for low, high in ends if low is not None and high is not None]
    if not known or len(known) < len(ends):
        return made, None
    first, last = min(low for low, _ in known), max(high for _, high in known)
    return tuple(changed), replace(source, name=name).slab(along, first, last + 1)


def saving(lines: ir.Field, source: ir.Field) -> ir.Assignment:
    """Return the step that saves the existing lines of a field."""
    axes = AXES[len(source.shape)]
    value = ir.Load(source.name, tuple(map(Affine.name, axes)))
    return ir.Assignment(lines.name, axes, lines.domain & source.domain, value)
