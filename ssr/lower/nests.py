"""Turn an assignment into a nest: one statement, its box and its schedule.

An assignment that cannot run in place becomes two: into a temporary, then a copy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from .. import ir
from ..algebra.analyse import earlier, reads, sweep
from ..algebra.own_box import bounded, is_local, own_bounds
from ..points.affine import Affine
from ..points.sets import Domain


def bounds(axes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the parameters that bound a box: ``k_lo k_hi j_lo ...``."""
    return tuple(f"{a}_{end}" for a in axes for end in ("lo", "hi"))


def box(axes: tuple[str, ...], grown: tuple[tuple[int, int], ...] | None = None) -> Domain:
    """Return the rows of a box, grown by (low, high) along each axis."""
    grown = grown or ((0, 0),) * len(axes)
    lower = [Affine.name(f"{a}_lo") - g for a, (g, _) in zip(axes, grown, strict=True)]
    upper = [Affine.name(f"{a}_hi") + g for a, (_, g) in zip(axes, grown, strict=True)]
    return Domain.box(axes, lower, upper)


def beyond_box(rows: Domain) -> Iterator[tuple[int, int]]:
    """Yield for each axis how many of some rows lie before and behind the box."""
    for axis in rows.axes:
        index = Affine.name(axis)
        before = rows.largest(Affine.name(f"{axis}_lo") - index)
        behind = rows.largest(index - Affine.name(f"{axis}_hi") + 1)
        yield max(before or 0, 0), max(behind or 0, 0)


def in_place(program: ir.Program) -> tuple[ir.Program, tuple[str, ...]]:
    """Return the program with temporaries where an assignment cannot run in place, and notes."""
    steps: list[ir.Step] = []
    temporaries = list(program.temporaries)
    taken = {f.name for f in (*program.fields, *temporaries)} | {*program.scalars, *program.sizes}
    notes = []
    for a in program.steps:
        if isinstance(a, ir.Reduction):
            notes.append(f"{a.name} is the {a.kind} of all rows.")
            steps.append(a)
            continue
        if isinstance(a, ir.Call):
            notes.append(f"{a.name} makes more points of {', '.join(a.fields)} in place.")
            steps.append(a)
            continue
        if isinstance(a, ir.Solve):
            line = a.assignments[0].axes[a.axis]
            notes.append(f"{', '.join(ir.made(a))} are found on lines along {line}, in place.")
            steps.append(a)
            continue
        if isinstance(a, ir.Group):
            notes.append(f"{', '.join(ir.made(a))} are made together, row by row.")
            steps.append(a)
            continue
        decision = sweep(a)
        if decision.in_place:
            notes.append(f"{_left(a)} runs in place: {decision.reason}.")
            steps.append(replace(a, order=decision.order))
            continue
        name = ir.fresh(f"{a.target}_new", taken)
        taken.add(name)
        notes.append(f"{_left(a)} runs through the temporary {name}: {decision.reason}.")
        temporaries.append(replace(program.rows(a), name=name))
        row = tuple(Affine.name(x) for x in a.axes)
        value = ir.reading(a.value, a.target, name)
        steps.append(replace(a, target=name, value=value, part=None))
        steps.append(replace(a, value=ir.Load(name, row), order="any"))
    return (
        replace(program, steps=tuple(steps), temporaries=tuple(temporaries)),
        tuple(notes),
    )


def _left(step: ir.Assignment) -> str:
    """Return what an assignment assigns."""
    return f"{step.target}[{':' if step.part is None else step.part.slices}]"


def nest(step: ir.Assignment | ir.Reduction | ir.Group, program: ir.Program) -> ir.Nest:
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
    """Return the nest that makes the values of a line in a buffer, and then reduces it."""
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
    """Whether rows know their box, and all that they read of rows before them is of that box."""
    own = bounded(assignment.axes)
    return is_local(assignment.domain) and all(
        rows <= own.preimage(load.index, assignment.axes)
        for rows, load in reads(assignment.value, assignment.domain)
        if load.new
    )


def _known(rows: Domain, field: ir.Field) -> Domain:
    """Return what holds where an assignment of a field runs: for its sizes, and for its box."""
    known = context(rows.axes, rows.parameters(), field)
    return known.where_filled(rows.without(own_bounds(rows.axes)))


def context(
    axes: tuple[str, ...], parameters: Collection[str], field: ir.Field, *, whole: bool = False
) -> Domain:
    """Return what holds for sizes and box: no axis is empty, the box lies within the rows.

    If it is ``whole``, the box is all of the rows.
    """
    case = []
    names: set[str] = set()
    for a, (low, stop) in zip(axes, field.edges, strict=True):
        case.append(f"{low.isl()} <= {a}_lo < {a}_hi <= {stop.isl()}")
        if whole:
            case.append(f"{a}_lo = {low.isl()} and {a}_hi = {stop.isl()}")
        names |= {f"{a}_lo", f"{a}_hi"} | low.names() | stop.names()
    if not {*own_bounds(axes)}.isdisjoint(parameters):
        names |= {*own_bounds(axes)}
        case += [f"{a}_own_lo <= {a}_lo and {a}_hi <= {a}_own_hi" for a in axes]
        ends = zip(axes, field.edges, strict=True)
        case += [
            f"{low.isl()} <= {a}_own_lo and {a}_own_hi <= {stop.isl()}" for a, (low, stop) in ends
        ]
    sizes = set(parameters) - set(bounds(axes)) - set(own_bounds(axes))
    case += [f"{size} >= 1" for size in sorted(sizes)]
    return Domain.where(axes, " and ".join(case), sorted(names | sizes))


def boxes(axes: tuple[str, ...], field: ir.Field, least: int) -> Domain:
    """Return the conditions of boxes with at least so many rows along their last two axes."""
    found = context(axes, (), field)
    ends = zip(axes[-2:], field.edges[-2:], strict=True)
    for axis, (low, stop) in ends if least > 1 else ():
        first, last = f"{axis}_lo", f"{axis}_hi"
        whole = f"{first} = {low.isl()} and {last} = {stop.isl()}"
        names = sorted({first, last} | low.names() | stop.names())
        wide = f"{last} - {first} >= {least} or {whole}"
        found = found & Domain.where(axes, wide, names)
    return found


def covered(value: ir.Value, rows: Domain, zero: float = 0.0) -> ir.Value:
    """Return a value in which every sum has a term at every row: an explicit zero elsewhere."""

    def change(node: ir.Sum) -> ir.Value | None:
        missing = rows
        for term in node.terms:
            missing = missing - term.domain
        return None if missing.empty else ir.Sum((*node.terms, ir.Term(missing, ir.Const(zero))))

    return ir.rewrite_sums(value, change)


def arrays_read(made: ir.Made) -> frozenset[str]:
    """Return the names of the fields and buffers that a nest or a call reads."""
    return frozenset(made.fields) if isinstance(made, ir.Call) else made.read


def _own_line(assignment: ir.Assignment) -> bool:
    """Whether a row may read or be read by another row of its line, through the target."""
    before = earlier(assignment)
    return before is None or any(not any(offset[:-1]) for offset in before)
