"""Resolve the entries of rank-local matrices: entries within the box of a row, or all entries.

In distributed programs, the bounds of the box that owns a row are parameters. An entry of a
rank-local matrix is present if its column lies within them; an entry of the remainder of the
matrix is present if its column lies outside:

    before:  y[i] = 2 x[i] - (x[i-1] if i >= 1 and i - 1 is in the row's own box)
    after:   y[i] = 2 x[i] - (x[i-1] if i - 1 >= i_own_lo)       i_own_lo <= i < i_own_hi

Entries between boxes are split further, into those of lines that lie completely in another box and
those at the ends of lines, since each of these sets has short conditions.

Such a step depends on the box of its rows, so it is never computed at rows beyond the box. In
undistributed programs there is a single box, which contains all entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from .. import ir
from ..algebra.own_box import bounded, everywhere, is_local, own_box
from ..points.affine import Affine
from ..points.sets import Domain

Part: TypeAlias = "ir.Assignment | ir.Reduction"


def depends_on_boxes(step: ir.Step) -> bool:
    """Whether a step holds entries that are there within boxes only, or between them."""
    return any(
        term.box != "any" or is_local(term.domain)
        for value in ir.values(step)
        for node in ir.sums(value)
        for term in node.terms
    )


def local_entries(program: ir.Program, *, distributed: bool) -> ir.Program:
    """Return a program on boxes whose bounds are parameters, or on one that holds all rows."""

    def change(part: Part) -> Part:
        rows = program.rows(part)
        if not distributed:
            return replace(part, value=_everywhere(part.value, rows))
        inside = own_box(part.axes, rows)
        return replace(part, domain=part.domain & inside, value=_guarded(part.value, inside))

    return replace(program, steps=tuple(_changed(step, change) for step in program.steps))


def _changed(step: ir.Step, change: Callable[[Part], Part]) -> ir.Step:
    """Return a step with its parts changed if it depends on boxes."""
    if not depends_on_boxes(step):
        return step
    if isinstance(step, ir.Group):
        made = map(change, step.assignments)
        return ir.Group(tuple(a for a in made if isinstance(a, ir.Assignment)))
    assert isinstance(step, (ir.Assignment, ir.Reduction)), "it holds no products of matrices"
    return change(step)


def _guarded(value: ir.Value, inside: Domain) -> ir.Value:
    """Return a value whose terms have the bounds of the own box among their conditions."""

    def guarded(term: ir.Term) -> Iterator[ir.Term]:
        if term.box == "any":
            local = is_local(term.domain)
            yield replace(term, domain=term.domain.simplified(inside)) if local else term
            return
        assert isinstance(term.operand, ir.Load)
        near = inside & bounded(inside.axes).preimage(term.operand.index, inside.axes)
        for rows in (near,) if term.box == "own" else _beyond(near, term.operand.index, inside):
            yield replace(term, domain=(rows & term.domain).simplified(inside), box="any")

    def change(node: ir.Sum) -> ir.Value:
        found = (t for term in node.terms for t in guarded(term))
        return ir.Sum(tuple(t for t in found if not t.domain.empty))

    return ir.rewrite_sums(value, change)


def _beyond(near: Domain, index: tuple[Affine, ...], inside: Domain) -> Iterator[Domain]:
    """Yield the rows that read beyond their box: rows of whole lines, and rows at line ends."""
    axes = inside.axes
    across = bounded(axes[:-1]).preimage(index[:-1], axes)
    yield inside - across
    yield (inside & across) - near


def _everywhere(value: ir.Value, rows: ir.Field) -> ir.Value:
    """Return a value with the entries within a box and without the entries between boxes."""

    def change(node: ir.Sum) -> ir.Value:
        kept = (t for t in node.terms if t.box != "other" and t.operand != ir.Sum(()))
        terms = (replace(t, domain=_whole(t.domain, rows), box="any") for t in kept)
        return ir.Sum(tuple(t for t in terms if not t.domain.empty))

    return ir.rewrite_sums(value, change)


def _whole(domain: Domain, rows: ir.Field) -> Domain:
    return everywhere(domain, rows) if is_local(domain) else domain
