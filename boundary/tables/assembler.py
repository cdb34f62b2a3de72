"""Code generator for pieces: copies, shared points, single points, lines of weighted sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ssr.extension import Array

from .lines import (
    WIDE,
    Band,
    Run,
    along,
    band,
    cut,
    lined,
    padded,
    pieces_of,
    runs,
    same_lines,
    spread,
)
from .machine import Op
from .mutual import Mutual
from .pieces import AnyPiece, Index, Number, Piece, Tap, VectorPiece, seen
from .records import Program, Slot


class Assembler(Program):
    """A program for pieces, under construction."""

    def copies(self, pieces: Sequence[Piece]) -> None:
        """Write copies, within fields and across."""
        columns: dict[tuple[Any, ...], list[int]] = {}
        for whole in pieces:
            last = next((d for d, n in enumerate(whole.extents) if n > 1 and _last(whole, d)), None)
            narrow = last is not None and whole.extents[last] < WIDE
            for piece in lined(whole, along(whole) if last is None else last):
                assert isinstance(piece, Piece)
                (tap,) = piece.taps
                weight = self.weight(tap.weight)
                if narrow:
                    for n in range(piece.extents[1]):
                        _column(cut(piece, 1, n, n + 1), 0, weight, columns)
                elif last is None and not any(s[-1] for s in (*piece.steps, *tap.steps)):
                    _column(piece, 1, weight, columns)
                else:
                    to = self.range(piece.target, piece.start, piece.steps)
                    of = self.range(tap.source, tap.start, tap.steps)
                    lane = self.lane(piece.target, tap.source)
                    self.emit(Op.COPY, lane, weight, *piece.extents, *to, *of)
        for (target, source, weight, count, to, of), entries in columns.items():
            if len(entries) % 4:
                entries += entries[-2:]  # pad to an even number of columns
            rows = *self.range(target, *to), *self.range(source, *of)
            ends = weight, count, len(entries) // 2, *rows, *entries
            self.emit(Op.COLUMNS, self.lane(target, source), *ends)

    def shared(self, pieces: Sequence[Piece]) -> None:
        """Write pairs of points that are both set to a weighted sum of the pair."""
        for whole in pieces:
            for piece in lined(whole):
                assert isinstance(piece, Piece)
                weights = [self.weight(tap.weight) for tap in piece.taps]
                both = [self.range(tap.source, tap.start, tap.steps) for tap in piece.taps]
                self.emit(
                    Op.SHARE, self.home(piece.target), *weights, *piece.extents, *both[0], *both[1]
                )

    def mutual(self, groups: Sequence[Mutual]) -> None:
        """Write lines of points that are set to sums of each other."""
        for group in groups:
            number = self.form.mutual.index(tuple(map(self.home, group.fields)))
            places = [self.range(field, start, (step,)) for field, start, step in group.lines]
            weights = [self.weight(entry) for row in group.weights for entry in row]
            length = len(group.weights[0][0])
            self.emit(Op.MUTUAL, number, length, *(n for place in places for n in place), *weights)

    def points(self, pieces: Sequence[Piece]) -> None:
        """Write pieces of few points, one by one."""
        points = [(piece, p) for piece in pieces for p in np.ndindex(*piece.extents)]
        if not points:
            return
        base = self.space(len(points))
        box = 1, len(points), 0, 0
        constants = np.array([_at(q.constant, q, p) for q, p in points])
        self.emit(Op.FILL, Slot(base), self.weight(constants), *box)
        for number in range(self.form.scalars):
            factors = [sum(_at(c, q, p) for n, c in q.scalars if n == number) for q, p in points]
            if any(factors):
                weight = self.weight(np.array(factors))
                self.emit(Op.SCALE, number, Slot(base), weight, *box)
        gathers: dict[tuple[int, int], list[Any]] = {}
        scatters: dict[int, list[Any]] = {}
        for n, (piece, p) in enumerate(points):
            place = Slot(base + n)
            read = (t for t in piece.taps if _within(t, p) and _at(t.weight, piece, p) != 0)
            for rank, tap in enumerate(read):
                weight = self.weight(_at(tap.weight, piece, p))
                at = self.at(tap.source, _index(tap.start, tap.steps, p))
                gathers.setdefault((rank, tap.source), []).extend([place, weight, at])
            for field, start, steps in piece.places:
                at = self.at(field, _index(start, steps, p))
                scatters.setdefault(field, []).extend([place, at])
        for (_, number), entries in sorted(gathers.items()):
            self.emit(Op.GATHER, self.home(number), len(entries) // 3, *entries)
        for number, entries in sorted(scatters.items()):
            self.store(Op.SCATTER, self.home(number), len(entries) // 2, *entries)

    def slab(self, parts: Sequence[AnyPiece]) -> None:
        """Write parts in lines that differ in their fields only."""
        pieces = [piece for part in parts for piece in pieces_of(part)]
        count, length = pieces[0].extents
        size = count * padded(length)
        base = self.space(size * len(pieces))
        places = [base + n * size for n in range(len(pieces))]
        matrices, step = self._matrices(parts, pieces[0].extents)
        if not self._summed_at_once(parts, pieces, places, [w for m in matrices for w in m], step):
            mixed = any(isinstance(part, VectorPiece) for part in parts)
            for piece, place in zip(pieces, places, strict=True):
                self._values(piece, place, mixed)
            rest = iter(places)
            for part, matrix in zip(parts, matrices, strict=True):
                own = [Slot(next(rest)) for _ in pieces_of(part)]
                if isinstance(part, VectorPiece):
                    pitch = padded(length)
                    box = (1, size, 0, 0) if step else (count, pitch, pitch, 0)
                    self.emit(Op.TURN, len(own), *box, *own, *matrix)
        alone = len(parts) == 1 and isinstance(parts[0], Piece)
        for piece, place in zip(pieces, places, strict=True):
            weight = self.weight(piece.scaled if alone and piece.scaled is not None else 1.0)
            lines = Slot(place), weight, 0, count, length, padded(length), 0
            alike: dict[tuple[int, tuple[Index, ...]], list[Index]] = {}
            for number, start, steps in piece.places:
                alike.setdefault((number, steps), []).append(start)
            for (number, steps), starts in alike.items():
                moves = [self.step(number, step) for step in steps]
                places = [self.at(number, start) for start in starts]
                self.store(Op.WRITE, self.home(number), *lines, len(starts), *moves, *places)

    def _matrices(
        self, parts: Sequence[AnyPiece], extents: tuple[int, ...]
    ) -> tuple[list[list[int]], int]:
        """Return the places of the entries of the matrices of parts, and the step between lines.

        Where no entry changes from line to line there is one line of each.
        """
        given = [part.matrix if isinstance(part, VectorPiece) else () for part in parts]
        entries = [[spread(e, extents) for row in rows for e in row] for rows in given]
        still = all(same_lines(e) for each in entries for e in each)
        slabs = [[e[:1] if still else e for e in each] for each in entries]
        places = [[self.weight(_slab(e)) for e in each] for each in slabs]
        return places, 0 if still else padded(extents[1])

    def _summed_at_once(
        self,
        parts: Sequence[AnyPiece],
        pieces: Sequence[Piece],
        places: Sequence[int],
        entries: Sequence[int],
        step: int,
    ) -> bool:
        """Write the sums of a group as one instruction; return whether there is one."""
        op = self.form.product(tuple(len(pieces_of(part)) for part in parts))
        found = runs(pieces[0])
        if op is None or len(found) != 1 or any(map(lone, pieces)) or not found[0].band:
            return False
        lines = band(found[0], pieces[0].extents)
        if len(pieces) > 1 and any(s.more for s in lines.stretches):
            return False
        sources = self._sources(lines, [runs(piece)[0] for piece in pieces], pieces[0])
        operands = [x for o, s in zip(places, sources, strict=True) for x in (Slot(o), s)]
        steps = padded(pieces[0].extents[1]), lines.pitch, step
        self.emit(op, self.recipe(lines), 0, lines.times, *steps, *operands, *entries)
        return True

    def _values(self, piece: Piece, place: int, mixed: bool) -> None:
        """Write the sum of a piece, into lines in scratch memory."""
        pitch = padded(piece.extents[1])
        if piece.scaled is not None and not mixed:
            self._line(Op.READ, piece.taps[0], Slot(place), (0, 0), piece.extents, pitch)
            return
        found, op = runs(piece), self.form.product((1,))
        first = bool(found) and not lone(piece)
        if first and (op is None or not found[0].band):
            first = found[0].taps[0].window is None
        if not first:
            weight, step = self._weights(piece.constant, piece)
            self.emit(Op.FILL, Slot(place), weight, *piece.extents, pitch, step)
        for number, factor in piece.scalars:
            weight, step = self._weights(factor, piece)
            self.emit(Op.SCALE, number, Slot(place), weight, *piece.extents, pitch, step)
        for run in found:
            if op is not None and run.band:
                lines = band(run, piece.extents)
                (source,) = self._sources(lines, [run], piece)
                steps = lines.times, pitch, lines.pitch, 0
                self.emit(op, self.recipe(lines), int(not first), *steps, Slot(place), source)
            else:
                for n, tap in enumerate(run.taps):
                    self._tap(tap, piece, place, first and not n)
            first = False

    def _sources(self, lines: Band, found: Sequence[Run], piece: Piece) -> list[int]:
        """Write copies of the lines that runs read; return their offsets."""
        count = piece.extents[0]
        size = count * lines.pitch
        layout = len(found), count, lines.pitch, lines.room, lines.count
        if layout != self.cleared:
            self.emit(Op.CLEAR, 0, size * len(found))
            self.cleared = layout
        self.sources = max(self.sources, size * len(found))
        for n, run in enumerate(found):
            tap = run.taps[0]
            start = tuple(s + lines.first * d for s, d in zip(tap.start, tap.steps[1], strict=True))
            own = replace(tap, start=start)
            extents = count, lines.count
            self._line(Op.READ, own, n * size + lines.room, (0, 0), extents, lines.pitch)
        return [n * size for n in range(len(found))]

    def _tap(self, tap: Tap, piece: Piece, place: int, first: bool) -> None:
        """Add a tap to the values in scratch memory."""
        weight, step = self._weights(tap.weight, piece)
        (a, t), start, extents = seen(piece, tap)
        if 0 in extents:
            return
        pitch = padded(piece.extents[1])
        own = replace(tap, start=start)
        made = Slot(place + a.start * pitch + t.start)
        weight += a.start * step + t.start
        self._line(Op.TAP, own, made, (weight, step), extents, pitch, first)

    def _line(
        self,
        op: Op,
        tap: Tap,
        place: int | Slot,
        weight: tuple[int, int],
        extents: tuple[int, ...],
        pitch: int,
        first: bool = False,
    ) -> None:
        """Write an instruction for lines that are read."""
        operands = place, weight[0], int(first), *extents, pitch, weight[1], 1
        start, *steps = self.range(tap.source, tap.start, tap.steps)
        self.emit(op, self.home(tap.source), *operands, *steps, start)

    def _weights(self, number: Number, piece: Piece) -> tuple[int, int]:
        """Return the place of the weights of the first line, and the step from line to line."""
        whole = spread(number, piece.extents)
        if same_lines(whole):
            return self.weight(whole[:1]), 0
        return self.weight(whole), piece.extents[1]


def lone(piece: Piece) -> bool:
    """Whether a piece has scalars or constants."""
    return bool(piece.scalars or np.ndim(piece.constant) or piece.constant)


def _last(piece: Piece, dimension: int) -> bool:
    """Whether a loop dimension of a copy runs along the last axis, forward or backward."""
    return all(
        abs(steps[dimension][-1]) == 1 and not any(steps[dimension][:-1])
        for steps in (piece.steps, piece.taps[0].steps)
    )


def _column(
    piece: Piece, rows: int, weight: int, columns: dict[tuple[Any, ...], list[int]]
) -> None:
    """Add a piece's columns, with lines along a dimension, to the columns of the same rows."""
    (tap,) = piece.taps
    for n in range(piece.extents[1 - rows]):
        one = cut(piece, 1 - rows, n, n + 1)
        zero = (0,) * len(one.start)
        ranges = [
            ((*start[:-1], 0), (steps[rows], zero))
            for start, steps in ((one.start, one.steps), (one.taps[0].start, tap.steps))
        ]
        key = piece.target, tap.source, weight, piece.extents[rows], *ranges
        columns.setdefault(key, []).extend([one.start[-1], one.taps[0].start[-1]])


def _slab(lines: Array) -> Array:
    """Return consecutive lines padded by zeros."""
    length = lines.shape[1]
    return np.pad(lines, ((0, 0), (0, padded(length) - length)))


def _at(number: Number, piece: Piece, point: Index) -> float:
    """Return the number for one point of a piece."""
    return float(spread(number, piece.extents)[point])


def _within(tap: Tap, point: Index) -> bool:
    """Whether a tap is read by a point."""
    if tap.window is None:
        return True
    return all(low <= p < high for p, (low, high) in zip(point, tap.window, strict=True))


def _index(start: Index, steps: Sequence[Index], point: Index) -> list[int]:
    """Return the index of one point of a range."""
    moves = [[p * s for s in step] for p, step in zip(point, steps, strict=True)]
    return [sum(each) for each in zip(start, *moves, strict=True)]
