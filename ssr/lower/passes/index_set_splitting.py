"""Split the index sets of statements into interior and boundary rows, for branch-free loops.

A statement is split into pieces, which are sets of rows at which the same terms are present:

    before:  y[i] = 2 x[i] - (x[i-1] if i >= 1) - (x[i+1] if i <= n-2)
    after:   i = 0 | 1 <= i <= n-2 | i = n-1, each with its own terms

In three dimensions a 7-point stencil would give up to 64 pieces. Only lines that have all terms
are therefore split, if the pieces hold at most `ENDS` terms. The other lines run in one loop with
predicated terms (`predicate_rows`). Where this is impossible and the pieces hold more than `TERMS`
terms in total, the sum is accumulated in a line buffer, a few terms at a time, in loops over the
rows at which these terms are present:

    a[i] = -0;  a[i] = a[i] + term_1[i] + term_2[i];  a[i] = a[i] + term_3[i];  ...;  y[i] = a[i]

All forms compute the same chain of operations: -0 is the neutral element of addition.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import chain, islice

from ... import ir
from ...points.affine import Affine
from ...points.effort import attempted
from ...points.sets import Domain
from ..tiling import everywhere, is_cut
from .loop_fusion import Group, loop_fusion, private, standing
from .peel_line_ends import peel_line_ends
from .periodic_stencils import joined, periodic_stencils
from .periodic_sums import RUN, built_up, periodic_sums, tapped
from .predicate_rows import predicate_rows
from .row_classes import (
    TERMS,
    classes,
    common_kinds,
    count_terms,
    cut,
    guards,
    is_kept,
    is_narrow,
    lines_of,
    name_of,
    resolve,
    stage_of,
    without_zeros,
    written_out,
)

ENDS = 512
"""Limit of the written-out terms of a statement whose pieces are the same on all of its lines.

Examples are lines that have all terms. The code is one loop, and some peeled rows at its ends.
"""

MERGING = 8_000_000
"""Limit of isl operations to find the common pieces of several statements: about two seconds."""

MORE = 2
"""Limit of the terms of a predicated boundary loop, as a multiple of the terms of an inner row."""

MASKS = 8
"""Limit of the predicated terms at line ends; with more terms, the end rows become own pieces."""

MOST_KINDS = (MASKS // 2 + 1) ** 2
"""Number of row classes on lines of any length with `MASKS` predicates, half at each end."""

KINDS = 4
"""Limit of the common row classes for which the statements of a joint nest share one loop."""


def index_set_splitting(given: ir.Nest, *, interior: bool) -> ir.SplitNest:
    """Return the nest with the buffers needed, and the stages of each line."""
    nest = everywhere(given) if is_cut(given) else given
    buffers = list(nest.buffers)
    line: list[ir.Stage | ir.Branch] = []
    for groups in loop_fusion(nest):
        group = tuple(chain(*groups))
        if nest.joint and not group[0].parallel:
            line.append(stage_of(group, common_kinds(group, nest.context), private(group, nest)))
        elif interior and len(groups) > 1:
            line += _groups(groups, nest, buffers)
        elif interior:
            line += _group(group, nest, buffers)
        else:
            line += [part for s in group for part in _line(s, nest, buffers, interior)]
    found = ir.SplitNest(given, tuple(line))
    pieces = (piece for stage, _, _ in found.stages for piece in stage.pieces)
    used = {part.statement.array for piece in pieces for part in piece.parts if part.stored}
    kept = tuple(b for b in buffers if b.name in used)
    return replace(found, nest=replace(given, buffers=kept))


def _groups(
    groups: Sequence[Group], nest: ir.Nest, buffers: list[ir.Buffer]
) -> list[ir.Stage | ir.Branch]:
    """Return how groups that run unequally early run on a line: in one loop, if that is worth it.

    On the lines that lack some terms they run one after the other.
    """
    there = [tuple(standing(s, nest) for s in group) for group in groups]
    more = list(buffers)
    merged = attempted(lambda: _merged(tuple(chain(*there)), nest, more, there), MERGING)
    if merged is None:
        return [part for group in groups for part in _group(group, nest, buffers)]
    buffers[:] = more
    return merged


def _group(
    group: Sequence[ir.Statement], nest: ir.Nest, buffers: list[ir.Buffer]
) -> list[ir.Stage | ir.Branch]:
    """Return how statements run on a line: in one loop, or in as few as are worth it."""
    alone = group[0].value if len(group) == 1 and group[0].parallel else None
    if isinstance(alone, ir.Sum) and tapped(alone, group[0].domain & nest.context):
        return [_stage(group[0], nest, taps=True)]
    sums, group = periodic_sums(group, nest.context, buffers)
    if sums:
        return [*_sums(sums, nest), *_group(group, nest, buffers)]
    if _by_line(group, nest):
        return [stage_of(group, common_kinds(group, nest.context), private(group, nest))]
    if len(group) == 1:
        return list(_line(group[0], nest, buffers, True))
    more = list(buffers)
    merged = attempted(lambda: _merged(group, nest, more), MERGING)
    if merged is not None:
        buffers[:] = more
        return merged
    half = len(group) // 2
    return _group(group[:half], nest, buffers) + _group(group[half:], nest, buffers)


def _sums(sums: Sequence[ir.Statement], nest: ir.Nest) -> Iterator[ir.Stage]:
    """Yield how sums in buffers run on a line, neighbours with taps in one loop where they can."""
    before: ir.Stage | None = None
    for statement in sums:
        stage = _stage(statement, nest, taps=True)
        piece = joined(before.pieces[0], stage.pieces[0]) if before else None
        if before and piece:
            group = (*before.statements, statement)
            stage = _around(group, piece, common_kinds(group, nest.context))
        elif before:
            yield before
        before = stage
    if before:
        yield before


def _around(group: Sequence[ir.Statement], piece: ir.Piece, found: Sequence[Domain]) -> ir.Stage:
    """Return a stage with a periodic piece, and pieces of the remaining rows."""
    others = [rows for kind in found for rows in (kind - piece.domain,) if not rows.empty]
    return ir.Stage(tuple(group), (piece, *cut(group, others, frozenset())))


def _by_line(group: Sequence[ir.Statement], nest: ir.Nest) -> bool:
    """Whether terms of several statements depend on the line alone, and have periods.

    On each line they are one loop then.
    """
    rows = [s.domain & nest.context for s in group]
    if len(group) == 1 or not all(r.equals(rows[0]) for r in rows):
        return False
    found = [g.simplified(r) for s, r in zip(group, rows, strict=True) for g in guards(s.value, r)]
    if not any(g.periodic for g in found) or any(g.involves(g.axes[-1:]) for g in found):
        return False
    return sum(written_out(s.value, r) for s, r in zip(group, rows, strict=True)) <= ENDS


def _merged(
    group: Sequence[ir.Statement],
    nest: ir.Nest,
    buffers: list[ir.Buffer],
    groups: Sequence[Group] = (),
) -> list[ir.Stage | ir.Branch] | None:
    """Return statements merged on the lines that have all terms; None if it is not profitable.

    Periodic terms need not be present on each of these lines. On the other lines the statements
    run one after the other, and those of a group in ``groups`` together if possible. Statements
    of any length that form a single piece are written out once, as they would be separately.
    """
    outer = nest.axes[:-1]
    rows = [s.domain & nest.context for s in group]
    everything = reduce(operator.or_, rows)
    conditions = [
        c for s, r in zip(group, rows, strict=True) for c in (s.domain, *guards(s.value, r))
    ]
    lines = _whole_lines(everything, [c.without_remainders() for c in conditions])
    if lines.empty:
        return None
    inside = lines.preimage(tuple(map(Affine.name, outer)), nest.axes)
    there = [replace(s, domain=s.domain & inside) for s in group]
    alone = [list(classes(s.value, s.domain & nest.context)) for s in there]
    common = common_kinds(there, nest.context)
    if not _fewer(common, [*chain(*alone)]):
        return None
    sizes = [written_out(s.value, s.domain & nest.context) for s in there]
    if len(common) > 1 and max(sizes) > TERMS:
        return None
    hidden = private(group, nest)
    if nest.joint:
        whole = common_kinds(group, nest.context)
        if len(whole) <= KINDS:
            return [stage_of(group, whole, hidden)]
    stages = peel_line_ends(there, common, nest, hidden)
    tested = _tested(tuple(group), inside, nest)
    if tested is not None:
        return [ir.Branch(lines, stages, (tested,))]
    rest = [t for g in groups or [(s,) for s in group] for t in _rest(g, inside, nest, buffers)]
    return [ir.Branch(lines, stages, tuple(rest))] if rest else list(stages)


def _fewer(common: Sequence[Domain], alone: Sequence[Domain]) -> bool:
    """Whether each line has fewer kinds of rows if statements share a loop."""
    if not any(kind.periodic for kind in common):  # every line has all classes
        return len(common) < len(alone)
    lines, others = ([lines_of(kind) for kind in kinds] for kinds in (common, alone))

    def kinds_on(here: Domain, found: Sequence[Domain]) -> int:
        return sum(not (here & there).empty for there in found)

    return all(kinds_on(here, lines) < kinds_on(here, others) for here in lines)


def _rest(group: Group, inside: Domain, nest: ir.Nest, buffers: list[ir.Buffer]) -> list[ir.Stage]:
    """Return the stages of a group on lines that are not inside: one if their rows agree."""
    tested = _tested(group, inside, nest)
    if tested is not None:
        return [tested]
    left = [replace(s, domain=(s.domain & nest.context) - inside) for s in group]
    left = [s for s in left if not s.domain.empty]
    if len(left) > 1:
        common = common_kinds(left, nest.context)
        if len(common) == 1:
            return [stage_of(left, common, private(left, nest))]
    return [stage for s in left for stage in _boundary(s, nest, buffers)]


def _tested(group: Group, inside: Domain, nest: ir.Nest) -> ir.Stage | None:
    """Return a group on the lines that are not inside as one loop with tests, if possible.

    Rows without any terms are a separate piece.
    """
    rows, *others = ((s.domain & nest.context) - inside for s in group)
    alike = all(rows.equals(other) for other in others)
    if rows.empty or not alike or not all(s.parallel for s in group):
        return None
    left = [replace(s, domain=rows) for s in group]
    hidden = private(group, nest)
    there = rows
    if len(group) == 1 and isinstance(group[0].value, ir.Sum):
        there = rows & Domain.union([term.domain for term in group[0].value.terms])
    piece = None if there.empty else predicate_rows(f"{name_of(group)}_tested", left, there, hidden)
    if piece is None:
        return None
    most = MORE * sum(_longest(s.value, s.domain & inside & nest.context) for s in group)
    if count_terms(part.value for part in piece.parts) > most:
        return None
    nothing = rows - there
    cleared = any(b.name == group[0].array and b.cleared for b in nest.buffers)
    if cleared and (nothing.project(rows.axes[-1:]) & there.project(rows.axes[-1:])).empty:
        nothing = nothing - nothing
    found = () if nothing.empty else cut(left, [nothing], hidden)
    zeros = (replace(zero, name=f"{piece.name}_zero") for zero in found)
    return ir.Stage(tuple(left), (piece, *zeros))


def _longest(value: ir.Value, rows: Domain) -> int:
    """Return how many terms a row of some rows has at most."""
    return max((count_terms([resolve(value, kind)]) for kind in classes(value, rows)), default=0)


def _boundary(
    statement: ir.Statement, nest: ir.Nest, buffers: list[ir.Buffer]
) -> tuple[ir.Stage, ...]:
    """Return how a statement runs on the lines that lack some terms."""
    rows = statement.domain & nest.context
    if written_out(statement.value, rows) <= TERMS:
        return (_stage(statement, nest),)
    return tuple(_stage(s, nest) for s in built_up(statement, rows, buffers))


def _with_ends(statement: ir.Statement, whole: Domain, found: Sequence[Domain]) -> ir.Piece | None:
    """Return a statement as one piece with tests if only few rows at the ends lack terms."""
    if not statement.parallel or not 1 < len(found) <= MOST_KINDS:
        return None
    broad = [kind for kind in found if not is_narrow(kind)]
    kept = any(is_kept(statement, resolve(statement.value, kind)) for kind in found)
    if len(broad) != 1 or kept:
        return None
    union = Domain.union(found)
    rows = whole if whole <= union else union
    piece = predicate_rows(f"{statement.name}_0", (statement,), rows, frozenset())
    if piece is None:
        return None
    along, (part,) = rows.axes[-1], piece.parts
    tested = [t for s in ir.sums(part.value) for t in s.terms if t.tests]
    at_ends = all(broad[0] <= t.domain and along in e.names() for t in tested for e in t.tests)
    return piece if at_ends and len(tested) <= MASKS else None


def _stage(statement: ir.Statement, nest: ir.Nest, *, taps: bool = False) -> ir.Stage:
    """Return a statement in pieces with the terms present, or a periodic piece if ``taps``.

    Zeros are not stored in a buffer that is cleared beforehand, unless they overwrite values.
    """
    rows = statement.domain & nest.context
    found = list(classes(statement.value, rows))
    piece = periodic_stencils(statement, rows, found) if taps else None
    if piece is not None:
        return _around((statement,), piece, found)
    cleared = {b.name for b in nest.buffers if b.cleared}
    if statement.array in cleared:
        found = without_zeros(statement.value, found, nest.axes)
    piece = _with_ends(statement, rows, found)
    if piece is not None:
        return ir.Stage((statement,), (piece,))
    return stage_of((statement,), found, frozenset())


def _line(
    statement: ir.Statement, nest: ir.Nest, buffers: list[ir.Buffer], interior: bool
) -> tuple[ir.Stage | ir.Branch, ...]:
    """Return how a statement runs on a line."""
    value = statement.value
    rows = statement.domain & nest.context
    conditions = guards(value, rows) if statement.parallel else ()
    if not conditions:
        return (_stage(statement, nest),)
    outer = rows.axes[:-1]
    by_line = any(c.simplified(rows).involves(outer) for c in conditions)
    then: ir.Stage | None = None
    if interior and by_line:
        lines = _whole_lines(rows, conditions)
        inside = statement.domain & lines.preimage(tuple(map(Affine.name, outer)), rows.axes)
        if not lines.empty and written_out(value, inside & nest.context, ENDS) <= ENDS:
            then = _stage(replace(statement, domain=inside), nest)
            tested = _tested((statement,), inside, nest)
            if tested is not None:
                return (ir.Branch(lines, (then,), (tested,)),)
    limit = TERMS if by_line else ENDS
    if interior and written_out(value, rows, limit) <= limit:
        return (_stage(statement, nest),)
    few = list(islice(classes(value, rows), MOST_KINDS + 1)) if interior and not by_line else ()
    piece = _with_ends(statement, rows, few)
    if piece is not None:
        return (ir.Stage((statement,), (piece,)),)
    most = RUN if interior else 0
    built = tuple(_stage(s, nest) for s in built_up(statement, rows, buffers, most))
    return built if then is None else (ir.Branch(lines, (then,), built),)


def _whole_lines(rows: Domain, conditions: Sequence[Domain]) -> Domain:
    """Return the lines, as a set over the outer axes, on which every term is present somewhere.

    Terms that are on boundary lines only are left out: another one takes their place in the
    interior, as after a product of matrices. Where a term depends on the box that owns the rows,
    lines are distinguished as in a box that has such terms: with neighbours on all sides.
    """
    lines = lines_of(rows)
    for condition in conditions:
        shadow = lines_of(rows & condition)
        lines = lines & shadow if (lines & shadow).thick else lines - shadow
    return lines
