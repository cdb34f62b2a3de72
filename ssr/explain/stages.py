"""Show any stage between a definition and its kernel, as text or as a picture.

`Matrix.explain`, `Program.explain` and the notebook form of a matrix are implemented here, and so
is ``SSR_DUMP=dir``, which writes the stages of every kernel that is built, one file each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from .. import ir
from ..algebra.matrix_data import MatrixData
from ..compiler.passes import NESTS
from ..compiler.pipeline import Lowered, direct, lower, simple
from ..errors import ArgumentError, Span
from ..lower.pass_manager import Setting, State, run
from ..lower.steps.in_place import in_place_notes
from ..lower.steps.stored_values import storage_notes
from ..options import Options
from ..points.affine import Affine
from ..public import is_one_of
from ..symbols.printing import show
from .listing import nests_text, point, program_text, table, where
from .passes import all_passes_text, is_pass, pass_text, passes_text

Stages = Mapping[str, Callable[[], str]]


OF_PROGRAMS = "program", "passes", "nests", "loops", "source", "vectors", "assembly"
"""The stages of programs, and of the programs of matrices."""

OF_PROCESSORS = "vectors", "assembly"
"""Processor-dependent stages, which are shown on request only."""

Explained: TypeAlias = "tuple[ir.Program, ir.Program, Options]"
"""A recorded program, the same program after the declaration passes, and its options."""


def explain_matrix(
    matrix: MatrixData,
    heading: str,
    application: Callable[[], Explained],
    stage: str | None,
) -> str:
    """Return the stages of a matrix, and of the program of ``A @ x``, as text.

    Examples
    --------
    >>> import ssr
    >>> n, = ssr.sizes("n")
    >>> points = ssr.Space(n)
    >>> A = ssr.stencil(points, points, {-1: -1, 0: 2}, outside="zero")
    >>> print(A.explain("footprint"))
    stencil: columns read by a row
      (i - 1)  offset (-1)
      (i)      offset (0)
      halo along i: 1 below, 0 above
    """
    stages = {"trace": lambda: _trace(matrix)} if matrix.paths else {}
    stages |= {"sets": lambda: _sets(heading, matrix), "footprint": lambda: _footprint(matrix)}
    stages |= _later(application)
    return _chosen(stages, stage, application)


def explain_program(program: Explained, stage: str | None, dtype: str) -> str:
    """Return the stages of a program as text."""
    return _chosen(_program_stages(program, dtype), stage, lambda: program, dtype)


def explain_blocks(
    blocks: Iterable[tuple[str, MatrixData]],
    heading: str,
    application: Callable[[], Explained],
    stage: str | None,
) -> str:
    """Return the stages of a block matrix, and of the program of ``X @ x``, as text."""
    stages = {"sets": lambda: "\n".join([heading, *(_sets(*block) for block in blocks)])}
    stages |= _later(application)
    return _chosen(stages, stage, application)


def _chosen(
    stages: Stages, stage: str | None, program: Callable[[], Explained], dtype: str = "float64"
) -> str:
    """Return a stage, or a program after a pass, or all stages that are not for a processor."""
    if stage is None:
        shown = {name: make for name, make in stages.items() if name not in OF_PROCESSORS}
        return "\n\n".join(f"== {name} ==\n{make()}" for name, make in shown.items())
    if is_pass(stage):
        return pass_text(stage, *program(), dtype)
    if not is_one_of(stage, stages):
        raise ArgumentError(
            f"There is no stage {stage!r} here.",
            hint=f"The stages are {', '.join(stages)}, and all names in the table of passes.",
        )
    return stages[stage]()


def _later(application: Callable[[], Explained]) -> Stages:
    """Return the stages of a program that is created when a stage is shown."""

    def stage(name: str) -> str:
        return _program_stages(application(), "float64")[name]()

    return {name: partial(stage, name) for name in OF_PROGRAMS}


def _program_stages(explained: Explained, dtype: str) -> Stages:
    _, program, options = explained
    return {
        "program": lambda: _program(program, options),
        "passes": lambda: passes_text(*explained, dtype),
        "nests": lambda: nests_text(_lowered(program, options, dtype).nests),
        "loops": lambda: nests_text(_lowered(program, options, dtype).loops),
        "source": lambda: _lowered(program, options, dtype).source,
        "vectors": lambda: _vectors(program, options, dtype),
        "assembly": lambda: _assembly(program, options, dtype),
    }


# -- the stages of a matrix ----------------------------------------------------------------------


def _trace(matrix: MatrixData) -> str:
    """Return the paths through the generator, with the user's lines."""
    paths = matrix.paths
    lines = [f"{matrix.name}: {len(paths)} paths through the generator"]
    for path in paths:
        lines.append(f"  {path.domain.simplified().notation()}")
        cells = []
        for entry in path.entries:
            rows = "" if entry.domain == path.domain else where(entry.domain, path.domain)
            cells.append((f"({point(entry.column)})", show(entry.value), rows, _place(entry.span)))
        lines += table(cells, "    ")
    return "\n".join(lines)


def _place(span: Span | None) -> str:
    """Return the user's file and line; empty for a generator of this package."""
    return "" if span is None or span.ours else f"{span.file}:{span.line}"


_BOXES: Mapping[ir.Boxes, str] = MappingProxyType(
    {"any": "", "own": "in the row's own box", "other": "in another box"}
)
"""Texts for the subdomains of columns."""


def _sets(heading: str, matrix: MatrixData) -> str:
    """Return the entry families."""
    cells = []
    for f in matrix.families:
        cells.append(
            (
                f"row ({point(f.row)})",
                f"column ({point(f.column)})",
                show(f.value),
                where(f.domain),
                _BOXES[f.box],
            )
        )
    return "\n".join([heading, *table(cells)])


def _footprint(matrix: MatrixData) -> str:
    """Return the reads of a row: the offset of each family, the halo of all families, and data."""
    lines, cells = [f"{matrix.name}: columns read by a row"], []
    offsets = []
    for f in matrix.families:
        offset = _offset(f.row, f.column)
        offsets.append(offset)
        shown = "varies" if None in offset else f"({', '.join(map(str, offset))})"
        cells.append((f"({point(f.column)})", f"offset {shown}"))
    lines += table(cells)
    for axis, steps in zip(matrix.rows.axes, zip(*offsets, strict=True), strict=False):
        known = [s for s in steps if s is not None]
        width = "varies"
        if len(known) == len(steps):
            width = f"{max(0, -min(known))} below, {max(0, *known)} above"
        lines.append(f"  halo along {axis}: {width}")
    read: dict[str, dict[str, None]] = {}
    for f in matrix.families:
        for load in ir.loads(f.value):
            read.setdefault(load.array, {})[f"({point(load.index)})"] = None
    lines += [f"  field {name} is read at {', '.join(places)}" for name, places in read.items()]
    return "\n".join(lines)


def _offset(row: tuple[Affine, ...], column: tuple[Affine, ...]) -> tuple[int | None, ...]:
    """Return the steps from row to column along each axis of the rows; None where they vary."""
    if len(row) != len(column):
        return (None,) * len(row)
    shift = [c - r for c, r in zip(column, row, strict=True)]
    return tuple(s.constant if s.is_constant else None for s in shift)


# -- the stages of a program ---------------------------------------------------------------------


def _vectors(program: ir.Program, options: Options, dtype: str) -> str:
    """Return the source of a kernel on vectors; the compiler is loaded when it is first needed."""
    from ..compiler.kernel import vectors

    return vectors(program, options, dtype)


def _assembly(program: ir.Program, options: Options, dtype: str) -> str:
    """Return the machine code of a kernel; the compiler is loaded when it is first needed."""
    from ..compiler.kernel import assembly

    return assembly(program, options, dtype)


def _lowered(program: ir.Program, options: Options, dtype: str) -> Lowered:
    return lower(program, options, dtype, f"{program.name}, generated for {dtype}.")


def _program(program: ir.Program, options: Options) -> str:
    """Return the assignments, how they run, and those that are left out."""
    short = simple(program, options)
    text = program_text(short, in_place_notes(short))
    names = [name for step in program.steps for name in ir.made(step)]
    for name in (name for step in short.steps for name in ir.made(step)):
        if name in names:
            names.remove(name)
    left = [f"\n\n  {n}[:] = ... need not be computed by itself." for n in names]
    notes = [f"\n  {note}" for note in storage_notes(short)]
    return "".join([text, *left, *(["\n"] if notes else []), *notes])


def dump(program: ir.Program, options: Options, dtype: str) -> None:
    """Write the stages of a kernel into ``SSR_DUMP/NAME/``, if that variable is set.

    The files are ``00_trace.txt`` (the program as recorded), ``10_program.txt``,
    ``20_nests.txt``, ``30_passes.txt``, ``40_loops.txt`` and ``50_kernel.py``. Programs of one
    name that differ go to ``NAME``, ``NAME_2``, ``NAME_3`` and so on.
    """
    base = os.environ.get("SSR_DUMP")
    if not base:
        return
    traced = f"{dtype}, {options!r}\n{program_text(program)}\n"
    folder = _folder(Path(base), program.name, traced)
    placed, lowered = direct(program, options, dtype), _lowered(program, options, dtype)
    first = run(NESTS[:2], State(placed), Setting(options, dtype))
    texts = {
        "10_program.txt": program_text(placed),
        "20_nests.txt": nests_text(first.nests),
        "30_passes.txt": all_passes_text(program, options, dtype),
        "40_loops.txt": nests_text(lowered.loops),
        "50_kernel.py": lowered.source.rstrip("\n"),
    }
    for name, text in texts.items():
        (folder / name).write_text(text + "\n", encoding="utf-8")


def _folder(base: Path, name: str, traced: str) -> Path:
    """Return the folder of a program: a new folder, or an existing one with the same trace."""
    stem = "".join(c if c.isalnum() else "_" for c in name).strip("_") or "program"
    count = 1
    while True:
        folder = base / (stem if count == 1 else f"{stem}_{count}")
        trace = folder / "00_trace.txt"
        if not trace.exists():
            folder.mkdir(parents=True, exist_ok=True)
            trace.write_text(traced, encoding="utf-8")
            return folder
        if trace.read_text(encoding="utf-8") == traced:
            return folder
        count += 1
