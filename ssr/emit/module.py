"""Write the module of a kernel: Numba source, which is also plain Python.

A kernel takes arrays, scratch buffers, scalars, the layout of its arrays and one table for each
nest. A table has a row for each box: sizes, bounds, and for each array the flat offset of index
zero and its strides. `ssr.run.call_layout` makes these integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from .. import ir
from ..algebra.stored import argument, needed
from ..ir import LoopNest
from ..lower.nests import bounds
from ..lower.place_externals import partly_needed
from ..points.loop_tree import For, If, Loop, runs_of
from ..run.call_layout import calls_of
from ..runtime.sums import STATE
from . import write_externals as write_calls
from .debug_checks import after_nest, in_box, looked_at
from .outline import Functions, names
from .write_externals import call_lines, functions_of
from .write_loops import STRIP, has_loop, write_tree
from .write_rows import value_text
from .write_whole import whole_lines
from .writer import Writer, spelled

MEMORY, LOOKS = ("ld", "st"), ("unfit",)
"""What a debug build takes from `ssr.build.debug`."""

OPERATIONS = ("address", "fits", "fma", "maximum", "meet", "minimum", "prefetch", "sign")
WHOLE = ("apart", "component")
"""What modules of programs with vector fields take too."""

REDUCTIONS = ("accumulate", "extreme", "found", "total")
EVERYWHERE = frozenset(("np", "real", "range", "min", "max", "abs"))
"""Names that generated functions know beside those they import."""

OTHER_LAYOUT, OVERLAP = 1, 2
"""What a kernel returns if it did nothing: arrays of other shapes, or that may share memory."""


def kernel_source(
    program: ir.Program,
    steps: Sequence[LoopNest | ir.Call],
    dtype: str,
    title: str,
    *,
    debug: bool = False,
) -> tuple[str, dict[str, Any]]:
    """Return the module text of a kernel and what a caller must know about it."""
    nests = [step for step in steps if isinstance(step, LoopNest)]
    calls = [step for step in steps if isinstance(step, ir.Call)]
    arrays = {f.name: f for f in (*program.fields, *program.temporaries)}
    functions = Functions(EVERYWHERE.union(MEMORY, LOOKS, OPERATIONS, REDUCTIONS))
    buffer_arguments: list[tuple[str, int, int, int, int | None]] = []
    folds = [fold for n in nests for fold in n.nest.folds]
    reductions = {fold.name: row for row, fold in enumerate(folds)}
    writers = []
    for number, made in enumerate(nests):
        writer = Writer(
            arrays,
            {b.name: b for b in made.nest.buffers},
            f"_{number}" if len(nests) > 1 else "",
            8 if dtype == "float64" else 16,
            {n: spelled(n) for n in program.sizes if spelled(n) != n},
            reductions,
            functions,
        )
        write_tree(writer, made, made.tree, 2)
        writers.append(writer)
        buffer_arguments += [
            (writer.buffer(b.name), number, b.rows, b.pad, b.lines) for b in made.nest.buffers
        ]
    cut = functions.needed([writer.lines for writer in writers])
    anything = partly_needed(program) if debug else ()
    looks = [
        (n, target)
        for n, made in enumerate(nests)
        for target in looked_at(made.nest)
        if target not in anything
    ]
    body: list[str] = []
    numbers = {id(step): n for found in (nests, calls) for n, step in enumerate(found)}
    for step in steps:
        number = numbers[id(step)]
        if isinstance(step, ir.Call):
            body += call_lines(calls, number, functions)
            continue
        nest, writer = step.nest, writers[number]
        inside = functions.short(writer.lines) if cut else writer.lines
        inside = [*inside, *in_box(writer, nest, number, looks)] if debug else inside
        body += _boxes(writer, program, nest, number, inside)
        body += _totals(nest, reductions)
        body += after_nest(nest, arrays, number, looks) if debug else []
    body += _results(program, functions)
    functions.texts.update(functions_of(calls))
    stored = [s.array for n in nests for s in n.nest.statements if s.array in arrays]
    written = list(dict.fromkeys([*stored, *(name for call in calls for name in call.fields)]))
    kind = {"float64": "f8", "float32": "f4"}[dtype]
    readonly = "Array({}, {}, 'A', readonly=True)"
    types = [
        f"{kind}[{', '.join(':' * len(f.shape))}]"
        if name in written
        else readonly.format("real", len(f.shape))
        for name, f in arrays.items()
    ]
    meta: dict[str, Any] = {
        "fields": [f.name for f in program.fields],
        "temporaries": {f.name: _alike(f, program) for f in program.temporaries},
        "written": written,
        "buffers": buffer_arguments,
        "scalars": list(program.scalars),
        "sizes": list(program.sizes),
        "nests": [
            {
                "target": n.nest.target,
                "order": n.nest.order,
                "earlier": n.nest.earlier,
                "whole_lines": n.nest.whole_lines,
                "fused": n.nest.fused,
                **_rows(n.nest, program),
            }
            for n in nests
        ],
        "loops": _vector_loops(nests),
        "reductions": len(reductions),
        "results": len(program.results),
        "stored": needed(n.nest for n in nests),
        "debug": debug,
        "functions": list(functions.texts),
    }
    if calls:
        meta["calls"] = [{"name": call.name, "fields": list(call.fields)} for call in calls]
    if debug:
        meta["looks"] = looks
    elif program.vectors:
        meta["whole"] = [name for name, _ in program.vectors]
    return _module(program, types, meta, functions, body, dtype, title), meta


def _totals(nest: ir.Nest, reductions: Mapping[str, int]) -> list[str]:
    """Return the lines that take the numbers a nest has reduced out of their state."""
    take = {"sum": "total", "min": "found", "max": "found"}
    return [
        f"    {spelled(fold.name)} = real({take[fold.kind]}(state, {reductions[fold.name]}))"
        for fold in nest.folds
    ]


def _results(program: ir.Program, functions: Functions) -> list[str]:
    """Return the lines that hand over the numbers a call returns."""
    writer = Writer({}, {}, "", 0, {}, {}, functions)
    for place, value in enumerate(program.results):
        writer.line(1, f"st(results, {place}, {value_text(writer, value, {}, 1)})")
    return writer.lines


def _rows(nest: ir.Nest, program: ir.Program) -> dict[str, str]:
    """Return what has the points of a nest's rows, where they are not those of its target."""
    arrays = {f.name: f for f in (*program.fields, *program.temporaries)}
    target = arrays.get(nest.target, nest.rows)
    return {} if target.points == nest.rows.points else {"rows": _alike(nest.rows, program)}


def _alike(points: ir.Field, program: ir.Program) -> str:
    """Return what has the same points: a field, the rows of a step, or a temporary.

    Lowering's own temporaries have one before them.
    """
    steps = [p for s in program.steps for p in ir.parts(s)]
    rows = [p.rows if isinstance(p, ir.Reduction) else p.part for p in steps]
    known = (*program.fields, *filter(None, rows), *program.temporaries)
    return next(f.name for f in known if f.points == points.points)


def _boxes(
    writer: Writer, program: ir.Program, nest: ir.Nest, number: int, inside: Sequence[str]
) -> list[str]:
    """Return the loop over the boxes of a nest: what it takes from its table, and its inside."""
    last = nest.axes[-1]
    start = []
    for b in nest.buffers:
        name = writer.buffer(b.name)
        if b.rows > 1 or b.pad:
            start.append(f"        {name}_w = {last}_hi - {last}_lo + {2 * b.pad}")
        if b.lines is None:
            start.append(f"        {name}_0 = {b.pad} - {last}_lo")
        else:
            line = nest.axes[-2]
            lines, first = f"{line}_hi - {line}_lo + {2 * b.lines}", f"{b.lines} - {line}_lo"
            start.append(f"        {name}_p = ({lines}) * {name}_w")
            start.append(f"        {name}_0 = {b.pad} - {last}_lo + ({first}) * {name}_w")
        if b.cleared:
            start.append(f"        for clear in range({b.rows} * {name}_w):")
            start.append(f"            st({name}, clear, {writer.constant(0.0)})")
    start += [f"        {name} = {text}" for name, text in sorted(writer.shifts.items())]
    columns = [spelled(s) for s in program.sizes] + list(bounds(nest.axes))
    for name, array in writer.arrays.items():
        columns += [f"{spelled(name)}_0"]
        columns += [f"{spelled(name)}_s{a}" for a in range(len(array.shape) - 1)]
    used = set(names([*start, *inside]))
    part = nest.rows.slices if _rows(nest, program) else ":"
    table = f"table_{number}"
    return [
        f"    for box in range({table}.shape[0]):  # {nest.target}[{part}] = ...",
        *(f"        {c} = {table}[box, {n}]" for n, c in enumerate(columns) if c in used),
        *start,
        *inside,
    ]


def _module(
    program: ir.Program,
    types: Sequence[str],
    meta: Mapping[str, Any],
    functions: Functions,
    body: Sequence[str],
    dtype: str,
    title: str,
) -> str:
    arrays = [f.name for f in (*program.fields, *program.temporaries)]
    calls = range(len(calls_of(meta)))
    buffers = [*(b[0] for b in meta["buffers"]), *map(write_calls.scratch, calls)]
    tables = [f"table_{n}" for n in range(len(meta["nests"]))]
    arguments = [spelled(a) for a in arrays] + buffers + [spelled(s) for s in program.scalars]
    signature = [*types, *("real[::1]" for _ in buffers), *("real" for _ in program.scalars)]
    if meta["reductions"]:
        arguments.append("state")
        signature.append("i8[:, ::1]")
    if meta["results"]:
        arguments.append("results")
        signature.append("f8[::1]")
    arguments += ["layout", *tables]
    signature += ["i8[::1]", *("i8[:, ::1]" for _ in tables)]
    for matrix, what, array, wide in meta["stored"]:
        arguments.append(argument(matrix, what, array and spelled(array)))
        element = "real" if what == "values" else "i8" if wide else "i4"
        signature.append(f"Array({element}, 1, 'C', readonly=True)")
    for call in calls:
        arguments += write_calls.tables(call)
        signature += write_calls.types()
    kind = {"float64": "f8", "float32": "f4"}[dtype]
    signature = [t.replace("real", kind) for t in signature]
    lines = [
        f'"""{title}"""',
        "",
        "import numpy as np",
        f"from numba.types import Array, f4, f8, {'i4, ' if meta['stored'] else ''}i8",
        "",
        *_imports(meta["debug"], vectors=bool(program.vectors)),
        "",
        f"META = {dict(meta)!r}",
        "",
        f"real = np.{dtype}",
        *(f"{name} = real({value})" for value, name in functions.constants.items()),
        "",
        *(line for text in functions.texts.values() for line in ("", *text, "")),
        "",
        "def kernel(" + ", ".join(arguments) + "):",
    ]
    lines += _checks(program.fields, meta["written"])
    used = names(body)
    if "one" in used:
        lines += ["    one = layout[0]"]
    if meta["reductions"]:
        lines += [f"    for clear in range({meta['reductions'] * STATE}):"]
        lines += [f"        state[clear // {STATE}, clear % {STATE}] = 0"]
    if "strip_length" in used:
        lines += ["    far = layout[1]", f"    strip_length = {STRIP} if far else {2**62}"]
    lines += [*body, "    return 0", "", "", "SIGNATURE = i8("]
    lines += [f"    {t}," for t in signature]
    lines += [")"]
    if not meta["debug"]:
        lines += whole_lines(program, arguments, signature, OTHER_LAYOUT)
    return "\n".join([*lines, ""])


def _imports(debug: bool, vectors: bool) -> list[str]:
    """Return the lines that import what a kernel is written in."""
    operations = OPERATIONS if debug else sorted(OPERATIONS + MEMORY + (WHOLE if vectors else ()))
    return [
        *([f"from ssr.build.debug import {', '.join(MEMORY + LOOKS)}"] if debug else []),
        f"from ssr.runtime.intrinsics import {', '.join(operations)}",
        f"from ssr.runtime.lanes import {', '.join(REDUCTIONS)}",
    ]


def _checks(fields: Sequence[ir.Field], written: Sequence[str]) -> list[str]:
    """Return the lines that refuse arrays laid out in another way, or overlapping ones.

    ``layout`` holds for each field the bytes from its first element to the end of its last,
    0 where overlap is allowed, then its shape and strides.
    """
    lines, starts, lengths = [], [], []
    place = 2
    for field in fields:
        lines.append(f"    if not fits({spelled(field.name)}, layout, {place + 1}):")
        lines.append(f"        return {OTHER_LAYOUT}")
        starts.append((field.name not in written, f"address({spelled(field.name)})"))
        lengths.append((field.name not in written, f"layout[{place}]"))
        place += 1 + 2 * len(field.shape)
    if len(fields) > 1:
        first, second = (
            ", ".join(text for _, text in sorted(found, key=itemgetter(0)))
            for found in (starts, lengths)
        )
        count = sum(not read for read, _ in starts)
        lines.append(f"    if meet(({first}), ({second}), {count}):")
        lines.append(f"        return {OVERLAP}")
    return lines


def _vector_loops(nests: Sequence[LoopNest]) -> int:
    """Return how many innermost loops are expected to vectorise."""

    def count(nest: LoopNest, node: Loop) -> int:
        match node:
            case For(body=body):
                if any(has_loop(b) for b in body):
                    return sum(count(nest, b) for b in body)
                parts = [part for r in runs_of(node) for part in nest.pieces[r.piece].parts]
                return int(all(p.statement.parallel and not ir.gathers(p.value) for p in parts))
            case If(_, then, orelse):
                return sum(count(nest, b) for b in (*then, *orelse))
        return 0

    return sum(count(nest, node) for nest in nests for node in nest.tree)
