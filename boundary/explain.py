"""Fills as text and as pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ssr import ir
from ssr.errors import UnboundError
from ssr.values import show

from .closure import Piece
from .strip import Conflict, Entry, Row, Undefined

if TYPE_CHECKING:
    from .fill import Fill

ENTRIES = 6
"""Entries of a row that are shown."""


def explain_fill(fill: Fill) -> str:
    """Return the regions of ghosts: what they are made of, by which rules."""
    ruled = fill.parts.ruled
    sizes = fill.known_sizes()
    closed = ruled.closed(sizes) if set(sizes) == set(fill.sizes) else ruled.large()
    lines = [repr(fill)]
    lines += [f"  {ruled.frame.region(p.block, p.box)}: {_told(p)}" for p in closed.pieces]
    if len(sizes) < len(fill.sizes):
        lines.append("  for blocks that are not small")
    return "\n".join(lines)


def _told(piece: Piece) -> str:
    match piece.outcome:
        case Undefined(why):
            return why
        case Conflict(origins):
            one, other = origins
            return f"{one}, and {other}, differ"
        case Row(entries, constant, origins):
            terms = [_entry(e) for e in entries[:ENTRIES]]
            terms += [f"... ({len(entries)} terms)"] if len(entries) > ENTRIES else []
            terms += [show(c) for c in dict.fromkeys(constant) if c != ir.ZERO]
            rules = ", ".join(dict.fromkeys(o.rule.text for o in origins))
            return f"{' + '.join(terms) or '0'}   [{rules}]"
    raise AssertionError(piece)


def _entry(entry: Entry) -> str:
    place = ", ".join([f"block {entry.block}", *map(str, entry.index)])
    parts = [] if entry.weight == ir.ONE else [show(entry.weight)]
    parts += [] if entry.mix is None else ["matrix"]
    return " * ".join([*parts, f"u[{place}]"])


def draw_fill(fill: Fill, axes: Any, block: int | None) -> Any:
    """Draw the ghosts of blocks of two dimensions, and what they are made of."""
    from .draw_ghosts import draw_ghosts

    sizes = fill.known_sizes()
    missing = [n for n in fill.sizes if n not in sizes]
    if missing:
        raise UnboundError(
            f"No value is given for the size {missing[0]}.",
            hint=f"Draw fill.bind({missing[0]}=...).",
        )
    shape = tuple(n.evaluate(sizes) for n in fill.parts.ruled.frame.shape)
    rows = [row for row in _ghosts(fill, sizes) if block is None or row[0] == block]
    return draw_ghosts(shape, rows, links=fill.parts.ruled.frame.links, ax=axes)


def _ghosts(fill: Fill, sizes: dict[str, int]) -> Iterator[Any]:
    """Yield every ghost that is defined, with its rule and what it reads."""
    ruled = fill.parts.ruled
    definition = ruled.definition(sizes, fill.parts.components or 1)
    for piece in ruled.closed(sizes).pieces:
        if isinstance(piece.outcome, Row):
            names = ", ".join(dict.fromkeys(o.rule.text for o in piece.outcome.origins))
            edges = [(a.evaluate(sizes), b.evaluate(sizes)) for a, b in piece.box]
            for index in _points(edges):
                value = definition.at(piece.block, index)
                if value is not None:
                    reads = [(b, i, float(m[0, 0])) for (b, i), m in value.matrices.items()]
                    yield piece.block, index, names, reads, float(value.constant[0])


def _points(edges: list[tuple[int, int]]) -> Iterator[tuple[int, ...]]:
    from itertools import product

    yield from product(*(range(low, high) for low, high in edges))
