"""From pieces to the program that the function of `write` runs, and its weights.

A copy becomes a copy, and narrow ones along the last axis, the ghosts beside a row, go in one pass
over the rows. All else is made line by line in scratch memory and stored from there. Where a piece
reads neighbours on a line, as an interpolation does, the line of sources is copied first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .lines import (
    WIDE,
    Band,
    Run,
    along,
    band,
    cut_part,
    lined,
    padded,
    pieces_of,
    runs,
    spread,
)
from .pieces import Array, Index, Mix, Number, Part, Piece, Tap, seen
from .write import Form, Op, product_of

ROOM = 4096
"""Values made at once, unless a single line has more."""

FEW = 8
"""So many points or fewer are made one by one."""

TOGETHER = 4
"""Values at most that are made at once from the same neighbours."""


@dataclass(frozen=True, slots=True)
class Tables:
    """A program, its weights, and how many elements of scratch memory it needs."""

    links: np.ndarray[Any, np.dtype[np.int64]]
    weights: Array
    scratch: int


def tables(
    parts: Iterable[Part], form: Form, dtype: Any = np.float64, *, staged: bool = False
) -> Tables:
    """Return the tables of a fill.

    Parameters
    ----------
    parts
        What to do. No two of them make the same point.
    form
        That of the function which runs the tables, from `form_of` for these or similar parts.
    dtype
        The type of the fields.
    staged
        Whether all values are found before any is stored; needed where points that are made are
        read too.
    """
    writer = _Writer(form, np.dtype(dtype), staged)
    copies, few, rest = _sorted(parts, staged)
    writer.copies(copies)
    writer.points(few)
    for group in _groups(rest):
        for slab in _slabs(group):
            writer.slab(slab)
    return writer.finish()


def form_of(
    parts: Iterable[Part], axes: Sequence[int], scalars: int = 0, *, staged: bool = False
) -> Form:
    """Return what the function for some parts must be able to do.

    Parameters
    ----------
    parts
        The parts of the fill, for sizes that are not small.
    axes
        The number of axes of each field.
    scalars
        How many scalars there are.
    staged
        As in `tables`.
    """
    copies, few, rest = _sorted(parts, staged)
    bands = False
    groups: set[tuple[int, ...]] = set()
    for group in _groups(rest):
        (first, *_) = lined(group[0])
        shape = tuple(len(pieces_of(part)) for part in group)
        if any(run.band for run in runs(pieces_of(first)[0])):
            bands = True
            groups.add(shape)
        groups |= {(n,) for n in shape if n > 1 and shape not in groups}
    sums = bool(few or rest)
    return Form(tuple(axes), scalars, tuple(sorted(groups)), bool(copies), sums, bands)


def _sorted(
    parts: Iterable[Part], staged: bool
) -> tuple[list[Piece], list[Piece], list[Part]]:
    """Return the copies within a field, the pieces of few points, and the other parts."""
    copies: list[Piece] = []
    few: list[Piece] = []
    rest: list[Part] = []
    for part in parts:
        if any(n <= 0 for n in pieces_of(part)[0].extents):
            continue
        if isinstance(part, Mix):
            rest.append(part)
        elif part.scaled is not None:
            home = part.taps[0].source == part.target and not staged
            (copies if home else rest).append(part)
        else:
            (few if np.prod(part.extents) <= FEW else rest).append(part)
    return copies, few, rest


def _groups(parts: Sequence[Part]) -> list[list[Part]]:
    """Return parts in groups that differ in their fields only."""
    known: dict[int, object] = {}

    def number(value: Number) -> object:
        if np.ndim(value) == 0:
            return float(value)
        if id(value) not in known:
            array = np.asarray(value)
            known[id(value)] = array.shape, array.tobytes()
        return known[id(value)]

    def key(piece: Piece) -> object:
        taps = tuple((t.start, t.steps, t.window, number(t.weight)) for t in piece.taps)
        return piece.start, piece.steps, piece.extents, taps

    groups: dict[object, list[list[Part]]] = {}
    for part in parts:
        pieces = pieces_of(part)
        lone = any(map(_lone, pieces)) or (isinstance(part, Piece) and part.scaled is not None)
        found = groups.setdefault(id(part) if lone else key(pieces[0]), [[]])
        if sum(len(pieces_of(p)) for p in found[-1]) + len(pieces) > TOGETHER and found[-1]:
            found.append([])
        found[-1].append(part)
    return [
        sorted(group, key=lambda part: len(pieces_of(part)))
        for several in groups.values()
        for group in several
    ]


def _slabs(group: Sequence[Part]) -> Iterator[list[Part]]:
    """Yield a group as lines, so few that what they make fits in scratch memory."""
    inner = along(pieces_of(group[0])[0])
    for parts in zip(*(lined(part, inner) for part in group), strict=True):
        e0, e1, length = pieces_of(parts[0])[0].extents
        most = max(1, ROOM // padded(length))
        rows, columns = max(1, most // e1), min(e1, most)
        for a in range(0, e0, rows):
            for b in range(0, e1, columns):
                ends = (a, min(a + rows, e0)), (b, min(b + columns, e1))
                yield [cut_part(cut_part(p, 0, *ends[0]), 1, *ends[1]) for p in parts]


@dataclass(frozen=True, slots=True)
class _Made:
    """A place in the part of scratch memory where values are, behind the sources."""

    place: int


@dataclass(frozen=True, slots=True)
class _Recipe:
    """A recipe, by its number."""

    number: int


class _Writer:
    """A program under construction."""

    def __init__(self, form: Form, dtype: np.dtype[Any], staged: bool) -> None:
        self.form, self.dtype, self.staged = form, dtype, staged
        self.records: list[list[Any]] = []
        self.stores: list[list[Any]] = []
        self.recipes: dict[tuple[int, ...], int] = {}
        self.weights: list[Array] = []
        self.known: dict[bytes, int] = {}
        self.count = 0
        self.weight(0.0)
        self.sources = self.values = self.used = 0
        self.cleared: object = None
        self.places = [sum(form.axes[:n]) for n in range(len(form.axes))]

    def finish(self) -> Tables:
        """Return the program."""
        records = [*self.records, *self.stores]
        size = sum(len(r) + 1 for r in records) + 1
        places = []
        for recipe in self.recipes:
            places.append(size)
            size += len(recipe)

        def number(operand: Any) -> int:
            match operand:
                case _Made(place):
                    return self.sources + place
                case _Recipe(which):
                    return places[which]
            return int(operand)

        links: list[int] = []
        for op, *operands in records:
            links += [int(op), len(links) + len(operands) + 2, *map(number, operands)]
        links += [int(Op.STOP), *(n for recipe in self.recipes for n in recipe)]
        weights = np.concatenate(self.weights).astype(self.dtype)
        return Tables(np.array(links, np.int64), weights, self.sources + self.values)

    def weight(self, number: Number) -> int:
        """Return the place of weights, which are stored once."""
        array = np.ascontiguousarray(np.ravel(number), self.dtype)
        key = array.tobytes()
        if key not in self.known:
            self.known[key] = self.count
            self.weights.append(array)
            self.count += array.size
        return self.known[key]

    def emit(self, op: int, *operands: Any) -> None:
        """Add a record."""
        self.records.append([op, *operands])

    def space(self, size: int) -> int:
        """Return the place for some values, which nobody else uses until they are stored."""
        place = self.used if self.staged else 0
        if self.staged:
            self.used += size
        self.values = max(self.values, place + size)
        return place

    def copies(self, pieces: Sequence[Piece]) -> None:
        """Write copies within a field."""
        columns: dict[tuple[Any, ...], list[int]] = {}
        for whole in pieces:
            last = [d for d, n in enumerate(whole.extents) if n > 1 and _is_last(whole, d)]
            narrow = bool(last) and whole.extents[last[0]] < WIDE
            inner = last[0] if last else None
            for piece in lined(whole, inner if last else along(whole)):
                assert isinstance(piece, Piece)
                (tap,) = piece.taps
                apart = not last and not any(s[-1] for s in (*piece.steps, *tap.steps))
                if narrow or apart:
                    self._columns(piece, tap, columns, narrow)
                else:
                    field, at = piece.target, self.places[piece.target]
                    target, source = (piece.start, *piece.steps), (tap.start, *tap.steps)
                    weight = self.weight(tap.weight)
                    self.emit(Op.COPY, field, at, weight, *piece.extents, *_flat(target, source))
        for (field, extents, target, source), entries in columns.items():
            count = len(entries) // 3
            at = self.places[field]
            self.emit(
                Op.COLUMNS, field, at, count, *extents, *_flat(target, source), *entries
            )

    def _columns(
        self, piece: Piece, tap: Tap, columns: dict[tuple[Any, ...], list[int]], narrow: bool
    ) -> None:
        """Add the columns of a copy to those with the same rows."""
        keep = slice(0, 2) if narrow else slice(1, 3)
        extents = piece.extents[keep]
        rest = piece.extents[2] if narrow else piece.extents[0]
        steps = (piece.steps[2], tap.steps[2]) if narrow else (piece.steps[0], tap.steps[0])
        weight = self.weight(tap.weight)
        for n in range(rest):
            to, of = (
                tuple(s + n * d for s, d in zip(start, step, strict=True))
                for start, step in zip((piece.start, tap.start), steps, strict=True)
            )
            target = ((*to[:-1], 0), *piece.steps[keep])
            source = ((*of[:-1], 0), *tap.steps[keep])
            key = piece.target, extents, target, source
            columns.setdefault(key, []).extend([to[-1], of[-1], weight])

    def points(self, pieces: Sequence[Piece]) -> None:
        """Write pieces of few points, one by one."""
        points = [(piece, p) for piece in pieces for p in np.ndindex(*piece.extents)]
        if not points:
            return
        base = self.space(len(points))
        constants = np.array([_at(q.constant, q, p) for q, p in points])
        box = (1, 1, len(points), 0, 0, 0, 0)
        self.emit(Op.FILL, _Made(base), self.weight(constants), *box)
        for number in range(self.form.scalars):
            factors = [sum(_at(c, q, p) for n, c in q.scalars if n == number) for q, p in points]
            if any(factors):
                self.emit(Op.SCALE, number, _Made(base), self.weight(np.array(factors)), *box)
        gathers: dict[tuple[int, int], list[Any]] = {}
        scatters: dict[int, list[Any]] = {}
        for place, (piece, p) in enumerate(points):
            taps = [t for t in piece.taps if _within(t, p)]
            for rank, tap in enumerate(taps):
                entry = [_Made(base + place), self.weight(_at(tap.weight, piece, p))]
                entry += _index(tap.start, tap.steps, p)
                gathers.setdefault((rank, tap.source), []).append(entry)
            entry = [_Made(base + place), *_index(piece.start, piece.steps, p)]
            scatters.setdefault(piece.target, []).append(entry)
        for (_, field), entries in sorted(gathers.items()):
            flat = [n for entry in entries for n in entry]
            self.emit(Op.GATHER, field, self.places[field], len(entries), *flat)
        for field, entries in sorted(scatters.items()):
            flat = [n for entry in entries for n in entry]
            self.store([Op.SCATTER, field, self.places[field], len(entries), *flat])

    def store(self, record: list[Any]) -> None:
        """Add a record that stores values, at the end if all are to be found first."""
        (self.stores if self.staged else self.records).append(record)

    def slab(self, parts: Sequence[Part]) -> None:
        """Write parts in lines that differ in their fields only."""
        pieces = [piece for part in parts for piece in pieces_of(part)]
        e0, e1, length = pieces[0].extents
        size = e0 * e1 * padded(length)
        base = self.space(size * len(pieces))
        places = [base + n * size for n in range(len(pieces))]
        matrices = [
            [self.weight(_slab(entry, pieces[0].extents)) for row in part.matrix for entry in row]
            for part in parts
            if isinstance(part, Mix)
        ]
        if not self._together(parts, pieces, places, matrices):
            for piece, place in zip(pieces, places, strict=True):
                self._values(piece, place, isinstance(parts[0], Mix))
            rest, turns = list(places), iter(matrices)
            for part in parts:
                count = len(pieces_of(part))
                if isinstance(part, Mix):
                    own = [_Made(place) for place in rest[:count]]
                    self.emit(Op.TURN, count, size, *own, *next(turns))
                del rest[:count]
        alone = len(parts) == 1 and isinstance(parts[0], Piece)
        for piece, place in zip(pieces, places, strict=True):
            weight = piece.scaled if alone and piece.scaled is not None else 1.0
            box = (*piece.extents, e1 * padded(length), padded(length))
            where = _flat((piece.start, *piece.steps))
            head = [Op.WRITE, piece.target, self.places[piece.target], _Made(place)]
            self.store([*head, self.weight(weight), *box, *where])

    def _together(
        self,
        parts: Sequence[Part],
        pieces: Sequence[Piece],
        places: Sequence[int],
        matrices: Sequence[Sequence[int]],
    ) -> bool:
        """Write the sums of a group as one instruction, matrices and all, if there is one."""
        op = product_of(self.form, tuple(len(pieces_of(part)) for part in parts))
        found = runs(pieces[0])
        if op is None or len(found) != 1 or not found[0].band or any(map(_lone, pieces)):
            return False
        lines = band(found[0], pieces[0].extents)
        if len(pieces) > 1 and any(s.more for s in lines.stretches):
            return False
        sources = self._sources(lines, [runs(piece)[0] for piece in pieces], pieces[0])
        operands = [x for o, s in zip(places, sources, strict=True) for x in (_Made(o), s)]
        entries = [entry for matrix in matrices for entry in matrix]
        self.emit(op, self.recipe(lines), 0, *operands, *entries)
        return True

    def _values(self, piece: Piece, place: int, mixed: bool) -> None:
        """Write the sum of a piece, into lines in scratch memory."""
        e1, length = piece.extents[1:]
        steps = (e1 * padded(length), padded(length))
        if piece.scaled is not None and not mixed:
            self._read(piece.taps[0], piece, _Made(place), *steps)
            return
        found = runs(piece)
        first = found[0].taps[0].window is None if found else False
        if _lone(piece) or not first:
            first = False
            weight = self._lines(piece.constant, piece)
            self.emit(Op.FILL, _Made(place), weight[0], *piece.extents, *steps, *weight[1:])
        for number, factor in piece.scalars:
            weight = self._lines(factor, piece)
            self.emit(
                Op.SCALE, number, _Made(place), weight[0], *piece.extents, *steps, *weight[1:]
            )
        for run in found:
            if run.band and self.form.bands:
                lines = band(run, piece.extents)
                (source,) = self._sources(lines, [run], piece)
                op = product_of(self.form, (1,))
                assert op is not None
                self.emit(op, self.recipe(lines), int(not first), _Made(place), source)
            else:
                for n, tap in enumerate(run.taps):
                    self._tap(tap, piece, place, steps, first and not n)
            first = False

    def recipe(self, lines: Band) -> _Recipe:
        """Return the recipe of lines; equal ones are one."""
        numbers = [len(lines.stretches)]
        for s in lines.stretches:
            numbers += [s.place, s.weights.shape[1], self.weight(s.weights), s.source, s.more]
        return _Recipe(self.recipes.setdefault(tuple(map(int, numbers)), len(self.recipes)))

    def _sources(self, lines: Band, found: Sequence[Run], piece: Piece) -> list[int]:
        """Write copies of the lines that runs read; return where they are."""
        e0, e1, _ = piece.extents
        size = e0 * e1 * lines.pitch
        layout = len(found), e0 * e1, lines.pitch, lines.room, lines.count
        if layout != self.cleared:
            self.emit(Op.CLEAR, 0, size * len(found))
            self.cleared = layout
        self.sources = max(self.sources, size * len(found))
        for n, run in enumerate(found):
            tap = run.taps[0]
            start = tuple(
                s + lines.first * d for s, d in zip(tap.start, tap.steps[2], strict=True)
            )
            own = replace(tap, start=start, window=None)
            extents = (e0, e1, lines.count)
            place = n * size + lines.room
            self._read(own, replace(piece, extents=extents), place, e1 * lines.pitch, lines.pitch)
        return [n * size for n in range(len(found))]

    def _read(self, tap: Tap, piece: Piece, place: Any, *steps: int) -> None:
        where = _flat((tap.start, *tap.steps))
        field = tap.source
        self.emit(Op.READ, field, self.places[field], place, *piece.extents, *steps, *where)

    def _tap(
        self, tap: Tap, piece: Piece, place: int, steps: tuple[int, int], first: bool
    ) -> None:
        weight, w0, w1 = self._lines(tap.weight, piece)
        part, start, extents = seen(piece, tap)
        if 0 in extents:
            return
        a, b, t = (s.start for s in part)
        made = _Made(place + a * steps[0] + b * steps[1] + t)
        weight += a * w0 + b * w1 + t
        box = (*extents, *steps, w0, w1)
        head = [tap.source, self.places[tap.source], int(first), made, weight]
        self.emit(Op.TAP, *head, *box, *_flat((start, *tap.steps)))

    def _lines(self, number: Number, piece: Piece) -> tuple[int, int, int]:
        """Return the place of a line of weights for each line, and the steps from line to line."""
        whole = spread(number, piece.extents)
        s0, s1, _ = whole.strides
        kept = whole[: 1 if s0 == 0 else None, : 1 if s1 == 0 else None]
        e1, length = kept.shape[1:]
        return self.weight(kept), 0 if s0 == 0 else e1 * length, 0 if s1 == 0 else length


def _lone(piece: Piece) -> bool:
    """Whether more than points goes into a piece."""
    return bool(piece.scalars or np.ndim(piece.constant) or piece.constant)


def _is_last(piece: Piece, dimension: int) -> bool:
    """Whether a copy goes along the last axis, forward or backward, in a loop dimension."""
    return all(
        abs(steps[dimension][-1]) == 1 and not any(steps[dimension][:-1])
        for steps in (piece.steps, piece.taps[0].steps)
    )


def _flat(*indices: Sequence[Index]) -> list[int]:
    """Return indices as a list of integers."""
    return [n for several in indices for index in several for n in index]


def _slab(number: Number, extents: Sequence[int]) -> Array:
    """Return numbers as lines, one after the other, padded by zeros."""
    whole = spread(number, extents)
    room = padded(extents[2]) - extents[2]
    return np.pad(whole, ((0, 0), (0, 0), (0, room)))


def _at(number: Number, piece: Piece, point: Index) -> float:
    """Return the number for one point of a piece."""
    return float(spread(number, piece.extents)[point])


def _within(tap: Tap, point: Index) -> bool:
    if tap.window is None:
        return True
    return all(low <= p < high for p, (low, high) in zip(point, tap.window, strict=True))


def _index(start: Index, steps: Sequence[Index], point: Index) -> list[int]:
    """Return the index of one point of a piece."""
    return [
        s + sum(p * step[axis] for p, step in zip(point, steps, strict=True))
        for axis, s in enumerate(start)
    ]
