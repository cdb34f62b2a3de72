"""Find statements that may run in one loop along a line, row by row. Keeps bits.

    before:  for i: s[i] = f(u[i])           after:  for i: s = f(u[i])
             for i: v[i] = g(s[i], w[i])                    v[i] = g(s, w[i])

One loop computes what statements share once, and what only they read stays in registers. Rows of a
line may then run in any order, so a statement may meet what another one writes at its own row only.
"""

from __future__ import annotations

from collections.abc import Sequence

from ... import ir


def mergeable(nest: ir.Nest) -> tuple[tuple[ir.Statement, ...], ...]:
    """Return the statements of a nest in order, in the longest runs that may share a loop."""
    groups: list[list[ir.Statement]] = []
    for statement in nest.statements:
        if groups and all(_share(s, statement, nest) for s in groups[-1]):
            groups[-1].append(statement)
        else:
            groups.append([statement])
    return tuple(map(tuple, groups))


def _share(first: ir.Statement, second: ir.Statement, nest: ir.Nest) -> bool:
    """Whether two statements may share a loop, as far as they are concerned."""
    if nest.joint and not (first.parallel or second.parallel):
        return True
    return (nest.fused or nest.joint) and _apart(first, second)


def _apart(first: ir.Statement, second: ir.Statement) -> bool:
    """Whether rows of two statements may alternate."""
    early = (s.planes == first.planes and s.ahead == first.ahead for s in (first, second))
    if not (first.parallel and second.parallel and all(early) and first.beyond == second.beyond):
        return False
    return all(
        load.index == writer.index
        for writer, reader in ((first, second), (second, first))
        for load in ir.loads(reader.value)
        if load.array == writer.array
    )


def private(group: Sequence[ir.Statement], nest: ir.Nest) -> frozenset[str]:
    """Return the buffers that a group of merged statements alone reads and writes."""
    folded = {fold.buffer for fold in nest.folds}
    names = {b.name for b in nest.buffers if b.name in {s.array for s in group}} - folded
    for statement in nest.statements:
        if statement not in group:
            names -= {statement.array} | ir.arrays(statement.value)
    return frozenset(names)
