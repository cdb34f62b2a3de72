"""The ghost rows of a fill as text and as drawings: rules, source points and weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from ssr.errors import ArgumentError
from ssr.extension import integer, ir, show

from ..closure.closure import Region
from ..closure.ruled import Ruled
from ..drawing.draw_ghosts import draw_ghosts
from ..grid.boxes import Box
from ..grid.frame import Frame
from ..rules.rows.affine_rows import Conflict, Entry, Row, Undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENTRIES = 6
"""The largest number of entries of a row that are printed."""


def explain_ghosts(ruled: Ruled, sizes: Mapping[str, int]) -> list[str]:
    """Return a line for each region of ghosts: the terms of their rows, and their rules.

    If a size has no value, the regions are those of blocks that are not small.
    """
    complete = set(sizes) == set(ruled.frame.sizes)
    closure = ruled.closed(sizes) if complete else ruled.large()
    lines = [
        f"  {ruled.frame.region(region.block, region.box)}: {_described(region, ruled.frame)}"
        for region in closure.regions
    ]
    return lines if complete else [*lines, "  for blocks that are not small"]


def _described(region: Region, frame: Frame) -> str:
    """Return the outcome of a region of ghosts as text."""
    match region.outcome:
        case Undefined(why):
            return why
        case Conflict(origins):
            one, other = origins
            return f"{one.described(frame)}, and {other.described(frame)}, differ"
        case Row(entries, constant, origins):
            terms = [_entry(e, frame) for e in entries[:ENTRIES]]
            terms += [f"... ({len(entries)} terms)"] if len(entries) > ENTRIES else []
            terms += [show(c) for c in dict.fromkeys(constant) if c != ir.ZERO]
            rules = ", ".join(dict.fromkeys(o.rule for o in origins))
            return f"{' + '.join(terms) or '0'}   [{rules}]"
    raise AssertionError(region)


def _entry(entry: Entry, frame: Frame) -> str:
    """Return a term of the sum that defines a ghost."""
    block = [f"block {entry.block}"] if frame.gridded else []
    place = ", ".join([*block, *map(str, entry.index)])
    factors = [] if entry.weight == ir.ONE else [show(entry.weight)]
    factors += [] if entry.mix is None else ["matrix"]
    return " * ".join([*factors, f"u[{place}]"])


def draw_regions(
    ruled: Ruled, sizes: Mapping[str, int], components: int, block: int | None, ax: Axes | None
) -> Axes:
    """Draw the ghosts of a two-dimensional block, or of all, and the points that they read."""
    frame = ruled.frame
    if block is not None and integer(block) not in range(len(frame.blocks)):
        raise ArgumentError(
            f"There are {len(frame.blocks)} blocks, and {block!r} is not one of them."
        )
    shapes = [points.inner(sizes) for points in frame.blocks]
    rows = [row for row in _rows(ruled, sizes, components) if block is None or row[0] == block]
    return draw_ghosts(shapes, rows, links=frame.links, ax=ax)


def _rows(ruled: Ruled, sizes: Mapping[str, int], components: int) -> Iterator[Any]:
    """Yield every defined ghost with its rules, its entries and its constant."""
    definition = ruled.definition(sizes, components)
    for region in ruled.closed(sizes).regions:
        if isinstance(region.outcome, Row):
            rules = ", ".join(dict.fromkeys(o.rule for o in region.outcome.origins))
            for index in _points(region.box, sizes):
                value = definition.at(region.block, index)
                if value is not None:
                    reads = [(b, i, float(m[0, 0])) for (b, i), m in value.matrices.items()]
                    yield region.block, index, rules, reads, float(value.constant[0])


def _points(box: Box, sizes: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
    """Yield the points of a box for given sizes."""
    yield from product(*(range(a.evaluate(sizes), b.evaluate(sizes)) for a, b in box))
