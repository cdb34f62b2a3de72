"""Write the nests of a kernel: the loop over the boxes of each, and what becomes of reductions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import ir
from ..algebra.own_box import is_local, own_bounds
from ..ir import LoopNest
from ..lower.nests import bounds
from ..points.sets import Domain
from ..runtime.metadata import APART
from .debug_checks import BAD
from .describe import has_own_rows
from .outline import Functions, names
from .step_columns import nest_range
from .unit import Unit
from .write_externals import call_lines
from .write_lines import LineWriter, slots_of, write_lines
from .write_loops import write_tree
from .write_scalars import START, Scalars
from .writer import Writer, shown, spelled

ROWS = 32
"""Rows of line buffers of a nest up to which each of them begins with a cache line."""


def write_nests(unit: Unit, functions: Functions, scalars: Scalars) -> list[Writer]:
    """Return a writer for each nest, which holds the lines of a box."""
    writers: list[Writer] = []
    for number, made in enumerate(unit.nests):
        suffix = f"_{number}" if len(unit.nests) > 1 else ""
        near = 8 if unit.dtype == "float64" else 16
        sizes = {n: spelled(n) for n in unit.program.sizes if spelled(n) != n}
        rest = unit.reductions, functions, unit.checked
        looks = {(k.target, k.origin): n for n, k in enumerate(unit.looks) if k.nest == number}
        if isinstance(made, ir.LineLoops):
            lines = LineWriter(
                unit.arrays, {}, suffix, near, sizes, *rest,
                alike=unit.alike, looks=looks, rounded=scalars.rounded,
            )  # fmt: skip
            lines.slots = slots_of(made.nest)
            write_lines(lines, made, 2)
            writers.append(lines)
            continue
        buffers = {b.name: b for b in made.nest.buffers}
        even = _even(made)
        writer = Writer(
            unit.arrays, buffers, suffix, near, sizes, *rest, even, unit.alike,
            looks=looks, rounded=scalars.rounded,
        )  # fmt: skip
        write_tree(writer, made, made.tree, 2)
        writers.append(writer)
    return writers


def _even(made: LoopNest) -> frozenset[str]:
    """Return the buffers of a nest whose rows should begin with cache lines.

    Vectors are loaded and stored twice as fast there. These are the lines with room at their ends,
    and those that are computed in bundles, which are made from the first point of the box on, if it
    has all points; planes are large, and many lines would not fit into the first cache any more.
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
    unit: Unit, writers: Sequence[Writer], functions: Functions, scalars: Scalars
) -> list[str]:
    """Return the lines of a kernel: its nests, its calls, and the numbers that it returns."""
    nests = functions.nests([writer.lines for writer in writers])
    calls = [call_lines(unit, number, functions, scalars) for number in range(len(unit.calls))]
    results = [scalars.double(value) for value in unit.program.results]
    body = [*scalars.lines.get(START, ())]
    for number, step in unit.numbered():
        if isinstance(step, ir.Call):
            body += calls[number]
            continue
        body += _nest_lines(unit, step.nest, number, writers[number], nests[number])
        body += scalars.lines.get(number, ())
    return [*body, *(f"    st(results, {n}, {text})" for n, text in enumerate(results))]


def _nest_lines(
    unit: Unit,
    nest: ir.Nest | ir.LineNest,
    number: int,
    writer: Writer,
    inside: Sequence[str],
) -> list[str]:
    """Return the lines of a nest; in one memory the debug build ends if it has found something."""
    lines = _boxes(unit, writer, nest, number, inside)
    folds = nest.folds if isinstance(nest, ir.Nest) else ()
    lines += _totals(folds, unit)
    if not unit.debug or unit.distributed:
        return lines
    writer.lines = []
    for fold in folds:
        writer.examine(1, (fold.name, fold.origin), (), spelled(fold.name))
    found = [f"    if state[{unit.states}, 0] != 0:", f"        return {BAD}"]
    return [*lines, *writer.lines, *found]


def _boxes(
    unit: Unit,
    writer: Writer,
    nest: ir.Nest | ir.LineNest,
    number: int,
    inside: Sequence[str],
) -> list[str]:
    """Return the loop over the boxes of a nest: what it takes from its table, and its inside."""
    buffers = nest.buffers if isinstance(nest, ir.Nest) else ()
    start = [line for b in buffers for line in _buffer_lines(writer, nest.axes, b, number)]
    start += [f"        {writer.start}"] if isinstance(writer, LineWriter) else []
    start += [f"        {name} = {text}" for name, text in sorted(writer.shifts.items())]
    used = set(names([*start, *inside]))
    part = nest.rows.slices if has_own_rows(nest, unit.program) else ":"
    columns = [*_columns(writer, unit.program, nest)]
    boxes, entry = f"range(table_{number}.shape[0])", f"table_{number}[box, {{}}]"
    if unit.distributed:
        boxes, entry = nest_range(number, len(columns)), "ld(tables, box + {})"
    return [
        f"    for box in {boxes}:  # {shown(nest.target)}[{part}] = ...",
        *(f"        {c} = {entry.format(n)}" for n, c in enumerate(columns) if c in used),
        *start,
        *inside,
    ]


def _columns(writer: Writer, program: ir.Program, nest: ir.Nest | ir.LineNest) -> Iterator[str]:
    """Yield the variables that stand in the columns of a nest's table, in order."""
    yield from map(spelled, program.sizes)
    yield from bounds(nest.axes)
    yield from own_bounds(nest.axes) if is_local(nest.context) else ()
    for name, array in writer.arrays.items():
        yield f"{spelled(name)}_0"
        yield from (f"{spelled(name)}_s{axis}" for axis in range(len(array.shape) - 1))


def _buffer_lines(
    writer: Writer, axes: tuple[str, ...], buffer: ir.Buffer, number: int
) -> list[str]:
    """Return the lines that place a buffer in a box: its width, where it begins, its zeros."""
    name, last, made = writer.buffer(buffer.name), axes[-1], writer.described(buffer, number)
    points, near, lines = f"{last}_hi - {last}_lo", made.near, []
    if near > 1:
        lines.append(f"{name}_n = ({points} + {near - 1}) // {near} + {made.between}")
        lines.append(f"{name}_w = ({name}_n + 1 - min({name}_n % {APART}, 1)) * {near}")
    elif buffer.rows > 1 or buffer.pad or buffer.lines is not None:
        lines.append(f"{name}_w = {points} + {2 * buffer.pad}")
    if buffer.lines is None:
        lines.append(f"{name}_0 = {made.before} - {last}_lo")
    else:
        line = axes[-2]
        count, first = f"{line}_hi - {line}_lo + {2 * buffer.lines}", f"{buffer.lines} - {line}_lo"
        lines.append(f"{name}_p = ({count}) * {name}_w")
        lines.append(f"{name}_0 = {made.before} - {last}_lo + ({first}) * {name}_w")
    if buffer.cleared:
        more = f" + {made.before}" if near > 1 else ""
        lines.append(f"for clear in range({buffer.rows} * {name}_w{more}):")
        lines.append(f"    st({name}, clear, {writer.constant(0.0)})")
    return [f"        {line}" for line in lines]


def _totals(folds: Sequence[ir.Fold], unit: Unit) -> list[str]:
    """Return the lines that take the numbers a nest has reduced out of their state.

    They have the type of the fields, and are scalars from then on.
    """
    take = {"sum": "total", "norm": "root", "min": "found", "max": "found"}
    kind = "real({})" if unit.dtype == "float64" else "np.float64(real({}))"
    found = [f"{take[fold.kind]}(state, {unit.reductions[fold.name]})" for fold in folds]
    return [
        f"    {spelled(fold.name)} = {kind.format(text)}"
        for fold, text in zip(folds, found, strict=True)
    ]
