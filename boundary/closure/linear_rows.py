"""The linear part of a set of rules as a generator of rows, for `ssr.matrix`.

It is a definition of a matrix like those of users: it is run on symbols to make families of
entries, and on integers to make a SciPy matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from inspect import Parameter, Signature
from typing import Any, TypeAlias

from ssr import Index
from ssr.extension import AXES, Affine, affine, ir

from ..grid.frame import Block
from .ruled import Ruled

Entries: TypeAlias = list[tuple[int, tuple[Any, ...], float]]
"""Blocks, owned points in them, and weights."""


def linear_rows(
    ruled: Ruled, rows: int = 0, cols: int = 0
) -> Callable[..., Iterator[tuple[Any, float]]]:
    """Return the row generator of rules whose weights are numbers, between two kinds of blocks.

    It follows the rules from ghost to ghost by conditions on indices and sizes, so that the matrix
    is right for blocks of any size. Ghosts that no rule defines have empty rows; those that two
    rules define differently have the row of the first.
    """
    frame = ruled.frame

    def fill(*point: Any) -> Iterator[tuple[Any, float]]:
        index, block = point, 0
        if frame.gridded:
            block = next(b for at, b in enumerate(frame.kinds[rows]) if point[0] == at)
            index = point[1:]
        for number, source, weight in _followed(ruled, block, index, None) or ():
            kind, _ = frame.places[number]
            if kind == cols:
                place = frame.point(number, source)
                yield (place if len(place) > 1 else place[0]), weight

    names = AXES[frame.ndim + frame.gridded]
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    fill.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return fill


def _followed(
    ruled: Ruled, block: int, index: Sequence[Any], before: Any, turns: int = 0
) -> Entries | None:
    """Return the owned points that a point is made of, with weights; None if it is undefined.

    Ghosts come nearer to the owned points from each to the next: they are as far as the one
    ``before`` only where a block of one point is reflected about that point, which may happen once
    for each axis in a row. If it happens more often, or a ghost is farther, rules read each other
    in a circle.
    """
    frame = ruled.frame
    points = frame.blocks[block]
    out = [_place(points, axis, x) for axis, x in enumerate(index)]
    if not any(out):
        return [(block, tuple(index), 1.0)]
    distance = sum(
        _distance(points, axis, x, place)
        for axis, (x, place) in enumerate(zip(index, out, strict=True))
    )
    turns = 0 if before is None or distance < before else turns + 1
    if turns > frame.ndim or (turns and distance > before):
        return None
    for strip in ruled.strips:
        side = strip.side
        if side.block != block or out[side.axis] != (1 if side.end == "high" else -1):
            continue
        if not strip.extends and sum(map(abs, out)) > 1:
            continue
        if not all(
            Index(low) <= index[axis] and index[axis] < Index(high)
            for axis, low, high in strip.bounds
        ):
            continue
        where = dict(zip(frame.axes, map(affine, index), strict=True))
        found: Entries = []
        for entry in strip.row.entries:
            assert isinstance(entry.weight, ir.Const)
            source = tuple(_index(a.substitute(where)) for a in entry.index)
            more = _followed(ruled, entry.block, source, distance, turns)
            if more is None:
                break
            found += [(b, place, entry.weight.value * w) for b, place, w in more]
        else:
            return found
    return None


def _place(block: Block, axis: int, x: Any) -> int:
    """Return whether an index lies before (-1), within (0) or behind (1) the owned points."""
    if x < block.first[axis]:
        return -1
    return int(bool(x >= Index(block.stop(axis))))


def _distance(block: Block, axis: int, x: Any, place: int) -> Any:
    """Return how many layers an index lies outside the owned points."""
    if not place:
        return 0
    return block.first[axis] - x if place < 0 else x - Index(block.stop(axis)) + 1


def _index(expression: Affine) -> Any:
    return expression.constant if expression.is_constant else Index(expression)
