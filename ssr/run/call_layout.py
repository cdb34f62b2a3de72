"""Lay out a call: sizes, boxes in a legal order, offsets and strides, as tables of integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import SupportsIndex, TypeAlias

import numpy as np

from ..errors import BoxError
from ..points.boxes import Box
from ..points.numbers import Array, integer
from ..runtime import target
from ..runtime.metadata import BufferMeta, KernelMeta, NestMeta
from ..spaces.space import Space
from .check_arrays import extent_bytes

PLANE = 2**17
"""Elements of a plane up to which the planes that rows read stay in a third-level cache."""

SHARE = 5 / 8
"""Fraction of a second-level cache for such planes, if the third-level cache is far."""

SHORTEST = 32
"""Least rows of a box along the second last axis; smaller boxes would read too much twice."""

Boxes: TypeAlias = Iterable[Iterable[Iterable[SupportsIndex]]]
"""Boxes as users may write them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The integers of a call: shapes of scratch, layout of the arrays, one table for each nest.

    For each function of another package, ``called`` has the layouts of its arrays.
    """

    temporaries: tuple[tuple[int, ...], ...]
    buffers: tuple[int, ...]
    layout: Array
    free: Array
    tables: tuple[Array, ...]
    called: tuple[tuple[tuple[int, ...], ...], ...]


def plan_boxes(
    meta: KernelMeta,
    spaces: Mapping[str, Space],
    sizes: Mapping[str, int],
    arrays: Sequence[tuple[str, Space, Array]],
    boxes: Sequence[Box] | None,
) -> Plan:
    """Return the plan of a call."""
    slabs = {
        name: spaces[of].slab(*lines)
        for name, (of, *lines) in meta.slabs.items()
        if name not in spaces
    }
    spaces = {**spaces, **slabs}
    layout: dict[str, tuple[int, ...]] = {}
    for name, space, a in arrays:
        layout[name] = offsets_of(space, a, sizes)
    shapes = []
    for name, alike in meta.temporaries.items():
        space = spaces[alike]
        shape = space.extent(sizes)
        shapes.append(shape)
        layout[name] = _offsets(space.first(sizes), _c_strides(shape), shape)
    order = [*meta.fields, *meta.temporaries]
    itemsize = max((a.itemsize for _, _, a in arrays), default=8)
    tables, lists = [], []
    for nest in meta.nests:
        whole = spaces[meta.temporaries.get(nest.alike, nest.alike)].box(sizes)
        cut = None if nest.alike in slabs else boxes
        chosen = blocked(whole, nest, itemsize) if cut is None else ordered(cut, whole, nest)
        lists.append(chosen)
        lines = [
            [sizes[s] for s in meta.sizes]
            + [edge for axis in box for edge in axis]
            + [number for name in order for number in layout[name]]
            for box in chosen
        ]
        tables.append(np.array(lines, np.int64))
    buffers = tuple(max(buffer_elements(b, box) for box in lists[b.nest]) for b in meta.buffers)
    given, known = meta.written_first([a for _, _, a in arrays]), [sizes[s] for s in meta.sizes]
    return Plan(
        tuple(shapes),
        buffers,
        layout_of(given, 1, known),
        layout_of(given, 0, known),
        tuple(tables),
        tuple(tuple((*layout[n], 1) for n in call.fields) for call in meta.calls),
    )


def buffer_elements(buffer: BufferMeta, box: Box) -> int:
    """Return the elements that a buffer needs for a box: its rows, or planes."""
    low, high = box[buffer.axis]
    row = buffer.width(high - low)
    plane = 1 if buffer.lines is None else box[-2][1] - box[-2][0] + 2 * buffer.lines
    return buffer.rows * row * plane + (buffer.before if buffer.near > 1 else 0)


def layout_of(arrays: Sequence[Array], apart: int, sizes: Sequence[int] = ()) -> Array:
    """Return the layout with which a kernel compares its arrays (`ssr.runtime.check_layout`).

    It consists of the bytes of each array from its first element to the end of its last, the
    shape and strides of each, and the sizes of the program.
    """
    numbers = [apart * extent_bytes(a) for a in arrays]
    for a in arrays:
        numbers += [*a.shape, *a.strides]
    return np.array([*numbers, *sizes], np.int64)


def _c_strides(shape: Sequence[int]) -> list[int]:
    strides = [1]
    for n in reversed(shape[1:]):
        strides.insert(0, strides[0] * n)
    return strides


def offsets_of(space: Space, array: Array, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the flat offset of index zero of an array, and the strides of all axes but one."""
    strides = [stride // array.itemsize for stride in array.strides]
    return _offsets(space.first(sizes), strides, array.shape)


def _offsets(lower: Sequence[int], strides: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """Return the flat offset of index zero and the strides of all axes but the last."""
    steps = [*strides[:-1], 1]
    return (-sum(low * s for low, s in zip(lower, steps, strict=True)), *steps[:-1])


def blocked(whole: Box, nest: NestMeta, itemsize: int) -> tuple[Box, ...]:
    """Return the rows as boxes whose planes stay in a cache while the outermost index advances.

    Rows are split only if they are independent; results are bitwise independent of boxes. A
    third-level cache that is near is fast enough for all planes except the largest. Otherwise
    planes have to stay in the second-level cache, where a value has ``itemsize`` bytes.
    """
    if nest.earlier != () or nest.along is not None or len(whole) < 3:
        return (whole,)
    (low, high), (first, last) = whole[-2], whole[-1]
    extent, line = high - low, max(last - first, 1)
    rows = max(8, PLANE // line)
    parts = 1 if 2 * extent <= 3 * rows else -(-extent // rows)
    second = target.cache_of(2)
    if nest.planes and second and not target.third_level_is_near():
        near = max(1, int(SHARE * second.size) // (nest.planes * itemsize * line))
        parts = max(parts, min(-(-extent // near), extent // SHORTEST))
    cuts = [low + extent * n // parts for n in range(parts + 1)]
    return tuple((*whole[:-2], cut, whole[-1]) for cut in pairwise(cuts))


def normal(boxes: Boxes) -> tuple[Box, ...]:
    """Return boxes given as any nested sequences of integers as tuples of Python's integers.

    Examples
    --------
    >>> normal([[(0, 2), [0, np.int64(4)]]])
    (((0, 2), (0, 4)),)
    """
    try:
        return tuple(tuple((_edge(low), _edge(high)) for low, high in box) for box in boxes)
    except (TypeError, ValueError):
        raise BoxError(
            f"{boxes!r} is not a sequence of boxes, one pair of integers for each axis."
        ) from None


def _edge(value: object) -> int:
    found = integer(value)
    if found is None:
        raise TypeError
    return found


def ordered(boxes: Sequence[Box], whole: Box, nest: NestMeta) -> tuple[Box, ...]:
    """Return boxes in an order in which every box follows the boxes on which it depends."""
    found = tuple(boxes)
    _check_cover(found, whole)
    if nest.along is not None and any(box[nest.along] != whole[nest.along] for box in found):
        raise BoxError(
            f"The systems for {nest.target!r} cannot be cut along axis {nest.along}.",
            note="Their lines run along this axis, and each is solved as a whole.",
            hint="Cut along other axes.",
        )
    if nest.whole_lines and any(box[-1] != whole[-1] for box in found):
        raise BoxError(
            f"The sweep over {nest.target!r} cannot be cut along its last axis.",
            note="Its recurrence along the line is computed by doubling, for whole lines.",
            hint="Cut along other axes, or use ssr.Options(exact=True).",
        )
    if len(found) == 1 or nest.earlier == ():
        return found
    if nest.earlier is None and nest.fused:
        raise BoxError(
            f"The steps up to {nest.target!r} cannot be cut into boxes.",
            note="They run together, and one overwrites what another reads at other rows, "
            "or has rows where others have none.",
            hint="Use ssr.Options(fuse=False).",
        )
    if nest.earlier is None:
        raise BoxError(
            f"The sweep over {nest.target!r} cannot be cut into boxes.",
            note="Its dependences are not the same for all rows.",
        )
    waits = {
        n: {m for m, other in enumerate(found) if m != n and _needs(box, other, nest.earlier)}
        for n, box in enumerate(found)
    }
    result: list[Box] = []
    while waits:
        ready = [n for n, before in waits.items() if not before & set(waits)]
        if not ready:
            a, b = sorted(waits)[:2]
            raise BoxError(
                f"The sweep over {nest.target!r} cannot run box by box: "
                f"boxes {found[a]} and {found[b]} wait for each other.",
                note=f"rows need the rows at offsets {nest.earlier} before them",
                hint="Cut along the outermost axes only.",
            )
        result.append(found[ready[0]])
        del waits[ready[0]]
    return tuple(result)


def _needs(box: Box, other: Box, offsets: Sequence[Sequence[int]]) -> bool:
    """Whether a row of ``box`` plus an offset lies in ``other``."""
    return any(
        all(
            max(low + o, other_low) < min(high + o, other_high)
            for (low, high), (other_low, other_high), o in zip(box, other, offset, strict=True)
        )
        for offset in offsets
    )


def _check_cover(boxes: Sequence[Box], whole: Box) -> None:
    volume = 0
    for n, box in enumerate(boxes):
        if len(box) != len(whole) or any(
            not low <= a < b <= high for (a, b), (low, high) in zip(box, whole, strict=True)
        ):
            raise BoxError(f"Box {box} is empty or not within the rows {whole}.")
        volume += int(np.prod([b - a for a, b in box]))
        for other in boxes[:n]:
            if _needs(box, other, [(0,) * len(box)]):
                raise BoxError(f"Boxes {other} and {box} overlap.")
    if volume != int(np.prod([b - a for a, b in whole])):
        raise BoxError(
            f"The boxes do not cover all rows {whole}.", hint="Space.split makes a cover."
        )
