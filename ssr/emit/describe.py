"""Construct the metadata of a kernel, which its module contains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import ir
from ..algebra.own_box import is_local
from ..algebra.stored import needed
from ..distributed.access_regions import reached, reached_by_lines
from ..distributed.transfers import kind_of
from ..points.affine import Affine
from ..runtime.metadata import (
    BufferMeta,
    CallMeta,
    KernelMeta,
    NestMeta,
    StoredMeta,
    UnitMeta,
)
from ..runtime.sums import ROWS
from .builder import Builder
from .line_solves import BUFFER, LineBuilder
from .unit import Unit


def described(unit: Unit, builders: Sequence[Builder], functions: Sequence[str]) -> KernelMeta:
    """Return the metadata of the kernel of a unit for its callers."""
    program, nests = unit.program, [made.nest for made in unit.nests]
    return KernelMeta(
        fields=tuple(f.name for f in program.fields),
        temporaries={f.name: _alike(f, program) for f in program.temporaries},
        written=unit.written,
        buffers=tuple(
            buffer
            for number, (builder, nest) in enumerate(zip(builders, nests, strict=True))
            for buffer in _buffers(builder, nest, number)
        ),
        scalars=program.scalars,
        sizes=program.sizes,
        nests=tuple(_nest(nest, program) for nest in nests),
        reductions=unit.states,
        results=len(program.results),
        stored=tuple(
            StoredMeta(*entry) for entry in needed(n for n in nests if isinstance(n, ir.Nest))
        ),
        debug=unit.debug,
        functions=tuple(functions),
        calls=tuple(CallMeta(call.name, call.fields) for call in unit.calls),
        looks=unit.looks,
        whole=tuple(name for name, _ in program.vectors),
        units=tuple(_units(unit)) if unit.distributed else (),
        wide=program.wide,
        slabs=_slabs(program),
        made_once=tuple(_made_once(unit)) if unit.distributed else (),
    )


def _buffers(builder: Builder, nest: ir.Nest | ir.LineNest, number: int) -> Iterator[BufferMeta]:
    """Yield the scratch buffers of a nest."""
    if isinstance(nest, ir.LineNest):
        assert isinstance(builder, LineBuilder)
        argument = builder.buffer(BUFFER)
        pad = nest.beyond + 1  # aligned to a cache line
        yield BufferMeta(argument, number, builder.step, pad, None, 1, nest.along)
        return
    for b in nest.buffers:
        yield builder.described(b, number)


def _units(unit: Unit) -> Iterator[UnitMeta]:
    """Yield the metadata of the steps of a kernel, in order."""
    for number, step in unit.numbered():
        kind = kind_of(step)
        if isinstance(step, ir.Call):
            yield UnitMeta(kind, number, numbers=_numbers(unit, step.scalars))
            continue
        nest = step.nest
        if isinstance(nest, ir.LineNest):
            reads, writes = reached_by_lines(nest)
            values = [part.value for piece in nest.forward for part in piece.parts]
            values += [value for _, value in nest.numbers]
            yield UnitMeta(kind, number, reads, writes, (), _numbers(unit, values))
            continue
        reads, writes = reached(nest, unit.arrays)
        folds = tuple(entry for fold in nest.folds for entry in _folds(unit, fold))
        numbers = _numbers(unit, [statement.value for statement in nest.statements])
        yield UnitMeta(kind, number, reads, writes, folds, numbers)


def _folds(unit: Unit, fold: ir.Fold) -> Iterator[tuple[str, str, int]]:
    """Yield the rows of the state of a reduction, with their kinds; a norm has sums."""
    kind = "sum" if fold.kind == "norm" else fold.kind
    for n in range(ROWS[fold.kind]):
        yield fold.name, kind, unit.reductions[fold.name] + n


def _numbers(unit: Unit, values: Sequence[ir.Value]) -> tuple[str, ...]:
    """Return the names of the reductions that occur in values."""
    parts = (part for value in values for part in ir.walk(value))
    names = (part.name for part in parts if isinstance(part, ir.Scalar))
    return tuple(dict.fromkeys(name for name in names if name in unit.reductions))


def _nest(nest: ir.Nest | ir.LineNest, program: ir.Program) -> NestMeta:
    rows = _alike(nest.rows, program) if has_own_rows(nest, program) else None
    if isinstance(nest, ir.LineNest):
        return NestMeta(nest.target, (), False, False, rows, nest.along)
    return NestMeta(
        target=nest.target,
        earlier=nest.earlier,
        whole_lines=nest.whole_lines,
        fused=nest.fused,
        rows=rows,
        local=is_local(nest.context),
        planes=_planes(nest),
    )


def _planes(nest: ir.Nest) -> int:
    """Return the number of planes of all arrays in use while the outermost index advances.

    It is zero unless rows are independent, so that boxes may be cut, there are three dimensions or
    more, and an array is read in several planes; the planes between these count as well.
    """
    if nest.earlier != () or len(nest.axes) < 3:
        return 0
    met: dict[tuple[str, tuple[Affine, ...]], list[int]] = {}
    kept = {buffer.name for buffer in nest.buffers}
    for s in nest.statements:
        row = s.runs(tuple(map(Affine.name, nest.axes)), nest.order, -1)
        read = ((load.array, load.index) for load in ir.loads(s.value))
        for array, index in ((s.array, s.index), *read):
            if array not in kept and len(index) == len(row):
                *other, plane, _, _ = (there - here for there, here in zip(index, row, strict=True))
                met.setdefault((array, tuple(other)), []).append(plane.constant)
    spans = [max(places) - min(places) + 1 for places in met.values()]
    return sum(spans) if max(spans, default=1) > 1 else 0


def has_own_rows(nest: ir.Nest | ir.LineNest, program: ir.Program) -> bool:
    """Whether the points of a nest's rows differ from the points of its target."""
    arrays = {f.name: f for f in (*program.fields, *program.temporaries)}
    return arrays.get(nest.target, nest.rows).points != nest.rows.points


def _alike(points: ir.Field, program: ir.Program) -> str:
    """Return the name of a field, of rows of a step, or of a temporary with the same points.

    Fields with more points than the caller's are not considered. For a temporary that lowering
    adds, there is always an earlier name.
    """
    steps = [p for s in program.steps for p in ir.parts(s)]
    rows = [p.rows if isinstance(p, ir.Reduction) else p.part for p in steps]
    wide = dict(program.wide)
    own = (f for f in program.fields if f.name not in wide)
    known = (*own, *filter(None, rows), *program.temporaries)
    return next(f.name for f in known if f.points == points.points)


def _slabs(program: ir.Program) -> dict[str, tuple[str, int, int, int]]:
    """Return the temporaries of lowering that have some lines of a field, with these."""
    return {
        found.name: (field.name, axis, first.constant, stop.constant)
        for found in program.temporaries
        for field in program.fields
        for axis, (first, stop) in enumerate(found.edges)
        if first.is_constant
        and stop.is_constant
        and field.points != found.points
        and len(field.shape) == len(found.shape)
        and field.slab(axis, first.constant, stop.constant).points == found.points
    }


def _made_once(unit: Unit) -> Iterator[str]:
    """Yield the fields that one statement of all stores, and no step of another package."""
    nests = [made.nest for made in unit.nests]
    stored = [s.array for nest in nests if isinstance(nest, ir.Nest) for s in nest.statements]
    for nest in nests:
        if isinstance(nest, ir.LineNest):
            stored += 2 * nest.made
    calls = (call for call in unit.calls if kind_of(call) == "call")
    called = {name for call in calls for name in call.fields}
    for found in unit.program.fields:
        if stored.count(found.name) == 1 and found.name not in called:
            yield found.name
