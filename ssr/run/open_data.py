"""Distributed data of matrices as parameters of the program."""

from __future__ import annotations

from dataclasses import replace

from .. import ir
from ..points.numbers import Array
from ..spaces.distributed import Component, is_distributed
from ..spaces.space import stem
from .declaration import Declaration, Parameter


def opened(declaration: Declaration) -> tuple[Declaration, dict[str, object]]:
    """Return a program that takes distributed data of its matrices as parameters."""
    if not any(map(is_distributed, declaration.captured)):
        return declaration, {}
    program = declaration.program
    known = len(program.fields) - len(declaration.captured)
    fields, spaces = list(program.fields[:known]), dict(declaration.spaces)
    kept: list[tuple[ir.Field, Array]] = []
    vectors: dict[str, tuple[str, ...]] = {}
    parameters: list[Parameter] = []
    given: dict[str, object] = {}
    pairs = list(zip(program.fields[known:], declaration.captured, strict=True))
    for field, value in pairs:
        if isinstance(value, Component):
            if any(value.field is other for other in given.values()):
                continue
            read = {
                v.number: f for f, v in pairs if isinstance(v, Component) and v.field is value.field
            }
            name = ir.fresh(stem(field.name), {*spaces, *given, *program.scalars})
            parts = []
            for number in range(value.field.shape[0]):
                part = read.get(number)
                if part is None:
                    part = replace(field, name=ir.fresh(f"{name}_{number}", spaces))
                    spaces[part.name] = spaces[field.name]
                parts.append(part)
            fields += parts
            vectors[name] = tuple(part.name for part in parts)
            parameters.append(Parameter(name, "vector", len(parts)))
            given[name] = value.field
        elif is_distributed(value):
            fields.append(field)
            parameters.append(Parameter(field.name, "field"))
            given[field.name] = value
        else:
            kept.append((field, value))
    return replace(
        declaration,
        program=replace(
            program,
            fields=(*fields, *(field for field, _ in kept)),
            vectors=(*program.vectors, *vectors.items()),
        ),
        parameters=(*declaration.parameters, *parameters),
        spaces=spaces,
        captured=tuple(value for _, value in kept),
    ), given
