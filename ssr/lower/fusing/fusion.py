"""Fuse several assignments and reductions into one loop nest over grid lines. Bit-exact.

    before:  t[j, i] = f(x[j, i + 1], ...)             all lines, to memory and back
             y[j, i] = g(t[j - 1, i], t[j + 1, i], ...)
    after:   for each line j: t'[(j + 1) % 4, i] = f(...);  y[j, i] = g(t'[(j - 1) % 4, i], ...)

A producer that is read at later lines is software-pipelined: it runs a fixed number of lines and
planes *ahead* of its consumers, so that every value is computed before it is read, and no value is
overwritten while it is needed. A temporary that is read only inside the nest becomes a sliding
window: a rotation of line buffers, or of planes if it is read in other planes. The temporary may
live on another space than the stored arrays, such as faces between cells, and is computed as far
as it is needed.

The nest runs over the box of the smallest space of the stored arrays. Arrays on spaces with a few
more points at their sides are computed beyond the box by these points; such a nest cannot be tiled
in shared arrays. In distributed programs, stored arrays are also computed as far beyond the box as
they are read inside the nest.

A step that earlier passes have split into several statements with their own buffers is stored.
Sweeps, whose rows depend on each other, determine the direction of the nest. A one-dimensional
nest has a single line: each step completes it before the next one begins. In distributed programs
a sweep has a separate nest, unless its rows depend on rows of the same box only. Steps whose
operands are read through stored matrices, at arbitrary points, are not fused with the writers of
these operands.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from ... import ir
from ...points.affine import Affine
from ..nests import arrays_read, box, context, in_buffers
from .candidates import NO_MARGIN, Candidate, Timing, candidate
from .fusion_plan import Plan, plan_of, possible

MOST_STEPS = 64
"""Limit of the steps of one nest."""


def fusion(
    program: ir.Program,
    alone: Sequence[ir.Made],
    *,
    least: int | None = None,
) -> tuple[ir.Program, tuple[ir.Made, ...]]:
    """Return a program without temporaries that are buffered, and its nests."""
    pairs = zip(program.steps, alone, strict=True)
    steps = [candidate(step, made, program, apart=least is not None) for step, made in pairs]
    last_reads = _last_reads(program, steps, alone)
    nests: list[ir.Made] = []
    buffered: set[str] = set()
    start = 0
    while start < len(alone):
        plan = _longest(steps, last_reads, start, least)
        if plan is None:
            nests.append(alone[start])
            start += 1
        else:
            nests.append(_shared_nest(plan, least))
            buffered |= plan.buffered
            start += len(plan.steps)
    kept = tuple(f for f in program.temporaries if f.name not in buffered)
    return replace(program, temporaries=kept), tuple(nests)


def _last_reads(
    program: ir.Program,
    steps: Sequence[Candidate | None],
    alone: Sequence[ir.Made],
) -> dict[str, int]:
    """Return the last step that reads each temporary.

    Temporaries that several steps write, one of them in part, are left out: they are stored.
    """
    writes = Counter(name for step in program.steps for name in ir.made(step))
    in_part = {s.written for s in steps if s and not s.complete and writes[s.written] > 1}
    last = {name: place for place, made in enumerate(alone) for name in arrays_read(made)}
    names = (field.name for field in program.temporaries)
    return {name: last[name] for name in names if name in last and name not in in_part}


def _longest(
    steps: Sequence[Candidate | None],
    last_reads: Mapping[str, int],
    start: int,
    least: int | None,
) -> Plan | None:
    """Return the plan of the longest sequence of steps that can share a nest; None for one step."""
    following = takewhile(lambda s: s is not None, steps[start : start + MOST_STEPS])
    run = [step for step in following if step is not None]
    own = least is not None
    most = bisect_left(range(1, len(run) + 1), True, key=lambda n: not possible(run[:n], apart=own))
    for count in range(most, 1, -1):
        temporaries = {name for name, last in last_reads.items() if last < start + count}
        plan = plan_of(run[:count], temporaries, least=least)
        if plan is not None:
            return plan
    return None


def _shared_nest(plan: Plan, least: int | None) -> ir.Nest:
    """Return the nest of a plan, whose box is all of its rows if it cannot be cut."""
    axes = plan.steps[0].nest.axes
    buffers: list[ir.Buffer] = []
    rotations: dict[str, ir.Buffer] = {}
    statements: list[ir.Statement] = []
    folds: list[ir.Fold] = []
    for place, step in enumerate(plan.steps):
        own: dict[str, ir.Buffer] = {}
        for buffer in step.nest.buffers:
            own[buffer.name] = replace(buffer, name=ir.scratch(buffer.name[1], buffers))
            buffers.append(own[buffer.name])
        moved = _moved_statements(plan, place, {**rotations, **own})
        if least is not None and step.is_simple:
            moved = [replace(s, beyond=_beyond(plan, place)) for s in moved]
        if step.written in plan.buffered:
            rotation = rotations[step.written] = _rotation(ir.scratch("t", buffers), plan, place)
            buffers.append(rotation)
            index = rotation.place(tuple(map(Affine.name, axes)))
            moved = [
                replace(s, array=rotation.name, index=index, makes=step.written) for s in moved
            ]
        statements += moved
        folds += [replace(f, buffer=own[f.buffer].name) for f in step.nest.folds]
    names = {p for s in statements for p in s.domain.parameters()}
    stored = [s.written for s in plan.steps if s.written not in plan.buffered and not s.reduces]
    earlier = _earlier(plan)
    return ir.Nest(
        target=stored[-1] if stored else plan.steps[-1].written,
        rows=plan.rows,
        axes=axes,
        order=plan.order,
        context=context(axes, names, plan.rows, whole=earlier is None and least is None),
        buffers=tuple(buffers),
        statements=tuple(statements),
        earlier=earlier,
        whole_lines=any(s.nest.whole_lines for s in plan.steps),
        folds=tuple(folds),
        fused=True,
        least=least or 1,
    )


def _earlier(plan: Plan) -> tuple[tuple[int, ...], ...] | None:
    """Return the offsets to rows that must be done before a row: the offsets of the only sweep."""
    sweeps = [step.nest.earlier for step in plan.steps if step.nest.order != "any"]
    if not plan.cuttable or len(sweeps) > 1:
        return None
    return sweeps[0] if sweeps else ()


def _moved_statements(plan: Plan, place: int, homes: Mapping[str, ir.Buffer]) -> list[ir.Statement]:
    """Return the statements of a step as they run in the shared nest, with other buffers."""
    step, timing = plan.steps[place], plan.timings[place]
    moved = [
        replace(
            _early(statement, timing, plan.backward),
            name=f"{statement.name}_{place}",
            array=homes[statement.array].name if statement.array in homes else statement.array,
            value=in_buffers(statement.value, homes),
        )
        for statement in step.nest.statements
    ]
    if timing.margin == NO_MARGIN:
        return moved
    grown = box(step.nest.axes, _beyond(plan, place))
    return [replace(s, domain=step.domain & grown) for s in moved]


def _beyond(plan: Plan, place: int) -> tuple[tuple[int, int], ...]:
    """Return how far beyond the box a step is computed, low and high along each axis."""
    count = len(plan.steps[place].nest.axes)
    ends = [(end.low, end.high) for end in plan.timings[place].margin.ends]
    return (*((0, 0),) * (count - 3), *ends[-count:])


def _early(statement: ir.Statement, timing: Timing, backward: bool) -> ir.Statement:
    """Return a statement that runs as early as its step."""
    advance, first = timing.advance, timing.margin.first(backward)
    planes, lines = statement.lead
    return replace(
        statement,
        planes=statement.planes + advance.planes,
        ahead=statement.ahead + advance.lines,
        lead=(planes + advance.planes + first.planes, lines + advance.lines + first.lines),
    )


def _rotation(name: str, plan: Plan, place: int) -> ir.Buffer:
    """Return the buffer of a step: the planes that are read later, or lines to a power of two."""
    made, margin = plan.timings[place].advance, plan.timings[place].margin
    written = plan.steps[place].written
    met = [
        read.seen(plan.timings[later], plan.backward)
        for later in range(place + 1, len(plan.steps))
        for read in plan.steps[later].reads_of(written)
    ]
    across = any(advance.planes != made.planes for advance in met)
    if across:
        count = made.planes - min(advance.planes for advance in met)
    else:
        count = made.lines - min(advance.lines for advance in met)
    lines = max(margin.lines.low, margin.lines.high) if across else None
    pad = max(margin.columns.low, margin.columns.high)
    return ir.Buffer(name, count + 1 if across else 1 << count.bit_length(), pad, lines)
