"""Pieces as batches of lines, and band sums along lines.

A piece is reduced to two loop dimensions, the last along the line. Consecutive taps that are one or
a few steps apart along the line form a band. A band is summed in one pass, on stretches of the line
in which few neighbours have nonzero weights. The sources of a line are contiguous in scratch
memory, starting at the first source that is read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ssr.extension import Array

from .machine import TAPS
from .pieces import AnyPiece, Index, Number, Piece, Tap, VectorPiece

BLOCK = 4
"""The lengths of lines in scratch memory are multiples of this number."""

WIDE = 8
"""The smallest extent with which a loop along the last axis is always the inner loop."""


def padded(length: int) -> int:
    """Return the length of a line in memory.

    >>> padded(8), padded(9)
    (8, 12)
    """
    return -(-length // BLOCK) * BLOCK


def pieces_of(part: AnyPiece) -> tuple[Piece, ...]:
    """Return the piece itself, or the pieces of the components of a vector piece."""
    return part.pieces if isinstance(part, VectorPiece) else (part,)


def spread(number: Number, extents: Sequence[int]) -> Array:
    """Return a number or an array as an array of the extents."""
    return np.broadcast_to(np.asarray(number), tuple(extents))


def cut(piece: Piece, dimension: int, low: int, high: int) -> Piece:
    """Return the part of a piece in a range of one loop dimension."""

    def moved(start: Index, steps: Sequence[Index]) -> Index:
        return tuple(s + low * d for s, d in zip(start, steps[dimension], strict=True))

    def part(number: Number) -> Number:
        return sliced(number, piece.extents, dimension, low, high)

    def tap(one: Tap) -> Tap:
        window = one.window
        if window is not None:
            first, last = (min(max(edge - low, 0), high - low) for edge in window[dimension])
            window = (*window[:dimension], (first, last), *window[dimension + 1 :])
        start = moved(one.start, one.steps)
        return replace(one, start=start, weight=part(one.weight), window=window)

    extents = (*piece.extents[:dimension], high - low, *piece.extents[dimension + 1 :])
    return replace(
        piece,
        start=moved(piece.start, piece.steps),
        extents=extents,
        taps=tuple(map(tap, piece.taps)),
        constant=part(piece.constant),
        scalars=tuple((n, part(c)) for n, c in piece.scalars),
        also=tuple((field, moved(start, steps), steps) for field, start, steps in piece.also),
    )


def sliced(number: Number, extents: Sequence[int], dimension: int, low: int, high: int) -> Number:
    """Return a number or an array for a range of one loop dimension."""
    if np.ndim(number) == 0:
        return number
    place = (slice(None),) * dimension + (slice(low, high),)
    found: Array = spread(number, extents)[place]
    return found


def cut_part(part: AnyPiece, dimension: int, low: int, high: int) -> AnyPiece:
    """Return a part in a range of one loop dimension."""
    if isinstance(part, Piece):
        return cut(part, dimension, low, high)
    extents = part.pieces[0].extents
    matrix = tuple(
        tuple(sliced(e, extents, dimension, low, high) for e in row) for row in part.matrix
    )
    return VectorPiece(tuple(cut(p, dimension, low, high) for p in part.pieces), matrix)


def lined(part: AnyPiece, inner: int | None = None) -> Iterator[AnyPiece]:
    """Yield a part as parts with two loop dimensions, the last along lines."""
    first = pieces_of(part)[0]
    inner = along(first) if inner is None else inner
    outer = [d for d, n in enumerate(first.extents) if n > 1 and d != inner]
    if len(outer) > 1:
        short = min(outer, key=lambda d: first.extents[d])
        for n in range(first.extents[short]):
            yield from lined(cut_part(part, short, n, n + 1), inner)
        return
    order = [*outer, *([] if inner is None else [inner])]
    if isinstance(part, Piece):
        yield _ordered(part, order)
    else:
        form = first.extents
        matrix = tuple(tuple(_ordered_number(e, form, order) for e in row) for row in part.matrix)
        yield VectorPiece(tuple(_ordered(p, order) for p in part.pieces), matrix)


def along(piece: Piece) -> int | None:
    """Return the dimension for lines: that of most neighbours, the last axis, or the longest."""
    wide = [d for d, n in enumerate(piece.extents) if n > 1]
    if not wide:
        return None
    near = {d: sum(_distance(a, b, d) > 0 for a, b in itertools.pairwise(piece.taps)) for d in wide}
    best = max(wide, key=lambda d: near[d])
    if near[best] > 1:
        return best
    last = [d for d in wide if abs(piece.steps[d][-1]) == 1 and not any(piece.steps[d][:-1])]
    if last and piece.extents[last[0]] >= WIDE:
        return last[0]
    return max(wide, key=lambda d: piece.extents[d])


def _distance(one: Tap, other: Tap, dimension: int) -> int:
    """Return the distance between two taps in steps of a dimension; 0 if it is not a multiple."""
    if one.source != other.source or one.steps != other.steps:
        return 0
    ahead = [b - a for a, b in zip(one.start, other.start, strict=True)]
    step = one.steps[dimension]
    axis = next((axis for axis, s in enumerate(step) if s), None)
    if axis is None:
        return 0
    count = ahead[axis] // step[axis]
    return count if [count * s for s in step] == ahead else 0


def _ordered(piece: Piece, order: Sequence[int]) -> Piece:
    """Return a piece with two loop dimensions: the given ones, preceded by extents of 1."""
    more = 2 - len(order)
    axes = len(piece.start)

    def steps(given: Sequence[Index]) -> tuple[Index, ...]:
        return ((0,) * axes,) * more + tuple(given[d] for d in order)

    def tap(one: Tap) -> Tap:
        window, kept = one.window, tuple(range(len(piece.extents)))
        if window is not None:
            if any(high <= low for low, high in (window[d] for d in kept)):
                window = ((0, 0),) * 2
            else:
                window = ((0, 1),) * more + tuple(window[d] for d in order)
        weight = _ordered_number(one.weight, piece.extents, order)
        return replace(one, steps=steps(one.steps), weight=weight, window=window)

    return replace(
        piece,
        steps=steps(piece.steps),
        extents=(1,) * more + tuple(piece.extents[d] for d in order),
        taps=tuple(map(tap, piece.taps)),
        constant=_ordered_number(piece.constant, piece.extents, order),
        scalars=tuple((n, _ordered_number(c, piece.extents, order)) for n, c in piece.scalars),
        also=tuple((field, start, steps(given)) for field, start, given in piece.also),
    )


def _ordered_number(number: Number, extents: Sequence[int], order: Sequence[int]) -> Number:
    if np.ndim(number) == 0:
        return number
    rest = [d for d in range(len(extents)) if d not in order]
    whole = spread(number, extents).transpose([*rest, *order])
    found: Array = whole[(0,) * len(rest)][(None,) * (2 - len(order))]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Consecutive taps, and the distance of each from the first in steps along the line."""

    taps: tuple[Tap, ...]
    ahead: tuple[int, ...]

    @property
    def band(self) -> bool:
        """Whether the taps are neighbours on lines for which a copy to scratch memory pays off."""
        if len(self.taps) < 3:
            return False
        first = self.taps[0]
        axes = [axis for step in first.steps for axis, s in enumerate(step) if s]
        return len(axes) == len(set(axes))


def runs(piece: Piece) -> tuple[Run, ...]:
    """Return the taps of a piece in lines as runs, in their order."""
    found: list[Run] = []
    for tap in piece.taps:
        if found:
            last = found[-1]
            step = _distance(last.taps[-1], tap, 1)
            if step > 0 and _whole(piece, tap) and _whole(piece, last.taps[0]):
                found[-1] = Run((*last.taps, tap), (*last.ahead, last.ahead[-1] + step))
                continue
        found.append(Run((tap,), (0,)))
    return tuple(found)


def _whole(piece: Piece, tap: Tap) -> bool:
    """Whether a tap is read on all lines."""
    return tap.window is None or tap.window[0] == (0, piece.extents[0])


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Weighted sums of `TAPS` neighbours for a part of a line.

    Attributes
    ----------
    line, place
        The line, and the first value on it.
    source
        The first source of that value, as an offset in the memory of source lines.
    weights
        Shape (TAPS, length).
    more
        Whether the sums start from the values in memory.
    """

    line: int
    place: int
    source: int
    weights: Array
    more: bool

    @property
    def length(self) -> int:
        """The number of values."""
        return int(self.weights.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """The summation of the lines of a run.

    Attributes
    ----------
    first, count
        The first source on a line, in steps from the first read of the first tap, and the number
        of sources.
    room, pitch
        Elements of memory before the first source of a line, and from line to line.
    stretches
        The stretches of all lines, or of the first line if all lines are equal.
    times
        The number of repetitions of the stretches: once, or once for each line.
    """

    first: int
    count: int
    room: int
    pitch: int
    stretches: tuple[Stretch, ...]
    times: int


def band(run: Run, extents: Sequence[int]) -> Band:
    """Return the summation of a run on lines."""
    count, length = extents
    windows = [t.window[1] if t.window else (0, length) for t in run.taps]
    reads = [(a + lo, a + hi) for a, (lo, hi) in zip(run.ahead, windows, strict=True) if lo < hi]
    first = min((low for low, _ in reads), default=0)
    last = max((high for _, high in reads), default=0)
    known: dict[bytes, list[Stretch]] = {}
    found: list[list[Stretch]] = []
    weights = [spread(tap.weight, extents) for tap in run.taps]
    alike = all(same_lines(w) for w in weights)
    for line in range(1 if alike else count):
        dense = np.zeros((run.ahead[-1] + 1, padded(length)))
        for ahead, (low, high), weight in zip(run.ahead, windows, weights, strict=True):
            dense[ahead, low:high] = weight[line][low:high]
        key = dense.tobytes()
        if key not in known:
            known[key] = list(_stretches(dense))
        found.append(known[key])
    every = [s for line in found for s in line]
    room = max(0, *(first - s.source for s in every))
    ends = [s.source - first + s.length + TAPS - 1 for s in every]
    pitch = padded(room + max(last - first, *ends))
    stretches = tuple(
        replace(s, line=n, source=n * pitch + room + s.source - first)
        for n, line in enumerate(found)
        for s in line
    )
    return Band(first, last - first, room, pitch, stretches, count if alike else 1)


def same_lines(numbers: Array) -> bool:
    """Whether all lines of an array made by `spread` have the same numbers.

    >>> same_lines(spread(np.arange(3.0), (4, 3))), same_lines(spread(np.ones((4, 1)), (4, 3)))
    (True, False)
    """
    return len(numbers) == 1 or numbers.strides[0] == 0


def _stretches(weights: Array) -> Iterator[Stretch]:
    """Yield the stretches of one line, each as long as it needs few neighbours."""
    length = weights.shape[1]
    start = 0
    while start < length:
        low, high, stop = 0, 0, start
        for size in (BLOCK, 1):
            while stop + size <= length:
                active = np.flatnonzero(weights[:, stop : stop + size].any(axis=1))
                if active.size:
                    ends = int(active[0]), int(active[-1]) + 1
                    if high:
                        ends = min(low, ends[0]), max(high, ends[1])
                    if ends[1] - ends[0] > TAPS:
                        break
                    low, high = ends
                stop += size
            if stop > start:
                break
        if stop == start:
            active = np.flatnonzero(weights[:, start])
            low, high, stop = int(active[0]), int(active[-1]) + 1, start + 1
        for first in range(low, max(high, low + 1), TAPS):
            part = np.zeros((TAPS, stop - start))
            given = weights[first : first + TAPS, start:stop]
            part[: len(given)] = given
            yield Stretch(0, start, start + first, part, first > low)
        start = stop
