"""Run several assignments and reductions in one nest, line by line. Keeps bits.

    before:  t[j, i] = f(x[j, i + 1], ...)             all lines, to memory and back
             y[j, i] = g(t[j - 1, i], t[j + 1, i], ...)
    after:   for each line j: t'[(j + 1) % 4, i] = f(...);  y[j, i] = g(t'[(j - 1) % 4, i], ...)

A step that is read at later lines runs *ahead*: so many lines and planes early that all it makes is
there when it is read, and all it reads is there still. A temporary that is read inside the nest
only becomes a rotation of line buffers, or of planes where it is read in other planes. What is
stored lives on one space, whose box the nest runs over; what is buffered may live on others, such
as faces between cells, and is computed as far as it is needed.

Steps with dependences between their own rows run in nests of their own, and so do those whose sums
`partial_sums` shares. With one dimension there are no lines to go by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from . import ir
from .affine import Affine
from .nests import box, context
from .sets import Domain

MEMBERS = 64
"""Steps in one nest at most."""

AHEAD = (4, 8)
"""Planes and lines a step may run ahead."""

Offset = tuple[int, ...]
Read = tuple[str, Offset | None]
Early = tuple[int, int]
Need = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""How far beyond the box a step is needed: planes, lines and columns, before and after it."""

NONE: Need = ((0, 0), (0, 0), (0, 0))


@dataclass(frozen=True, slots=True)
class Member:
    """A step that may share a nest: its own nest, what it writes, and what it reads."""

    nest: ir.Nest
    written: str
    rows: ir.Field
    domain: Domain
    reads: tuple[Read, ...]
    scalars: frozenset[str]

    @property
    def folds(self) -> bool:
        """Whether it is a reduction."""
        return bool(self.nest.folds)


@dataclass(frozen=True, slots=True)
class Plan:
    """How steps share a nest: for each how many planes and lines it runs ahead, and its need."""

    buffered: frozenset[str]
    rows: ir.Field
    ahead: tuple[Early, ...]
    need: tuple[Need, ...]
    cuttable: bool


def fuse(
    program: ir.Program, found: Sequence[ir.Nest], single: Sequence[bool]
) -> tuple[ir.Program, tuple[ir.Nest, ...]]:
    """Return a program without temporaries that are buffered, and its nests.

    Parameters
    ----------
    program
        The program, its assignments in place or through temporaries.
    found
        The nest of each step alone.
    single
        For each step whether it has to run in a nest of its own.
    """
    members = [
        None if alone else _member(step, made, program)
        for step, made, alone in zip(program.steps, found, single, strict=True)
    ]
    nests: list[ir.Nest] = []
    buffered: set[str] = set()
    start = 0
    while start < len(found):
        stop, plan = _longest(program, members, start)
        if plan is None:
            nests.append(found[start])
        else:
            together = [m for m in members[start:stop] if m is not None]
            nests.append(_together(together, plan))
            buffered |= plan.buffered
        start = stop
    kept = tuple(f for f in program.temporaries if f.name not in buffered)
    return replace(program, temporaries=kept), tuple(nests)


def _member(step: ir.Step, made: ir.Nest, program: ir.Program) -> Member | None:
    """Return a step as a candidate; None if its rows depend on each other, or read anywhere."""
    (statement,) = made.statements
    if made.order != "any" or not statement.parallel or len(made.axes) < 2:
        return None
    if isinstance(step, ir.Reduction):
        written, rows = step.name, step.rows
    else:
        written, rows = step.target, program.field(step.target)
    row = tuple(Affine.name(a) for a in made.axes)
    reads: dict[Read, None] = {}
    for load in ir.loads(statement.value):
        offset: Offset | None = None
        if len(load.index) == len(row):
            shift = [c - r for c, r in zip(load.index, row, strict=True)]
            if all(s.is_constant for s in shift):
                offset = tuple(s.constant for s in shift)
        reads[load.array, offset] = None
    reads |= {(g.array, None): None for g in ir.gathers(statement.value)}
    scalars = frozenset(v.name for v in ir.walk(statement.value) if isinstance(v, ir.Scalar))
    return Member(made, written, rows, step.domain, tuple(reads), scalars)


def _longest(
    program: ir.Program, members: Sequence[Member | None], start: int
) -> tuple[int, Plan | None]:
    """Return the end of the longest run of steps that can share a nest, and how."""
    stop = start
    while stop < len(members) and stop - start < MEMBERS and members[stop] is not None:
        stop += 1
    for end in range(stop, start + 1, -1):
        group = [m for m in members[start:end] if m is not None]
        values = (v for step in program.steps[end:] for v in ir.walk(step.value))
        later = {v.array for v in values if isinstance(v, (ir.Load, ir.Gather))}
        temporaries = {f.name for f in program.temporaries} - later
        plan = _plan(group, temporaries)
        if plan is not None:
            return end, plan
    return start + 1, None


def _plan(group: Sequence[Member], temporaries: set[str]) -> Plan | None:
    """Return how steps share a nest, if they can; ``temporaries`` are not read after it."""
    if any(a.nest.axes != b.nest.axes for a, b in pairwise(group)):
        return None
    reduced = {m.written for m in group if m.folds}
    if any(m.scalars & reduced for m in group):
        return None
    buffered = _buffered(group, temporaries)
    spaces = {(m.rows.lower, m.rows.shape) for m in group if m.written not in buffered}
    if len(spaces) != 1:
        return None
    found = _early(group, buffered)
    if found is None:
        return None
    ahead, needs = found
    if any(any(a) for a, m in zip(ahead, group, strict=True) if m.folds):
        return None
    rows = next(m.rows for m in group if m.written not in buffered)
    return Plan(buffered, rows, ahead, needs, _cuttable(group, buffered, needs))


def _buffered(group: Sequence[Member], temporaries: set[str]) -> frozenset[str]:
    """Return the temporaries that need not be stored: written once, then read near by."""
    found = set()
    for place, member in enumerate(group):
        name = member.written
        again = any(m.written == name for n, m in enumerate(group) if n != place)
        reads = [o for m in group for array, o in m.reads if array == name]
        near = all(o is not None and not any(o[:-3]) for o in reads)
        if name in temporaries and not again and near and not member.folds:
            found.add(name)
    return frozenset(found)


def _early(
    group: Sequence[Member], buffered: frozenset[str]
) -> tuple[tuple[Early, ...], tuple[Need, ...]] | None:
    """Return how early each step runs, so that dependences hold, and how far it is needed.

    A step that is as early as the next one may share its loops.
    """
    ahead: list[Early] = [(0, 0)] * len(group)
    needs = [NONE] * len(group)
    for first in reversed(range(len(group))):
        early = group[first]
        wanted: list[Early] = [(0, 0)]
        for second in range(first + 1, len(group)):
            late, (planes, lines) = group[second], ahead[second]
            wanted.append(ahead[second])
            for sign, read in (
                (1, _between(late.reads, early.written)),
                (-1, _between(early.reads, late.written)),
            ):
                for offset in read:
                    if offset is None or any(offset[:-3]):
                        return None
                    across, along, _ = _three(offset)
                    wanted.append((planes + sign * across, lines + sign * along))
        if first + 1 < len(group) and not early.folds and group[first + 1].rows == early.rows:
            wanted.append(ahead[first + 1])
        if early.written in buffered:
            needs[first] = _need(first, group, needs)
        planes, lines = max(wanted)
        ahead[first] = planes, max(lines, needs[first][1][1])
        if any(a > limit for a, limit in zip(ahead[first], AHEAD, strict=True)):
            return None
    return tuple(ahead), tuple(needs)


def _three(offset: Offset) -> tuple[int, int, int]:
    """Return an offset as planes, lines and columns."""
    planes, lines, columns = (0, *offset)[-3:]
    return planes, lines, columns


def _between(reads: Sequence[Read], written: str) -> list[Offset | None]:
    return [offset for array, offset in reads if array == written]


def _need(first: int, group: Sequence[Member], needs: Sequence[Need]) -> Need:
    """Return how far beyond the box a step is needed by later ones."""
    found = [[0, 0], [0, 0], [0, 0]]
    for second in range(first + 1, len(group)):
        for offset in _between(group[second].reads, group[first].written):
            assert offset is not None
            for ends, (low, high), shift in zip(found, needs[second], _three(offset), strict=True):
                ends[:] = max(ends[0], low - shift), max(ends[1], high + shift)
    planes, lines, columns = ((low, high) for low, high in found)
    return planes, lines, columns


def _cuttable(
    group: Sequence[Member],
    buffered: frozenset[str],
    needs: Sequence[Need],
) -> bool:
    """Whether boxes do not depend on each other: none reads what another one stores."""
    stored = {m.written for m in group} - buffered
    return not any(
        array in stored and (offset is None or any(offset) or need != NONE)
        for member, need in zip(group, needs, strict=True)
        for array, offset in member.reads
    )


def _together(group: Sequence[Member], plan: Plan) -> ir.Nest:
    """Return the nest of a plan."""
    axes = group[0].nest.axes
    row = tuple(Affine.name(a) for a in axes)
    buffers: list[ir.Buffer] = []
    places: dict[str, ir.Buffer] = {}
    statements: list[ir.Statement] = []
    folds: list[ir.Fold] = []
    for number, member in enumerate(group):
        (statement,) = member.nest.statements
        need, (planes, lines) = plan.need[number], plan.ahead[number]
        statement = replace(
            statement,
            name=f"{statement.name}_{number}",
            value=_moved(statement.value, places),
            planes=planes,
            ahead=lines,
            lead=(planes + need[0][0], lines + need[1][0]),
        )
        if member.folds:
            (fold,) = member.nest.folds
            buffer = ir.Buffer(ir.scratch("r", buffers), 1, 0)
            buffers.append(buffer)
            folds.append(replace(fold, buffer=buffer.name))
            statement = replace(statement, array=buffer.name)
        elif member.written in plan.buffered:
            buffer = _rotation(ir.scratch("t", buffers), group, plan, number)
            buffers.append(buffer)
            places[member.written] = buffer
            grown = (*((0, 0),) * (len(axes) - 3), *need[-len(axes) :])
            domain = member.domain & box(axes, grown)
            statement = replace(
                statement, array=buffer.name, index=buffer.place(row), domain=domain
            )
        statements.append(statement)
    names = {p for s in statements for p in s.domain.parameters()}
    stored = [m.written for m in group if m.written not in plan.buffered and not m.folds]
    return ir.Nest(
        target=stored[-1] if stored else group[-1].written,
        axes=axes,
        order="any",
        context=context(axes, names, plan.rows),
        buffers=tuple(buffers),
        statements=tuple(statements),
        earlier=() if plan.cuttable else None,
        folds=tuple(folds),
        fused=True,
    )


def _rotation(name: str, group: Sequence[Member], plan: Plan, number: int) -> ir.Buffer:
    """Return the buffer of a step: as many lines or planes as are read later, to a power of two."""
    planes, lines = plan.ahead[number]
    _, (above, below), (left, right) = plan.need[number]
    reads = [
        (plan.ahead[n][0] + across, plan.ahead[n][1] + along)
        for n in range(number + 1, len(group))
        for offset in _between(group[n].reads, group[number].written)
        if offset is not None
        for across, along, _ in (_three(offset),)
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
