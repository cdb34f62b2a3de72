"""Read halo values in place in rank-local sweeps, instead of summing them beforehand. Bit-exact.

In distributed programs the halo elements that a row reads are copied into the subdomain's own
array. A rank-local sweep does not overwrite them, so that their terms need not be accumulated in
a temporary before the sweep:

    before:  t[i] = r[i] + (x[i - 1] if i - 1 < i_own_lo)           i_own_lo <= i < i_own_hi
             x[i] = t[i] + (x'[i - 1] if i - 1 >= i_own_lo)         forward
             x[i] = t[i] + (x[i - 1] if i - 1 >= i_own_lo)          backward
    after:   x[i] = r[i] + (x[i - 1] if i - 1 < i_own_lo) + (x'[i - 1] if i - 1 >= i_own_lo)
             x[i] = r[i] + (x[i - 1] if i - 1 < i_own_lo) + (x[i - 1] if i - 1 >= i_own_lo)

The second sweep reads the halo elements as they were before the first sweep (`kept`). The pass
runs only where sums may be reassociated, because two terms then become one (`merge_halo_terms`).
Otherwise each sweep would have twice as many conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import ir
from ..algebra.analyse import reads
from ..algebra.own_box import bounded, is_local
from ..ir.liveness import read
from ..points.affine import Affine
from ..points.sets import Domain


def halo_reads(program: ir.Program) -> ir.Program:
    """Return a program in which sweeps within boxes read elements of other boxes directly."""
    for temporary in program.temporaries:
        steps = program.steps
        places = [n for n, step in enumerate(steps) if temporary.name in ir.made(step)]
        readers = [n for n, step in enumerate(steps) if temporary.name in read(step)]
        if len(places) != 1 or not readers or readers[0] <= places[0]:
            continue
        made = steps[places[0]]
        if not isinstance(made, ir.Assignment) or not _is_sum_between_boxes(made):
            continue
        if not all(_may_read(steps[n], made, program) for n in readers):
            continue
        if not _may_wait(steps[places[0] + 1 : readers[-1] + 1], made):
            continue
        found = [*steps]
        for n in readers:
            found[n] = _reading(steps[n], made, kept=n > readers[0])
        program = replace(program, steps=(*found[: places[0]], *found[places[0] + 1 :]))
    return program


def _is_sum_between_boxes(made: ir.Assignment) -> bool:
    """Whether a step adds up terms, and reads elements of other boxes."""
    if made.part or made.order != "any" or not is_local(made.domain):
        return False
    if not isinstance(made.value, ir.Sum) or any(ir.gathers(made.value)):
        return False
    return any(_elsewhere(rows, load) for rows, load in reads(made.value, made.domain))


def _elsewhere(rows: Domain, load: ir.Load) -> bool:
    """Whether an element lies in another box for all rows that read it."""
    return len(load.index) == len(rows.axes) and (rows & _own(rows, load)).empty


def _own(rows: Domain, load: ir.Load) -> Domain:
    """Return the rows that read an element in the bounds of their own box."""
    return bounded(rows.axes).preimage(load.index, rows.axes)


def _may_wait(steps: Sequence[ir.Step], made: ir.Assignment) -> bool:
    """Whether a sum can be computed in each of the steps after it, up to its last reader.

    The steps write at most one array that the sum reads: they write rows of their own boxes, the
    sum reads elements of other boxes, and the first of these steps reads the sum. Except through
    the sum, later steps read this array in their own boxes only.
    """
    used = [*reads(made.value, made.domain)]
    written: set[str] = set()
    for step in steps:
        if not isinstance(step, (ir.Assignment, ir.Reduction)):
            return False
        if any(gather.array in written for gather in ir.gathers(step.value)):
            return False
        for rows, load in reads(step.value, step.domain):
            if load.array in written and not _of_own_box(rows, load):
                return False
        target = {*ir.made(step)}
        of_target = [(rows, load) for rows, load in used if load.array in target]
        if not of_target:
            continue
        if not is_local(step.domain) or not all(_elsewhere(*each) for each in of_target):
            return False
        if target != written and (written or made.target not in read(step)):
            return False
        written = target
    return True


def _of_own_box(rows: Domain, load: ir.Load) -> bool:
    """Whether it is known that an element is of the own box for all rows that read it."""
    row = tuple(map(Affine.name, rows.axes))
    if load.index == row:
        return True
    return is_local(rows) and len(load.index) == len(row) and rows <= _own(rows, load)


def _may_read(step: ir.Step, made: ir.Assignment, program: ir.Program) -> bool:
    """Whether a step is a sweep within boxes that reads a sum at its own rows, in sums.

    It writes an array that the sum has read.
    """
    if not isinstance(step, ir.Assignment) or not is_local(step.domain):
        return False
    if program.rows(step).points != program.field(made.target).points:
        return False
    if step.target not in ir.arrays(made.value):
        return False
    left = [step.value]
    for node in ir.walk(step.value):
        if isinstance(node, ir.Sum):
            left += [term.weight for term in node.terms]
            left += [t.operand for t in node.terms if t.operand and not _is_read(t, made, step)]
        else:
            left += ir.children(node)
    return not any(isinstance(v, ir.Load) and v.array == made.target for v in left)


def _is_read(term: ir.Term, made: ir.Assignment, step: ir.Assignment) -> bool:
    """Whether a term reads a sum that a step has computed, at each row of another step."""
    row = tuple(map(Affine.name, made.axes))
    here = term.weight == ir.ONE and term.operand == ir.Load(made.target, row)
    return here and step.domain <= term.domain


def _reading(step: ir.Step, made: ir.Assignment, *, kept: bool) -> ir.Step:
    """Return a step that adds up a sum itself, of elements that are kept or not."""
    assert isinstance(step, ir.Assignment)
    assert isinstance(made.value, ir.Sum)
    more = made.value.terms

    def change(node: ir.Sum) -> ir.Value | None:
        terms: list[ir.Term] = []
        for term in node.terms:
            terms += more if _is_read(term, made, step) else (term,)
        return ir.Sum(tuple(terms))

    value = ir.rewrite_sums(step.value, change)
    return replace(step, value=value, kept=step.kept or kept)
