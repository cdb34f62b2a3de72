"""Where the variables of a generated function are assigned and read."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from . import vector_sums


class Uses(ast.NodeVisitor):
    """Where variables are assigned and read.

    An assignment is in force until its block ends. A variable is *plain* if no two of its
    assignments are in force at one place, and it is read only where one is: each reading then
    means one assignment, and no memory is needed. Variables that are assigned once have
    ``definitions``. Some names are read or assigned ``in_loops``. The lines of ``summed`` arrays
    are added up by one call each, and stored by one statement; nothing else is done with them.
    """

    def __init__(self, tree: ast.FunctionDef) -> None:
        self.in_loops: set[str] = set()
        self._place = self._loops = 0
        self._values: dict[str, ast.expr] = {}
        self._calls: dict[str, ast.Call] = {}
        self._open: list[list[tuple[str, int]]] = [[]]
        self._assigned: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._read: dict[str, list[int]] = defaultdict(list)
        for argument in tree.args.args:
            self._open[-1].append((argument.arg, 0))
        self._block(tree.body)
        self._close()
        self.plain = frozenset(name for name in self._assigned if self._is_plain(name))
        self.definitions = {
            name: value for name, value in self._values.items() if len(self._assigned[name]) == 1
        }

    @property
    def summed(self) -> Mapping[str, ast.Call]:
        """The calls that add up arrays."""
        return {name: call for name, call in self._calls.items() if len(self._read[name]) == 2}

    def _is_plain(self, name: str) -> bool:
        spans = sorted(self._assigned[name])
        apart = all(a[1] < b[0] for a, b in pairwise(spans))
        return apart and all(any(a < here <= b for a, b in spans) for here in self._read[name])

    def _block(self, body: Sequence[ast.stmt], target: str | None = None) -> None:
        self._open.append([])
        if target is not None:
            self._assign(target)
        for node in body:
            self.visit(node)
        self._close()

    def _close(self) -> None:
        self._place += 1
        for name, begin in self._open.pop():
            self._assigned[name].append((begin, self._place))

    def _assign(self, name: str) -> None:
        self._place += 1
        self._open[-1].append((name, self._place))

    def visit_Name(self, node: ast.Name) -> None:
        """Note a reading or an assignment."""
        if self._loops:
            self.in_loops.add(node.id)
        if isinstance(node.ctx, ast.Store):
            self._assign(node.id)
        else:
            self._place += 1
            self._read[node.id].append(self._place)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Visit what is assigned before what it is assigned to."""
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)
        if isinstance(node.targets[0], ast.Name):
            self._values[node.targets[0].id] = node.value

    def visit_Expr(self, node: ast.Expr) -> None:
        """Note calls that add up lines."""
        found = vector_sums.summed(node)
        if found is not None:
            self._calls[found[0]] = found[1]
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Note that the target is read, too."""
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self._place += 1
            self._read[node.target.id].append(self._place)
        self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        """Visit the bounds, then the body, at whose beginning the variable is assigned."""
        self.visit(node.iter)
        assert isinstance(node.target, ast.Name)
        self._loops += 1
        self._block(node.body, node.target.id)
        self._loops -= 1

    def visit_While(self, node: ast.While) -> None:
        """Visit the condition, which is read again after the body."""
        self.visit(node.test)
        self._block(node.body)
        self.visit(node.test)

    def visit_If(self, node: ast.If) -> None:
        """Visit the condition and both branches."""
        self.visit(node.test)
        self._block(node.body)
        self._block(node.orelse)
