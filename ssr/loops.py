"""From nest to loops: pieces, their schedule, and the tree isl makes of them."""

from __future__ import annotations

from dataclasses import dataclass

from . import ir
from .index import Affine
from .loopnest import Loop
from .options import Options
from .passes.split import split, whole
from .sets import loops as isl_loops


@dataclass(frozen=True, slots=True)
class LoopNest:
    """A nest as loops over pieces of its statements."""

    nest: ir.Nest
    pieces: dict[str, tuple[ir.Statement, ir.Piece]]
    tree: tuple[Loop, ...]


def schedule(nest: ir.Nest, options: Options, taken: frozenset[str]) -> LoopNest:
    """Return the loops of a nest; loop variables avoid the names in ``taken``."""
    buffers = {b.name for b in nest.buffers}
    pieces: dict[str, tuple[ir.Statement, ir.Piece]] = {}
    times = []
    for place, statement in enumerate(nest.statements):
        buffer = statement.array in buffers
        found = (
            split(statement, nest.context, buffer)
            if options.split
            else whole(statement, nest.context)
        )
        for piece in found:
            pieces[piece.name] = (statement, piece)
            time = (*statement.outer, Affine.of(place), statement.last)
            times.append((piece.name, piece.domain, time))
    count = len(nest.axes)
    tree = isl_loops(
        nest.context, times, iterators(nest, taken), [False] * (count - 1) + [True, True]
    )
    return LoopNest(nest, pieces, tree)


def iterators(nest: ir.Nest, taken: frozenset[str]) -> tuple[str, ...]:
    """Return names of the loop variables: the axis where time runs along it, else ``k_back``."""
    names = []
    for axis, name in enumerate(nest.axes[:-1]):
        ahead = all(s.outer[axis].names() == {name} and _rises(s.outer[axis]) for s in nest.statements)
        names.append(name if ahead else f"{name}_back")
    rising = all(_rises(s.last) for s in nest.statements)
    names += ["phase", nest.axes[-1] if rising else "along"]
    return tuple(n + "_" if n in taken else n for n in names)


def _rises(time: Affine) -> bool:
    return all(c > 0 for _, c in time.terms)
