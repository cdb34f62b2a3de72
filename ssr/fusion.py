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
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, takewhile

from . import ir
from .affine import Affine
from .live import read
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
    """A step that may share a nest: its own nest, what it writes, and what it reads.

    ``all`` says that it writes all points of what it writes, not a part of them.
    """

    nest: ir.Nest
    written: str
    rows: ir.Field
    all: bool
    domain: Domain
    reads: tuple[Read, ...]
    gathered: frozenset[str]
    scalars: frozenset[str]

    @property
    def folds(self) -> bool:
        """Whether it is a reduction."""
        return bool(self.nest.folds)

    @property
    def whole(self) -> bool:
        """Whether it is one statement whose rows are independent."""
        return len(self.nest.statements) == 1 and self.nest.order == "any"


@dataclass(frozen=True, slots=True)
class Plan:
    """How steps share a nest: for each how many planes and lines it runs ahead, and its need.

    ``alike`` says that all that is stored lives on one space, ``rows``.
    """

    buffered: frozenset[str]
    rows: ir.Field
    order: ir.Order
    ahead: tuple[Early, ...]
    need: tuple[Need, ...]
    cuttable: bool
    alike: bool


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
    last = {name: n for n, step in enumerate(program.steps) for name in read(step)}
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
    most = bisect_left(range(1, len(group) + 1), True, key=lambda n: not _possible(group[:n]))
    for count in range(most, 1, -1):
        temporaries = {name for name, step in last.items() if step < start + count}
        plan = _plan(group[:count], temporaries)
        if plan is not None:
            return group[:count], plan
    return group[:1], None


def _possible(group: Sequence[Member]) -> bool:
    """Whether dependences allow steps to share a nest; if not, no more steps can either."""
    if any(a.nest.axes != b.nest.axes for a, b in pairwise(group)):
        return False
    if len(group) > 1 and any(m.nest.joint for m in group):
        return False
    reduced = {m.written for m in group if m.folds}
    if len({m.nest.order for m in group} - {"any"}) > 1 or any(m.scalars & reduced for m in group):
        return False
    if any(
        early.written in late.gathered or late.written in early.gathered
        for early, late in combinations(group, 2)
    ):
        return False
    found = _early(group, frozenset(), _direction(group), [NONE] * len(group))
    return found is not None and not any(
        any(ahead) for ahead, m in zip(found[0], group, strict=True) if m.folds
    )


def _direction(group: Sequence[Member]) -> int:
    return -1 if any(m.nest.order == "backward" for m in group) else 1


def _plan(group: Sequence[Member], temporaries: set[str]) -> Plan | None:
    """Return how steps share a nest, if they can; ``temporaries`` are not read after it."""
    buffered = _buffered(group, temporaries)
    rows = _smallest([m.rows for m in group if m.written not in buffered])
    beyond = [_stored(m, rows, buffered) for m in group] if rows else [None]
    if rows is None or None in beyond:
        return None
    direction = _direction(group)
    found = _early(group, buffered, direction, [need or NONE for need in beyond])
    if found is None:
        return None
    ahead, needs = found
    if any(any(a) for a, m in zip(ahead, group, strict=True) if m.folds):
        return None
    needs = _widened(group, buffered, ahead, needs, direction)
    orders = {m.nest.order for m in group} - {"any"}
    order = orders.pop() if orders else "any"
    alike = all(need == NONE for need in beyond)
    cuttable = alike and _cuttable(group, buffered, needs)
    return Plan(buffered, rows, order, ahead, needs, cuttable, alike)


def _smallest(spaces: Sequence[ir.Field]) -> ir.Field | None:
    """Return the space that all others hold, with some more points at their sides, if one is."""
    return next((s for s in spaces if all(_margin(other, s) for other in spaces)), None)


def _margin(space: ir.Field, inner: ir.Field) -> tuple[tuple[int, int], ...] | None:
    """Return how many points a space has beyond another one along each axis; None if that varies.

    Beyond the last three axes it has none.
    """
    found = []
    for low, n, inner_low, inner_n in zip(*space.points, *inner.points, strict=True):
        more = n + low - (inner_n + inner_low)
        if not more.is_constant or more.constant < 0 or low > inner_low:
            return None
        found.append((inner_low - low, more.constant))
    return tuple(found) if not any(map(any, found[:-3])) else None


def _stored(member: Member, rows: ir.Field, buffered: frozenset[str]) -> Need | None:
    """Return how far beyond rows a step is stored; None if it cannot be."""
    if member.written in buffered:
        return NONE
    margin = _margin(member.rows, rows)
    assert margin is not None
    planes, lines, columns = ((0, 0), (0, 0), *margin)[-3:]
    need = planes, lines, columns
    return need if need == NONE or (member.whole and not member.folds) else None


def _buffered(group: Sequence[Member], temporaries: set[str]) -> frozenset[str]:
    """Return the temporaries that need not be stored: written once, then read near by."""
    found = set()
    for place, member in enumerate(group):
        name = member.written
        again = any(m.written == name for n, m in enumerate(group) if n != place)
        reads = [o for m in group for array, o in m.reads if array == name]
        near = all(o is not None and not any(o[:-3]) for o in reads)
        if name in temporaries and not again and near and member.whole and not member.folds:
            found.add(name)
    return frozenset(found)


def _early(
    group: Sequence[Member], buffered: frozenset[str], direction: int, stored: Sequence[Need]
) -> tuple[tuple[Early, ...], tuple[Need, ...]] | None:
    """Return how early each step runs, so that dependences hold, and how far it is needed.

    ``stored`` says how far beyond the box the steps that are not buffered are stored. No step is
    later than one after it, so that many run at the same line and may share loops.
    """
    several = len(group[0].nest.axes) > 1
    ahead: list[Early] = [(0, 0)] * len(group)
    needs = list(stored)
    for first in reversed(range(len(group))):
        early = group[first]
        wanted: list[Early] = [(0, 0)]
        for second in range(first + 1, len(group)):
            late, (planes, lines) = group[second], ahead[second]
            wanted.append(ahead[second])
            for sign, found in (
                (direction, _between(late.reads, early.written)),
                (-direction, _between(early.reads, late.written)),
            ):
                for offset in found if several else ():
                    if offset is None or any(offset[:-3]):
                        return None
                    across, along, _ = _three(offset)
                    wanted.append((planes + sign * across, lines + sign * along))
        if early.written in buffered:
            needs[first] = _need(first, group, needs)
        planes, lines = max(wanted)
        least = [_sides(ends, direction)[1] for ends in needs[first][:2]]
        ahead[first] = max(planes, least[0]), max(lines, least[1])
        if any(a > limit for a, limit in zip(ahead[first], AHEAD, strict=True)):
            return None
    return tuple(ahead), tuple(needs)


def _sides(ends: tuple[int, int], direction: int) -> tuple[int, int]:
    """Return how far beyond the box something is needed: where loops begin, where they end."""
    low, high = ends
    return (high, low) if direction < 0 else (low, high)


def _widened(
    group: Sequence[Member],
    buffered: frozenset[str],
    ahead: Sequence[Early],
    needs: tuple[Need, ...],
    direction: int,
) -> tuple[Need, ...]:
    """Return needs that are equal for steps that follow each other on one space, where possible.

    A few more rows are computed, and no rows are left over that would need loops of their own.
    """
    found = list(needs)
    alike = [
        (m.written in buffered, early, m.rows.points) for early, m in zip(ahead, group, strict=True)
    ]
    stop = len(group)
    while stop:
        start = stop - 1
        while start and alike[start - 1] == alike[stop - 1]:
            start -= 1
        if alike[start][0]:
            for place in reversed(range(start, stop)):
                found[place] = _need(place, group, found)
            most = found[start:stop]
            for place in reversed(range(start, stop)):
                found[place] = _hull([*most, _need(place, group, found)])
        stop = start
    for (planes, lines), need in zip(ahead, found, strict=True):
        late = [_sides(ends, direction)[1] for ends in need[:2]]
        if late[0] > planes or late[1] > lines:
            return needs
    return tuple(found)


def _hull(needs: Sequence[Need]) -> Need:
    planes, lines, columns = (
        (max(low for low, _ in ends), max(high for _, high in ends))
        for ends in zip(*needs, strict=True)
    )
    return planes, lines, columns


def _three(offset: Offset) -> tuple[int, int, int]:
    """Return an offset as planes, lines and columns."""
    planes, lines, columns = (0, 0, *offset)[-3:]
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
    """Whether boxes depend on each other through sweeps alone: none reads what others store."""
    return not any(
        array == other.written
        and array not in buffered
        and (offset is None or any(offset) or need != NONE)
        for member, need in zip(group, needs, strict=True)
        for array, offset in member.reads
        for other in group
        if other is not member
    )


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
        first = [_sides(ends, direction)[0] for ends in need[:2]]
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
    return ir.Nest(
        target=stored[-1] if stored else group[-1].written,
        rows=plan.rows,
        axes=axes,
        order=plan.order,
        context=context(axes, names, plan.rows, whole=not plan.alike),
        buffers=tuple(buffers),
        statements=tuple(statements),
        earlier=(swept[0] if len(swept) == 1 else ()) if plan.cuttable and len(swept) < 2 else None,
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
