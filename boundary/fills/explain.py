"""Statistics of the ghost fills of a program: the ghost points per step, and the savings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

import numpy as np

import ssr
from ssr.errors import ArgumentError
from ssr.extension import folded, ir

from ..tables.ghosts import Ghosts
from ..tables.lines import pieces_of
from ..tables.pieces import Piece, seen


def explain(program: ssr.Program, **sizes: int) -> str:
    """Return a report on the ghosts of a program: at which steps they are made, and how many.

    It counts the ghosts that are made because the program reads them, those that are constant and
    written once, the calls that were joined to one, and the weights that are stored once though
    several ghosts use them. Folded ghosts are not stored: their formulas are evaluated where they
    are read.

    Parameters
    ----------
    program
        A program with fills.
    **sizes
        Values of the symbolic sizes.

    Raises
    ------
    ArgumentError
        If it is not a program.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(4, 6)
    >>> fill = bc.fill(cells.grow(1), bc.periodic())
    >>> mean = ssr.stencil(cells, cells.grow(1), {(0, -1): 0.5, (0, 1): 0.5})
    >>> @ssr.program(u=cells, v=cells)
    ... def step(u, v):
    ...     u[:] = mean @ (fill @ (2.0 * u)) + mean @ (fill @ (3.0 * v))
    >>> print(bc.explain(step))
    program step
      fill(periodic()) for t, t_1
        2 calls joined to 1
        16 of 48 ghosts are made, the others are not read
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
            rest = "all" if made == known else "the others are not read"
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
    """Return the number of ghosts that a step computes."""
    return _count(p for part in ghosts.parts(sizes) for p in pieces_of(part))


def _count(pieces: Iterable[Piece]) -> int:
    """Return the number of points that pieces compute."""
    return sum(prod(p.extents) * len(p.places) for p in pieces)


def _every(ghosts: Ghosts, sizes: Mapping[str, int]) -> int:
    """Return the number of ghosts of its fields."""
    return sum(prod(w.extent(sizes)) - prod(o.extent(sizes)) for o, w in ghosts.fields)


def _weights(ghosts: Ghosts, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return the number of distinct weights of a step, and the number of their uses."""
    stored: set[str] = set()
    uses = 0
    for part in ghosts.parts(sizes):
        for piece in pieces_of(part):
            for tap in piece.taps:
                inside, _, extents = seen(piece, tap)
                whole = np.broadcast_to(np.asarray(tap.weight), piece.extents)[inside]
                stored |= set(map(repr, np.unique(whole).tolist()))  # counts all NaN as one value
                uses += prod(extents)
    return len(stored), uses
