"""Translation of ghost pieces into bytecode and a table of weights.

Pieces that scale one source point become copy instructions. Narrow copies along the last axis, the
ghost columns of rows, are combined into one pass over the rows. All other values are computed line
by line in scratch memory and stored from there. If a piece reads neighbours along a line, as
interpolation does, the source line is first copied to scratch memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ssr.extension import Layout, Tables

from .assembler import Assembler, lone
from .lines import along, band, cut_part, lined, padded, pieces_of, runs
from .machine import Form
from .mutual import Mutual, Occupied, mutual
from .pieces import AnyPiece, Index, Number, Piece, Tap, VectorPiece

ROOM = 4096
"""The largest number of values computed in one block of lines, unless a single line has more."""

FEW = 8
"""The largest number of points of a piece that is computed point by point."""

GROUP = 4
"""The largest number of values that are computed in one pass over the same neighbours."""


def assemble(
    parts: Iterable[AnyPiece],
    form: Form,
    layouts: Sequence[Layout],
    dtype: Any = np.float64,
    *,
    staged: bool = False,
    homes: Sequence[int] | None = None,
) -> Tables:
    """Return the tables that compute some pieces."""
    program = Assembler(form, layouts, np.dtype(dtype), staged, homes)
    copies, shared, together, few, rest = _sorted(parts, staged)
    assert form.lines or not (few or rest), "the form is that of other parts"
    rest = [*(p for m in together if not program.has_mutual(m) for p in m.pieces), *rest]
    together = [m for m in together if program.has_mutual(m)]
    if form.lines:
        known = [program.has_lane(piece.target, piece.taps[0].source) for piece in copies]
        rest = [*(p for p, k in zip(copies, known, strict=True) if not k), *rest]
        copies = [p for p, k in zip(copies, known, strict=True) if k]
    if not form.shared:
        shared, rest = [], [*shared, *rest]
    program.copies(copies)
    program.shared(sorted(shared, key=lambda piece: piece.target))
    program.mutual(together)
    program.points(few)
    for group in _groups(rest):
        for slab in _slabs(group):
            program.slab(slab)
    return program.finish()


def form_of(
    parts: Iterable[AnyPiece],
    fields: int,
    scalars: int = 0,
    *,
    staged: bool = False,
    broad: bool = False,
) -> Form:
    """Return the form of the machine that some pieces, or any parts of them (broad), require.

    A part of a piece may be a few points, or a line of them, where the whole is many lines.
    """
    copies, shared, together, few, rest = _sorted(parts, staged)
    if broad:
        rest, together = [*(piece for m in together for piece in m.pieces), *rest], []
    groups, vectors = set[tuple[int, ...]](), set[int]()
    for group in _groups(rest):
        shape = tuple(len(pieces_of(part)) for part in group)
        vectors |= {n for n in shape if n > 1}
        groups |= {(1,), shape} if broad else set(map(partial(_summed, shape), _slabs(group)))
    pairs = {(piece.target, piece.taps[0].source) for piece in copies}
    across = tuple(sorted(pair for pair in pairs if pair[0] != pair[1]))
    return Form(
        fields,
        scalars,
        groups=tuple(sorted(groups - {()})),
        vectors=tuple(sorted(vectors)),
        pairs=across,
        copies=len(across) < len(pairs),
        lines=bool(few or rest or (broad and shared)),
        shared=bool(shared),
        mutual=tuple(sorted({m.fields for m in together})),
    )


def _summed(shape: tuple[int, ...], lines: Sequence[AnyPiece]) -> tuple[int, ...]:
    """Return the group of values for which neighbours on lines are summed; empty without bands."""
    pieces = [piece for part in lines for piece in pieces_of(part)]
    found = runs(pieces[0])
    bands = [band(run, pieces[0].extents) for run in found if run.band]
    long = any(s.more for lines in bands for s in lines.stretches)
    if not bands:
        return ()
    return (1,) if long or any(map(lone, pieces)) or len(found) > 1 else shape


def _sorted(
    parts: Iterable[AnyPiece], staged: bool
) -> tuple[list[Piece], list[Piece], list[Mutual], list[Piece], list[AnyPiece]]:
    """Return the copies, shared points, lines of mutual sums, few points, and the other parts."""
    copies: list[Piece] = []
    shared: list[Piece] = []
    few: list[Piece] = []
    rest: list[AnyPiece] = []
    for part in _merged(parts):
        if any(n <= 0 for n in pieces_of(part)[0].extents):
            continue
        if isinstance(part, VectorPiece):
            rest.append(part)
        elif part.scaled is not None:
            for field, start, steps in part.places:
                one = replace(part, target=field, start=start, steps=steps, also=())
                (rest if staged else copies).append(one)
        else:
            (few if part.taps and math.prod(part.extents) <= FEW else rest).append(part)
    together: list[Mutual] = []
    if staged:
        everything = [*few, *rest]
        whole = Occupied(everything)
        two = [part for part in everything if isinstance(part, Piece) and _shared(part)]
        shared = [piece for piece in two if whole.are_apart([piece])]
        known = set(map(id, shared))
        few = [piece for piece in few if id(piece) not in known]
        rest = [part for part in rest if id(part) not in known]
        together, rest = mutual(rest, whole)
    return copies, shared, together, few, rest


def _shared(piece: Piece) -> bool:
    """Whether a piece sets two points to one weighted sum of both."""
    plain = not lone(piece) and not any(map(np.ndim, _numbers(piece)))
    read = [(tap.source, tap.start, tap.steps) for tap in piece.taps if tap.window is None]
    two = len(piece.taps) == len(read) == 2 and read[0] != read[1]
    return plain and two and sorted(read) == sorted(piece.places) and read[0][0] == read[1][0]


def _merged(parts: Iterable[AnyPiece]) -> list[AnyPiece]:
    """Return the parts after parts with equal values, forward or backward, are merged."""
    found: dict[object, AnyPiece] = {}
    for part in parts:
        key: object = id(part)
        if isinstance(part, Piece) and not any(map(np.ndim, _numbers(part))):
            part = _forward(part)
            taps = tuple((t.source, t.start, t.steps, t.window) for t in part.taps)
            bits = np.array(_numbers(part), np.float64).tobytes()
            key = part.extents, taps, bits, tuple(n for n, _ in part.scalars)
        known = found.setdefault(key, part)
        if known is not part:
            assert isinstance(known, Piece)
            assert isinstance(part, Piece)
            found[key] = replace(known, also=(*known.also, *part.places))
    return list(found.values())


def _numbers(piece: Piece) -> list[Number]:
    """Return all numbers of a piece."""
    factors = [factor for _, factor in piece.scalars]
    return [piece.constant, *factors, *(tap.weight for tap in piece.taps)]


def _forward(piece: Piece) -> Piece:
    """Return a piece without loops of one point, with loops in the direction of the first tap."""
    if any(tap.window is not None for tap in piece.taps):
        return piece
    long = [d for d, n in enumerate(piece.extents) if n > 1]
    ahead = piece.taps[0].steps if piece.taps else piece.steps
    back = [d for d in long if next((s for s in ahead[d] if s), 0) < 0]
    if not back and len(long) == len(piece.extents):
        return piece

    def turned(start: Index, steps: tuple[Index, ...]) -> tuple[Index, tuple[Index, ...]]:
        for d in back:
            last = piece.extents[d] - 1
            start = tuple(s + last * step for s, step in zip(start, steps[d], strict=True))
        return start, tuple(tuple(-s if d in back else s for s in steps[d]) for d in long)

    taps = []
    for tap in piece.taps:
        start, steps = turned(tap.start, tap.steps)
        taps.append(Tap(tap.source, start, steps, tap.weight, tap.window))
    (_, start, steps), *also = ((f, *turned(first, given)) for f, first, given in piece.places)
    extents = tuple(piece.extents[d] for d in long)
    return replace(
        piece, start=start, steps=steps, extents=extents, taps=tuple(taps), also=tuple(also)
    )


def _groups(parts: Sequence[AnyPiece]) -> list[list[AnyPiece]]:
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
        fields = list(dict.fromkeys(tap.source for tap in piece.taps))
        taps = tuple(
            (fields.index(t.source), t.start, t.steps, t.window, number(t.weight))
            for t in piece.taps
        )
        return piece.start, piece.steps, piece.extents, taps, tuple(p[1:] for p in piece.also)

    groups: dict[object, list[list[AnyPiece]]] = {}
    for part in parts:
        pieces = pieces_of(part)
        single = any(map(lone, pieces)) or (isinstance(part, Piece) and part.scaled is not None)
        found = groups.setdefault(id(part) if single else key(pieces[0]), [[]])
        if sum(len(pieces_of(p)) for p in found[-1]) + len(pieces) > GROUP and found[-1]:
            found.append([])
        found[-1].append(part)
    return [
        sorted(group, key=lambda part: len(pieces_of(part)))
        for several in groups.values()
        for group in several
    ]


def _slabs(group: Sequence[AnyPiece]) -> Iterator[list[AnyPiece]]:
    """Yield a group as slabs of lines, whose values fit in scratch memory."""
    inner = along(pieces_of(group[0])[0])
    for parts in zip(*(lined(part, inner) for part in group), strict=True):
        count, length = pieces_of(parts[0])[0].extents
        most = max(1, ROOM // padded(length))
        for a in range(0, count, most):
            yield [cut_part(p, 0, a, min(a + most, count)) for p in parts]
