"""The arguments of a kernel and their types, and the lines that refuse arrays of other layouts."""

from __future__ import annotations

from dataclasses import dataclass

from .. import ir
from ..algebra.stored import argument
from ..runtime.constants import REFUSED
from ..runtime.metadata import KernelMeta
from . import write_externals as externals
from .unit import Unit
from .writer import spelled

MEMORY, TABLES, WEIGHTS = "memory", "tables", "weights"
"""The arrays that a launch may have in the place of many: scratch memory, integers, weights."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a kernel: its name, and the source of its type.

    What may be a part of an array of a launch names that one, its ``pack``.
    """

    name: str
    type: str
    pack: str = ""


def arguments(unit: Unit, meta: KernelMeta) -> list[Argument]:
    """Return the arguments of a kernel in order."""
    element, calls = unit.element, range(len(unit.calls))
    return [
        *_memory(unit, meta),
        *(Argument(externals.scratch(call), f"{element}[::1]", MEMORY) for call in calls),
        *(Argument(spelled(name), "f8") for name in meta.scalars),
        *([Argument("state", "i8[:, ::1]")] if meta.states else []),
        *([Argument("results", "f8[::1]")] if meta.results else []),
        Argument("layout", "i8[::1]"),
        *(Argument(f"table_{n}", "i8[:, ::1]", TABLES) for n in range(len(meta.nests))),
        *_stored(unit, meta),
        *(
            Argument(name, read(kind, 1, "C"), pack)
            for call in calls
            for name, kind, pack in zip(
                externals.tables(call), ("i8", element), (TABLES, WEIGHTS), strict=True
            )
        ),
    ]


def driven_arguments(unit: Unit, meta: KernelMeta) -> list[Argument]:
    """Return the arguments of the function that goes through the steps of a schedule.

    All tables of nests are one array; so are all links and all weights of calls, which share their
    scratch memory. A row of scalars is for a run, and so is one of results.
    """
    element = unit.element
    return [
        *_memory(unit, meta),
        Argument("scalars", read("f8", 2, "C")),
        *([Argument("state", "i8[:, ::1]")] if meta.states else []),
        *([Argument("results", "f8[:, ::1]")] if meta.results else []),
        Argument("layout", "i8[::1]"),
        Argument("tables", read("i8", 1, "C")),
        *_stored(unit, meta),
        Argument("links", read("i8", 1, "C")),
        Argument("weights", read(element, 1, "C")),
        Argument("scratch", f"{element}[::1]"),
        Argument("messages", f"{element}[::1]"),
        Argument("steps", read("i8", 2, "C")),
        Argument("at", "i8[::1]"),
    ]


def _memory(unit: Unit, meta: KernelMeta) -> list[Argument]:
    """Return the arguments that are fields, temporaries and buffers."""
    return [
        *(Argument(spelled(n), _array(unit, f)) for n, f in unit.arrays.items()),
        *(Argument(buffer.argument, f"{unit.element}[::1]", MEMORY) for buffer in meta.buffers),
    ]


def _array(unit: Unit, field: ir.Field) -> str:
    """Return the type of a field or temporary."""
    if field.name in unit.written:
        return f"{unit.element}[{', '.join(':' * len(field.shape))}]"
    return read(unit.element, len(field.shape), "A")


def read(element: str, axes: int, layout: str) -> str:
    """Return the type of an array that is only read."""
    return f"Array({element}, {axes}, {layout!r}, readonly=True)"


def _stored(unit: Unit, meta: KernelMeta) -> list[Argument]:
    """Return the arrays of stored matrices."""
    found = []
    for entry in meta.stored:
        name = argument(entry.matrix, entry.what, entry.operand and spelled(entry.operand))
        kind = unit.element if entry.what == "values" else "i8" if entry.wide else "i4"
        found.append(Argument(name, read(kind, 1, "C")))
    return found


def refusals(meta: KernelMeta) -> list[str]:
    """Return the lines that refuse arrays laid out in another way, or overlapping ones."""
    names = [spelled(name) for name in meta.written_first(meta.fields)]
    if not names:
        return []
    written = sum(name in meta.written for name in meta.fields)
    return [
        f"    if refused(({', '.join(names)}{',' * (len(names) == 1)}), layout, {written}):",
        f"        return {REFUSED}",
    ]
