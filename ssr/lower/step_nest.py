"""Turn a step into a loop nest: its statements, its box and its schedule. Bit-exact.

before:  y[j, i] = f(x[j, i - 1])             where 0 <= j < ny and 0 < i < nx
after:   for each row (j, i) of the box j_lo <= j < j_hi, i_lo <= i < i_hi, line by line
"""

from __future__ import annotations

from dataclasses import replace

from .. import ir
from ..algebra.analyse import earlier, reads
from ..algebra.own_box import bounded, is_local, own_bounds
from ..points.affine import Affine
from ..points.sets import Domain
from .nests import box, context, covered


def step_nest(step: ir.Assignment | ir.Reduction | ir.Group, program: ir.Program) -> ir.Nest:
    """Return the nest that runs a step in its order, on any box of its rows."""
    if isinstance(step, ir.Reduction):
        return _reduce(step)
    if isinstance(step, ir.Group):
        return _joint(step, program)
    return _assign(step, program.rows(step))


def _joint(group: ir.Group, program: ir.Program) -> ir.Nest:
    """Return the nest that runs all assignments of a group at a row before the next row."""
    first, *_ = group.assignments
    alone = [_assign(a, program.rows(a)) for a in group.assignments]
    statements = (
        replace(s, name=f"row_{n}", parallel=False)
        for n, made in enumerate(alone)
        for s in made.statements
    )
    known = frozenset().union(*(a.domain.parameters() for a in group.assignments))
    return replace(
        alone[0],
        context=context(first.axes, known, program.rows(first)) & alone[0].context,
        statements=tuple(statements),
        earlier=earlier(*group.assignments),
        joint=True,
    )


def _reduce(reduction: ir.Reduction) -> ir.Nest:
    """Return the nest that computes the values of a line in a buffer, and then reduces them."""
    axes, buffer = reduction.axes, ir.scratch("r", ())
    statement = ir.Statement(
        name="line",
        domain=reduction.domain & box(axes),
        array=buffer,
        index=(Affine.name(axes[-1]),),
        value=covered(reduction.value, reduction.domain),
        parallel=True,
    )
    return ir.Nest(
        target=reduction.name,
        rows=reduction.rows,
        axes=axes,
        order="any",
        context=_known(reduction.domain, reduction.rows),
        buffers=(ir.Buffer(buffer, 1, 0),),
        statements=(statement,),
        earlier=(),
        folds=(ir.Fold(reduction.name, reduction.kind, buffer, reduction.origin),),
    )


def _assign(assignment: ir.Assignment, rows: ir.Field) -> ir.Nest:
    """Return the nest that runs an assignment of some rows."""
    axes = assignment.axes
    row = tuple(Affine.name(a) for a in axes)
    statement = ir.Statement(
        name="row",
        domain=assignment.domain & box(axes),
        array=assignment.target,
        index=row,
        value=covered(assignment.value, assignment.domain),
        parallel=not _own_line(assignment),
        local=assignment.target if _in_own_box(assignment) else "",
        kept=assignment.kept,
        origin=assignment.origin,
    )
    return ir.Nest(
        target=assignment.target,
        rows=rows,
        axes=axes,
        order=assignment.order,
        context=_known(assignment.domain, rows),
        buffers=(),
        statements=(statement,),
        earlier=earlier(assignment),
    )


def _in_own_box(assignment: ir.Assignment) -> bool:
    """Whether rows are local, and all new values that they read are of rows of their own box."""
    own = bounded(assignment.axes)
    return is_local(assignment.domain) and all(
        rows <= own.preimage(load.index, assignment.axes)
        for rows, load in reads(assignment.value, assignment.domain)
        if load.new
    )


def _known(rows: Domain, field: ir.Field) -> Domain:
    """Return the conditions under which an assignment of a field runs, on its sizes and box."""
    known = context(rows.axes, rows.parameters(), field)
    return known.where_filled(rows.without(own_bounds(rows.axes)))


def _own_line(assignment: ir.Assignment) -> bool:
    """Whether a row may read or be read by another row of its line, through the target."""
    before = earlier(assignment)
    return before is None or any(not any(offset[:-1]) for offset in before)
