"""Write the solutions of systems along lines directly to the fields they are copied to. Bit-exact.

    before:  A t = r        t: a temporary
             r[:] = t
    after:   A r = r

A solve along lines copies all elements that a line needs before its sweeps. The target may thus be
a field that the systems read, if each line reads only its own points of that field. A group of
assignments computed row by row may read elements of the target that it has not yet overwritten.
"""

from __future__ import annotations

from dataclasses import replace

from ... import ir
from ...algebra.analyse import reads
from ...ir.liveness import read
from ...points.affine import Affine, offset_of
from .place_calls import copied


def solve_targets(program: ir.Program) -> ir.Program:
    """Return a program whose solves write solutions directly to the targets of their copies."""
    temporaries = {f.name for f in program.temporaries}
    found = list(program.steps)
    for solve in [step for step in found if isinstance(step, (ir.Solve, ir.Group))]:
        for name in ir.made(solve):
            if name in temporaries:
                place = next(n for n, step in enumerate(found) if name in ir.made(step))
                _retarget(found, place, name)
    return replace(program, steps=tuple(found))


def _retarget(steps: list[ir.Step], place: int, name: str) -> None:
    """Let the step at a place write the target of the only copy of a temporary."""
    solve = steps[place]
    readers = [n for n, step in enumerate(steps) if name in read(step)]
    writers = [n for n, step in enumerate(steps) if name in ir.made(step)]
    if len(readers) != 1 or writers != [place] or readers[0] < place:
        return
    copy = steps[readers[0]]
    if not isinstance(solve, (ir.Solve, ir.Group)) or not isinstance(copy, ir.Assignment):
        return
    if copied(copy) != name:
        return
    target, between = copy.target, steps[place + 1 : readers[0]]
    if any(target in (*ir.made(s), *read(s)) for s in between) or target in ir.made(solve):
        return
    own = next(a for a in solve.assignments if a.target == name)
    if copy.domain != own.domain or not _reads_in_time(solve, target, own):
        return
    moved = replace(own, target=target, part=copy.part)
    together = [moved if a is own else a for a in solve.assignments]
    made = (replace(a, value=ir.reading(a.value, name, target)) for a in together)
    steps[place] = replace(solve, assignments=tuple(made))
    del steps[readers[0]]


def _reads_in_time(solve: ir.Solve | ir.Group, array: str, writer: ir.Assignment) -> bool:
    """Whether old values of an array are read before they would be overwritten."""
    if isinstance(solve, ir.Solve):
        return _reads_own_lines(solve, array)
    if any(g.array == array for value in ir.values(solve) for g in ir.gathers(value)):
        return False
    row, late = tuple(map(Affine.name, writer.axes)), False
    for a in solve.assignments:
        for rows, load in reads(a.value, a.domain):
            if load.array == array:
                met = rows & writer.domain.preimage(load.index, writer.axes)
                pair = (row, load.index) if a.order == "backward" else (load.index, row)
                if not met.before(*pair).empty or (late and not met.equal(*pair).empty):
                    return False
        late = late or a is writer
    return True


def _reads_own_lines(solve: ir.Solve, array: str) -> bool:
    """Whether each line reads only its own points of an array."""
    row = tuple(map(Affine.name, solve.assignments[0].axes))
    for load in (v for value in ir.values(solve) for v in ir.loads(value) if v.array == array):
        offset = offset_of(load.index, row)
        if offset is None or any(offset[: solve.axis] + offset[solve.axis + 1 :]):
            return False
    return True
