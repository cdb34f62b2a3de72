"""Fill the ghost points of a field in its own array instead of in a copy. Bit-exact.

    before:  t[j, i] = u[j, i];  ghosts(t);  y[j, i] = ... + w t[j, i - 1] + ...
    after:   ghosts(u);  y[j, i] = ... + w u[j, i - 1] + ...

In distributed programs the array of a subdomain can have more points than its field. If
a temporary is a copy of the field, is completed by one call and then only read, and the field is
not written during the lifetime of the temporary, the field replaces it, on the points of the
temporary. A field replaces at most one temporary. The pass corresponds to `ghost_inlining` in
undistributed programs. It applies to all calls except those that receive all points of the
temporary, such as synchronizations, because these change points of the copy.

Like `ghost_inlining`, it runs after the passes over single nests: the arithmetic of a step is then
fixed by the same nest for arrays and for ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import ir
from ...ir.liveness import read
from ...spaces.space import row_domain
from ..steps.place_calls import copied, renamed
from .share_temporaries import moved_arrays


def fill_in_place(
    program: ir.Program, nests: Sequence[ir.Made]
) -> tuple[ir.Program, tuple[ir.Made, ...]]:
    """Return a program in which fields are on the points of copies that calls complete."""
    for temporary in program.temporaries:
        copy = _copy(temporary.name, program)
        if copy is not None:
            program, nests = _without(temporary, copy, program, nests)
    return program, tuple(nests)


def _copy(name: str, program: ir.Program) -> ir.Assignment | None:
    """Return the step that copies a field to a temporary, if the field may take its place."""
    steps = program.steps
    writers = [place for place, step in enumerate(steps) if name in ir.made(step)]
    if len(writers) != 2:
        return None
    copy, call = (steps[place] for place in writers)
    source = copied(copy)
    if not isinstance(copy, ir.Assignment) or not isinstance(call, ir.Call) or source is None:
        return None
    given, whole = call.external.fields[call.fields.index(name)]
    if given == whole or not copy.domain.equals(row_domain(given)) or name in call.alone:
        return None
    known = {field.name: field for field in program.fields}
    if source not in known or known[source].points != (given.data.lower, given.data.shape):
        return None
    readers = [place for place, step in enumerate(steps) if name in read(step) and step is not call]
    if not readers or readers[0] < writers[1]:
        return None
    if any(source in ir.made(step) for step in steps[writers[0] : readers[-1] + 1]):
        return None
    together = any(isinstance(step, ir.Group) and source in ir.made(step) for step in steps)
    return None if together else copy


def _without(
    temporary: ir.Field, copy: ir.Assignment, program: ir.Program, nests: Sequence[ir.Made]
) -> tuple[ir.Program, list[ir.Made]]:
    """Return a program without a temporary: the field that is copied to it takes its place."""
    name = copied(copy)
    assert name is not None
    own = program.field(name)
    steps: list[ir.Step] = []
    left: list[ir.Made] = []
    for step, made in zip(program.steps, nests, strict=True):
        if step is copy:
            continue
        if isinstance(step, ir.Assignment) and step.target == name and step.part is None:
            step = replace(step, part=own)
        steps.append(renamed(step, temporary.name, name))
        left.append(moved_arrays(made, {temporary.name: name}))
    changed = replace(
        program,
        fields=tuple(replace(temporary, name=name) if f is own else f for f in program.fields),
        temporaries=tuple(f for f in program.temporaries if f is not temporary),
        steps=tuple(steps),
        wide=(*program.wide, (name, temporary.name)),
    )
    return changed, left
