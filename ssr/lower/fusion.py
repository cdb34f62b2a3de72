"""Run several assignments and reductions in one nest, line by line. Keeps bits.

    before:  t[j, i] = f(x[j, i + 1], ...)             all lines, to memory and back
             y[j, i] = g(t[j - 1, i], t[j + 1, i], ...)
    after:   for each line j: t'[(j + 1) % 4, i] = f(...);  y[j, i] = g(t'[(j - 1) % 4, i], ...)

A step that is read at later lines runs *ahead*: so many lines and planes early that all it makes is
there when it is read, and all it reads is there still. A temporary that is read inside the nest
only becomes a rotation of line buffers, or of planes where it is read in other planes. It may live
on another space than what is stored, such as faces between cells, and is computed as far as it is
needed.

The nest runs over the box of the smallest space on which something is stored. What is stored on
others, which have some more points at their sides, is computed so far beyond the box. Such a nest
cannot be cut into boxes.

A step may be several statements already, with buffers of its own, as the passes over single nests
make them; it is stored then. Steps whose rows depend on each other, sweeps, fix the direction of
the nest. In one dimension there is one line: each step is done with it before the next one begins.
Steps that stored matrices read anywhere are apart from those that write what is read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from .. import ir
from ..points.affine import Affine
from .fusion_plan import NONE, Member, Offset, Plan, Read, between, plan_of, possible, sides, three
from .nests import arrays_read, box, context

MEMBERS = 64
"""Steps in one nest at most."""


def fuse(
    program: ir.Program, found: Sequence[ir.Nest | ir.Call]
) -> tuple[ir.Program, tuple[ir.Nest | ir.Call, ...]]:
    """Return a program without temporaries that are buffered, and its nests.

    Parameters
    ----------
    program
        The program, its assignments in place or through temporaries.
    found
        The nest of each step alone, after the passes over such nests; calls stay as they are.
    """
    members = [
        _member(step, made, program) for step, made in zip(program.steps, found, strict=True)
    ]
    writes = Counter(name for step in program.steps for name in ir.made(step))
    last = {name: n for n, made in enumerate(found) for name in arrays_read(made)}
    parts = {m.written for m in members if m and not m.all and writes[m.written] > 1}
    temporaries = {
        f.name: last[f.name] for f in program.temporaries if f.name in last and f.name not in parts
    }
    nests: list[ir.Nest | ir.Call] = []
    buffered: set[str] = set()
    start = 0
    while start < len(found):
        group, plan = _longest(members, temporaries, start)
        if plan is None:
            nests.append(found[start])
        else:
            nests.append(_together(group, plan))
            buffered |= plan.buffered
        start += max(1, len(group))
    kept = tuple(f for f in program.temporaries if f.name not in buffered)
    return replace(program, temporaries=kept), tuple(nests)


def _member(step: ir.Step, made: ir.Nest | ir.Call, program: ir.Program) -> Member | None:
    """Return a step as a candidate; None for a call."""
    if isinstance(made, ir.Call):
        return None
    first = ir.parts(step)[0]
    written, rows = ir.made(step)[0], program.rows(first)
    row = tuple(Affine.name(a) for a in made.axes)
    own = {b.name for b in made.buffers}
    reads: dict[Read, None] = {}
    gathered, scalars = set(), set()
    for statement in made.statements:
        line = statement.runs(row, made.order, -1)
        for part in ir.walk(statement.value):
            if isinstance(part, ir.Scalar):
                scalars.add(part.name)
            elif isinstance(part, ir.Load) and part.array not in own:
                reads[part.array, _offset(part.index, line)] = None
            elif isinstance(part, ir.Gather):
                gathered.add(part.array)
    found = tuple(reads), frozenset(gathered), frozenset(scalars)
    whole = not isinstance(first, ir.Assignment) or first.part is None
    return Member(made, written, rows, whole, first.domain, *found)


def _offset(index: Sequence[Affine], row: Sequence[Affine]) -> Offset | None:
    """Return where an element lies as seen from a row; None if that differs between rows."""
    if len(index) != len(row):
        return None
    shift = [c - r for c, r in zip(index, row, strict=True)]
    return tuple(s.constant for s in shift) if all(s.is_constant for s in shift) else None


def _longest(
    members: Sequence[Member | None], last: Mapping[str, int], start: int
) -> tuple[Sequence[Member], Plan | None]:
    """Return the longest run of steps that can share a nest, and how; one step has no plan.

    ``last`` has the last step that reads each temporary.
    """
    ahead = takewhile(lambda m: m is not None, members[start : start + MEMBERS])
    group = [m for m in ahead if m is not None]
    most = bisect_left(range(1, len(group) + 1), True, key=lambda n: not possible(group[:n]))
    for count in range(most, 1, -1):
        temporaries = {name for name, step in last.items() if step < start + count}
        plan = plan_of(group[:count], temporaries)
        if plan is not None:
            return group[:count], plan
    return group[:1], None


def _together(group: Sequence[Member], plan: Plan) -> ir.Nest:
    """Return the nest of a plan."""
    axes = group[0].nest.axes
    row = tuple(Affine.name(a) for a in axes)
    direction = -1 if plan.order == "backward" else 1
    buffers: list[ir.Buffer] = []
    places: dict[str, ir.Buffer] = {}
    statements: list[ir.Statement] = []
    folds: list[ir.Fold] = []
    for number, member in enumerate(group):
        need, (planes, lines) = plan.need[number], plan.ahead[number]
        first = [sides(ends, direction)[0] for ends in need[:2]]
        own: dict[str, ir.Buffer] = {}
        for buffer in member.nest.buffers:
            own[buffer.name] = replace(buffer, name=ir.scratch(buffer.name[1], buffers))
            buffers.append(own[buffer.name])
        for statement in member.nest.statements:
            moved = replace(
                statement,
                name=f"{statement.name}_{number}",
                array=own[statement.array].name if statement.array in own else statement.array,
                value=_moved(statement.value, {**places, **own}),
                planes=statement.planes + planes,
                ahead=statement.ahead + lines,
                lead=(
                    statement.lead[0] + planes + first[0],
                    statement.lead[1] + lines + first[1],
                ),
            )
            grown = (*((0, 0),) * (len(axes) - 3), *need[-len(axes) :])
            if need != NONE:
                moved = replace(moved, domain=member.domain & box(axes, grown))
            if member.written in plan.buffered:
                buffer = _rotation(ir.scratch("t", buffers), group, plan, number)
                buffers.append(buffer)
                places[member.written] = buffer
                moved = replace(moved, array=buffer.name, index=buffer.place(row))
            statements.append(moved)
        folds += [replace(f, buffer=own[f.buffer].name) for f in member.nest.folds]
    names = {p for s in statements for p in s.domain.parameters()}
    stored = [m.written for m in group if m.written not in plan.buffered and not m.folds]
    swept = [m.nest.earlier for m in group if m.nest.order != "any"]
    earlier = (swept[0] if len(swept) == 1 else ()) if plan.cuttable and len(swept) < 2 else None
    return ir.Nest(
        target=stored[-1] if stored else group[-1].written,
        rows=plan.rows,
        axes=axes,
        order=plan.order,
        context=context(axes, names, plan.rows, whole=earlier is None),
        buffers=tuple(buffers),
        statements=tuple(statements),
        earlier=earlier,
        whole_lines=any(m.nest.whole_lines for m in group),
        folds=tuple(folds),
        fused=True,
    )


def _rotation(name: str, group: Sequence[Member], plan: Plan, number: int) -> ir.Buffer:
    """Return the buffer of a step: as many lines or planes as are read later, to a power of two."""
    planes, lines = plan.ahead[number]
    _, (above, below), (left, right) = plan.need[number]
    sign = -1 if plan.order == "backward" else 1
    reads = [
        (plan.ahead[n][0] + sign * across, plan.ahead[n][1] + sign * along)
        for n in range(number + 1, len(group))
        for offset in between(group[n].reads, group[number].written)
        if offset is not None
        for across, along, _ in (three(offset),)
    ]
    across = any(plane != planes for plane, _ in reads)
    count = planes - min(p for p, _ in reads) if across else lines - min(n for _, n in reads)
    rows = 1 << count.bit_length()
    return ir.Buffer(name, rows, max(left, right), max(above, below) if across else None)


def _moved(value: ir.Value, places: Mapping[str, ir.Buffer]) -> ir.Value:
    """Return a value that reads buffers instead of temporaries."""

    def change(part: ir.Value) -> ir.Value | None:
        if not isinstance(part, ir.Load) or part.array not in places:
            return None
        buffer = places[part.array]
        return ir.Load(buffer.name, buffer.place(part.index))

    return ir.rewrite(value, change)
