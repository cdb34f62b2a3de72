"""Schedule solves along lines as loops over bundles of lines and along each line. Bit-exact.

    before:  forward_0: C[i], y[i] = ...          where 0 < i < nx
    after:   for j in range(j_lo, j_hi):          lines with the same pieces, side by side
                 for i in range(1, nx): forward_0(i)

Lines on which the same pieces run form one group, which has its own loops.
"""

from __future__ import annotations

from collections.abc import Sequence

from ... import ir
from ...algebra.lines import cut, inside
from ...kernel.ir import Name
from ...points.affine import Affine
from ...points.loop_tree import For, Loop
from ...points.scanning import line_loops
from ...points.sets import Domain
from ..loop_schedule import reversed_loops
from ..tiling import clipped
from .line_nest import near


def line_schedule(nest: ir.LineNest) -> ir.LineLoops:
    """Return the loops of systems along lines."""
    every = {piece.name: piece for piece in nest.pieces}
    shadows = {name: piece.domain.project(nest.outer) for name, piece in every.items()}
    known: dict[str, Domain] = {}
    if len(nest.axes) > 1:
        whole = nest.rows.domain.project(nest.outer)
        for n, part in enumerate(_alternatives(cut(whole, shadows.values()))):
            known[f"lines_{n}"] = part
        kinds = {name: _kind(nest, inside(part, nest.axes)) for name, part in known.items()}
        tree = _across(nest, known)
    else:
        kinds = {"lines_0": _kind(nest, nest.rows.domain)}
        tree = ()
    return ir.LineLoops(nest, every, kinds, tree)


def _alternatives(parts: Sequence[Domain]) -> list[Domain]:
    """Return sets of lines; sets that never exist for the same sizes are merged."""
    groups: list[list[Domain]] = []
    for part in parts:
        sizes = part.project(())
        for group in groups:
            if all((sizes & other.project(())).empty for other in group):
                group.append(part)
                break
        else:
            groups.append([part])
    return [Domain.union(group).simplified() for group in groups]


def _across(nest: ir.LineNest, kinds: dict[str, Domain]) -> tuple[Loop, ...]:
    """Return the loops over lines; adjacent lines of the same class run together."""
    *first, last = nest.outer
    limits = nest.context.project(nest.outer)
    low = Domain.where(nest.outer, f"{last} = 0")
    box = " and ".join(f"{a}_lo <= {a} < {a}_hi" for a in first) or "0 = 0"
    bounds = [f"{a}_{end}" for a in first for end in ("lo", "hi")]
    known = limits & low & Domain.where(nest.outer, box, bounds)
    ends = Name(f"{last}_lo"), Name(f"{last}_hi")
    tree = tuple(clipped(line_loops(known, [*kinds.items()], last), *ends))
    for axis in reversed(first):
        tree = (For(axis, Name(f"{axis}_lo"), Name(f"{axis}_hi"), 1, tree),)
    return tree


def _kind(nest: ir.LineNest, lines: Domain) -> ir.Lines:
    """Return the loops on lines of a kind."""
    forward = [(p.name, p.domain & lines) for p in nest.forward]
    backward = [(p.name, p.domain & lines) for p in nest.backward]
    closing = [(p.name, p.domain & lines) for p in nest.closing]
    read = _variables([p for p in nest.forward if not (p.domain & lines).empty])
    taken = (
        (t.variable, _along(nest, [("copy", t.points)], lines))
        for t in nest.taken
        if t.variable in read
    )
    return ir.Lines(
        tuple(taken),
        _along(nest, forward, lines),
        reversed_loops(_along(nest, backward, lines)),
        _along(nest, closing, lines),
        _along(nest, [("copy", near(nest.rows, nest.along, (0, 0)))], lines),
    )


def _variables(found: Sequence[ir.Piece]) -> set[str]:
    """Return the line variables that pieces read."""
    parts = (part for piece in found for part in piece.parts)
    return {load.array for part in parts for load in ir.loads(part.value)}


def _along(
    nest: ir.LineNest, parts: Sequence[tuple[str, Domain]], lines: Domain
) -> tuple[Loop, ...]:
    """Return the loops over parts of a line, in ascending order."""
    axis = nest.axes[nest.along]
    axes = (*nest.outer, axis)
    found = [(name, _ordered(part, axes)) for name, part in parts if not part.empty]
    known = nest.context & inside(lines.project(nest.outer), nest.axes) if nest.outer else None
    known = nest.context if known is None else known
    place = _ordered(known & Domain.where(nest.axes, f"{axis} = 0"), axes)
    return line_loops(place, found, axis)


def _ordered(domain: Domain, axes: tuple[str, ...]) -> Domain:
    """Return a set with its axes in another order."""
    return domain.preimage(tuple(map(Affine.name, domain.axes)), axes)
