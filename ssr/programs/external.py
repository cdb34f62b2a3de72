"""Add a step of another package to a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError, SpaceError
from ..ir.external import External
from ..spaces.space import Space
from ..symbols.values import node
from .expression import Expression, check_part
from .recorder import current


def extend(
    external: External, operands: Sequence[Expression], *scalars: Any
) -> tuple[Expression, ...]:
    """Return expressions on all points of the fields of an external step, in a program."""
    if len(operands) != len(external.fields):
        raise ArgumentError(
            f"{external.name} takes {len(external.fields)} fields, not {len(operands)}."
        )
    if len(scalars) != len(external.data):
        raise ArgumentError(
            f"{external.name} takes {len(external.data)} numbers, not {len(scalars)}.",
            note=f"They are {', '.join(external.data)}." if external.data else None,
        )
    recorder = current()
    for operand, (given, whole) in zip(operands, external.fields, strict=True):
        if not isinstance(operand, Expression):
            raise ArgumentError(
                f"{external.name} is applied to {type(operand).__name__}, not to a field.",
                note=f"It takes the points of {given!r}.",
                hint="Give a field or an expression of the program.",
            )
        check_part(given, whole, f"array of {external.name}")
        if operand.space != given:
            raise SpaceError(
                f"{external.name} is given an expression on {operand.space!r}.",
                note=f"It takes the points of {given!r}.",
                hint="Of a fill, say which points are owned: bc.fill(wide, ..., owned=...).",
            )
    numbers = [node(s, f"Numbers of {external.name}") for s in scalars]
    wholes = [whole for _, whole in external.fields]
    names = [recorder.put(o, whole) for o, whole in zip(operands, wholes, strict=True)]
    recorder.call(external, names, numbers)
    return tuple(recorder.whole(name) for name in names)


def overwrite(made: Expression, part: Space, values: Expression) -> Expression:
    """Assign values to some points of a field that `extend` has computed, and return the field."""
    recorder = current()
    field = recorder.store(made)
    check_part(part, field.space, f"array of {field.name!r}")
    recorder.assign(field.name, field.space, values, part)
    return recorder.whole(field.name)
