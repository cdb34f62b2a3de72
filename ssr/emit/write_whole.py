"""Write the function a program calls if it has vector fields: it takes them whole.

Taking an array apart in Python costs more than a small kernel. So this is done in compiled code,
from which the kernel is called with one array for each component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import ir
from .arguments import Argument
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
    kinds = {a.name: a.type for a in arguments}
    vectors = {f"v__{name}": [spelled(c) for c in found] for name, found in program.vectors}
    owner = {c: (name, n) for name, found in vectors.items() for n, c in enumerate(found)}
    names = dict.fromkeys(owner[a.name][0] if a.name in owner else a.name for a in arguments)
    return Whole(
        tuple(
            Argument(n, _wider([kinds[c] for c in vectors[n]]) if n in vectors else kinds[n])
            for n in names
        ),
        tuple(f"apart({name}, {len(found)})" for name, found in vectors.items()),
        {c: f"component({name}, {n})" for c, (name, n) in owner.items()},
    )


def whole_lines(program: ir.Program, arguments: Sequence[Argument], refused: int) -> list[str]:
    """Return the lines of the function and of its signature; none if all fields are scalar.

    Parameters
    ----------
    program
        The program.
    arguments
        The kernel's arguments.
    refused
        What is returned if an array has not as many components as its field.
    """
    if not program.vectors:
        return []
    whole = with_whole(program, arguments)
    return [
        "",
        "",
        f"def {NAME}({', '.join(a.name for a in whole.given)}):",
        f"    if not ({' and '.join(whole.apart)}):",
        f"        return {refused}",
        f"    return kernel({', '.join(whole.parts.get(a.name, a.name) for a in arguments)})",
        "",
        "",
        *signature_lines("WHOLE", whole.given),
    ]


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
