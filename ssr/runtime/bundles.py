"""Bundles: SIMD batches that hold one value for each of several neighboring lines.

In machine code a bundle is a vector register. Operations on bundles, or on a bundle and a number,
are elementwise. Line buffers store consecutive bundles; ``take`` and ``put`` access them at a flat
offset, ``gather`` and ``scatter`` copy points of lines from and to arrays. In plain Python a bundle
is an array.
"""

from __future__ import annotations

import numpy as np

from ..kernel.operations import BUNDLE
from ..points.numbers import Array
from .intrinsics import Memory, Value, ld, st


def width(itemsize: int) -> int:
    """Return the number of lines of a bundle, given the bytes of a value."""
    return BUNDLE // itemsize


def take(lines: Memory, place: int) -> Array:
    """Return the bundle at an offset of a line buffer."""
    return np.array([ld(lines, place + n) for n in range(width(lines.array.itemsize))])


def put(lines: Memory, place: int, value: Value) -> None:
    """Store a bundle, or a number for all of its lines."""
    count = width(lines.array.itemsize)
    for n, number in enumerate(np.broadcast_to(value, (count,))):
        st(lines, place + n, number)


def gather(
    lines: Memory, place: int, step: int, array: Memory, start: int, along: int, across: int,
    count: int, many: int,
) -> None:  # fmt: skip
    """Copy points of ``many`` lines to a line buffer, padded with copies of the last line."""
    for n in range(count):
        for lane in range(width(lines.array.itemsize)):
            source = start + n * along + min(lane, many - 1) * across
            st(lines, place + n * step + lane, ld(array, source))


def scatter(
    lines: Memory, place: int, step: int, array: Memory, start: int, along: int, across: int,
    count: int, many: int,
) -> None:  # fmt: skip
    """Copy points of ``many`` lines of a line buffer to an array; see `gather`."""
    for n in range(count):
        for lane in range(many):
            value = ld(lines, place + n * step + lane)
            st(array, start + n * along + lane * across, value)
