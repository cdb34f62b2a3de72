"""Accumulate sums with periodic terms in groups of terms. Bit-exact.

    before:  y[j, i] = f(a x[j, i-1]  where i % 3 = 1     after:  t[i] = a x[j, i-1]  or
                       + b x[j, i+2]  where i % 3 = 2                    b x[j, i+2]
                       + c x[j-1, i]  where j % 3 = 1     y[j, i] = f(t[i] + c x[j-1, i])  or
                       + d x[j+2, i]  where j % 3 = 2)              f(t[i] + d x[j+2, i])

The number of row classes of such a sum is the product of the periods along the axes. The terms are
therefore split into consecutive groups: terms whose conditions depend on the position along the
line, and terms whose conditions depend on the line only. Terms of the first kind are accumulated
in line buffers by loops over whole periods. The last group of the second kind may remain in its
statement, since it has no conditions on a given line.

Sums with too many row classes on some lines are accumulated in the same way, by `built_up`.

The pass requires that statements of a group depend on each other at equal rows only. A sum is not
changed if it reads a value that an earlier statement of its group writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice, takewhile

from ... import ir
from ...points.affine import Affine
from ...points.sets import Domain
from ..nests import beyond_box
from .periodic_stencils import periodic_stencils
from .row_classes import TERMS, classes, guards, written_out

RUN = 64
"""Limit of the written-out terms, over all pieces, of one step of an accumulated sum."""

TAPPED = 64
"""Limit of the row classes of a sum with taps: those of one period, and those at line ends."""


def periodic_sums(
    group: Sequence[ir.Statement],
    context: Domain,
    buffers: list[ir.Buffer],
) -> tuple[tuple[ir.Statement, ...], tuple[ir.Statement, ...]]:
    """Return the statements that add up sums of a group, and the group that reads these."""
    made: list[ir.Statement] = []
    changed: list[ir.Statement] = []
    known: dict[ir.Sum, ir.Value] = {}
    written: set[str] = set()

    def buffered(statement: ir.Statement, rows: Domain) -> Callable[[ir.Sum], ir.Value | None]:
        def change(value: ir.Sum) -> ir.Value | None:
            if written & ir.arrays(value):
                return None
            if value not in known and any(_periodic(term, rows) for term in value.terms):
                name = ir.scratch("a", buffers)
                index = (Affine.name(rows.axes[-1]),)
                here = replace(statement, domain=rows, array=name, index=index)
                steps, known[value] = _accumulated(value, here)
                if steps:
                    buffers.append(ir.Buffer(name, 1, _pad(statement, rows)))
                    made.extend(steps)
            return known.get(value)

        return change

    for statement in group:
        rows = statement.domain & context
        if (
            statement.parallel
            and _may_repeat(statement.value, rows)
            and _in_buffers(statement.value, rows)
        ):
            value = ir.rewrite_sums(statement.value, buffered(statement, rows))
            statement = replace(statement, value=value)
        changed.append(statement)
        written.add(statement.array)
    return tuple(made), tuple(changed)


def _may_repeat(value: ir.Value, rows: Domain) -> bool:
    """Whether remainders are among the conditions of a value's terms, or of its rows."""
    terms = (term for total in ir.sums(value) for term in total.terms)
    return rows.periodic or any(term.domain.periodic for term in terms)


def _periodic(term: ir.Term, rows: Domain) -> bool:
    """Whether a term is there at some rows only, and comes again with a period."""
    return not rows <= term.domain and term.domain.simplified(rows).periodic


def _accumulated(total: ir.Sum, statement: ir.Statement) -> tuple[list[ir.Statement], ir.Value]:
    """Return the statements that add up runs of a sum in a buffer, and the sum with the rest."""
    rows, load = statement.domain, ir.Load(statement.array, statement.index)
    terms = [replace(t, domain=rows & t.domain) for t in total.terms]
    terms = [t for t in terms if not t.domain.empty]
    last = [*takewhile(lambda t: not _varies(t, rows), reversed(terms))][::-1]
    if len(last) == len(terms):
        return [], total
    runs = [*_runs(terms[: len(terms) - len(last)], rows, TERMS)]
    before: tuple[ir.Term, ...] = ()
    if not rows <= Domain.union([t.domain for t in runs[0]]):
        before = (ir.Term(rows, ir.Const(-0.0)),)
    made: list[ir.Statement] = []
    for number, run in enumerate(runs):
        name = f"run_{statement.array[1:]}_{number}"
        made.append(replace(statement, name=name, value=ir.Sum((*before, *run))))
        before = (ir.Term(rows, ir.ONE, load),)
    return made, ir.Sum((*before, *last)) if last else load


def _in_buffers(value: ir.Value, rows: Domain) -> bool:
    """Whether periodic sums are computed in buffers: if they are periodic stencils, or long."""
    return any(tapped(total, rows) for total in ir.sums(value)) or written_out(value, rows) > TERMS


def tapped(total: ir.Sum, rows: Domain) -> bool:
    """Whether a sum alone has a periodic stencil along the line."""
    conditions = [g.simplified(rows) for g in guards(total, rows)]
    if not any(g.periodic and g.involves(g.axes[-1:]) for g in conditions):
        return False
    kinds = list(islice(classes(total, rows), TAPPED + 1))
    here = (Affine.name(rows.axes[-1]),)
    alone = ir.Statement("", rows, "", here, total, parallel=True)
    return len(kinds) <= TAPPED and periodic_stencils(alone, rows, kinds) is not None


def built_up(
    statement: ir.Statement, rows: Domain, buffers: list[ir.Buffer], most: int = RUN
) -> Iterator[ir.Statement]:
    """Yield the statements that build up the sums of some lines, by runs of terms."""
    made: list[ir.Statement] = []
    known: dict[ir.Sum, ir.Load] = {}
    last = Affine.name(rows.axes[-1])
    pad = _pad(statement, rows)

    def change(value: ir.Sum) -> ir.Value | None:
        if all(rows <= t.domain for t in value.terms):
            return None
        if value in known:
            return known[value]
        name = ir.scratch("a", buffers)
        buffers.append(ir.Buffer(name, 1, pad))
        so_far = known[value] = ir.Load(name, (last,))
        step = replace(statement, array=name, index=(last,))
        start = ir.Const(-0.0)
        made.append(replace(step, name=f"start_{name[1:]}", domain=rows, value=start))
        for n, run in enumerate(_runs(value.terms, rows, most)):
            here = rows & run[0].domain if len(run) == 1 else rows
            total = ir.Sum((ir.Term(here, ir.ONE, so_far), *run))
            made.append(replace(step, name=f"add_{name[1:]}_{n}", domain=here, value=total))
        return so_far

    result = ir.rewrite_sums(statement.value, change)
    yield from made
    yield replace(statement, name=f"{statement.name}_built", domain=rows, value=result)


def _runs(terms: Sequence[ir.Term], rows: Domain, most: int) -> Iterator[tuple[ir.Term, ...]]:
    """Yield terms in runs, each as long as its pieces hold no more terms than these.

    Terms of whole lines and terms of parts of lines are in different runs.
    """
    found = (replace(t, domain=rows & t.domain) for t in terms)
    kept = [t for t in found if not t.domain.empty]
    for _, alike in groupby(kept, lambda t: _varies(t, rows)):
        run: tuple[ir.Term, ...] = ()
        for term in alike:
            if run and written_out(ir.Sum((*run, term)), rows, most) > most:
                yield run
                run = ()
            run = (*run, term)
        yield run


def _varies(term: ir.Term, rows: Domain) -> bool:
    """Whether some rows of a line have a term that others do not have."""
    return term.domain.simplified(rows).involves(rows.axes[-1:])


def _pad(statement: ir.Statement, rows: Domain) -> int:
    """Return how far beyond the ends of a line a buffer of a statement's rows reaches."""
    return max((statement.beyond or beyond_box(rows))[-1])
