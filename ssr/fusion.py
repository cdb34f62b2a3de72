"""Run several assignments and reductions in one nest, line by line. Keeps bits.

    before:  t[j, i] = f(x[j, i + 1], ...)             all lines, to memory and back
             y[j, i] = g(t[j - 1, i], t[j + 1, i], ...)
    after:   for each line j: t'[(j + 1) % 4, i] = f(...);  y[j, i] = g(t'[(j - 1) % 4, i], ...)

A step that is read at later lines runs *ahead*: so many lines early that all it makes is there when
it is read, and all it reads is there still. A temporary that is read inside the nest only becomes a
rotation of line buffers. What is stored lives on one space, whose box the nest runs over; what is
buffered may live on others, such as faces between cells, and is computed as far as it is needed.

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

AHEAD = 8
"""Lines a step may run ahead."""

Offset = tuple[int, ...]
Read = tuple[str, Offset | None]


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
    """How steps share a nest."""

    buffered: frozenset[str]
    rows: ir.Field
    ahead: tuple[int, ...]
    need: tuple[tuple[int, int, int, int], ...]
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
    if any(isinstance(v, ir.Gather) for v in ir.walk(statement.value)):
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
    ahead = _ahead(group)
    if ahead is None or any(a for a, m in zip(ahead, group, strict=True) if m.folds):
        return None
    rows = next(m.rows for m in group if m.written not in buffered)
    needs = _needs(group, buffered)
    return Plan(buffered, rows, ahead, needs, _cuttable(group, buffered, needs))


def _buffered(group: Sequence[Member], temporaries: set[str]) -> frozenset[str]:
    """Return the temporaries that need not be stored: written once, then read near by."""
    found = set()
    for place, member in enumerate(group):
        name = member.written
        again = any(m.written == name for n, m in enumerate(group) if n != place)
        reads = [o for m in group for array, o in m.reads if array == name]
        near = all(o is not None and not any(o[:-2]) for o in reads)
        if name in temporaries and not again and near and not member.folds:
            found.add(name)
    return frozenset(found)


def _ahead(group: Sequence[Member]) -> tuple[int, ...] | None:
    """Return how many lines each step runs early, so that dependences between lines hold."""
    ahead = [0] * len(group)
    for first in reversed(range(len(group))):
        early = group[first]
        for second in range(first + 1, len(group)):
            late = group[second]
            made = _between(late.reads, early.written)
            lost = _between(early.reads, late.written)
            if any(o is None or any(o[:-2]) for o in (*made, *lost)):
                return None
            steps = [o[-2] for o in made if o] + [-o[-2] for o in lost if o]
            ahead[first] = max(ahead[first], ahead[second] + max([0, *steps]))
        if first + 1 < len(group) and not early.folds and group[first + 1].rows == early.rows:
            ahead[first] = max(ahead[first], ahead[first + 1])
        if ahead[first] > AHEAD:
            return None
    return tuple(ahead)


def _between(reads: Sequence[Read], written: str) -> list[Offset | None]:
    return [offset for array, offset in reads if array == written]


def _needs(
    group: Sequence[Member], buffered: frozenset[str]
) -> tuple[tuple[int, int, int, int], ...]:
    """Return for each step how far beyond the box it is needed: lines before and after, columns."""
    needs = [(0, 0, 0, 0)] * len(group)
    for first in reversed(range(len(group))):
        if group[first].written not in buffered:
            continue
        low, high, left, right = 0, 0, 0, 0
        for second in range(first + 1, len(group)):
            above, below, west, east = needs[second]
            for offset in _between(group[second].reads, group[first].written):
                assert offset is not None
                low, high = max(low, above - offset[-2]), max(high, below + offset[-2])
                left, right = max(left, west - offset[-1]), max(right, east + offset[-1])
        needs[first] = (low, high, left, right)
    return tuple(needs)


def _cuttable(
    group: Sequence[Member],
    buffered: frozenset[str],
    needs: Sequence[tuple[int, int, int, int]],
) -> bool:
    """Whether boxes do not depend on each other: none reads what another one stores."""
    stored = {m.written for m in group} - buffered
    return not any(
        array in stored and (offset is None or any(offset) or any(need))
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
        low, high, left, right = plan.need[number]
        changes = {"name": f"{statement.name}_{number}", "value": _moved(statement.value, places)}
        if member.folds:
            (fold,) = member.nest.folds
            buffer = ir.Buffer(ir.scratch("r", buffers), 1, 0)
            buffers.append(buffer)
            folds.append(replace(fold, buffer=buffer.name))
            statement = replace(statement, array=buffer.name)
        elif member.written in plan.buffered:
            rows = _rotation(group, plan, number)
            buffer = ir.Buffer(ir.scratch("t", buffers), rows, max(left, right))
            buffers.append(buffer)
            places[member.written] = buffer
            grown = (*((0, 0),) * (len(axes) - 2), (low, high), (left, right))
            domain = member.domain & box(axes, grown)
            index = row[-2:] if rows > 1 else row[-1:]
            statement = replace(statement, array=buffer.name, index=index, domain=domain)
        early = plan.ahead[number]
        statements.append(
            replace(statement, **changes, ahead=early, lead=early + low)  # type: ignore[arg-type]
        )
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


def _rotation(group: Sequence[Member], plan: Plan, number: int) -> int:
    """Return how many lines of a step are kept: a power of two."""
    oldest = min(
        plan.ahead[n] + offset[-2]
        for n in range(number + 1, len(group))
        for offset in _between(group[n].reads, group[number].written)
        if offset is not None
    )
    lines = 1
    while lines < plan.ahead[number] - oldest + 1:
        lines *= 2
    return lines


def _moved(value: ir.Value, places: Mapping[str, ir.Buffer]) -> ir.Value:
    """Return a value that reads buffers instead of temporaries."""

    def change(part: ir.Value) -> ir.Value | None:
        if not isinstance(part, ir.Load) or part.array not in places:
            return None
        buffer = places[part.array]
        index = part.index[-2:] if buffer.rows > 1 else part.index[-1:]
        return ir.Load(buffer.name, index)

    return ir.rewrite(value, change)
