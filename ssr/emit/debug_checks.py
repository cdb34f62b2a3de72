"""Checks of the debug build: the first infinity or NaN that a step of a program computes.

Values are examined when a statement stores them, in the same loops as in other builds. A finding is
written to the last row of the states: 1, the number of a `Look`, the row of the statement, and the
kind of the value. Of several findings, that of the first step is kept, at the first row in C order.
The result depends neither on loop fusion nor on the division into boxes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from .. import ir
from ..kernel import ir as kernel
from ..kernel.building import (
    Operand,
    binary,
    compare,
    element,
    expression,
    expressions,
    let,
    minus,
)
from ..runtime.metadata import KIND, Look

BAD = 3
"""The status of a kernel in which a statement computed an infinity or NaN."""


def looks_of(nests: Sequence[ir.Nest | ir.LineNest], ignored: frozenset[str]) -> tuple[Look, ...]:
    """Return the values to examine in nests: all results of steps of the traced program."""
    found = dict.fromkeys(
        Look(number, name, origin, pivot=isinstance(nest, ir.LineNest) and name in nest.pivots)
        for number, nest in enumerate(nests)
        for name, origin in _made(nest)
        if origin >= 0 and name not in ignored
    )
    return tuple(sorted(found, key=lambda look: look.origin))


def _made(nest: ir.Nest | ir.LineNest) -> Iterator[tuple[str, int]]:
    """Yield the names that a nest defines, each with its origin."""
    if isinstance(nest, ir.LineNest):
        yield from ((name, nest.origin) for name in nest.made)
        return
    buffers = {buffer.name for buffer in nest.buffers}
    for statement in nest.statements:
        name = made_by(statement, buffers)
        if name:
            yield name, statement.origin
    yield from ((fold.name, fold.origin) for fold in nest.folds)


def made_by(statement: ir.Statement, buffers: Collection[str]) -> str:
    """Return the name that a statement defines for its step; empty if only an internal buffer."""
    return statement.makes or ("" if statement.array in buffers else statement.array)


def function_of(axes: int) -> str:
    """Return the name of the function that examines values at rows with a number of axes."""
    return f"examine_{axes}"


def function(axes: int, row: int) -> kernel.Function:
    """Return the function that examines values at rows with a number of axes."""
    names = ["look", *(f"at_{n}" for n in range(axes))]
    empty = element("state", row, 0)
    search: list[kernel.Statement] = [
        let("first", compare(empty, "==", 0)), let("same", compare(empty, "!=", 0))
    ]  # fmt: skip
    found = [_keep(row, 0, 1)]
    for place, name in enumerate(names, 1):
        known = element("state", row, place)
        before = binary("&", "same", compare(name, "<", known))
        search.append(let("first", binary("|", "first", before)))
        search.append(let("same", binary("&", "same", compare(name, "==", known))))
        found.append(_keep(row, place, name))
    found.append(_keep(row, KIND, 0))
    found.append(kernel.If(compare("value", ">", 0), (_keep(row, KIND, 1),)))
    found.append(kernel.If(compare("value", "<", 0), (_keep(row, KIND, -1),)))
    search.append(kernel.If(kernel.Name("first"), tuple(found)))
    bad = compare(minus("value", "value"), "!=", 0)
    arguments = ("state", *names, "value")
    return kernel.Function(function_of(axes), arguments, (kernel.If(bad, tuple(search)),))


def _keep(row: int, place: int, value: Operand) -> kernel.Statement:
    """Return the statement that stores an integer of a finding."""
    return kernel.SetElement("state", expressions([row, place]), expression(value))
