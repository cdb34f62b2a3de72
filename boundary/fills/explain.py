"""Fills as text and as pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

import ssr
from ssr.errors import ArgumentError, UnboundError
from ssr.extension import folded, integer, ir, show

from ..closure.closure import Piece
from ..grid.frame import Frame
from ..rules.rows import Conflict, Entry, Row, Undefined
from ..tables.ghosts import Ghosts
from ..tables.lines import pieces_of
from ..tables.pieces import Piece as Made
from ..tables.pieces import seen

if TYPE_CHECKING:
    from .fill import Fill

ENTRIES = 6
"""Entries of a row that are shown."""


def explain(program: ssr.Program, **sizes: int) -> str:
    """Return how a program makes ghosts: at which steps, how many, and what was spared.

    Counted are ghosts that the program does not read and does not make, those that are constant and
    written once, calls that were joined to one, and weights that are stored once though several
    ghosts use them. Ghosts that are folded are read as what they are made of, and not stored.

    Parameters
    ----------
    **sizes
        Values of the symbolic sizes.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(4, 6)
    >>> fill = bc.fill(cells.grow(1), bc.periodic())
    >>> mean = ssr.stencil(cells, cells.grow(1), {(0, -1): 0.5, (0, 1): 0.5})
    >>> @ssr.program(u=cells, v=cells)
    ... def step(u, v):
    ...     u[:] = mean @ (fill @ u) + mean @ (fill @ v)
    >>> print(bc.explain(step))
    program step
      fill(periodic()) for t, t_1
        2 calls joined to 1
        16 of 48 ghosts are made, nobody reads the others
        1 weight is stored for 16 uses
    """
    if not isinstance(program, ssr.Program):
        raise ArgumentError(
            f"bc.explain takes a program, not {type(program).__name__}.",
            hint="A fill by itself is explained by fill.explain().",
        )
    lines = [f"program {program.ir.name}"]
    gone = folded(program.ir, program.options)
    for step in program.ir.steps:
        if isinstance(step, ir.Call) and isinstance(step.external, Ghosts):
            ghosts = step.external
            lines.append(f"  {ghosts.name} for {', '.join(step.fields)}")
            if len(ghosts.members) > 1:
                lines.append(f"    {len(ghosts.members)} calls joined to 1")
            made, known = _made(ghosts, sizes), _every(ghosts, sizes)
            if step.name in gone:
                are = "is" if len(step.fields) == 1 else "are"
                rest = f"{', '.join(step.fields)} {are} not stored"
                made += _count(ghosts.standing(sizes))
                lines.append(f"    {made} of {known} ghosts are folded, {rest}")
                continue
            rest = "all" if made == known else "nobody reads the others"
            lines.append(f"    {made} of {known} ghosts are made, {rest}")
            standing = _count(ghosts.standing(sizes))
            if standing:
                lines.append(f"    {standing} more are constant and written once")
            stored, uses = _weights(ghosts, sizes)
            noun = "weight is" if stored == 1 else "weights are"
            lines.append(f"    {stored} {noun} stored for {uses} uses")
    if len(lines) == 1:
        lines.append("  makes no ghosts")
    return "\n".join(lines)


def _made(ghosts: Ghosts, sizes: Mapping[str, int]) -> int:
    """Return how many ghosts a step makes."""
    return _count(p for part in ghosts.parts(sizes) for p in pieces_of(part))


def _count(pieces: Iterable[Made]) -> int:
    """Return how many points pieces make."""
    return sum(prod(p.extents) * len(p.places) for p in pieces)


def _every(ghosts: Ghosts, sizes: Mapping[str, int]) -> int:
    """Return how many ghosts its fields have."""
    return sum(prod(w.extent(sizes)) - prod(o.extent(sizes)) for o, w in ghosts.fields)


def _weights(ghosts: Ghosts, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return how many different weights a step has, and how often they are used."""
    stored: set[str] = set()
    uses = 0
    for part in ghosts.parts(sizes):
        for piece in pieces_of(part):
            for tap in piece.taps:
                inside, _, extents = seen(piece, tap)
                whole = np.broadcast_to(np.asarray(tap.weight), piece.extents)[inside]
                stored |= set(map(repr, np.unique(whole).tolist()))  # one for all NaN
                uses += prod(extents)
    return len(stored), uses


def explain_fill(fill: Fill) -> str:
    """Return the regions of ghosts: what they are made of, by which rules."""
    ruled = fill.parts.ruled
    sizes = fill.known_sizes()
    closed = ruled.closed(sizes) if set(sizes) == set(fill.sizes) else ruled.large()
    lines = [repr(fill)]
    lines += [
        f"  {ruled.frame.region(p.block, p.box)}: {_told(p, ruled.frame)}" for p in closed.pieces
    ]
    if len(sizes) < len(fill.sizes):
        lines.append("  for blocks that are not small")
    return "\n".join(lines)


def _told(piece: Piece, frame: Frame) -> str:
    match piece.outcome:
        case Undefined(why):
            return why
        case Conflict(origins):
            one, other = origins
            return f"{one.told(frame)}, and {other.told(frame)}, differ"
        case Row(entries, constant, origins):
            terms = [_entry(e, frame) for e in entries[:ENTRIES]]
            terms += [f"... ({len(entries)} terms)"] if len(entries) > ENTRIES else []
            terms += [show(c) for c in dict.fromkeys(constant) if c != ir.ZERO]
            rules = ", ".join(dict.fromkeys(o.rule.text for o in origins))
            return f"{' + '.join(terms) or '0'}   [{rules}]"
    raise AssertionError(piece)


def _entry(entry: Entry, frame: Frame) -> str:
    block = [f"block {entry.block}"] if frame.gridded else []
    place = ", ".join([*block, *map(str, entry.index)])
    parts = [] if entry.weight == ir.ONE else [show(entry.weight)]
    parts += [] if entry.mix is None else ["matrix"]
    return " * ".join([*parts, f"u[{place}]"])


def draw_fill(fill: Fill, axes: Any, block: int | None) -> Any:
    """Draw the ghosts of blocks of two dimensions, and what they are made of."""
    from ..drawing.draw_ghosts import draw_ghosts

    sizes = fill.known_sizes()
    missing = [n for n in fill.sizes if n not in sizes]
    if missing:
        raise UnboundError(
            f"No value is given for the size {missing[0]}.",
            hint=f"Draw fill.bind({missing[0]}=...).",
        )
    frame = fill.parts.ruled.frame
    if block is not None and integer(block) not in range(len(frame.blocks)):
        raise ArgumentError(f"There are {len(frame.blocks)} blocks, and none is {block!r}.")
    shapes = [points.inner(sizes) for points in frame.blocks]
    rows = [row for row in _ghosts(fill, sizes) if block is None or row[0] == block]
    return draw_ghosts(shapes, rows, links=frame.links, ax=axes)


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
