"""Calls that add up lines of arrays, and the states of sums that expressions read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .. import ir
from ..uses import Uses


def summed(node: ir.Statement) -> tuple[str, ir.Call] | None:
    """Return the buffer that a statement adds up, and its call, if it is such a call.

    >>> from ssr.kernel.from_python import functions_of
    >>> (function,) = functions_of("def f(state, t, n): accumulate(state, 0, t, 0, n)")
    >>> found = summed(function.body[0])
    >>> found and found[0]
    't'
    """
    match node:
        case ir.Do(ir.Call("accumulate" | "accumulate_squares", arguments) as call):
            match arguments:
                case (_, _, ir.Name(buffer), _, _):
                    return buffer, call
    return None


class Sum(NamedTuple):
    """A sum of terms.

    Attributes
    ----------
    name
        The variable of the sum.
    state, row
        The array with its state, and the row of that array.
    squares
        Whether the squares of terms are added up, for a norm.
    """

    name: str
    state: str
    row: ir.Expression
    squares: bool


def calls_apart(function: ir.Function, uses: Uses) -> dict[str, ir.Call]:
    """Return the calls that add up buffers, by buffer, each of which has a state of its own.

    One statement stores terms in such a buffer; there is no other use of it.
    """
    found = dict(one for node in ir.statements(function.body) if (one := summed(node)))
    return _apart({name: call for name, call in found.items() if uses.reads(name) == 2})


def _apart(calls: Mapping[str, ir.Call]) -> dict[str, ir.Call]:
    states = {name: call.arguments[:2] for name, call in calls.items()}
    if len(calls) > 1 and not all(isinstance(row, ir.Integer) for _, row in states.values()):
        return {}
    count = Counter(states.values())
    return {name: call for name, call in calls.items() if count[states[name]] == 1}


def states(nodes: Sequence[ir.Expression]) -> set[tuple[str, ir.Integer | None]]:
    """Return the names of arrays that are read, each with the row if a call is given one.

    >>> from ssr.kernel.from_python import expression
    >>> sorted(states([expression("n + total(state, 0)")]), key=str)
    [('n', None), ('state', Integer(value=0))]
    """
    return {one for node in nodes for one in _read(node)}


def _read(node: ir.Expression) -> Iterator[tuple[str, ir.Integer | None]]:
    match node:
        case ir.Call(_, (ir.Name(name), ir.Integer() as row, *_)):
            yield name, row
            parts = node.arguments[1:]
        case ir.Name(name) | ir.Extent(name):
            yield name, None
            parts = ()
        case _:
            parts = ir.parts(node)
    for part in parts:
        yield from _read(part)
