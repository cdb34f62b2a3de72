"""Decide by dependence analysis whether steps can share a nest, and how far each runs ahead.

A step that is read at later lines runs *ahead* by a number of planes and lines: so early that all
its values are computed before they are read, and so late that its operands are not yet
overwritten. These distances follow from the offsets of the accesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise
from types import MappingProxyType

from ... import ir
from ...points.affine import Affine
from ...points.sets import Domain
from ..nests import NO_ENDS, Ends, beyond_box, box, boxes
from .candidates import NO_MARGIN, Advance, Candidate, Margin, Read, Timing

MOST = Advance(4, 8)
"""Limit of the planes and lines by which a step runs ahead."""


@dataclass(frozen=True, slots=True)
class Group:
    """Steps that are to share a nest, before their timing is known.

    Attributes
    ----------
    steps
        The steps in order.
    buffered
        The temporaries that need not be stored.
    stored
        For each step the least margin beyond the box at which it is stored.
    boxes
        The possible boxes if they have separate memory: then a step is stored as far beyond its
        box as later steps read.
    """

    steps: tuple[Candidate, ...]
    buffered: frozenset[str]
    stored: tuple[Margin, ...]
    boxes: Domain | None = None

    @property
    def backward(self) -> bool:
        """Whether a sweep among the steps runs backward."""
        return any(step.nest.order == "backward" for step in self.steps)

    def is_buffered(self, place: int) -> bool:
        """Whether the step at a place computes a temporary that is not stored."""
        return self.steps[place].written in self.buffered


@dataclass(frozen=True, slots=True)
class Plan:
    """How steps share a nest over the box of ``rows``; ``cuttable`` says that boxes may cut it."""

    steps: tuple[Candidate, ...]
    timings: tuple[Timing, ...]
    buffered: frozenset[str]
    rows: ir.Field
    order: ir.Order
    cuttable: bool

    @property
    def backward(self) -> bool:
        """Whether the lines run backward."""
        return self.order == "backward"


# -- legality ------------------------------------------------------------------------------------


def possible(steps: Sequence[Candidate], *, apart: bool = False) -> bool:
    """Whether dependences allow steps to share a nest; if not, no more steps can either.

    With boxes ``apart``, in separate memory, a sweep over rows of several boxes has a separate
    nest: it runs in wavefronts, between which its values are transferred.
    """
    if any(a.nest.axes != b.nest.axes for a, b in pairwise(steps)):
        return False
    if apart and len(steps) > 1 and any(step.crosses_boxes for step in steps):
        return False
    if len(steps) > 1 and any(step.nest.joint for step in steps):
        return False
    if any(s.is_local for s in steps) and any(s.rows.points != steps[0].rows.points for s in steps):
        return False
    if len({step.nest.order for step in steps} - {"any"}) > 1:
        return False
    numbers = {step.written for step in steps if step.reduces}
    if any(step.scalars & numbers for step in steps):
        return False
    if any(
        early.written in late.gathered or late.written in early.gathered
        for early, late in combinations(steps, 2)
    ):
        return False
    group = Group(tuple(steps), frozenset(), (NO_MARGIN,) * len(steps))
    timings = _timings(group)
    return timings is not None and _reductions_on_time(group, timings)


def plan_of(
    steps: Sequence[Candidate], temporaries: set[str], *, least: int | None = None
) -> Plan | None:
    """Return how steps share a nest, if they can."""
    buffered = _buffered(steps, temporaries)
    rows = _smallest([step.rows for step in steps if step.written not in buffered])
    if rows is None:
        return None
    stored = [_stored(step, rows, buffered) for step in steps]
    known = tuple(margin for margin in stored if margin is not None)
    if len(known) < len(stored):
        return None
    some = None if least is None else boxes(steps[0].nest.axes, rows, least)
    group = Group(tuple(steps), buffered, known, some)
    timings = _timings(group)
    if timings is None:
        return None
    timings = _raised(group, timings)
    if not _reductions_on_time(group, timings):
        return None
    timings = _widened(group, timings)
    orders = {step.nest.order for step in steps} - {"any"}
    return Plan(
        steps=group.steps,
        timings=timings,
        buffered=buffered,
        rows=rows,
        order=orders.pop() if orders else "any",
        cuttable=all(margin == NO_MARGIN for margin in known) and _cuttable(group, timings),
    )


def _reductions_on_time(group: Group, timings: Sequence[Timing]) -> bool:
    """Whether no reduction runs ahead: each completes the current line of the loops."""
    return all(
        timing.advance == Advance() or not step.reduces
        for step, timing in zip(group.steps, timings, strict=True)
    )


def _buffered(steps: Sequence[Candidate], temporaries: set[str]) -> frozenset[str]:
    """Return the temporaries that need not be stored: written once, then read near by."""
    names = [step.written for step in steps]
    return frozenset(
        step.written
        for step in steps
        if step.written in temporaries
        and names.count(step.written) == 1
        and step.is_simple
        and not step.reduces
        and all(read.is_near for other in steps for read in other.reads_of(step.written))
    )


# -- spaces --------------------------------------------------------------------------------------


def _smallest(spaces: Sequence[ir.Field]) -> ir.Field | None:
    """Return the space that all others hold, with some more points at their sides, if one is."""
    return next((s for s in spaces if all(_beyond(other, s) for other in spaces)), None)


def _beyond(space: ir.Field, inner: ir.Field) -> tuple[Ends, ...] | None:
    """Return how many points a space has beyond another one along each axis; None if this varies.

    Spaces that differ along other axes than the last three have no such ends.
    """
    ends = []
    for (low, stop), (inner_low, inner_stop) in zip(space.edges, inner.edges, strict=True):
        less, more = inner_low - low, stop - inner_stop
        if not less.is_constant or not more.is_constant or min(less.constant, more.constant) < 0:
            return None
        ends.append(Ends(less.constant, more.constant))
    return tuple(ends) if all(end == NO_ENDS for end in ends[:-3]) else None


def _stored(step: Candidate, rows: ir.Field, buffered: frozenset[str]) -> Margin | None:
    """Return the margin of rows within which a step is stored; None if it cannot be stored."""
    if step.written in buffered:
        return NO_MARGIN
    ends = _beyond(step.rows, rows)
    assert ends is not None
    margin = Margin(*(NO_ENDS, NO_ENDS, *ends)[-3:])
    return margin if margin == NO_MARGIN or step.may_grow else None


# -- look-ahead ----------------------------------------------------------------------------------


def _timings(
    group: Group, least: Mapping[int, Advance] = MappingProxyType({})
) -> tuple[Timing, ...] | None:
    """Return a timing of each step that preserves the dependences; None if there is none.

    ``least`` gives the smallest advance of some steps. No step runs later than one that follows
    it, so that many steps run at the same line and may share loops.
    """
    timings = [Timing(Advance(), margin) for margin in group.stored]
    for place in reversed(range(len(timings))):
        advance, margin = _advance(group, timings, place), _margin(group, timings, place)
        if advance is None or margin is None:
            return None
        advance = max(advance, least.get(place, Advance())).including(margin.last(group.backward))
        if advance.including(MOST) != MOST:
            return None
        timings[place] = Timing(advance, margin)
    return tuple(timings)


def _advance(group: Group, timings: Sequence[Timing], place: int) -> Advance | None:
    """Return the advance of a step required by later steps; None if none is sufficient."""
    step, earliest = group.steps[place], Advance()
    several_lines = len(step.nest.axes) > 1
    for later, timing in zip(group.steps[place + 1 :], timings[place + 1 :], strict=True):
        earliest = max(earliest, timing.advance)
        if not several_lines:
            continue
        made_here = later.reads_of(step.written)
        overwritten = (r for r in step.reads_of(later.written) if not later.spares(r))
        if not all(read.is_near for read in made_here):
            return None
        for read in made_here:
            earliest = max(earliest, read.seen(timing, group.backward))
        for read in overwritten:
            early = read.spared(timing, group.backward)
            if early is None:
                return None
            earliest = max(earliest, early)
    return earliest


def _margin(group: Group, timings: Sequence[Timing], place: int) -> Margin | None:
    """Return the margin of the box within which a step is computed; None if impossible."""
    step, least = group.steps[place], group.stored[place]
    if group.boxes is None and not group.is_buffered(place):
        return least
    reads = (read for later in group.steps[place + 1 :] for read in later.reads_of(step.written))
    if not all(read.is_near for read in reads):
        return None
    margin = least.including(_needed(group, timings, place))
    return margin if margin == NO_MARGIN or step.may_grow else None


def _needed(group: Group, timings: Sequence[Timing], place: int) -> Margin:
    """Return how far beyond the box a step is needed by later ones."""
    margin, written = NO_MARGIN, group.steps[place].written
    for later, timing in zip(group.steps[place + 1 :], timings[place + 1 :], strict=True):
        for read in later.reached_of(written):
            assert read.offset is not None
            if group.boxes is None or read.rows is None:
                margin = margin.including(timing.margin, read.offset)
            else:
                met = read.rows & group.steps[place].made.preimage(_index(read), read.rows.axes)
                margin = margin.including(_beyond_boxes(met, timing.margin, read, group.boxes))
    return margin


def _index(read: Read) -> tuple[Affine, ...]:
    """Return the index of an element that is read, in terms of the row."""
    assert read.rows is not None
    assert read.offset is not None
    pairs = zip(read.rows.axes, read.offset, strict=True)
    return tuple(Affine.name(axis) + shift for axis, shift in pairs)


@lru_cache(maxsize=4096)
def _beyond_boxes(rows: Domain, margin: Margin, read: Read, boxes: Domain) -> Margin:
    """Return the margin of elements around a box that rows within another margin read."""
    axes = rows.axes
    grown = [(end.low, end.high) for end in margin.ends]
    near = rows & boxes & box(axes, (*((0, 0),) * (len(axes) - 3), *grown[-len(axes) :]))
    ends = [Ends(*beyond) for beyond in beyond_box(near, _index(read))]
    return Margin(*(NO_ENDS, NO_ENDS, *ends)[-3:])


def _raised(group: Group, timings: tuple[Timing, ...]) -> tuple[Timing, ...]:
    """Return timings in which steps with common values run as early as the step before them.

    These steps can then share a loop. Earlier steps do not run earlier because of this.
    """
    least: dict[int, Advance] = {}
    for place, (before, here) in enumerate(pairwise(group.steps), start=1):
        early = timings[place - 1].advance
        if timings[place].advance == early or not _overlap(before, here):
            continue
        if not group.buffered.issuperset((before.written, here.written)):
            continue
        trial = _timings(group, {**least, place: early})
        if trial is not None and _advances(trial[:place]) == _advances(timings[:place]):
            least[place], timings = early, trial
    return timings


def _advances(timings: Sequence[Timing]) -> list[Advance]:
    return [timing.advance for timing in timings]


def _overlap(one: Candidate, other: Candidate) -> bool:
    """Whether two steps on the same points have a part of their values in common."""
    if one.rows.points != other.rows.points:
        return False
    parts = [
        {
            value
            for statement in step.nest.statements
            for value in ir.walk(statement.value)
            if isinstance(value, (ir.Op, ir.Sum))
        }
        for step in (one, other)
    ]
    return not parts[0].isdisjoint(parts[1])


# -- margins -------------------------------------------------------------------------------------


def _widened(group: Group, timings: tuple[Timing, ...]) -> tuple[Timing, ...]:
    """Return margins that are equal for steps that follow each other on one space, where possible.

    A few more rows are computed, so that no remaining rows need separate loops.
    """
    wider = list(timings)
    for run in _alike(group, timings):
        if not group.is_buffered(run.start):
            for place in reversed(run):
                margin = _margin(group, wider, place)
                if margin is None:
                    return timings
                wider[place] = replace(wider[place], margin=margin)
            continue
        for place in reversed(run):
            wider[place] = replace(wider[place], margin=_needed(group, wider, place))
        common = NO_MARGIN
        for place in run:
            common = common.including(wider[place].margin)
        for place in reversed(run):
            margin = common.including(_needed(group, wider, place))
            wider[place] = replace(wider[place], margin=margin)
    for step, timing in zip(group.steps, wider, strict=True):
        if timing.margin != NO_MARGIN and step.is_local:
            return timings
        if timing.advance.including(timing.margin.last(group.backward)) != timing.advance:
            return timings
    return tuple(wider)


def _alike(group: Group, timings: Sequence[Timing]) -> Iterator[range]:
    """Yield the runs of steps at one line and on one space, stored or not; the last run first."""
    kinds = [
        (
            group.is_buffered(place),
            group.steps[place].is_local,
            timing.advance,
            group.steps[place].rows.points,
        )
        for place, timing in enumerate(timings)
    ]
    stop = len(kinds)
    while stop:
        start = stop - 1
        while start and kinds[start - 1] == kinds[stop - 1]:
            start -= 1
        yield range(start, stop)
        stop = start


def _cuttable(group: Group, timings: Sequence[Timing]) -> bool:
    """Whether boxes depend on each other through sweeps only, not through stored arrays."""
    return not any(
        read.offset is None or any(read.offset) or timing.margin != NO_MARGIN
        for step, timing in zip(group.steps, timings, strict=True)
        for other in group.steps
        if other is not step and other.written not in group.buffered
        for read in step.reads_of(other.written)
    )
