"""Stage equations solved along lines, with matrices derived from the right-hand side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ... import ir
from ...algebra.families import multiply
from ...algebra.lines import line_axis
from ...errors import UnsupportedError
from ...points.affine import Affine
from ...programs.expression import Expression
from ...programs.line_solves import solved_along
from ...programs.vectors import Vector
from ...spaces.space import Space, row_domain
from ...symbols.values import node
from ..entries import jacobian_entries
from ..right_side import RightSide
from ..tangent import parts_of

Fields = tuple[Any, ...]


def stage_along_lines(
    fun: RightSide, t: Any, Y: Fields, args: Fields, h: Any, known: Fields
) -> Fields:
    """Return ``Y + d`` with ``(I - h J) d = h f(t, Y) - known``, in the body of a program.

    J is the Jacobian of f at t and Y. For a linear right side that is the solution of
    ``Y' - h f(t, Y') = Y - known``; else it is one iteration of Newton's method from Y.
    """
    rates, blocks = jacobian_entries(fun, t, Y, args)
    right = [
        h * rate - given
        for rates_of, known_of in zip(rates, known, strict=True)
        for rate, given in zip(parts_of(rates_of), parts_of(known_of), strict=True)
    ]
    changes = iter(_solved(fun.name, blocks, right, h))
    found = []
    for unknown in Y:
        made = [part + next(changes) for part in parts_of(unknown)]
        found.append(Vector(made) if isinstance(unknown, Vector) else made[0])
    return tuple(found)


Blocks = Sequence[Sequence[tuple[ir.Family, ...]]]


def _solved(name: str, blocks: Blocks, right: Sequence[Expression], h: Any) -> list[Expression]:
    """Return the solutions of ``(I - h J) d = right``, for the components of d."""
    found: dict[int, Expression] = {}
    for group in _coupled(blocks):
        spaces = [right[r].space for r in group]
        if any(space != spaces[0] for space in spaces):
            raise UnsupportedError(
                f"The right side {name} couples unknowns on different points along lines.",
                note=f"Their spaces are {', '.join(map(repr, spaces))}.",
                hint="Put the terms that couple them into the explicit part.",
            )
        matrix = [[_entry(blocks[r][c], spaces[0], h, r == c) for c in group] for r in group]
        made = _solved_together(name, spaces[0], matrix, [right[r] for r in group])
        found |= dict(zip(group, made, strict=True))
    return [found[r] for r in range(len(right))]


def _coupled(blocks: Blocks) -> list[list[int]]:
    """Return the groups of components that depend on each other, directly or through others."""
    groups: list[set[int]] = []
    for r, row in enumerate(blocks):
        joined = {r} | {c for c, families in enumerate(row) if families}
        touched = [group for group in groups if group & joined]
        groups = [group for group in groups if not group & joined]
        groups.append(joined.union(*touched))
    return [sorted(group) for group in sorted(groups, key=min)]


def _entry(
    families: tuple[ir.Family, ...], space: Space, h: Any, diagonal: bool
) -> tuple[ir.Family, ...]:
    """Return the entries of a block of ``I - h J``."""
    minus = node(-1.0 * h)
    made = tuple(replace(f, value=multiply(minus, f.value)) for f in families)
    own = space.indices()
    return (ir.Family(row_domain(space), own, own, ir.ONE), *made) if diagonal else made


def _solved_together(
    name: str, space: Space, matrix: Blocks, right: Sequence[Expression]
) -> list[Expression]:
    """Return the solutions of one system of blocks."""
    every = [family for row in matrix for families in row for family in families]
    own = tuple(map(Affine.name, space.axes))
    if len(right) == 1 and all(family.column == own for family in every):
        terms = tuple(ir.Term(family.domain, family.value) for family in every)
        return [right[0] / Expression(space, ir.Sum(terms))]
    axis = line_axis(every, space.data.shape)
    if axis is None and any(family.column != own for family in every):
        raise UnsupportedError(
            f"The right side {name} couples points along several axes.",
            hint="Split it: give a right side for each axis, ADI([along_y, along_x], ...).",
        )
    along = space.ndim - 1 if axis is None else axis
    return solved_along(name, space, along, matrix, right, row_domain(space))
