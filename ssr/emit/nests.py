"""Code of the nests of a kernel: the loop over boxes, and the results of reductions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import ir
from ..algebra.own_box import is_local, own_bounds
from ..distributed.step_columns import nest_range
from ..ir import LoopNest
from ..kernel import ir as kernel
from ..kernel.building import (
    Bounds,
    binary,
    call,
    compare,
    element,
    let,
    load,
    loop,
    minus,
    plus,
    store,
    times,
)
from ..kernel.kernel_names import mangled, printable
from ..kernel.outline import Functions
from ..kernel.rewriting import mentioned
from ..lower.nests import bounds
from ..points.sets import Domain
from ..runtime.metadata import APART
from .builder import Builder
from .debug_checks import BAD
from .describe import has_own_rows
from .externals import call_statements
from .line_solves import LineBuilder, emit_lines, slots_of
from .loops import emit_tree
from .scalars import START, Scalars
from .unit import Unit

ROWS = 32
"""Limit of the rows of the line buffers of a nest for which each row is cache-aligned."""


def nest_builders(unit: Unit, functions: Functions, scalars: Scalars) -> list[Builder]:
    """Return a builder for each nest, which has the statements for a box.

    Variables of different nests have different names, so that each name has one definition.
    """
    builders: list[Builder] = []
    for number, made in enumerate(unit.nests):
        suffix = f"_{number}" if len(unit.nests) > 1 else ""
        near = 8 if unit.dtype == "float64" else 16
        sizes = {n: mangled(n) for n in unit.program.sizes if mangled(n) != n}
        rest = unit.reductions, functions, unit.checked
        looks = {(k.target, k.origin): n for n, k in enumerate(unit.looks) if k.nest == number}
        counter = builders[-1].counter if builders else 0
        if isinstance(made, ir.LineLoops):
            lines = LineBuilder(
                unit.arrays, {}, suffix, near, sizes, *rest,
                alike=unit.alike, looks=looks, rounded=scalars.rounded, counter=counter,
                slots=slots_of(made.nest),
            )  # fmt: skip
            emit_lines(lines, made)
            builders.append(lines)
            continue
        buffers = {b.name: b for b in made.nest.buffers}
        even = _even(made)
        builder = Builder(
            unit.arrays, buffers, suffix, near, sizes, *rest, even, unit.alike,
            looks=looks, rounded=scalars.rounded, counter=counter,
        )  # fmt: skip
        emit_tree(builder, made, made.tree)
        builders.append(builder)
    return builders


def _even(made: LoopNest) -> frozenset[str]:
    """Return the buffers of a nest whose rows should begin with cache lines.

    Aligned vectors are loaded and stored twice as fast. The buffers are lines with padding, and
    lines that are computed in bundles from the first point of the box. Buffers of planes are
    excluded because they are large, and many lines because they would exceed the first-level cache.
    """
    nest = made.nest
    in_bundles = {
        p.statement.array for piece in made.pieces.values() if piece.taps for p in piece.parts
    }
    rotating = [b for b in nest.buffers if (b.pad or b.name in in_bundles) and b.lines is None]
    lines = {b.name for b in rotating} if sum(b.rows for b in rotating) <= ROWS else set()
    axis, (low, _) = nest.axes[-1], nest.rows.edges[-1]
    text = f"{axis} < {axis}_lo and {axis}_lo = {low.isl()}"
    before = Domain.where(nest.axes, text, [*bounds((axis,)), *low.names()]) & nest.context
    early = [s for s in nest.statements if s.array in lines]
    return frozenset(lines - {s.array for s in early if not (s.domain & before).empty})


def kernel_body(
    unit: Unit, builders: Sequence[Builder], functions: Functions, scalars: Scalars
) -> list[kernel.Statement]:
    """Return the statements of a kernel: its nests, its calls, and the numbers that it returns."""
    nests = functions.nests([builder.body for builder in builders])
    calls = [call_statements(unit, number, functions, scalars) for number in range(len(unit.calls))]
    results = [scalars.double(value) for value in unit.program.results]
    body = [*scalars.statements.get(START, ())]
    for number, step in unit.numbered():
        if isinstance(step, ir.Call):
            body += calls[number]
            continue
        body += _nest(unit, step.nest, number, builders[number], nests[number])
        body += scalars.statements.get(number, ())
    return [*body, *(store("results", n, found) for n, found in enumerate(results))]


def _nest(
    unit: Unit,
    nest: ir.Nest | ir.LineNest,
    number: int,
    builder: Builder,
    inside: Sequence[kernel.Statement],
) -> list[kernel.Statement]:
    """Return a nest; in one memory the debug build ends after it if it has found something."""
    made = [_boxes(unit, builder, nest, number, inside)]
    folds = nest.folds if isinstance(nest, ir.Nest) else ()
    made += (_total(fold, unit) for fold in folds)
    if not unit.debug or unit.distributed:
        return made
    with builder.block() as looks:
        for fold in folds:
            builder.examine((fold.name, fold.origin), (), mangled(fold.name))
    found = compare(element("state", unit.states, 0), "!=", 0)
    return [*made, *looks, kernel.If(found, (kernel.Return(kernel.Integer(BAD)),))]


def _boxes(
    unit: Unit,
    builder: Builder,
    nest: ir.Nest | ir.LineNest,
    number: int,
    inside: Sequence[kernel.Statement],
) -> kernel.Statement:
    """Return the loop over the boxes of a nest: loads from its table, then the body."""
    buffers = nest.buffers if isinstance(nest, ir.Nest) else ()
    start = [node for b in buffers for node in _buffer(builder, nest.axes, b, number)]
    start += [builder.start] if isinstance(builder, LineBuilder) else []
    used = set(mentioned([*start, *inside]))
    columns = [*_columns(builder, unit.program, nest)]
    boxes: Bounds = 0, kernel.Extent(f"table_{number}", 0)
    if unit.distributed:
        boxes = nest_range(number, len(columns))

    def entry(column: int) -> kernel.Expression:
        if unit.distributed:
            return load("tables", plus("box", column))
        return element(f"table_{number}", "box", column)

    taken = [let(name, entry(n)) for n, name in enumerate(columns) if name in used]
    rows = nest.rows.slices if has_own_rows(nest, unit.program) else ":"
    comment = f"{printable(nest.target)}[{rows}] = ..."
    return loop("box", boxes, [*taken, *start, *inside], comment=comment)


def _columns(builder: Builder, program: ir.Program, nest: ir.Nest | ir.LineNest) -> Iterator[str]:
    """Yield the variables in the columns of a nest's table, in order."""
    yield from map(mangled, program.sizes)
    yield from bounds(nest.axes)
    yield from own_bounds(nest.axes) if is_local(nest.context) else ()
    for name, array in builder.arrays.items():
        yield f"{mangled(name)}_0"
        yield from (f"{mangled(name)}_s{axis}" for axis in range(len(array.shape) - 1))


def _buffer(
    builder: Builder, axes: tuple[str, ...], buffer: ir.Buffer, number: int
) -> Iterator[kernel.Statement]:
    """Yield the statements that place a buffer in a box: its width, its beginning, its zeros."""
    name, last, made = builder.buffer(buffer.name), axes[-1], builder.described(buffer, number)
    width, near = f"{name}_w", made.near
    points = minus(f"{last}_hi", f"{last}_lo")
    if near > 1:
        lines = plus(binary("//", plus(points, near - 1), near), made.between)
        yield let(f"{name}_n", lines)
        apart = call("min", binary("%", f"{name}_n", APART), 1)
        yield let(width, times(minus(plus(f"{name}_n", 1), apart), near))
    elif buffer.rows > 1 or buffer.pad or buffer.lines is not None:
        yield let(width, plus(points, 2 * buffer.pad))
    start = minus(made.before, f"{last}_lo")
    if buffer.lines is not None:
        line = axes[-2]
        count = plus(minus(f"{line}_hi", f"{line}_lo"), 2 * buffer.lines)
        yield let(f"{name}_p", times(count, width))
        start = plus(start, times(minus(buffer.lines, f"{line}_lo"), width))
    yield let(f"{name}_0", start)
    if buffer.cleared:
        numbers = times(buffer.rows, width)
        numbers = plus(numbers, made.before) if near > 1 else numbers
        yield loop("clear", (0, numbers), [store(name, "clear", builder.constant(0.0))])


def _total(fold: ir.Fold, unit: Unit) -> kernel.Statement:
    """Return the statement that takes a reduction out of its state.

    It has the type of the fields, and is a scalar from then on.
    """
    take = {"sum": "total", "norm": "root", "min": "found", "max": "found"}[fold.kind]
    found = call("real", call(take, "state", unit.reductions[fold.name]))
    return let(mangled(fold.name), found if unit.dtype == "float64" else call("np.float64", found))
