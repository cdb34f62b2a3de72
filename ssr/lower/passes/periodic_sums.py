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

The pass requires that statements of a group depend on each other at equal rows only. A sum is not
changed if it reads a value that an earlier statement of its group writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from ... import ir
from ...points.affine import Affine
from ...points.sets import Domain


def periodic_sums(
    group: Sequence[ir.Statement],
    context: Domain,
    buffers: list[ir.Buffer],
    wanted: Callable[[ir.Value, Domain], bool],
    pad: Callable[[ir.Statement, Domain], int],
    short: Callable[[Sequence[ir.Term], Domain], Iterator[tuple[ir.Term, ...]]],
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
                steps, known[value] = _runs(value, here, short)
                if steps:
                    buffers.append(ir.Buffer(name, 1, pad(statement, rows)))
                    made.extend(steps)
            return known.get(value)

        return change

    for statement in group:
        rows = statement.domain & context
        if (
            statement.parallel
            and _may_repeat(statement.value, rows)
            and wanted(statement.value, rows)
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


def _runs(
    total: ir.Sum,
    statement: ir.Statement,
    short: Callable[[Sequence[ir.Term], Domain], Iterator[tuple[ir.Term, ...]]],
) -> tuple[list[ir.Statement], ir.Value]:
    """Return the statements that add up runs of a sum in a buffer, and the sum with the rest."""
    rows, load = statement.domain, ir.Load(statement.array, statement.index)
    terms = [replace(t, domain=rows & t.domain) for t in total.terms]
    terms = [t for t in terms if not t.domain.empty]

    def varies(term: ir.Term) -> bool:
        return term.domain.simplified(rows).involves(rows.axes[-1:])

    alike = [(along, tuple(run)) for along, run in groupby(terms, varies)]
    if len(alike) == 1 and not alike[0][0]:
        return [], total
    last = () if alike[-1][0] else alike.pop()[1]
    runs = [run for _, terms in alike for run in short(terms, rows)]
    before: tuple[ir.Term, ...] = ()
    if not rows <= Domain.union([t.domain for t in runs[0]]):
        before = (ir.Term(rows, ir.Const(-0.0)),)
    made: list[ir.Statement] = []
    for number, run in enumerate(runs):
        name = f"run_{statement.array[1:]}_{number}"
        made.append(replace(statement, name=name, value=ir.Sum((*before, *run))))
        before = (ir.Term(rows, ir.ONE, load),)
    return made, ir.Sum((*before, *last)) if last else load
