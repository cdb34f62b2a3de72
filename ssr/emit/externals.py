"""Code of the calls of external functions, and their arguments among those of the kernel.

The function of call n takes the arrays, then ``cn_links``, ``cn_weights`` and ``cn_scratch``, then
scalars. Equal functions are emitted once.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..distributed.step_columns import call_runs, call_slices
from ..distributed.transfers import kind_of
from ..kernel import ir as kernel
from ..kernel.building import Operand, expressions
from ..kernel.kernel_names import mangled, printable
from ..kernel.outline import Functions
from .builder import Builder
from .rows import value_of
from .scalars import Scalars
from .unit import Unit

TABLES = ("links", "weights")
"""The arguments of a call other than arrays, scratch memory and scalars."""


def functions_of(unit: Unit) -> dict[str, kernel.Function]:
    """Return the functions of calls by name."""
    found: dict[str, kernel.Function] = {}
    for name, call in zip(unit.called, unit.calls, strict=True):
        if name not in found:
            found |= {each.name: each for each in call.external.functions(name)}
    return found


def call_statements(
    unit: Unit, number: int, functions: Functions, scalars: Scalars
) -> list[kernel.Statement]:
    """Return the statements of a call.

    A kernel for boxes with separate memory skips calls without links, because in most steps of a
    schedule most calls are empty.
    """
    called, nests = unit.calls[number], len(unit.nests)
    builder = Builder({}, {}, "", 0, {}, {}, functions, rounded=scalars.rounded)
    numbers = [value_of(builder, value, {}) for value in called.scalars]
    taken: Sequence[Operand] = [*tables(number), scratch(number)]
    if unit.distributed:
        memory = "messages" if kind_of(called) == "move" else "scratch"
        taken = [*call_slices(nests, number), memory]
    arguments = expressions([*map(mangled, called.fields), *taken, *numbers])
    function = kernel.Call(unit.called[number], arguments)
    made: kernel.Statement = kernel.Do(function, printable(called.name))
    if unit.distributed:
        made = kernel.If(call_runs(nests, number), (made,))
    return [*builder.body, made]


def tables(number: int) -> list[str]:
    """Return the names of the tables of a call, as the kernel's arguments."""
    return [f"c{number}_{what}" for what in TABLES]


def scratch(number: int) -> str:
    """Return the name of the scratch memory of a call."""
    return f"c{number}_scratch"
