"""Lines of points that are set to weighted sums of each other, such as shared vector components.

Such lines are computed in one pass over their points. At each point all lines are read before any
is written, so that no scratch memory is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ssr.extension import Array

from .lines import pieces_of, spread
from .pieces import AnyPiece, Index, Piece, Place

MOST = 4
"""The largest number of lines that are computed together."""

Line: TypeAlias = "tuple[int, Index, Index]"
"""A field, the index of the first point, and the step, in the order of memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Mutual:
    """Lines of equal length, each of which becomes a weighted sum of all lines.

    The pieces are the individual sums.
    """

    pieces: tuple[Piece, ...]
    lines: tuple[Line, ...]
    weights: tuple[tuple[Array, ...], ...]

    @property
    def fields(self) -> tuple[int, ...]:
        """The fields of the lines."""
        return tuple(field for field, _, _ in self.lines)


@dataclass(frozen=True, slots=True, eq=False)
class _Sum:
    """A piece as a line, with the lines that it reads, and which of them run backward."""

    piece: Piece
    target: Line
    lines: tuple[Line, ...]
    backward: tuple[bool, ...]
    weights: tuple[Array, ...]

    def beside(self, other: _Sum) -> tuple[Array, ...] | None:
        """Return the weights in the direction of another sum; None if the sums do not match."""
        if self.lines != other.lines:
            return None
        turned = {one != two for one, two in zip(self.backward, other.backward, strict=True)}
        if len(turned) > 1:
            return None
        return tuple(w[::-1] for w in self.weights) if turned == {True} else self.weights


def mutual(parts: Sequence[AnyPiece], whole: Occupied) -> tuple[list[Mutual], list[AnyPiece]]:
    """Split parts of a whole into mutual sums of lines and the other parts."""
    groups: dict[frozenset[Line], list[_Sum]] = {}
    for part in parts:
        found = _sum(part)
        if found is not None:
            groups.setdefault(frozenset(found.lines), []).append(found)
    made, gone = [], set[int]()
    for lines, sums in groups.items():
        together = _together(lines, sums)
        pieces = [one.piece for one in sums]
        if together is not None and whole.are_apart(pieces):
            made.append(together)
            gone |= set(map(id, pieces))
    return made, [part for part in parts if id(part) not in gone]


def _sum(part: AnyPiece) -> _Sum | None:
    """Return a piece as a sum of lines that overwrites one of them, or None."""
    if not isinstance(part, Piece) or part.also or part.scalars:
        return None
    long = [d for d, n in enumerate(part.extents) if n > 1]
    numbers = np.ndim(part.constant) or part.constant
    if len(long) != 1 or numbers or any(tap.window is not None for tap in part.taps):
        return None
    (d,) = long
    length = part.extents[d]
    target, turned = _line((part.target, part.start, part.steps), d, length)
    read = [_line((t.source, t.start, t.steps), d, length) for t in part.taps]
    if (target, turned) not in read or len({line for line, _ in read}) < len(read):
        return None
    weights = tuple(np.ravel(spread(tap.weight, part.extents)) for tap in part.taps)
    lines, backward = zip(*read, strict=True)
    return _Sum(part, target, lines, backward, weights)


def _line(place: Place, dimension: int, length: int) -> tuple[Line, bool]:
    """Return the line of a place along a loop dimension, and whether it runs backward."""
    field, start, steps = place
    step = steps[dimension]
    turned = next((s for s in step if s), 0) < 0
    line = field, start, step
    return (_turned(line, length) if turned else line), turned


def _together(lines: frozenset[Line], sums: Sequence[_Sum]) -> Mutual | None:
    """Combine sums of the same lines; return None if they do not compute all of the lines."""
    by_target = {one.target: one for one in sums}
    if not 1 < len(lines) <= MOST or len(sums) != len(lines) or by_target.keys() != lines:
        return None
    first = sums[0]
    weights = [by_target[line].beside(first) for line in first.lines]
    known = tuple(w for w in weights if w is not None)
    if len(known) < len(lines):
        return None
    length = max(first.piece.extents)
    own = [
        _turned(line, length) if backward else line
        for line, backward in zip(first.lines, first.backward, strict=True)
    ]
    return Mutual(tuple(one.piece for one in sums), tuple(own), known)


def _turned(line: Line, length: int) -> Line:
    """Return a line in the opposite direction."""
    field, start, step = line
    last = tuple(s + (length - 1) * d for s, d in zip(start, step, strict=True))
    return field, last, tuple(-d for d in step)


# -- points that no other part accesses ------------------------------------------------------------


class Occupied:
    """The boxes of points that parts write and read, by their fields and ranges of indices."""

    def __init__(self, parts: Sequence[AnyPiece]) -> None:
        self._number = {id(part): n for n, part in enumerate(parts)}
        made: list[tuple[int, Ranges]] = []
        read: list[tuple[int, Ranges]] = []
        for n, part in enumerate(parts):
            for piece in pieces_of(part):
                made += [(n, ranges(place, piece.extents)) for place in piece.places]
                taps = [(tap.source, tap.start, tap.steps) for tap in piece.taps]
                read += [(n, ranges(place, piece.extents)) for place in taps]
        axes = max((len(box) for _, box in made + read), default=0)
        boxes = [box + ((0, 0),) * (axes - len(box)) for _, box in made + read]
        self._owner = np.array([n for n, _ in made + read], int)
        self._low, self._high = np.array(boxes, int).reshape(len(boxes), axes, 2).transpose(2, 0, 1)
        self._is_made = np.arange(len(boxes)) < len(made)

    def are_apart(self, pieces: Sequence[Piece]) -> bool:
        """Whether no other part accesses the points that pieces write, and each is written once."""
        own = np.isin(self._owner, [self._number[id(piece)] for piece in pieces])
        mine = np.flatnonzero(own & self._is_made)
        others = np.concatenate([np.flatnonzero(~own), mine])
        low, high = self._low[mine, None], self._high[mine, None]
        meet = ((low <= self._high[others]) & (self._low[others] <= high)).all(axis=-1)
        return int(meet.sum()) == len(mine)  # each line intersects itself


Ranges: TypeAlias = tuple[tuple[int, int], ...]


def ranges(place: Place, extents: Sequence[int]) -> Ranges:
    """Return the field and the ranges of the indices of some points, both ends included."""
    field, start, steps = place
    found = [(field, field)]
    for axis, first in enumerate(start):
        moves = [(n - 1) * step[axis] for n, step in zip(extents, steps, strict=True)]
        low, high = sum(min(m, 0) for m in moves), sum(max(m, 0) for m in moves)
        found.append((first + low, first + high))
    return tuple(found)
