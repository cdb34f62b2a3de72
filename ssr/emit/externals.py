"""The calls of functions of other packages, and their place among a kernel's arguments.

The function of call n takes the arrays, then ``cn_links``, ``cn_weights`` and ``cn_scratch``, then
numbers. Functions of equal text are there once.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import ir
from ..kernel import from_python
from ..kernel import ir as kernel
from ..kernel.building import Operand, expressions
from ..lower.moves import kind_of
from .builder import Builder
from .names import mangled, printable
from .outline import Functions
from .rows import value_of
from .scalars import Scalars
from .step_columns import call_runs, call_slices
from .unit import Unit

TABLES = ("links", "weights")
"""What a call takes beside arrays, scratch memory and numbers."""


def functions_of(calls: Sequence[ir.Call]) -> dict[str, kernel.Function]:
    """Return the functions of calls by name."""
    found: dict[str, kernel.Function] = {}
    for number, name in enumerate(_names(calls)):
        if name not in found:
            text = calls[number].external.source(name)
            found |= {each.name: each for each in from_python.functions_of(text)}
    return found


def _names(calls: Sequence[ir.Call]) -> list[str]:
    """Return the name of the function of each call: that of the first call with its text."""
    known: dict[str, str] = {}
    return [
        known.setdefault(call.external.source("step"), f"c{number}_step")
        for number, call in enumerate(calls)
    ]


def call_statements(
    unit: Unit, number: int, functions: Functions, scalars: Scalars
) -> list[kernel.Statement]:
    """Return the statements that make a call.

    In a kernel for boxes with memory of their own, a call without links is left out: in most steps
    of a schedule most calls have nothing to do.
    """
    called, nests = unit.calls[number], len(unit.nests)
    builder = Builder({}, {}, "", 0, {}, {}, functions, rounded=scalars.rounded)
    numbers = [value_of(builder, value, {}) for value in called.scalars]
    taken: Sequence[Operand] = [*tables(number), scratch(number)]
    if unit.distributed:
        memory = "messages" if kind_of(called) == "move" else "scratch"
        taken = [*call_slices(nests, number), memory]
    arguments = expressions([*map(mangled, called.fields), *taken, *numbers])
    function = kernel.Call(_names(unit.calls)[number], arguments)
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
