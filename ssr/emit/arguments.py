"""The arguments of a kernel with their types, and the check of array layouts."""

from __future__ import annotations

from dataclasses import dataclass

from .. import ir
from ..algebra.stored import argument
from ..kernel.building import call
from ..kernel.ir import Array, Group, If, Integer, Name, Return, Scalar, Statement, Type
from ..kernel.kernel_names import mangled
from ..runtime.constants import REFUSED
from ..runtime.metadata import KernelMeta
from . import externals
from .unit import Unit

MEMORY, TABLES, WEIGHTS = "memory", "tables", "weights"
"""The packed arrays of a launch: scratch memory, tables of integers, and weights."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a kernel: its name and type.

    An argument that may be a part of an array of a launch has the name of that array as ``pack``.
    """

    name: str
    type: Type
    pack: str = ""


def arguments(unit: Unit, meta: KernelMeta) -> list[Argument]:
    """Return the arguments of a kernel in order."""
    element, calls = unit.element, range(len(unit.calls))
    memory, table = Array(element, written=True), Array("i8", 2, written=True)
    return [
        *_memory(unit, meta),
        *(Argument(externals.scratch(call), memory, MEMORY) for call in calls),
        *(Argument(mangled(name), Scalar("f8")) for name in meta.scalars),
        *([Argument("state", table)] if meta.states else []),
        *([Argument("results", Array("f8", written=True))] if meta.results else []),
        Argument("layout", Array("i8", written=True)),
        *(Argument(f"table_{n}", table, TABLES) for n in range(len(meta.nests))),
        *_stored(unit, meta),
        *(
            Argument(name, Array(kind), pack)
            for call in calls
            for name, kind, pack in zip(
                externals.tables(call), ("i8", element), (TABLES, WEIGHTS), strict=True
            )
        ),
    ]


def driven_arguments(unit: Unit, meta: KernelMeta) -> list[Argument]:
    """Return the arguments of the function that runs the steps of a schedule.

    All tables of nests are one array; so are all links and all weights of calls, which share their
    scratch memory. Each run has one row of scalars and one row of results.
    """
    element = unit.element
    memory = Array(element, written=True)
    return [
        *_memory(unit, meta),
        Argument("scalars", Array("f8", 2)),
        *([Argument("state", Array("i8", 2, written=True))] if meta.states else []),
        *([Argument("results", Array("f8", 2, written=True))] if meta.results else []),
        Argument("layout", Array("i8", written=True)),
        Argument("tables", Array("i8")),
        *_stored(unit, meta),
        Argument("links", Array("i8")),
        Argument("weights", Array(element)),
        Argument("scratch", memory),
        Argument("messages", memory),
        Argument("steps", Array("i8", 2)),
        Argument("at", Array("i8", written=True)),
    ]


def _memory(unit: Unit, meta: KernelMeta) -> list[Argument]:
    """Return the arguments that are fields, temporaries and buffers."""
    memory = Array(unit.element, written=True)
    return [
        *(Argument(mangled(n), _array(unit, f)) for n, f in unit.arrays.items()),
        *(Argument(buffer.argument, memory, MEMORY) for buffer in meta.buffers),
    ]


def _array(unit: Unit, field: ir.Field) -> Array:
    """Return the type of a field or temporary."""
    written = field.name in unit.written
    return Array(unit.element, len(field.shape), contiguous=False, written=written)


def _stored(unit: Unit, meta: KernelMeta) -> list[Argument]:
    """Return the arrays of stored matrices."""
    found = []
    for entry in meta.stored:
        name = argument(entry.matrix, entry.what, entry.operand and mangled(entry.operand))
        kind = unit.element if entry.what == "values" else "i8" if entry.wide else "i4"
        found.append(Argument(name, Array(kind)))
    return found


def refusals(meta: KernelMeta) -> list[Statement]:
    """Return the statements that refuse arrays laid out in another way, or overlapping ones."""
    names = [mangled(name) for name in meta.written_first(meta.fields)]
    if not names:
        return []
    written = sum(name in meta.written for name in meta.fields)
    test = call("refused", Group(tuple(map(Name, names))), "layout", written)
    return [If(test, (Return(Integer(REFUSED)),))]
