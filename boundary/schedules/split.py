"""Pieces of fills, box by box: which points a box makes itself, and what it reads for them.

A piece is for the whole. A box makes the points of it that lie in its own memory; each tap then
reads a box of points of its source, which may lie anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ssr.extension import Array

from ..partition.boxes import Box, as_box
from ..tables.lines import cut_part, pieces_of
from ..tables.pieces import AnyPiece, Tap, VectorPiece


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """The part of a piece that some boxes make.

    Attributes
    ----------
    part
        The whole piece, with one place for its values.
    boxes
        The numbers of the boxes that make some of its points.
    ranges
        For each of these boxes the ranges of the loops, shape (boxes, loops, 2).
    """

    part: AnyPiece
    boxes: Array
    ranges: Array

    def taps(self) -> Iterator[tuple[Tap, Array]]:
        """Yield the taps, each with the points that each box reads, as an array of boxes."""
        for piece in pieces_of(self.part):
            for tap in piece.taps:
                yield tap, read_by(tap, self.ranges)

    def of(self, place: int) -> AnyPiece:
        """Return the part that one of the boxes makes, by its place among them."""
        part = self.part
        for dimension, (low, high) in enumerate(self.ranges[place].tolist()):
            part = cut_part(part, dimension, low, high)
        return part


def apart(part: AnyPiece) -> Iterator[AnyPiece]:
    """Yield a part as parts with one place for their values."""
    if isinstance(part, VectorPiece) or not part.also:
        yield part
        return
    for field, start, steps in part.places:
        yield replace(part, target=field, start=start, steps=steps, also=())


def shared(part: AnyPiece, room: Sequence[Array]) -> Share | None:
    """Return which boxes make which points of a part; None if none does.

    Parameters
    ----------
    part
        A part with one place for its values.
    room
        For each field the points that each box may make, as an array of boxes.
    """
    first = pieces_of(part)[0]
    made = room[first.target]
    ranges = np.zeros((len(made), len(first.extents), 2), np.int64)
    ranges[..., 1] = first.extents
    fits = np.ones(len(made), bool)
    for axis, start in enumerate(first.start):
        moving = [d for d, step in enumerate(first.steps) if step[axis]]
        low, high = made[:, axis, 0], made[:, axis, 1]
        if not moving or all(first.extents[d] == 1 for d in moving):
            fits &= (low <= start) & (start < high)
            continue
        (dimension,) = moving
        step = first.steps[dimension][axis]
        if step > 0:
            begin, end = -((start - low) // step), -((start - high) // step)
        else:
            begin, end = (start - high) // -step + 1, (start - low) // -step + 1
        ranges[:, dimension, 0] = np.maximum(ranges[:, dimension, 0], begin)
        ranges[:, dimension, 1] = np.minimum(ranges[:, dimension, 1], end)
    fits &= (ranges[..., 0] < ranges[..., 1]).all(axis=1)
    boxes = np.flatnonzero(fits)
    return Share(part, boxes, ranges[boxes]) if boxes.size else None


def read_by(tap: Tap, ranges: Array) -> Array:
    """Return the smallest boxes around what a tap reads for ranges of the loops.

    Where a box reads nothing, since the tap is for others of the points, its box is empty.
    """
    low, high = ranges[..., 0], ranges[..., 1]
    if tap.window is not None:
        window = np.array(tap.window, np.int64).reshape(-1, 2)
        low, high = np.maximum(low, window[:, 0]), np.minimum(high, window[:, 1])
    some = (low < high).all(axis=1)
    steps = np.array(tap.steps, np.int64).reshape(-1, len(tap.start))
    start = np.array(tap.start, np.int64)
    first, last = low[:, :, None] * steps, (high - 1)[:, :, None] * steps
    begin = start + np.minimum(first, last).sum(axis=1)
    end = start + np.maximum(first, last).sum(axis=1) + 1
    found: Array = np.stack([begin, end], axis=-1)
    found[~some] = 0
    return found


def homed(part: AnyPiece, target: Sequence[int], sources: Sequence[Sequence[int]]) -> AnyPiece:
    """Return a part whose fields are numbers of storages.

    Parameters
    ----------
    part
        The part that one box makes.
    target
        The storage of the target of each of its pieces.
    sources
        The storage that each tap of each of its pieces reads.
    """
    pieces = tuple(
        replace(
            piece,
            target=here,
            taps=tuple(
                replace(tap, source=there) for tap, there in zip(piece.taps, homes, strict=True)
            ),
        )
        for piece, here, homes in zip(pieces_of(part), target, sources, strict=True)
    )
    return VectorPiece(pieces, part.matrix) if isinstance(part, VectorPiece) else pieces[0]


def box_read(tap: Tap, extents: Sequence[int]) -> Box | None:
    """Return the smallest box around what a tap reads; None if it reads nothing."""
    ranges = np.array([[(0, n) for n in extents]], np.int64).reshape(1, -1, 2)
    (found,) = read_by(tap, ranges)
    if (found[:, 0] >= found[:, 1]).any():
        return None
    return as_box(found)
