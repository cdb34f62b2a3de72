"""Loop trees: the representation of loops between the schedule and kernel IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..kernel import ir
from .affine import Affine


@dataclass(frozen=True, slots=True)
class For:
    """``for variable in range(start, stop, step)``."""

    variable: str
    start: ir.Expression
    stop: ir.Expression
    step: int
    body: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class If:
    """A branch."""

    condition: ir.Expression
    then: tuple[Loop, ...]
    orelse: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """One instance of a piece, its row indices given by loop variables."""

    piece: str
    indices: tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class Reduce:
    """The reduction of a line of the box that is stored in a buffer."""

    name: str
    kind: str
    buffer: str


Loop: TypeAlias = "For | If | Run | Reduce"


def runs_of(node: Loop) -> list[Run]:
    """Return the instances inside a node, in order."""
    match node:
        case For(body=body):
            return [r for n in body for r in runs_of(n)]
        case If(_, then, orelse):
            return [r for n in (*then, *orelse) for r in runs_of(n)]
        case Run():
            return [node]
        case Reduce():
            return []


def named(loops: Sequence[Loop], names: Mapping[str, str]) -> tuple[Loop, ...]:
    """Return loops with other names for their pieces."""
    found: list[Loop] = []
    for node in loops:
        match node:
            case For(body=body):
                found.append(replace(node, body=named(body, names)))
            case If(condition, then, orelse):
                found.append(If(condition, named(then, names), named(orelse, names)))
            case Run(piece, indices):
                found.append(Run(names[piece], indices))
            case Reduce():
                found.append(node)
    return tuple(found)


def variables(node: Loop) -> frozenset[str]:
    """Return the variables of the loops inside a node, and its own."""
    match node:
        case For(variable, body=body):
            return frozenset((variable,)).union(*map(variables, body))
        case If(_, then, orelse):
            return frozenset().union(*map(variables, (*then, *orelse)))
    return frozenset()
