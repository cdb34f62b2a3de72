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

import operator
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import takewhile
from typing import TypeAlias

from ... import ir
from ...algebra.analyse import reads
from ...algebra.own_box import bounded, is_local
from ...points.affine import Affine, Offset, offset_of
from ...points.sets import Domain
from ..nests import arrays_read, beyond_box, box, context, in_buffers
from .fusion_plan import (
    NO_MARGIN,
    Advance,
    Candidate,
    Plan,
    Read,
    Timing,
    plan_of,
    possible,
)

Met: TypeAlias = tuple[Domain, tuple[Affine, ...]]
"""A set of rows, and the index of the element that they read."""

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
    steps = [_candidate(step, made, program, apart=least is not None) for step, made in pairs]
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


def _candidate(
    step: ir.Step, made: ir.Made, program: ir.Program, *, apart: bool
) -> Candidate | None:
    """Return a step that may share a nest; None for a call, and for systems along lines.

    For boxes ``apart``, with separate memory, the reads record the rows that perform them.
    """
    if not isinstance(made, ir.Nest):
        return None
    first = ir.parts(step)[0]
    own = {b.name for b in made.buffers}
    row = tuple(Affine.name(a) for a in made.axes)
    values = [(s, value) for s in made.statements for value in ir.walk(s.value)]
    elements = dict.fromkeys(
        Read(value.array, offset_of(value.index, statement.runs(row, made.order, -1)))
        for statement, value in values
        if isinstance(value, ir.Load) and value.array not in own
    )
    found = Candidate(
        nest=made,
        written=ir.made(step)[0],
        rows=made.rows,
        complete=not isinstance(first, ir.Assignment) or first.part is None,
        domain=first.domain,
        reads=tuple(elements),
        reached=tuple(elements),
        gathered=frozenset(value.array for _, value in values if isinstance(value, ir.Gather)),
        scalars=frozenset(value.name for _, value in values if isinstance(value, ir.Scalar)),
    )
    if not found.is_simple:
        return replace(found, reached=tuple(dict.fromkeys(_reached(made))))
    known = _reads_by_rows(found) if apart else _limited(found)
    return replace(found, reads=known, reached=known)


def _reached(nest: ir.Nest) -> Iterator[Read]:
    """Yield the reads of a nest relative to the first and the last row of a box.

    Statements that fill buffers run beyond the box.
    """
    own, row = {b.name for b in nest.buffers}, tuple(map(Affine.name, nest.axes))
    for statement in nest.statements:
        low, high = zip(*beyond_box(statement.domain), strict=True)
        for value in ir.walk(statement.value):
            if isinstance(value, ir.Load) and value.array not in own:
                offset = offset_of(value.index, row)
                for sign, ends in (-1, low), (1, high):
                    yield Read(value.array, offset and _shifted(offset, sign, ends))


def _shifted(offset: Offset, sign: int, ends: Sequence[int]) -> Offset:
    return tuple(o + sign * n for o, n in zip(offset, ends, strict=True))


def _reads_by_rows(step: Candidate) -> tuple[Read, ...]:
    """Return the reads of a step, each with the rows of the step that read the element."""
    return tuple(
        Read(
            array,
            offset,
            reduce(operator.or_, (rows for rows, _ in met)),
            elsewhere=_beyond_own(met),
        )
        for (array, offset), met in _met(step).items()
    )


def _beyond_own(met: Sequence[Met]) -> bool:
    """Whether all rows that read an element are local, and the element lies outside their box."""
    return all(
        is_local(rows) and (rows & bounded(rows.axes).preimage(index, rows.axes)).empty
        for rows, index in met
    )


def _limited(step: Candidate) -> tuple[Read, ...]:
    """Return the reads of a step, with limits where distances differ between rows."""
    if all(read.offset is not None for read in step.reads):
        return step.reads
    return tuple(
        Read(array, offset)
        if offset is not None
        else Read(array, None, limits=(_limit(met, 1), _limit(met, -1)))
        for (array, offset), met in _met(step).items()
    )


def _met(step: Candidate) -> dict[tuple[str, Offset | None], list[Met]]:
    """Return the reads of a one-statement step, grouped by array and offset from the row."""
    (statement,) = step.nest.statements
    row = tuple(map(Affine.name, step.nest.axes))
    found: dict[tuple[str, Offset | None], list[Met]] = {}
    for rows, load in reads(statement.value, step.domain):
        found.setdefault((load.array, offset_of(load.index, row)), []).append((rows, load.index))
    return found


def _limit(met: Sequence[Met], sign: int) -> Advance | None:
    """Return the largest lag of rows after elements in planes and lines; with sign -1, the lead.

    One more plane covers any number of lines.
    """
    limit = Advance()
    for rows, index in met:
        row = tuple(map(Affine.name, rows.axes))
        if len(index) != len(row) or index[:-3] != row[:-3]:
            return None
        ends = [rows.largest((here - there) * sign) for here, there in zip(row, index, strict=True)]
        planes, lines, _ = (0, 0, *ends)[-3:]
        if planes is None or (lines is None and len(row) == 2):
            return None
        found = Advance(planes + 1) if lines is None else Advance(planes, lines)
        limit = limit.including(found)
    return limit


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
