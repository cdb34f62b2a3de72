"""Write the calls of functions of other packages, and their place among a kernel's arguments.

The function of call n takes the arrays, then ``cn_links``, ``cn_weights`` and ``cn_scratch``, then
numbers. Functions of equal text are written once.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import ir
from ..lower.moves import kind_of
from .outline import Functions
from .step_columns import call_runs, call_slices
from .unit import Unit
from .write_rows import value_text
from .write_scalars import Scalars
from .writer import Writer, shown, spelled

TABLES = ("links", "weights")
"""What a call takes beside arrays, scratch memory and numbers."""


def functions_of(calls: Sequence[ir.Call]) -> dict[str, list[str]]:
    """Return the functions of calls: name, and lines."""
    found: dict[str, list[str]] = {}
    for number, name in enumerate(_names(calls)):
        if name not in found:
            found |= _defined(calls[number].external.source(name))
    return found


def _defined(text: str) -> dict[str, list[str]]:
    """Return the functions of a text by name, each as lines."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.strip("\n").split("\n"):
        if line.startswith("def "):
            name = line[4 : line.index("(")]
        found.setdefault(name, []).append(line)
    return {name: "\n".join(lines).rstrip().split("\n") for name, lines in found.items()}


def _names(calls: Sequence[ir.Call]) -> list[str]:
    """Return the name of the function of each call: that of the first call with its text."""
    known: dict[str, str] = {}
    return [
        known.setdefault(call.external.source("step"), f"c{number}_step")
        for number, call in enumerate(calls)
    ]


def call_lines(unit: Unit, number: int, functions: Functions, scalars: Scalars) -> list[str]:
    """Return the lines that make a call.

    In a kernel for boxes with memory of their own, a call without links is left out: in most steps
    of a schedule most calls have nothing to do.
    """
    call, depth = unit.calls[number], 1
    writer = Writer({}, {}, "", 0, {}, {}, functions, rounded=scalars.rounded)
    numbers = [value_text(writer, value, {}, depth) for value in call.scalars]
    taken: Sequence[str] = [*tables(number), scratch(number)]
    if unit.distributed:
        memory = "messages" if kind_of(call) == "move" else "scratch"
        taken = [*call_slices(len(unit.nests), number), memory]
        writer.line(depth, f"if {call_runs(len(unit.nests), number)}:")
        depth += 1
    arguments = [*map(spelled, call.fields), *taken, *numbers]
    function = _names(unit.calls)[number]
    writer.line(depth, f"{function}({', '.join(arguments)})  # {shown(call.name)}")
    return writer.lines


def tables(number: int) -> list[str]:
    """Return the names of the tables of a call, as the kernel's arguments."""
    return [f"c{number}_{what}" for what in TABLES]


def scratch(number: int) -> str:
    """Return the name of the scratch memory of a call."""
    return f"c{number}_scratch"
