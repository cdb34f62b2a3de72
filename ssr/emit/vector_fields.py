"""The entry function of programs with vector fields: it takes each of them as one array.

Slicing an array in Python costs more than a small kernel. The arrays are therefore split in
compiled code, which calls the kernel with one array for each component.

Each array argument costs some 45 nanoseconds at each call, and such programs have many arrays. The
arrays of a launch, other than temporaries, are therefore packed in three: scratch memory, tables
and weights. The tables begin with the positions of their parts (`ssr.run.packs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .. import ir
from ..kernel.building import call, element, every
from ..kernel.ir import Array, Expression, Function, If, Integer, Name, Not, Return, Statement, Type
from ..kernel.kernel_names import mangled
from ..runtime.constants import PLACES, REFUSED
from .arguments import MEMORY, TABLES, WEIGHTS, Argument
from .unit import Unit

NAME = "call"
"""The name of the function in the module, which also contains ``kernel``."""


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
        For each component the expression that takes it out of its field.
    """

    given: tuple[Argument, ...]
    apart: tuple[Expression, ...]
    parts: dict[str, Expression]


def with_whole(program: ir.Program, arguments: Sequence[Argument]) -> Whole:
    """Return arguments with an array for each vector field instead of one for each component."""
    given = {a.name: a for a in arguments}
    vectors = {
        f"v__{mangled(name)}": [mangled(c) for c in found] for name, found in program.vectors
    }
    owner = {c: (name, n) for name, found in vectors.items() for n, c in enumerate(found)}
    names = dict.fromkeys(owner[a.name][0] if a.name in owner else a.name for a in arguments)
    return Whole(
        tuple(
            Argument(n, _wider([given[c].type for c in vectors[n]])) if n in vectors else given[n]
            for n in names
        ),
        tuple(call("apart", name, len(found)) for name, found in vectors.items()),
        {c: call("component", name, n) for c, (name, n) in owner.items()},
    )


def refusal(whole: Whole) -> Statement:
    """Return the statement that refuses vector fields with other numbers of components."""
    return If(Not(every(whole.apart)), (Return(Integer(REFUSED)),))


def whole_function(unit: Unit, arguments: Sequence[Argument]) -> tuple[Function, list[Argument]]:
    """Return the function, and its arguments."""
    whole = with_whole(unit.program, arguments)
    given, places = _packed(unit, whole.given)
    parts = whole.parts | places
    entered = call("kernel", *(parts.get(a.name, Name(a.name)) for a in arguments))
    body = (refusal(whole), Return(entered))
    return Function(NAME, tuple(a.name for a in given), body), list(given)


def _packed(
    unit: Unit, arguments: Sequence[Argument]
) -> tuple[tuple[Argument, ...], dict[str, Expression]]:
    """Return arguments with arrays of a launch instead of their parts, and each part."""
    kinds = {
        MEMORY: Array(unit.element, written=True),
        TABLES: Array("i8"),
        WEIGHTS: Array(unit.element),
    }
    names = dict.fromkeys(a.pack or a.name for a in arguments)
    others = {a.name: a for a in arguments}
    given = tuple(Argument(n, kinds[n]) if n in kinds else others[n] for n in names)
    parts: dict[str, Expression] = {}
    for number, part in enumerate(a for a in arguments if a.pack):
        start, stop, width = (element(TABLES, PLACES * number + n) for n in range(PLACES))
        has_rows = part.pack == TABLES and part.type == Array("i8", 2, written=True)
        place = (part.pack, start, stop)
        parts[part.name] = call("rows", *place, width) if has_rows else call("between", *place)
    return given, parts


def _wider(types: Sequence[Type]) -> Array:
    """Return the type of an array with these components: it can be written if one of them is."""
    arrays = [each for each in types if isinstance(each, Array)]
    return replace(arrays[0], axes=arrays[0].axes + 1, written=any(a.written for a in arrays))
