"""Distribution of ghost fills over subdomains: the points that each box computes, and its reads.

A piece covers the whole grid. A box computes the points of the piece that lie in its own memory.
Each tap then reads a box of points of its source, which may lie anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ssr.extension import Array

from ...tables.lines import cut_part, pieces_of
from ...tables.pieces import AnyPiece, Piece, VectorPiece
from ..partition.boxes import Box, as_box, filled


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """The part of a piece that some subdomains compute.

    Attributes
    ----------
    part
        The whole piece, with one target.
    boxes
        The numbers of the subdomains that compute some of its points.
    ranges
        For each of these subdomains the ranges of the loops, shape (boxes, loops, 2).
    """

    part: AnyPiece
    boxes: Array
    ranges: Array

    def reads(self) -> Iterator[tuple[int, Array]]:
        """Yield fields, each with the points that are read, shape (taps, boxes, axes, 2).

        A field may come several times.
        """
        first, *_ = pieces = pieces_of(self.part)
        found = read_by(first, self.ranges)
        for piece in pieces:
            sources = np.array([tap.source for tap in piece.taps], np.int64)
            for source in dict.fromkeys(sources.tolist()):
                yield source, found[sources == source]

    def read(self, place: int) -> list[Box | None]:
        """Return the box that each tap reads for one subdomain; None where it reads nothing."""
        found = read_by(pieces_of(self.part)[0], self.ranges[place : place + 1])[:, 0]
        some = filled(found).tolist()
        return [as_box(box) if reads else None for box, reads in zip(found, some, strict=True)]

    def of(self, place: int) -> AnyPiece:
        """Return the part that one of the subdomains computes, by its position among them."""
        part = self.part
        extents = pieces_of(part)[0].extents
        for dimension, (low, high) in enumerate(self.ranges[place].tolist()):
            if (low, high) != (0, extents[dimension]):
                part = cut_part(part, dimension, low, high)
        return part


def apart(part: AnyPiece) -> Iterator[AnyPiece]:
    """Yield a part as parts with one target."""
    if isinstance(part, VectorPiece) or not part.also:
        yield part
        return
    for field, start, steps in part.places:
        yield replace(part, target=field, start=start, steps=steps, also=())


def shared(part: AnyPiece, room: Sequence[Array]) -> Share | None:
    """Return the shares of the subdomains in a part; None if all are empty."""
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


def read_by(piece: Piece, ranges: Array) -> Array:
    """Return the smallest boxes around the points that each tap reads for ranges of the loops.

    The box is empty where the window of the tap excludes all points of the range.
    """
    taps, loops, axes = len(piece.taps), len(piece.extents), len(piece.start)
    whole = tuple((0, n) for n in piece.extents)
    windows = np.array([tap.window or whole for tap in piece.taps], np.int64)
    windows = windows.reshape(taps, 1, loops, 2)
    low = np.maximum(ranges[..., 0], windows[..., 0])
    high = np.minimum(ranges[..., 1], windows[..., 1])
    some = (low < high).all(axis=-1)
    steps = np.array([tap.steps for tap in piece.taps], np.int64).reshape(taps, 1, loops, axes)
    start = np.array([tap.start for tap in piece.taps], np.int64).reshape(taps, 1, axes)
    first, last = low[..., None] * steps, (high - 1)[..., None] * steps
    begin = start + np.minimum(first, last).sum(axis=-2)
    end = start + np.maximum(first, last).sum(axis=-2) + 1
    found: Array = np.stack([begin, end], axis=-1)
    found[~some] = 0
    return found


def homed(part: AnyPiece, target: Sequence[int], sources: Sequence[Sequence[int]]) -> AnyPiece:
    """Return a part whose fields are numbers of storages."""
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
