"""The layout and alias check of kernels: refuse other layouts and overlapping memory.

A kernel is prepared for arrays of one layout, and may be called with any arrays. It records the
layout of its arguments, and a function that all kernels share compares it with the expected one.
When the comparisons were part of each kernel, LLVM needed more time for them than for the loops of
a small kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..points.numbers import Array
from .intrinsics import Memory


def refused(arrays: Sequence[Memory], layout: Array, written: int) -> bool:
    """Whether a kernel refuses arrays, because of another layout or shared memory."""
    given, behind = [a.array for a in arrays], len(arrays)
    forms = [number for a in given for number in (*a.shape, *a.strides)]
    meant, starts = list(layout[behind : behind + len(forms)]), [a.ctypes.data for a in given]
    astray = any(start % a.itemsize for start, a in zip(starts, given, strict=True))
    return astray or forms != meant or meet(starts, layout[:behind], written)


def meet(starts: Sequence[int], lengths: Iterable[int], written: int) -> bool:
    """Whether the memory of the first ``written`` arrays overlaps that of another array.

    >>> meet((100, 140, 120), (20, 20, 20), 1), meet((100, 140, 120), (20, 20, 21), 2)
    (False, True)
    """
    edges = [(start, start + length) for start, length in zip(starts, lengths, strict=True)]
    return any(
        edges[n][0] < stop and begin < edges[n][1]
        for n in range(written)
        for begin, stop in edges[n + 1 :]
    )
