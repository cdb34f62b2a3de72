"""Write the function a program calls if it has vector fields: it takes them whole.

Taking an array apart in Python costs more than a small kernel. So this is done in compiled code,
from which the kernel is called with one array for each component.

Each array that is taken costs some 45 nanoseconds at each call, and such programs have many. So
all that a launch owns beside its temporaries are three arrays here: scratch memory, tables and
weights. The tables begin with the places of their parts (`ssr.run.packs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import ir
from ..runtime.constants import PLACES, REFUSED
from .arguments import MEMORY, TABLES, WEIGHTS, Argument, read
from .unit import Unit
from .writer import spelled

NAME = "call"
"""The function's name in the module, beside ``kernel``."""


@dataclass(frozen=True, slots=True)
class Whole:
    """Arguments with vector fields whole.

    Attributes
    ----------
    given
        The arguments.
    apart
        Conditions that each vector field has as many components as it should.
    parts
        For each component the source that takes it out of its field.
    """

    given: tuple[Argument, ...]
    apart: tuple[str, ...]
    parts: dict[str, str]


def with_whole(program: ir.Program, arguments: Sequence[Argument]) -> Whole:
    """Return arguments with an array for each vector field instead of one for each component."""
    given = {a.name: a for a in arguments}
    vectors = {
        f"v__{spelled(name)}": [spelled(c) for c in found] for name, found in program.vectors
    }
    owner = {c: (name, n) for name, found in vectors.items() for n, c in enumerate(found)}
    names = dict.fromkeys(owner[a.name][0] if a.name in owner else a.name for a in arguments)
    return Whole(
        tuple(
            Argument(n, _wider([given[c].type for c in vectors[n]])) if n in vectors else given[n]
            for n in names
        ),
        tuple(f"apart({name}, {len(found)})" for name, found in vectors.items()),
        {c: f"component({name}, {n})" for c, (name, n) in owner.items()},
    )


def whole_lines(unit: Unit, arguments: Sequence[Argument]) -> list[str]:
    """Return the lines of the function and of its signature; none if all fields are scalar.

    Parameters
    ----------
    unit
        What the module is written from.
    arguments
        The kernel's arguments.
    """
    if not unit.program.vectors:
        return []
    whole = with_whole(unit.program, arguments)
    given, places = _packed(unit, whole.given)
    parts = whole.parts | places
    return [
        "",
        "",
        f"def {NAME}({', '.join(a.name for a in given)}):",
        f"    if not ({' and '.join(whole.apart)}):",
        f"        return {REFUSED}",
        f"    return kernel({', '.join(parts.get(a.name, a.name) for a in arguments)})",
        "",
        "",
        *signature_lines("WHOLE", given),
    ]


def _packed(
    unit: Unit, arguments: Sequence[Argument]
) -> tuple[tuple[Argument, ...], dict[str, str]]:
    """Return arguments with packs in the place of their parts, and the source of each part."""
    kinds = {
        MEMORY: f"{unit.element}[::1]",
        TABLES: read("i8", 1, "C"),
        WEIGHTS: read(unit.element, 1, "C"),
    }
    names = dict.fromkeys(a.pack or a.name for a in arguments)
    others = {a.name: a for a in arguments}
    given = tuple(Argument(n, kinds[n]) if n in kinds else others[n] for n in names)
    parts = {}
    for number, part in enumerate(a for a in arguments if a.pack):
        start, stop, width = (f"{TABLES}[{PLACES * number + n}]" for n in range(PLACES))
        place = f"{part.pack}, {start}, {stop}"
        has_rows = part.pack == TABLES and part.type.startswith("i8[:,")
        parts[part.name] = f"rows({place}, {width})" if has_rows else f"between({place})"
    return given, parts


def signature_lines(name: str, arguments: Sequence[Argument]) -> list[str]:
    """Return the lines that give a name to the types of a function."""
    return [f"{name} = i8(", *(f"    {a.type}," for a in arguments), ")"]


def _wider(types: Sequence[str]) -> str:
    """Return the type of an array with these components: it can be written if one of them is."""
    found = next((t for t in types if t.endswith("]")), types[0])
    if found.endswith("]"):
        return found.replace("[", "[:, ")
    element, axes, rest = found.split(", ", 2)
    return f"{element}, {int(axes) + 1}, {rest}"
