"""Write the module of a kernel: Numba source, which is also plain Python.

A kernel takes arrays, scratch buffers, scalars, the layout of its arrays and one table for each
nest. A table has a row for each box: sizes, bounds, and for each array the flat offset of index
zero and its strides. One for boxes with memory of their own takes all tables as one array, and the
step of a schedule that says which parts of it are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..runtime.metadata import KernelMeta
from ..runtime.sums import STATE
from .arguments import arguments, refusals
from .debug_checks import function_lines, function_of
from .describe import described
from .outline import Functions, names
from .unit import Unit
from .write_externals import functions_of
from .write_nests import kernel_body, write_nests
from .write_scalars import scalars_of
from .write_steps import driver_lines, parameters
from .write_whole import signature_lines, whole_lines
from .writer import shown

MEMORY, ROWS = ("ld", "st"), ("require",)
"""What checked kernels take from `ssr.runtime.checked`: all of it in the debug build."""

OPERATIONS = (
    "address", "fma", "independent", "interleaved", "maximum", "minimum", "prefetch", "sign",
)  # fmt: skip
BUNDLES = ("gather", "put", "scatter", "take")
"""What kernels that solve along lines take too."""

PERIODS = ("fma_present", "of_two", "put_rows", "repeated", "take_rows", "take_wanted")
"""What kernels take too whose rows have terms that come again with a period."""

WHOLE = ("apart", "component")
"""What modules of programs with vector fields take too."""

REDUCTIONS = ("accumulate", "accumulate_squares", "extreme", "found", "root", "total")
POLLING = ("poll", "stopwatch")
REFUSALS = ("refused",)
PARTS = ("between", "rows")
"""What modules take, too, whose programs have vector fields or run on boxes."""

STEPS = ("copy", "copy_column", "follow")
"""What kernels for boxes with memory of their own take too."""

EVERYWHERE = frozenset(("np", "real", "range", "min", "max", "abs"))
"""Names that generated functions know beside those they import."""


def kernel_source(unit: Unit) -> tuple[str, KernelMeta]:
    """Return the module text of a kernel and what a caller must know about it."""
    known = MEMORY, ROWS, OPERATIONS, BUNDLES, PERIODS, REDUCTIONS, POLLING, REFUSALS
    functions = Functions(EVERYWHERE.union(*known))
    functions.texts.update(_examinations(unit))
    scalars = scalars_of(unit, functions)
    writers = write_nests(unit, functions, scalars)
    body = kernel_body(unit, writers, functions, scalars)
    functions.texts.update(functions_of(unit.calls))
    meta = described(unit, writers, list(functions.texts))
    return "\n".join([*_module(unit, meta, functions, body), ""]), meta


def _module(
    unit: Unit, meta: KernelMeta, functions: Functions, body: Sequence[str]
) -> Iterator[str]:
    """Yield the lines of a module."""
    yield from [f'"""{shown(unit.title)}"""', "", *_imports(unit, wide=bool(meta.stored)), ""]
    yield from [f"META = {meta.literal()!r}", "", f"real = np.{unit.dtype}"]
    yield from (f"{name} = real({value})" for value, name in functions.constants.items())
    yield from (f"{name} = np.float64({value})" for value, name in functions.doubles.items())
    yield from (f"{name} = {text!r}" for text, name in functions.labels.items())
    yield ""
    yield from (line for text in functions.texts.values() for line in ("", *text, ""))
    if unit.distributed:
        yield from ["", f"def kernel({', '.join(parameters(unit, meta))}):"]
        yield from [*_start(unit, meta, body), *body, "    return 0"]
        yield from driver_lines(unit, meta)
        return
    given = arguments(unit, meta)
    yield from ["", f"def kernel({', '.join(a.name for a in given)}):"]
    yield from refusals(meta)
    yield from [*_start(unit, meta, body), *body, "    return 0", "", ""]
    yield from signature_lines("SIGNATURE", given)
    if not unit.checked:
        yield from whole_lines(unit, given)


def _imports(unit: Unit, *, wide: bool) -> list[str]:
    """Return the lines that import what a kernel is written in; ``wide`` adds short integers."""
    checked = (MEMORY + ROWS) if unit.debug else ROWS if unit.checked else ()
    whole = WHOLE if unit.distributed or (unit.program.vectors and not unit.checked) else ()
    operations = sorted(OPERATIONS + (() if unit.debug else MEMORY) + whole)
    return [
        "import numpy as np",
        f"from numba.types import Array, f4, f8, {'i4, ' if wide else ''}i8",
        "",
        *([f"from ssr.runtime.checked import {', '.join(sorted(checked))}"] if checked else []),
        *([f"from ssr.runtime.bundles import {', '.join(BUNDLES)}"] if unit.lines else []),
        f"from ssr.runtime.intrinsics import {', '.join(operations)}",
        f"from ssr.runtime.lanes import {', '.join(REDUCTIONS)}",
        *([f"from ssr.runtime.periods import {', '.join(PERIODS)}"] if unit.periodic else []),
        *([f"from ssr.runtime.parts import {', '.join(PARTS)}"] if whole else []),
        f"from ssr.runtime.polling import {', '.join(POLLING)}",
        f"from ssr.runtime.refusals import {', '.join(REFUSALS)}",
        *([f"from ssr.runtime.steps import {', '.join(STEPS)}"] if unit.distributed else []),
    ]


def _examinations(unit: Unit) -> dict[str, list[str]]:
    """Return the functions by which the debug build examines values, by their names."""
    axes = sorted({0, *(len(made.nest.axes) for made in unit.nests)}) if unit.debug else ()
    return {function_of(n): function_lines(n, unit.states) for n in axes}


def _start(unit: Unit, meta: KernelMeta, body: Sequence[str]) -> Iterator[str]:
    """Yield the lines before the first nest: cleared states, and what all nests use.

    On boxes with memory of their own the states are cleared before the first step of a schedule.
    """
    used = names(body)
    if "watch" in used and not unit.distributed:
        yield "    watch = stopwatch()"
    if "one" in used:
        yield "    one = layout[0]"
    if meta.states and not unit.distributed:
        yield f"    for clear in range({meta.states * STATE}):"
        yield f"        state[clear // {STATE}, clear % {STATE}] = 0"
