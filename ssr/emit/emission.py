"""Generate the kernel IR of the loops of a program. Bit-exact.

    before:  for i in range(max(1, i_lo), i_hi): row_0(i)
    after:   for i in range(max(1, i_lo), i_hi): st(y, y_0 + i, fma(w0, ld(x, x_0 + i - 1), s))

The arguments of a kernel are arrays, scratch buffers, scalars, the layout of the arrays and one
table for each nest. A table has a row for each box: sizes, bounds, and for each array the flat
offset of index zero and its strides. A distributed kernel takes all tables as one array, and the
step of a schedule, which selects the parts of it to use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..kernel.building import call, let
from ..kernel.ir import Function, Integer, Module, Return, Statement
from ..kernel.kernel_names import printable
from ..kernel.outline import Functions
from ..kernel.rewriting import mentioned
from ..runtime.metadata import KernelMeta
from .arguments import arguments, refusals
from .debug_checks import function
from .describe import described
from .externals import functions_of
from .nests import kernel_body, nest_builders
from .scalars import scalars_of
from .schedule import cleared, driver, parameters
from .unit import Unit
from .vector_fields import whole_function


def emission(unit: Unit) -> tuple[Module, KernelMeta]:
    """Return the module of a kernel and its metadata for callers."""
    functions = Functions()
    functions.functions.update(_examinations(unit))
    scalars = scalars_of(unit, functions)
    builders = nest_builders(unit, functions, scalars)
    body = kernel_body(unit, builders, functions, scalars)
    functions.functions.update(functions_of(unit))
    meta = described(unit, builders, list(functions.functions))
    return _module(unit, meta, functions, body), meta


def _module(
    unit: Unit, meta: KernelMeta, functions: Functions, body: Sequence[Statement]
) -> Module:
    """Return a module: the functions that the kernel calls, itself, and one that calls it."""
    given = arguments(unit, meta)
    start = [] if unit.distributed else refusals(meta)
    names = parameters(unit, meta) if unit.distributed else [a.name for a in given]
    whole = (*start, *_start(unit, meta, body), *body, Return(Integer(0)))
    found = [*functions.functions.values(), Function("kernel", tuple(names), whole)]
    if unit.distributed:
        entry, given = driver(unit, meta)
        found.append(entry)
    elif unit.program.vectors:
        entry, given = whole_function(unit, given)
        found.append(entry)
    return Module(
        title=printable(unit.title),
        dtype=unit.dtype,
        checked=unit.debug,
        constants=tuple(functions.constants.values()),
        doubles=tuple(functions.doubles.values()),
        labels=tuple((name, text) for text, name in functions.labels.items()),
        functions=tuple(found),
        types=tuple(argument.type for argument in given),
    )


def _examinations(unit: Unit) -> dict[str, Function]:
    """Return the functions by which the debug build examines values, by their names."""
    axes = sorted({0, *(len(made.nest.axes) for made in unit.nests)}) if unit.debug else ()
    found = (function(n, unit.states) for n in axes)
    return {each.name: each for each in found}


def _start(unit: Unit, meta: KernelMeta, body: Sequence[Statement]) -> Iterator[Statement]:
    """Yield the statements before the first nest: cleared states, and variables of all nests.

    On boxes with separate memory the states are cleared before the first step of a schedule.
    """
    used = set(mentioned(body))
    if "watch" in used and not unit.distributed:
        yield let("watch", call("stopwatch"))
    if meta.states and not unit.distributed:
        yield cleared(meta)
