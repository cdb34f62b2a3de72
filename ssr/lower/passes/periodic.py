"""Sums whose terms come again with a period are added up run by run in line buffers. Keeps bits.

    before:  y[j, i] = f(a x[j, i-1]  where i % 3 = 1     after:  t[i] = a x[j, i-1]  or
                       + b x[j, i+2]  where i % 3 = 2                    b x[j, i+2]
                       + c x[j-1, i]  where j % 3 = 1             t[i] = t[i] + c x[j-1, i]  or
                       + d x[j+2, i]  where j % 3 = 2)                   t[i] + d x[j+2, i]
                                                                  y[j, i] = f(t[i])

Such a sum has as many kinds of rows as there are remainders along each axis, multiplied with each
other. So its terms are taken in runs: those that depend on the place along a line, and those that
depend on the line alone. The first are loops over whole periods, the others loops without conditions
on each line, and so is what reads the sum.

Assumes that statements of a group meet each other at their own rows only. A sum that reads what a
statement of the group before it writes stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from ... import ir
from ...points.affine import Affine
from ...points.sets import Domain


def in_runs(
    group: Sequence[ir.Statement],
    context: Domain,
    buffers: list[ir.Buffer],
    wanted: Callable[[ir.Value, Domain], bool],
    pad: Callable[[ir.Statement, Domain], int],
) -> tuple[tuple[ir.Statement, ...], tuple[ir.Statement, ...]]:
    """Return the statements that add up sums of a group, and the group that reads these.

    Parameters
    ----------
    context
        What is known of all rows.
    buffers
        All buffers, to which those of the sums are added.
    wanted
        Tells whether a value at some rows is to be treated so, if it has periods.
    pad
        How far a line buffer of a statement's rows reaches beyond the ends of a line.
    """
    made: list[ir.Statement] = []
    changed: list[ir.Statement] = []
    known: dict[ir.Sum, ir.Load] = {}
    written: set[str] = set()

    def buffered(statement: ir.Statement, rows: Domain) -> Callable[[ir.Value], ir.Value | None]:
        def change(value: ir.Value) -> ir.Value | None:
            if not isinstance(value, ir.Sum) or written & ir.arrays(value):
                return None
            if value not in known and any(_periodic(term, rows) for term in value.terms):
                name = ir.scratch("a", buffers)
                buffers.append(ir.Buffer(name, 1, pad(statement, rows)))
                made.extend(_runs(value, replace(statement, array=name, requests=()), rows))
                known[value] = ir.Load(name, made[-1].index)
            return known.get(value)

        return change

    for statement in group:
        rows = statement.domain & context
        if statement.parallel and wanted(statement.value, rows):
            value = ir.rewrite(statement.value, buffered(statement, rows))
            statement = replace(statement, value=value)
        changed.append(statement)
        written.add(statement.array)
    return tuple(made), tuple(changed)


def _periodic(term: ir.Term, rows: Domain) -> bool:
    """Whether a term is there at some rows only, and comes again with a period."""
    return not rows <= term.domain and term.domain.simplified(rows).periodic


def _runs(total: ir.Sum, statement: ir.Statement, rows: Domain) -> Iterator[ir.Statement]:
    """Yield the statements that add up the terms of a sum, run by run."""
    last = rows.axes[-1:]
    here = replace(statement, domain=rows, index=(Affine.name(last[0]),))
    terms = [replace(t, domain=rows & t.domain) for t in total.terms]
    terms = [t for t in terms if not t.domain.empty]
    before: tuple[ir.Term, ...] = ()
    for number, (_, run) in enumerate(
        groupby(terms, lambda t: t.domain.simplified(rows).involves(last))
    ):
        added = tuple(run)
        if not number and not rows <= Domain.union([t.domain for t in added]):
            before = (ir.Term(rows, ir.Const(-0.0)),)
        name = f"run_{here.array[1:]}_{number}"
        yield replace(here, name=name, value=ir.Sum((*before, *added)))
        before = (ir.Term(rows, ir.ONE, ir.Load(here.array, here.index)),)
