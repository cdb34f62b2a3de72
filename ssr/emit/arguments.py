"""The arguments of a kernel and their types, and the lines that refuse arrays of other layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from .. import ir
from ..algebra.stored import argument
from ..runtime.metadata import KernelMeta
from . import write_externals as externals
from .unit import Unit
from .writer import spelled

OTHER_LAYOUT, OVERLAP = 1, 2
"""What a kernel returns if it did nothing: arrays of other shapes, or that may share memory."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a kernel: its name, and the source of its type."""

    name: str
    type: str


def arguments(unit: Unit, meta: KernelMeta) -> list[Argument]:
    """Return the arguments of a kernel in order."""
    element, calls = unit.element, range(len(unit.calls))
    scratch = [*(b.argument for b in meta.buffers), *map(externals.scratch, calls)]
    return [
        *(Argument(spelled(n), _array(unit, f)) for n, f in unit.arrays.items()),
        *(Argument(name, f"{element}[::1]") for name in scratch),
        *(Argument(spelled(name), element) for name in meta.scalars),
        *([Argument("state", "i8[:, ::1]")] if meta.reductions else []),
        *([Argument("results", "f8[::1]")] if meta.results else []),
        Argument("layout", "i8[::1]"),
        *(Argument(f"table_{n}", "i8[:, ::1]") for n in range(len(meta.nests))),
        *_stored(unit, meta),
        *(
            Argument(name, _read(kind, 1, "C"))
            for call in calls
            for name, kind in zip(externals.tables(call), ("i8", element), strict=True)
        ),
    ]


def _array(unit: Unit, field: ir.Field) -> str:
    """Return the type of a field or temporary."""
    if field.name in unit.written:
        return f"{unit.element}[{', '.join(':' * len(field.shape))}]"
    return _read(unit.element, len(field.shape), "A")


def _read(element: str, axes: int, layout: str) -> str:
    """Return the type of an array that is only read."""
    return f"Array({element}, {axes}, {layout!r}, readonly=True)"


def _stored(unit: Unit, meta: KernelMeta) -> list[Argument]:
    """Return the arrays of stored matrices."""
    found = []
    for entry in meta.stored:
        name = argument(entry.matrix, entry.what, entry.operand and spelled(entry.operand))
        kind = unit.element if entry.what == "values" else "i8" if entry.wide else "i4"
        found.append(Argument(name, _read(kind, 1, "C")))
    return found


def refusals(fields: Sequence[ir.Field], written: Sequence[str]) -> list[str]:
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
            ", ".join(text for _, text in sorted(entries, key=itemgetter(0)))
            for entries in (starts, lengths)
        )
        count = sum(not read for read, _ in starts)
        lines.append(f"    if meet(({first}), ({second}), {count}):")
        lines.append(f"        return {OVERLAP}")
    return lines
