"""Definitions and uses of the variables of a function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from . import ir


def plain(function: ir.Function) -> frozenset[str]:
    r"""Return the variables of which each reading means one assignment; they need no memory.

    >>> from .from_python import functions_of
    >>> text = "def f(n):\n    a = n\n    b = a\n    while b < 9:\n        b = b + a"
    >>> (found,) = functions_of(text)
    >>> sorted(plain(found))
    ['a', 'n']
    """
    return Uses(function).plain


class Uses:
    """Where the variables of a function are assigned and read.

    An assignment is in force until its block ends.

    Attributes
    ----------
    plain
        The variables of which no two assignments are in force at one place, and which are read only
        where one is.
    definitions
        The values of the variables that are assigned once.
    in_loops
        The names that are read or assigned in loops.
    """

    def __init__(self, function: ir.Function) -> None:
        self.in_loops: set[str] = set()
        self._place = self._loops = 0
        self._values: dict[str, ir.Expression] = {}
        self._open: list[list[tuple[str, int]]] = [[(name, 0) for name in function.arguments]]
        self._assigned: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._read: dict[str, list[int]] = defaultdict(list)
        self._block(function.body)
        self._close()
        self.plain = frozenset(name for name in self._assigned if self._is_plain(name))
        self.definitions: Mapping[str, ir.Expression] = {
            name: value for name, value in self._values.items() if len(self._assigned[name]) == 1
        }

    def reads(self, name: str) -> int:
        """Return the number of reads of a name."""
        return len(self._read[name])

    def _is_plain(self, name: str) -> bool:
        spans = sorted(self._assigned[name])
        apart = all(a[1] < b[0] for a, b in pairwise(spans))
        return apart and all(any(a < here <= b for a, b in spans) for here in self._read[name])

    def _block(self, body: Sequence[ir.Statement], counter: str | None = None) -> None:
        self._open.append([])
        if counter is not None:
            self._assigns(counter)
        for node in body:
            self._statement(node)
        self._close()

    def _close(self) -> None:
        self._place += 1
        for name, begin in self._open.pop():
            self._assigned[name].append((begin, self._place))

    def _assigns(self, name: str) -> None:
        if self._loops:
            self.in_loops.add(name)
        self._place += 1
        self._open[-1].append((name, self._place))

    def _reads(self, name: str) -> None:
        if self._loops:
            self.in_loops.add(name)
        self._place += 1
        self._read[name].append(self._place)

    def _statement(self, node: ir.Statement) -> None:
        for value in ir.expressions(node):
            self._expression(value)
        match node:
            case ir.Let(targets, value):
                for name in targets:
                    self._assigns(name)
                if len(targets) == 1:
                    self._values[targets[0]] = value
            case ir.SetElement(array):
                self._reads(array)
            case ir.For(variable, body=body):
                self._loops += 1
                self._block(body, variable)
                self._loops -= 1
            case ir.While(test, body):
                self._block(body)
                self._expression(test)  # evaluated again after the body
            case ir.If(_, then, orelse):
                self._block(then)
                self._block(orelse)

    def _expression(self, node: ir.Expression) -> None:
        if isinstance(node, ir.Name):
            self._reads(node.name)
        elif isinstance(node, ir.Extent):
            self._reads(node.array)
        for part in ir.parts(node):
            self._expression(part)
