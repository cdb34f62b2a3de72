"""Liveness analysis: the fields that steps read or overwrite completely, and dead steps."""

from __future__ import annotations

from collections.abc import Sequence

from .. import ir


def live(
    steps: Sequence[ir.Step], kept: set[str], results: Sequence[ir.Value]
) -> tuple[ir.Step, ...]:
    """Return the steps whose values are read later, or are in a field that is ``kept``."""
    wanted = kept | {v.name for r in results for v in ir.walk(r) if isinstance(v, ir.Scalar)}
    found: list[ir.Step] = []
    for step in reversed(steps):
        if not wanted.isdisjoint(ir.made(step)):
            found.append(step)
            wanted = (wanted - replaced(step)) | read(step)
    return tuple(reversed(found))


def replaced(step: ir.Step) -> set[str]:
    """Return the names that a step overwrites completely."""
    return {
        made
        for part in ir.parts(step)
        if isinstance(part, ir.Reduction) or part.part is None
        for made in ir.made(part)
    }


def read(step: ir.Step) -> frozenset[str]:
    """Return the fields and scalars whose values before a step it reads."""
    known = _READ.get(id(step))
    if known is None or known[0] is not step:
        if len(_READ) >= REMEMBERED:
            _READ.clear()
        known = _READ[id(step)] = step, _found(step)
    return known[1]


REMEMBERED = 4096
"""Size limit of the cache `_READ`: passes query the reads of each step many times."""

_READ: dict[int, tuple[ir.Step, frozenset[str]]] = {}
"""Cached reads of steps, keyed by identity, since comparing steps costs as much as the analysis."""


def read_fields(program: ir.Program) -> frozenset[str]:
    """Return the names of the arrays that the steps of a program read, calls left aside."""
    steps = (step for step in program.steps if not isinstance(step, ir.Call))
    return frozenset(n for s in steps for v in ir.values(s) for n in ir.arrays(v))


def _found(step: ir.Step) -> frozenset[str]:
    found = set(step.fields) if isinstance(step, ir.Call) else set()
    for part in (v for value in ir.values(step) for v in ir.walk(value)):
        match part:
            case ir.Load(name, new=False) | ir.Scalar(name) | ir.Gather(array=name, new=False):
                found.add(name)
    return frozenset(found)
