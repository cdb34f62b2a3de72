"""Hoist loop-invariant conditions and conditional values out of loops. Bit-exact.

    before:  for i in range(n): st(y, i, ld(x, (r if j > 0 else s) + i))
    after:   line = r if j > 0 else s
             for i in range(n): st(y, i, ld(x, line + i))

A branch inside a loop prevents LLVM from vectorizing it, or makes LLVM unswitch the loop, with one
copy for each outcome, even if the branch does not depend on the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from .. import ir
from ..ir import LoopNest
from ..points.affine import Affine, Choice
from ..points.expressions import expression
from ..points.loop_tree import For, Loop, runs_of, variables
from .builder import Builder
from .rows import place_of, test_of, value_of

_TESTS = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"))


def hoist_choices(builder: Builder, nest: LoopNest, node: Loop) -> None:
    """Add the loop-invariant choices, tests and operations of a loop before it."""
    if not isinstance(node, For):
        return
    moving, decided = variables(node), builder.decided
    for run in runs_of(node):
        piece = nest.pieces[run.piece]
        where = place_of(builder, nest, run)
        for value in (part.value for part in piece.parts):
            for load in ir.loads(value):
                for choice in _choices(a.substitute(where) for a in load.index[:-1]):
                    if choice not in decided and moving.isdisjoint(choice.names()):
                        chosen = expression(Affine(((choice, 1),)))
                        decided[choice] = builder.let("line", chosen).name
            for test in ir.tests(value):
                moved = test.substitute(where)
                if moved not in decided and moving.isdisjoint(moved.names()):
                    decided[moved] = builder.let("test", test_of(moved)).name
            for op in _fixed(value, where, moving):
                if repr(op) not in decided:
                    found = value_of(builder, op, {})
                    stem = "test" if op.name in _TESTS else "pick"
                    decided[repr(op)] = builder.let(stem, found).name


def _choices(index: Iterable[Affine]) -> Iterator[Choice]:
    """Yield the choices in expressions."""
    for position in index:
        for atom, _ in position.terms:
            if isinstance(atom, Choice):
                yield atom


def _fixed(value: ir.Value, where: Mapping[str, Affine], moving: Set[str]) -> Iterator[ir.Op]:
    """Yield the choices at rows in a value that loops over some variables keep, or their tests."""
    if not any(map(_is_choice, ir.walk(value))):
        return
    for op in (value, value.args[0]) if isinstance(value, ir.Op) and _is_choice(value) else ():
        if _is_kept(op, where, moving):
            moved = ir.substituted(op, where)
            assert isinstance(moved, ir.Op)
            yield moved
            if op is value:
                return
    for part in ir.children(value):
        yield from _fixed(part, where, moving)


def _is_choice(value: ir.Value) -> bool:
    return isinstance(value, ir.Op) and value.name == "where"


def _is_kept(value: ir.Value, where: Mapping[str, Affine], moving: Set[str]) -> bool:
    """Whether a value is a choice or a test at rows, and loops over some variables keep it."""
    if not isinstance(value, ir.Op) or value.name not in ("where", *_TESTS):
        return False
    parts = list(ir.walk(value))
    if any(isinstance(part, (ir.Load, ir.Gather, ir.Diagonal)) for part in parts):
        return False
    here = [p.index.substitute(where) for p in parts if isinstance(p, ir.Coordinate)]
    return bool(here) and all(moving.isdisjoint(index.names()) for index in here)
