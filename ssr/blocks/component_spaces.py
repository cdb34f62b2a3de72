"""Spaces of the operands of block matrices: one field, a vector field, or a tuple of fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..programs.expression import Expression
from ..programs.vectors import Vector
from ..spaces.space import Space, VectorSpace

Kind: TypeAlias = "Space | VectorSpace | tuple[Space, ...]"
"""One field, an array with the component as first axis, or a tuple of fields."""

Part = TypeVar("Part")


def kind_of(found: Sequence[Space]) -> Kind:
    """Return the kind of fields on these spaces."""
    if len(found) == 1:
        return found[0]
    return VectorSpace(len(found), found[0]) if len(set(found)) == 1 else tuple(found)


def spaces(kind: Kind) -> tuple[Space, ...]:
    """Return the space of each component."""
    if isinstance(kind, Space):
        return (kind,)
    return (kind.space,) * kind.components if isinstance(kind, VectorSpace) else kind


def chosen(kind: Kind, which: Sequence[int] | int) -> Kind:
    """Return the kind of some of the components, or of one."""
    if isinstance(which, int):
        return spaces(kind)[which]
    if isinstance(kind, VectorSpace):
        return VectorSpace(len(which), kind.space)
    return kind_of([spaces(kind)[n] for n in which])


def like(kind: Kind, space: Space) -> Kind:
    """Return the kind with as many components, all of them on one space."""
    return space if isinstance(kind, Space) else VectorSpace(len(spaces(kind)), space)


def parts(kind: Kind, x: Any, what: str) -> tuple[Any, ...]:
    """Return the components of an operand: of arrays, or of expressions of a program."""
    count = len(spaces(kind))
    if isinstance(x, (tuple, list, Vector)):
        found = tuple(x)
        if len(found) != count:
            raise ShapeError(
                f"{what}: {len(found)} fields are given where {count} are needed.",
                note=f"they are on {label(kind)}",
            )
    elif isinstance(kind, Space):
        found = (x,)
    elif isinstance(kind, VectorSpace) and isinstance(x, np.ndarray):
        found = tuple(kind.parts("x", x))
    else:
        found = ()
    for wanted in (np.ndarray, Expression):
        if found and all(isinstance(part, wanted) for part in found):
            return found
    raise ArgumentError(
        f"{what}: the operand is {_named(x)}.",
        note=f"{label(kind)} is meant",
        hint="Give an array of shape (components, ...), or a tuple of arrays."
        if isinstance(kind, VectorSpace)
        else f"Give a tuple of {count} arrays."
        if count > 1
        else "Give a NumPy array.",
    )


def joined(kind: Kind, found: Sequence[Any], like: Any) -> Any:
    """Return components as one operand: a tuple if its model is one or the spaces differ."""
    if isinstance(kind, Space):
        return found[0]
    if isinstance(kind, tuple) or isinstance(like, (tuple, list)):
        return tuple(found)
    return Vector(found)


def label(kind: object) -> str:
    """Return a kind as messages call it."""
    return f"({', '.join(map(repr, kind))})" if isinstance(kind, tuple) else repr(kind)


def _named(x: object) -> str:
    return "an array" if isinstance(x, np.ndarray) else type(x).__name__
