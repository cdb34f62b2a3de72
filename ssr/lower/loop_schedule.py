"""Schedule nests as loops: over lines in sweep order, and over pieces on each line. Bit-exact.

    before:  row_0: y[j, i] = f(x[j, i - 1])      where 0 <= j < ny and 0 < i < nx
    after:   for j in range(j_lo, j_hi):
                 for i in range(max(1, i_lo), i_hi):
                     row_0(j, i)

The loops over lines follow directly from the nest. The loops along a line, with the ranges of the
pieces and the conditions on the line, are computed by isl, with the outer indices as parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from .. import ir
from ..kernel import ir as kernel
from ..kernel.building import call, compare, every, minus, plus, times
from ..points.affine import Affine
from ..points.effort import EFFORT, attempted
from ..points.expressions import moved
from ..points.loop_tree import For, If, Loop, Reduce, Run
from ..points.scanning import ALWAYS, condition_on, guarded_loop, line_loops
from ..points.sets import Domain
from .nests import beyond_box, bounds
from .passes.row_classes import all_rows
from .tiling import everywhere, in_box, is_cut, tiling

Rows: TypeAlias = Sequence[tuple[str, Domain]]
"""Names of pieces, each with the rows that it runs at the current line of the outer loops."""

TOGETHER = 8_000_000
"""Limit of isl operations for the loops of all pieces of a stage: about two seconds."""

SHARED = 2 * TOGETHER
"""Limit of isl operations for all stages of a nest, divided equally among them."""

MANY = 4
"""Number of stages on boundary lines beyond which they share one enclosing condition."""

ALONE = EFFORT // 10
"""Limit of isl operations for the loops of one piece of many."""


def loop_schedule(split: ir.SplitNest) -> ir.LoopNest:
    """Return the loops of a nest."""
    nest, line = everywhere(split.nest) if is_cut(split.nest) else split.nest, split.line
    found = [p for part in line for p in _pieces(part, nest.axes)]
    pieces = {p.name: p for p in found}
    assert len(pieces) == len(found), f"pieces of {nest.target!r} with one name"
    lead = _lead(nest)
    context = _line_context(nest, lead)
    stages = (1 if isinstance(p, ir.Stage) else len((*p.then, *p.orelse)) for p in line)
    most = min(TOGETHER, SHARED // max(1, sum(stages)))
    body: list[Loop] = []
    for part in line:
        body += _part(part, nest, context, most)
    tree: tuple[Loop, ...] = tuple(_joined(body))
    folds: tuple[Loop, ...] = tuple(Reduce(f.name, f.kind, f.buffer) for f in nest.folds)
    early = [axis for axis, first in lead.items() if first]
    if folds and early:
        folds = (If(every([_begun(axis, nest) for axis in early]), folds, ()),)
    tree += folds
    for axis, more in reversed(lead.items()):
        tree = (_line_loop(axis, more, _first(axis, more, nest), nest, tree),)
    if is_cut(nest):
        pieces = {name: in_box(piece) for name, piece in pieces.items()}
    return ir.LoopNest(split.nest, pieces, tree)


def _begun(axis: str, nest: ir.Nest) -> kernel.Expression:
    """Return the condition that a loop which begins before the box has reached it."""
    if nest.order == "backward":
        return compare(axis, "<", f"{axis}_hi")
    return compare(axis, ">=", f"{axis}_lo")


def _lead(nest: ir.Nest) -> dict[str, int]:
    """Return for each outer axis how many rows before the box the loop over it begins."""
    lead = dict.fromkeys(nest.axes[:-1], 0)
    for statement in nest.statements:
        for axis, more in zip(nest.axes[-2::-1], reversed(statement.lead), strict=False):
            lead[axis] = max(lead[axis], more)
    return lead


def _pieces(part: ir.Stage | ir.Branch, axes: tuple[str, ...]) -> Iterator[ir.Piece]:
    """Yield the pieces of a stage or branch; those of a branch are restricted to its lines."""
    if isinstance(part, ir.Stage):
        yield from part.pieces
        return
    yield from (piece for stage in part.then for piece in stage.pieces)
    there = part.lines.preimage(tuple(map(Affine.name, axes[:-1])), axes)
    for piece in (piece for stage in part.orelse for piece in stage.pieces):
        apart = (piece.domain & there).empty
        yield piece if apart else replace(piece, domain=piece.domain - there)


def _line_context(nest: ir.Nest, lead: Mapping[str, int]) -> Domain:
    """Return the conditions on every line: sizes, box, and outer indices within their loops."""
    case = []
    names: list[str] = []
    for place, (axis, more) in enumerate(lead.items()):
        low, high = (0, more) if nest.order == "backward" else (more, 0)
        first, last = Affine.name(f"{axis}_lo"), Affine.name(f"{axis}_hi")
        if is_cut(nest):
            first, last = nest.rows.edges[place]
        case.append(f"{first.isl()} - {low} <= {axis} < {last.isl()} + {high}")
        names += [*first.names(), *last.names()]
    inside = Domain.where(nest.axes, " and ".join(case) or "0 = 0", names)
    return nest.context & inside & Domain.where(nest.axes, f"{nest.axes[-1]} = 0")


def _first(axis: str, lead: int, nest: ir.Nest) -> int | None:
    """Return the first line of a nest along an outer axis that any statement needs in any box.

    It is at most the first row of the nest. None if it is unknown, or not after the line where
    the loop over a box of the first rows begins.
    """
    if not lead or nest.order == "backward":
        return None
    place = nest.axes.index(axis)
    if not nest.rows.lower[place].is_constant:
        return None
    lowest = nest.rows.lower[place].constant
    lines = [lowest, *(_first_line(axis, statement, nest) for statement in nest.statements)]
    known = [line for line in lines if line is not None]
    return min(known) if len(known) == len(lines) and min(known) > lowest - lead else None


def _first_line(axis: str, statement: ir.Statement, nest: ir.Nest) -> int | None:
    """Return the position of the loop over an outer axis at the first row of a statement."""
    here = tuple(map(Affine.name, nest.axes))
    place = nest.axes.index(axis)
    line = statement.runs(here, nest.order, -1)[place]
    most = attempted(lambda: statement.domain.largest(-line))
    return None if most is None else -most


def _line_loop(
    axis: str, lead: int, first: int | None, nest: ir.Nest, body: tuple[Loop, ...]
) -> For:
    if nest.order == "backward":
        return For(axis, moved(f"{axis}_hi", lead - 1), moved(f"{axis}_lo", -1), -1, body)
    start = moved(f"{axis}_lo", -lead)
    start = start if first is None else call("max", first, start)
    return For(axis, start, kernel.Name(f"{axis}_hi"), 1, body)


def _part(part: ir.Stage | ir.Branch, nest: ir.Nest, context: Domain, most: int) -> list[Loop]:
    if isinstance(part, ir.Stage):
        return _stage(part, nest, context, most)
    known = part.lines.preimage(tuple(map(Affine.name, nest.axes[:-1])), nest.axes)
    known = _at_line(known, part.then[0].statements[0], nest)
    others = attempted(lambda: all_rows(context - known))
    then = [loop for s in part.then for loop in _stage(s, nest, context & known, most)]
    orelse = _on_lines(part.orelse, nest, context, most, others)
    condition = condition_on(known, context)
    if condition == ALWAYS:
        return then
    if not then:  # no stage runs on these lines
        condition, then, orelse = kernel.Not(condition), orelse, []
    return [If(condition, tuple(_joined(then)), tuple(_joined(orelse)))] if then else []


def _on_lines(
    stages: Sequence[ir.Stage], nest: ir.Nest, context: Domain, most: int, lines: Domain | None
) -> list[Loop]:
    """Return the loops of stages on one of some lines; of many stages under one condition.

    It says on which lines any of them has rows, so that they need not say it each.
    """
    there = attempted(lambda: _there(stages, nest)) if len(stages) > MANY else None
    if there is None or is_cut(nest):
        return [loop for s in stages for loop in _stage(s, nest, context, most, lines)]
    condition, known = condition_on(there, context), context & there
    lines = None if lines is None else lines & there
    found = [loop for s in stages for loop in _stage(s, nest, known, most, lines)]
    return [If(condition, tuple(_joined(found)), ())] if condition != ALWAYS and found else found


def _there(stages: Sequence[ir.Stage], nest: ir.Nest) -> Domain:
    """Return a superset of the lines of the loops on which stages have rows to run."""
    rows = [
        _at_line(piece.domain, stage.statements[0], nest)
        for stage in stages
        for piece in stage.pieces
    ]
    return all_rows(Domain.union(rows)).around()


def _stage(
    stage: ir.Stage, nest: ir.Nest, context: Domain, most: int, lines: Domain | None = None
) -> list[Loop]:
    """Return the loops of a stage on one line, which is one of some ``lines`` if these are given.

    If isl exceeds its limit when it separates all pieces, each piece has separate loops if the
    rows of a line are independent. Otherwise conditions at each row choose the piece.
    """
    first = stage.statements[0]
    rows = [(piece.name, _at_line(piece.domain, first, nest)) for piece in stage.pieces]
    backward = nest.order == "backward" and not first.parallel
    found = attempted(lambda: _told_apart(rows, context, lines, backward), most)
    if found is None and first.parallel:
        found = [loop for row in rows for loop in _alone(row, first, nest, context)]
    elif found is None:
        loops = (_guarded(rows, first, nest, context),)
        found = list(reversed_loops(loops) if backward else loops)
    return tiling(found, first, nest, _lead(nest)) if is_cut(nest) else found


def _told_apart(rows: Rows, context: Domain, lines: Domain | None, backward: bool) -> list[Loop]:
    """Return the loops of pieces on one line, grouped by the lines that they are on."""
    axes = context.axes
    if lines is not None:
        rows = [(name, domain.canonical(lines)) for name, domain in rows]
    groups: list[tuple[Domain, tuple[Loop, ...]]] = []
    for known, found in _by_lines(rows, axes):
        loops = line_loops(context & known, found, axes[-1])
        loops = reversed_loops(loops) if backward else loops
        if loops:  # pieces may have no rows within the context
            groups.append((known, loops))
    return _apart(groups, context)


def _alone(
    row: tuple[str, Domain], statement: ir.Statement, nest: ir.Nest, context: Domain
) -> Sequence[Loop]:
    """Return the loops of one piece on a line."""
    found = attempted(lambda: _told_apart([row], context, None, False), ALONE)
    return (_guarded([row], statement, nest, context),) if found is None else found


def _guarded(rows: Rows, statement: ir.Statement, nest: ir.Nest, context: Domain) -> For:
    """Return a loop over the rows of a line in which conditions choose the piece of each."""
    last = nest.axes[-1]
    low = high = max(max(beyond_box(domain)[-1]) for _, domain in rows)
    if statement.beyond:
        low, high = statement.beyond[-1]
    start, stop = Affine.name(f"{last}_lo") - low, Affine.name(f"{last}_hi") + high
    along = Domain.where(nest.axes, f"{start.isl()} <= {last} < {stop.isl()}", bounds((last,)))
    return guarded_loop(all_rows(context) & along, rows, last, (start, stop))


def _apart(groups: Sequence[tuple[Domain, tuple[Loop, ...]]], context: Domain) -> list[Loop]:
    """Return the loops of groups that are on no line together, each under its condition.

    Most lines belong to the first group, the interior; no other condition is tested on them. If
    two groups cover all lines of one conjunction, it is the condition of both.
    """
    if not groups:
        return []
    if len(groups) == 2:
        (known, first), (others, second) = groups
        both = (known | others).canonical()
        which = condition_on(known, context & both)
        if which != ALWAYS and len([*both.conjunctions()]) == 1:
            return list(_where(condition_on(both, context), (If(which, first, second),)))
    found = [(condition_on(known, context), loops) for known, loops in groups]
    rest = tuple(loop for there, loops in found[1:] for loop in _where(there, loops))
    condition, interior = found[0]
    return [*interior, *rest] if condition == ALWAYS else [If(condition, interior, rest)]


def _where(condition: kernel.Expression, loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """Return loops that run where a condition holds."""
    return loops if condition == ALWAYS else (If(condition, loops, ()),)


def _by_lines(pieces: Rows, axes: tuple[str, ...]) -> list[tuple[Domain, list[tuple[str, Domain]]]]:
    """Return pieces in groups that are on no line together, each with the lines that it is on.

    A piece may lack rows on some of these lines in boxes that do not hold whole lines.
    """
    ends = (f"{axes[-1]}_lo", f"{axes[-1]}_hi")
    groups: list[tuple[Domain, list[tuple[str, Domain]]]] = []
    for name, domain in pieces:
        lines = all_rows(domain.without(ends))
        found = [(name, domain)]
        touched = [n for n, (known, _) in enumerate(groups) if not (known & lines).empty]
        for n in reversed(touched):
            known, others = groups.pop(n)
            lines = known if known.equals(lines) else (known | lines).canonical()
            found = others + found
        groups.insert(touched[0] if touched else len(groups), (lines, found))
    return groups


def _at_line(domain: Domain, statement: ir.Statement, nest: ir.Nest) -> Domain:
    """Return the rows that a statement runs at a line of the loops."""
    if not (statement.ahead or statement.planes):
        return domain
    return domain.preimage(
        statement.runs(tuple(map(Affine.name, nest.axes)), nest.order), nest.axes
    )


def reversed_loops(loops: Sequence[Loop]) -> tuple[Loop, ...]:
    """Return loops that run the same instances in the opposite order."""
    result: list[Loop] = []
    for node in reversed(loops):
        match node:
            case For(variable, start, stop, step, body):
                first = minus(stop, 1)
                if step != 1:
                    count = kernel.Binary("//", minus(stop, 1, start), kernel.Integer(step))
                    first = plus(start, times(count, step))
                result.append(For(variable, first, minus(start, 1), -step, reversed_loops(body)))
            case If(condition, then, orelse):
                result.append(If(condition, reversed_loops(then), reversed_loops(orelse)))
            case Run() | Reduce():
                result.append(node)
    return tuple(result)


def _joined(loops: Sequence[Loop]) -> list[Loop]:
    """Return loops with neighbouring branches on the same condition joined."""
    result: list[Loop] = []
    for node in loops:
        last = result[-1] if result else None
        if (
            isinstance(node, If)
            and isinstance(last, If)
            and node.condition == last.condition
            and not node.orelse
            and not last.orelse
        ):
            result[-1] = If(node.condition, tuple(_joined((*last.then, *node.then))), ())
        else:
            result.append(node)
    return result
