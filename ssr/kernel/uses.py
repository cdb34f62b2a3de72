"""Variables of functions that need no memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from . import ir


def plain(function: ir.Function) -> frozenset[str]:
    """Return the variables of which each reading means one assignment.

    An assignment is in force until its block ends. No two assignments of a plain variable are in
    force at one place, and it is read only where one is.

    >>> from .from_python import functions_of
    >>> (found,) = functions_of("def f(n):\\n    a = n\\n    b = a\\n    while b < 9:\\n        b = b + a")
    >>> sorted(plain(found))
    ['a', 'n']
    """
    return _Uses(function).plain()


class _Uses:
    """The places at which variables are assigned and read."""

    def __init__(self, function: ir.Function) -> None:
        self._place = 0
        self._open: list[list[tuple[str, int]]] = [[(name, 0) for name in function.arguments]]
        self._assigned: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._read: dict[str, list[int]] = defaultdict(list)
        self._block(function.body)
        self._close()

    def plain(self) -> frozenset[str]:
        """Return the plain variables."""
        return frozenset(name for name in self._assigned if self._is_plain(name))

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
        self._place += 1
        self._open[-1].append((name, self._place))

    def _reads(self, name: str) -> None:
        self._place += 1
        self._read[name].append(self._place)

    def _statement(self, node: ir.Statement) -> None:
        for value in ir.expressions(node):
            self._expression(value)
        match node:
            case ir.Let(targets):
                for name in targets:
                    self._assigns(name)
            case ir.SetElement(array):
                self._reads(array)
            case ir.For(variable, body=body):
                self._block(body, variable)
            case ir.While(test, body):
                self._block(body)
                self._expression(test)  # which is computed again behind the body
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
