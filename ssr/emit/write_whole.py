"""Write the function a program calls if it has vector fields: it takes them whole.

Taking an array apart in Python costs more than a small kernel. So this is done in compiled code,
from which the kernel is called with one array for each component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import ir
from .arguments import Argument
from .writer import spelled

NAME = "call"
"""The function's name in the module, beside ``kernel``."""


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
    kinds = {a.name: a.type for a in arguments}
    parts = {name: [spelled(c) for c in found] for name, found in program.vectors}
    given, taken = _grouped(parts, list(kinds))
    wholes = [f"apart(v__{name}, {len(found)})" for name, found in parts.items()]
    signature = [_wider([kinds[c] for c in parts[n]]) if n in parts else kinds[n] for n in given]
    return [
        "",
        "",
        f"def {NAME}({', '.join(f'v__{n}' if n in parts else n for n in given)}):",
        f"    if not ({' and '.join(wholes)}):",
        f"        return {refused}",
        f"    return kernel({', '.join(taken)})",
        "",
        "",
        "WHOLE = i8(",
        *(f"    {kind}," for kind in signature),
        ")",
    ]


def _grouped(
    vectors: Mapping[str, Sequence[str]], arguments: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return what is given, with vectors whole, and what the kernel takes of it."""
    owner = {c: (name, n) for name, found in vectors.items() for n, c in enumerate(found)}
    given: dict[str, None] = {}
    taken = []
    for argument in arguments:
        name, place = owner.get(argument, (argument, 0))
        given[name] = None
        taken.append(f"component(v__{name}, {place})" if argument in owner else argument)
    return list(given), taken


def _wider(types: Sequence[str]) -> str:
    """Return the type of an array with these components: it can be written if one of them is."""
    found = next((t for t in types if t.endswith("]")), types[0])
    if found.endswith("]"):
        return found.replace("[", "[:, ")
    element, axes, rest = found.split(", ", 2)
    return f"{element}, {int(axes) + 1}, {rest}"
