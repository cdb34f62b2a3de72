"""Let systems along lines put their solution where it is copied to. Keeps bits.

    before:  A t = r        t: a temporary
             r[:] = t
    after:   A r = r

All that a line needs of arrays is copied before its sweeps. So the field may be one that the
systems read, if each line reads nothing of it but its own points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import ir
from ..algebra.lines import offset_of
from ..ir.liveness import read
from .place_externals import copied


def solved_in_place(steps: Sequence[ir.Step], temporaries: set[str]) -> tuple[ir.Step, ...]:
    """Return steps whose systems are solved where their solutions are copied to."""
    found = list(steps)
    for solve in [step for step in steps if isinstance(step, ir.Solve)]:
        for name in ir.made(solve):
            if name in temporaries:
                place = next(n for n, step in enumerate(found) if name in ir.made(step))
                _retarget(found, place, name)
    return tuple(found)


def _retarget(steps: list[ir.Step], place: int, name: str) -> None:
    """Let the systems at a place make what a temporary is copied to, if it is only copied."""
    solve = steps[place]
    readers = [n for n, step in enumerate(steps) if name in read(step)]
    writers = [n for n, step in enumerate(steps) if name in ir.made(step)]
    if len(readers) != 1 or writers != [place] or readers[0] < place:
        return
    copy = steps[readers[0]]
    if not isinstance(solve, ir.Solve) or not isinstance(copy, ir.Assignment):
        return
    if copied(copy) != name:
        return
    target, between = copy.target, steps[place + 1 : readers[0]]
    if any(target in (*ir.made(s), *read(s)) for s in between) or target in ir.made(solve):
        return
    own = next(a for a in solve.assignments if a.target == name)
    if copy.domain != own.domain or not _reads_own_lines(solve, target):
        return
    moved = replace(own, target=target, part=copy.part)
    assignments = tuple(moved if a is own else a for a in solve.assignments)
    steps[place] = replace(solve, assignments=assignments)
    del steps[readers[0]]


def _reads_own_lines(solve: ir.Solve, array: str) -> bool:
    """Whether each line reads nothing of an array but its own points."""
    axes = solve.assignments[0].axes
    for load in (v for value in ir.values(solve) for v in ir.loads(value) if v.array == array):
        offset = offset_of(load.index, axes)
        if offset is None or any(offset[: solve.axis] + offset[solve.axis + 1 :]):
            return False
    return True
