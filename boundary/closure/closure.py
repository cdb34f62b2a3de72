"""Resolve ghost rules: substitute rules until each ghost row reads interior points only.

The rule of a side defines the ghost points beyond that side, including those outside the range of
the tangential indices. A rule may read another ghost point; the row of that ghost point is then
substituted, until only interior points are read. A corner ghost point has one rule per side. These
rules must give the same row, because otherwise the result would depend on their order. A box in
which the rows agree at some points only is split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ssr.extension import Affine

from ..errors import HaloError
from ..grid.boxes import Box, Comparisons, Orthant
from ..grid.frame import Frame
from ..grid.link import Side
from ..rules.rows.affine_rows import (
    Conflict,
    Entry,
    Outcome,
    Row,
    Undefined,
    alike,
    composed,
    crossing,
)
from ..rules.rows.strips import Strip, Strips

CHAIN = 64
"""The largest length of a chain of ghost points that read each other."""

CIRCLE = Undefined("their rules read each other, and no owned point")


@dataclass(frozen=True, slots=True)
class Region:
    """Ghosts of one block in one box of an orthant, and the row that they share."""

    block: int
    box: Box
    outcome: Outcome
    orthant: Orthant


@dataclass(frozen=True, slots=True)
class Closure:
    """All ghosts of a frame, in regions, and the comparisons of sizes for which they hold."""

    regions: tuple[Region, ...]
    comparisons: Comparisons


def close(frame: Frame, strips: Iterable[Strip], sizes: Mapping[str, int]) -> Closure:
    """Return the closure of rules for given sizes, and all sizes with equal comparisons."""
    closing = _Closing(frame, Strips(strips), Comparisons(sizes))
    regions = tuple(
        Region(block, box, outcome, orthant)
        for block, points in enumerate(frame.blocks)
        for orthant in points.orthants()
        for box, outcome in closing.settled(block, orthant, points.box(orthant))
    )
    return Closure(regions, closing.known)


class _Closing:
    """Fixed-point iteration that resolves rules for boxes of ghosts.

    If ghosts read each other in a cycle, a box is read before it is resolved. The search then
    continues with the outcomes of the box so far, initially none, and is repeated until no outcome
    changes. It terminates because outcomes are monotone: a point is first undefined, then has a
    row, and then may have two rows that differ.
    """

    def __init__(self, frame: Frame, strips: Strips, known: Comparisons) -> None:
        self.frame, self.strips, self.known = frame, strips, known
        self.found: dict[tuple[int, Box], list[tuple[Box, Outcome]]] = {}
        self.done: set[tuple[int, Box]] = set()
        self.visited: set[tuple[int, Box]] = set()
        self.chain: set[tuple[int, Box]] = set()
        self.early = self.more = False

    def settled(self, block: int, orthant: Orthant, box: Box) -> list[tuple[Box, Outcome]]:
        """Return the outcomes of the ghosts of one orthant at the fixed point of the iteration."""
        while True:
            self.visited = set()
            self.early = self.more = False  # read too early; new rows were found
            found = self._ghosts(block, orthant, box)
            if not (self.early and self.more):
                self.done |= self.visited
                return found

    def _ghosts(self, block: int, orthant: Orthant, box: Box) -> list[tuple[Box, Outcome]]:
        """Return the outcomes of the ghosts of one orthant."""
        sides = self.frame.beyond(block, orthant)
        places = self._places(box, sides)
        return [pair for place in places for pair in self._visited(place, sides)]

    def _visited(self, box: Box, sides: Sequence[Side]) -> list[tuple[Box, Outcome]]:
        """Return the outcomes of the ghosts of a box after one visit."""
        here = sides[0].block, box
        if here in self.chain or len(self.chain) >= CHAIN:
            self._refuse_layers(here[0])
            self.early = True
            found = self.found.get(here, [(box, CIRCLE)])
            return [(b, CIRCLE if isinstance(o, Undefined) else o) for b, o in found]
        if here not in self.done and here not in self.visited:
            self.visited.add(here)
            self.chain.add(here)
            self.found[here] = self._ruled(box, sides)
            self.chain.remove(here)
        return self.found[here]

    def _refuse_layers(self, block: int) -> None:
        """Refuse so many ghosts that copies of copies would go on and on."""
        here = self.frame.blocks[block]
        for points, *widths in zip(here.inner(self.known.sizes), here.low, here.high, strict=True):
            if max(widths) > CHAIN * points:
                raise HaloError(
                    f"There are {max(widths)} layers of ghosts for {points} points: ghosts read "
                    f"each other more than {CHAIN} times, one after the other.",
                    hint="Use fewer layers, or larger blocks.",
                )

    def _places(self, box: Box, sides: Sequence[Side]) -> list[Box]:
        """Return a box, or its points one by one if there are strips for single ghosts."""
        if not self.strips.have_points(sides):
            return [box]
        ranges = [range(low.constant, high.constant) for low, high in box]
        return [_point(index) for index in product(*ranges)]

    def _ruled(self, box: Box, sides: Sequence[Side]) -> list[tuple[Box, Outcome]]:
        """Return the outcomes of the ghosts of a box after the rules of some sides are applied."""
        found = self.found.get((sides[0].block, box), [(box, Undefined("no rule defines them"))])
        index = tuple(low.constant for low, _ in box)  # if there are strips of single ghosts
        for strip in self.strips.beyond(sides, index):
            part = self._part(box, strip)
            for place, outcome in self._expanded(part, strip.row):
                found = self._overlaid(found, place, outcome)
        return found

    def _part(self, box: Box, strip: Strip) -> Box:
        """Return the part of a box to which a strip applies."""
        found = list(box)
        for axis, low, high in strip.where:
            old = found[axis]
            found[axis] = self.known.most(old[0], low), self.known.least(old[1], high)
        return tuple(found)

    def _overlaid(
        self, found: list[tuple[Box, Outcome]], box: Box, outcome: Outcome
    ) -> list[tuple[Box, Outcome]]:
        """Return the outcomes with one more outcome in a box."""
        result: list[tuple[Box, Outcome]] = []
        for place, old in found:
            both = self.known.common(place, box)
            if self.known.empty(both):
                result.append((place, old))
            else:
                result += [(rest, old) for rest in self.known.without(place, both)]
                for part in self._told_apart(old, outcome, both):
                    new = self._agreed(old, outcome, part)
                    self.more |= new is not old and not isinstance(new, Undefined)
                    result.append((part, new))
        return result

    def _told_apart(self, old: Outcome, new: Outcome, box: Box) -> Iterator[Box]:
        """Yield a box in parts in each of which two rows are the same everywhere, or nowhere."""
        axes: tuple[int, ...] = ()
        if isinstance(old, Row) and isinstance(new, Row):
            axes = crossing(old, new, box, self.frame.axes, self.known)
        if not axes:
            yield box
            return
        lengths = [(high - low).evaluate(self.known.sizes) for low, high in box]
        axis = max(axes, key=lengths.__getitem__)
        for half in self._halves(box, axis, box[axis][0] + lengths[axis] // 2):
            yield from self._told_apart(old, new, half)

    def _expanded(self, box: Box, row: Row) -> list[tuple[Box, Outcome]]:
        """Return a row in terms of owned points, box by box.

        Points that read an undefined ghost are undefined, even if they also read a conflict.
        """
        found: list[tuple[Box, Outcome]] = []
        work: list[tuple[Box, Row, int, Conflict | None]] = [(box, row, 0, None)]
        while work:
            here, row, checked, conflict = work.pop()  # the first entries read interior points
            if self.known.empty(here):
                continue
            kept = tuple(e for e in row.entries if not e.window or self._clipped(e, here))
            if len(kept) < len(row.entries):
                work.append((here, replace(row, entries=kept), 0, conflict))
                continue
            ghost = self._ghost_read(row, checked, here)
            if ghost is None:
                found.append((here, conflict or row))
                continue
            checked, entry, part = ghost
            cut = self._cut(entry, part)
            parts = self._halves(part, *cut) if cut else [part]
            if cut or part != here:
                work += [(rest, row, checked, conflict) for rest in self.known.without(here, part)]
                work += [(p, row, checked, conflict) for p in parts]
                continue
            source = self._image(entry, here)
            orthant = self._orthant(entry.block, source)
            for place, outcome in self._ghosts(entry.block, orthant, source):
                back = self._preimage(entry, place, here)
                match outcome:
                    case Row():
                        made = composed(row, entry, outcome, self.frame.axes)
                        work.append((back, made, _unchanged(row, made, checked), conflict))
                    case Conflict():
                        kept = tuple(e for e in row.entries if e is not entry)
                        work.append(
                            (back, replace(row, entries=kept), checked, conflict or outcome)
                        )
                    case Undefined():
                        found.append((back, outcome))
        return found

    def _clipped(self, entry: Entry, box: Box) -> Box | None:
        """Return the points of a box that are in the window of an entry, if there are any."""
        part = entry.clipped(box, self.frame.axes, self.known)
        return None if self.known.empty(part) else part

    def _ghost_read(self, row: Row, checked: int, box: Box) -> tuple[int, Entry, Box] | None:
        """Return the first entry after some others that reads a ghost, its place and its box."""
        for place in range(checked, len(row.entries)):
            entry = row.entries[place]
            part = entry.clipped(box, self.frame.axes, self.known) if entry.window else box
            if not self._is_owned(entry, part):
                return place, entry, part
        return None

    def _image(self, entry: Entry, box: Box) -> Box:
        """Return the points that an entry reads, as a box, for the points of a box."""
        found = []
        for expression in entry.index:
            low = high = expression
            signs = dict(expression.terms)
            for name, (first, stop) in zip(self.frame.axes, box, strict=True):
                if name in signs:
                    least, most = (first, stop - 1) if signs[name] > 0 else (stop - 1, first)
                    low, high = low.substitute({name: least}), high.substitute({name: most})
            found.append((low, high + 1))
        return tuple(found)

    def _preimage(self, entry: Entry, source: Box, box: Box) -> Box:
        """Return the points of a box for which an entry reads a point of another box."""
        window = tuple((e, *ends) for e, ends in zip(entry.index, source, strict=True))
        return Entry(0, (), entry.weight, None, window).clipped(box, self.frame.axes, self.known)

    def _is_owned(self, entry: Entry, box: Box) -> bool:
        return not any(self._orthant(entry.block, self._image(entry, box)))

    def _orthant(self, block: int, box: Box) -> Orthant:
        """Return the orthant of the first point of a box; zeros if the whole box is owned."""
        found = []
        for axis, (low, high) in enumerate(box):
            first, stop = self._ends(block, axis)
            before, behind = self.known.less(low, first), self.known.less(stop, high)
            found.append(-1 if before else 1 if behind else 0)
        return tuple(found)

    def _ends(self, block: int, axis: int) -> tuple[Affine, Affine]:
        """Return the range of the owned points of a block along an axis."""
        points = self.frame.blocks[block]
        return Affine.of(points.first[axis]), points.stop(axis)

    def _cut(self, entry: Entry, box: Box) -> tuple[int, Affine] | None:
        """Return where to split a box so that an entry reads one orthant; None if it does."""
        for axis, (low, high) in enumerate(self._image(entry, box)):
            for edge in self._ends(entry.block, axis):
                if self.known.less(low, edge) and self.known.less(edge, high):
                    for place, name in enumerate(self.frame.axes):
                        sign = dict(entry.index[axis].terms).get(name, 0)
                        if sign:
                            rest = entry.index[axis] - Affine.name(name) * sign
                            return place, edge - rest if sign > 0 else rest - edge + 1
        return None

    def _halves(self, box: Box, axis: int, at: Affine) -> list[Box]:
        low, high = box[axis]
        edges = ((low, at), (at, high))
        return [(*box[:axis], edge, *box[axis + 1 :]) for edge in edges]

    def _agreed(self, old: Outcome, new: Outcome, box: Box) -> Outcome:
        """Return the outcome of two rules at the points of a box that both define."""
        if isinstance(old, Undefined):
            return new
        if isinstance(old, Conflict) or isinstance(new, Undefined):
            return old
        if isinstance(new, Conflict):
            return new
        if alike(old, new, box, self.frame.axes, self.known):
            return old
        return Conflict((old.origins[0], new.origins[0]))


def _unchanged(old: Row, new: Row, most: int) -> int:
    """Return the number of leading entries, at most ``most``, with equal points in two rows."""
    pairs = zip(old.entries[:most], new.entries, strict=False)
    changed = (n for n, (a, b) in enumerate(pairs) if (a.block, a.index) != (b.block, b.index))
    return next(changed, min(most, len(new.entries)))


def _point(index: Iterable[int]) -> Box:
    """Return the box of one point."""
    return tuple((Affine.of(x), Affine.of(x + 1)) for x in index)
