"""Fuse statements into one loop along a grid line where their dependences allow it. Bit-exact.

    before:  for i: s[i] = f(u[i])           after:  for i: s = f(u[i])
             for i: v[i] = g(s[i], w[i])                    v[i] = g(s, w[i])

A fused loop computes common subexpressions once and keeps values that only its own statements read
in registers. The loop has no dependences between its iterations: a statement may read an element
that another statement of the loop writes only at its own row.

Statements with different look-ahead, such as a flux and the difference of two fluxes, share a loop
if it accesses few grid lines, since each line is then loaded once. Such statements may also access
the same array on different lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from ... import ir
from ...points.affine import Affine

LINES = 20
"""Limit of the lines that a loop with statements of different look-ahead reads and writes."""

Group: TypeAlias = "tuple[ir.Statement, ...]"
Index: TypeAlias = "tuple[Affine, ...]"
Elements: TypeAlias = "Mapping[str, tuple[ir.Load, ...]]"
"""The elements that each statement writes and reads, relative to the loops' position."""


def loop_fusion(nest: ir.Nest) -> tuple[tuple[Group, ...], ...]:
    """Return the loops, each with groups of statements that have the same advance.

    Statements and loops are in order, and first groups, then loops are as long as they can be.
    """
    met = {statement.name: _met(statement, nest) for statement in nest.statements}
    alone = [(statement,) for statement in nest.statements]
    groups: list[Group] = []
    for own in alone:
        if groups and _alike(groups[-1], own) and _share(groups[-1], own, nest, met):
            groups[-1] = (*groups[-1], *own)
        else:
            groups.append(own)
    loops: list[tuple[Group, ...]] = []
    for group in groups:
        before = tuple(chain(*loops[-1])) if loops else ()
        if loops and _few_lines((*before, *group), met) and _share(before, group, nest, met):
            loops[-1] = (*loops[-1], group)
        else:
            loops.append((group,))
    return tuple(loops)


def _alike(first: Group, second: Group) -> bool:
    """Whether the statements of two groups have the same advance."""
    return _timing(first[0]) == _timing(second[0])


def _few_lines(group: Group, met: Elements) -> bool:
    """Whether a loop of statements reads and writes few lines."""
    lines = {(load.array, load.index[:-1]) for s in group for load in met[s.name]}
    return len(lines) <= LINES


def _share(first: Group, second: Group, nest: ir.Nest, met: Elements) -> bool:
    """Whether two groups may share a loop, as far as they are concerned."""
    return all(_apart(one, other, nest, met) for one in first for other in second)


def _apart(first: ir.Statement, second: ir.Statement, nest: ir.Nest, met: Elements) -> bool:
    """Whether rows of two statements may alternate."""
    if nest.joint and not (first.parallel or second.parallel):
        return True
    if not ((nest.fused or nest.joint) and first.parallel and second.parallel):
        return False
    alike = _timing(first) == _timing(second)
    if first.beyond != second.beyond or not (alike or first.beyond is None):
        return False
    one, two = met[first.name], met[second.name]
    return all(
        load.index == target.index or (not alike and _clear(load.index, target, nest))
        for (target, *_), (other, *loads) in ((one, two), (two, one))
        for load in (loads if alike else (other, *loads))
        if load.array == target.array
    )


def _clear(index: Index, target: ir.Load, nest: ir.Nest) -> bool:
    """Whether elements lie on different lines of memory, or at one place of a rotation."""
    apart = [a - b for a, b in zip(index, target.index, strict=True)]
    if not all(a.is_constant for a in apart):
        return False
    steps = [a.constant for a in apart]
    for buffer in nest.buffers:
        if buffer.name == target.array and (buffer.rows > 1 or buffer.lines is not None):
            steps[0] %= buffer.rows
    return any(steps[:-1]) or not any(steps)


def _timing(statement: ir.Statement) -> tuple[int, int]:
    return statement.planes, statement.ahead


def _met(statement: ir.Statement, nest: ir.Nest) -> tuple[ir.Load, ...]:
    """Return the elements that a statement writes and reads, relative to the loops' position."""
    every = (ir.Load(statement.array, statement.index), *ir.loads(statement.value))
    return tuple(replace(load, index=seen(load.index, statement, nest)) for load in every)


def seen(index: Index, statement: ir.Statement, nest: ir.Nest) -> Index:
    """Return the index of an element, given from a statement's row, from the loops' position."""
    if _timing(statement) == (0, 0):
        return index
    row = statement.runs(tuple(map(Affine.name, nest.axes)), nest.order)
    where = dict(zip(nest.axes, row, strict=True))
    return tuple(a.substitute(where) for a in index)


def standing(statement: ir.Statement, nest: ir.Nest) -> ir.Statement:
    """Return a statement in terms of the position of the loops."""
    if _timing(statement) == (0, 0):
        return statement
    row = statement.runs(tuple(map(Affine.name, nest.axes)), nest.order)
    rows = statement.domain.preimage(row, nest.axes)
    return replace(
        statement,
        domain=rows,
        index=seen(statement.index, statement, nest),
        value=ir.value_at(statement.value, nest.axes, row, rows),
        ahead=0,
        planes=0,
        at=row,
    )


def private(group: Sequence[ir.Statement], nest: ir.Nest) -> frozenset[str]:
    """Return the buffers that a group of merged statements alone reads, where it writes them."""
    folded = {fold.buffer for fold in nest.folds}
    places = {s.array: s.index for s in group}
    names = {b.name for b in nest.buffers if b.name in places} - folded
    for load in (load for s in group for load in ir.loads(s.value)):
        if load.array in names and load.index != places[load.array]:
            names -= {load.array}
    inside = {s.name for s in group}
    for statement in nest.statements:
        if statement.name not in inside:
            names -= {statement.array} | ir.arrays(statement.value)
    return frozenset(names)
