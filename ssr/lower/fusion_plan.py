"""Decide whether steps can share a nest, and how early each of them runs.

A step that is read at later lines runs *ahead*: so many lines and planes early that all it makes is
there when it is read, and all it reads is there still. Distances follow from offsets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from types import MappingProxyType

from .. import ir
from ..points.sets import Domain

AHEAD = (4, 8)
"""Planes and lines a step may run ahead."""

Offset = tuple[int, ...]
Read = tuple[str, Offset | None]
Early = tuple[int, int]
Need = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""How far beyond the box a step is needed: planes, lines and columns, before and after it."""

Timing = tuple[tuple[Early, ...], tuple[Need, ...]]
"""How early steps run, and how far they are needed."""

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


def possible(group: Sequence[Member]) -> bool:
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


def plan_of(group: Sequence[Member], temporaries: set[str]) -> Plan | None:
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
    ahead, needs = _raised(group, buffered, direction, [need or NONE for need in beyond], found)
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
    group: Sequence[Member],
    buffered: frozenset[str],
    direction: int,
    stored: Sequence[Need],
    least: Mapping[int, Early] = MappingProxyType({}),
) -> Timing | None:
    """Return how early each step runs, so that dependences hold, and how far it is needed.

    ``stored`` says how far beyond the box the steps that are not buffered are stored, and ``least``
    how early some steps run at least. No step is later than one after it, so that many run at the
    same line and may share loops.
    """
    several = len(group[0].nest.axes) > 1
    ahead: list[Early] = [(0, 0)] * len(group)
    needs = list(stored)
    for first in reversed(range(len(group))):
        early = group[first]
        wanted: list[Early] = [least.get(first, (0, 0))]
        for second in range(first + 1, len(group)):
            late, (planes, lines) = group[second], ahead[second]
            wanted.append(ahead[second])
            for sign, found in (
                (direction, between(late.reads, early.written)),
                (-direction, between(early.reads, late.written)),
            ):
                for offset in found if several else ():
                    if offset is None or any(offset[:-3]):
                        return None
                    across, along, _ = three(offset)
                    wanted.append((planes + sign * across, lines + sign * along))
        if early.written in buffered:
            needs[first] = _need(first, group, needs)
        planes, lines = max(wanted)
        ends = [sides(pair, direction)[1] for pair in needs[first][:2]]
        ahead[first] = max(planes, ends[0]), max(lines, ends[1])
        if any(a > limit for a, limit in zip(ahead[first], AHEAD, strict=True)):
            return None
    return tuple(ahead), tuple(needs)


def _raised(
    group: Sequence[Member],
    buffered: frozenset[str],
    direction: int,
    stored: Sequence[Need],
    found: Timing,
) -> Timing:
    """Return steps that run as early as the one before them if they compute some of the same.

    They can share its loop then. The steps before them run no earlier for that.
    """
    least: dict[int, Early] = {}
    for place, (before, here) in enumerate(pairwise(group), start=1):
        ahead = found[0]
        if ahead[place] == ahead[place - 1] or not _share(before, here):
            continue
        if not buffered.issuperset((before.written, here.written)):
            continue
        trial = _early(group, buffered, direction, stored, {**least, place: ahead[place - 1]})
        if trial is not None and trial[0][:place] == ahead[:place]:
            least[place], found = ahead[place - 1], trial
    return found


def _share(one: Member, other: Member) -> bool:
    """Whether two steps on the same points have a part of their values in common."""
    if one.rows.points != other.rows.points:
        return False
    parts = [
        {v for s in m.nest.statements for v in ir.walk(s.value) if isinstance(v, (ir.Op, ir.Sum))}
        for m in (one, other)
    ]
    return not parts[0].isdisjoint(parts[1])


def sides(ends: tuple[int, int], direction: int) -> tuple[int, int]:
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
        late = [sides(ends, direction)[1] for ends in need[:2]]
        if late[0] > planes or late[1] > lines:
            return needs
    return tuple(found)


def _hull(needs: Sequence[Need]) -> Need:
    planes, lines, columns = (
        (max(low for low, _ in ends), max(high for _, high in ends))
        for ends in zip(*needs, strict=True)
    )
    return planes, lines, columns


def three(offset: Offset) -> tuple[int, int, int]:
    """Return an offset as planes, lines and columns."""
    planes, lines, columns = (0, 0, *offset)[-3:]
    return planes, lines, columns


def between(reads: Sequence[Read], written: str) -> list[Offset | None]:
    """Return where reads of one array lie, as seen from the row that reads."""
    return [offset for array, offset in reads if array == written]


def _need(first: int, group: Sequence[Member], needs: Sequence[Need]) -> Need:
    """Return how far beyond the box a step is needed by later ones."""
    found = [[0, 0], [0, 0], [0, 0]]
    for second in range(first + 1, len(group)):
        for offset in between(group[second].reads, group[first].written):
            assert offset is not None
            for ends, (low, high), shift in zip(found, needs[second], three(offset), strict=True):
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
