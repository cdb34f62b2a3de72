"""Store a temporary near the surface of boxes only, where it is a copy inside. Keeps bits.

What a row reads of other boxes is there at rows near them only:

    before:  t[i] = r[i] + (x[i - 1] if i - 1 < i_own_lo)           i_own_lo <= i < i_own_hi
             y[i] = t[i] - u[i]
    after:   t[i] = r[i] + (x[i - 1] if i - 1 < i_own_lo)           i = i_own_lo
             y[i] = (t[i] if i = i_own_lo) + (r[i] if i > i_own_lo) - u[i]

Every row has one of the two terms, so that the sum is the same chain of operations. It pays where
rows are many: `t` takes the time of memory that is written once and read for each reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .. import ir
from ..algebra.own_box import bounded, is_local
from ..ir.liveness import read
from ..points.affine import Affine
from ..points.sets import Domain

WIDEST = 2
"""Rows of the surface at each side of a box, at most."""


@dataclass(frozen=True, slots=True)
class Inside:
    """A temporary that is a copy of a field at the rows inside of boxes."""

    name: str
    source: ir.Load
    rows: Domain


def without_inner_copies(steps: Sequence[ir.Step], program: ir.Program) -> tuple[ir.Step, ...]:
    """Return steps that read fields inside of boxes where they have read copies of them."""
    found = list(steps)
    for temporary in program.temporaries:
        places = [n for n, step in enumerate(found) if temporary.name in ir.made(step)]
        readers = [n for n, step in enumerate(found) if temporary.name in read(step)]
        if len(places) != 1 or not readers or readers[0] <= places[0]:
            continue
        made = found[places[0]]
        copy = _inside(made) if isinstance(made, ir.Assignment) and not made.part else None
        if copy is None or program.field(copy.source.array).points != temporary.points:
            continue
        between = found[places[0] : readers[-1] + 1]
        if any(copy.source.array in ir.made(step) for step in between):
            continue
        if not all(_may_read(found[n], copy, program) for n in readers):
            continue
        for n in readers:
            found[n] = _reading(found[n], copy)
        assert isinstance(made, ir.Assignment)
        found[places[0]] = replace(made, domain=made.domain - copy.rows, in_part=True)
    return tuple(found)


def _inside(made: ir.Assignment) -> Inside | None:
    """Return what a step copies at the rows inside of boxes; None if it does not."""
    if not is_local(made.domain) or not isinstance(made.value, ir.Sum):
        return None
    row = tuple(map(Affine.name, made.axes))
    common = [term for term in made.value.terms if made.domain <= term.domain]
    others = [term for term in made.value.terms if term not in common]
    if len(common) != 1 or not others or common[0].weight != ir.ONE:
        return None
    source = common[0].operand
    if not isinstance(source, ir.Load) or source.new or source.index != row:
        return None
    thick = [0] * (2 * len(row))
    for term in others:
        if not is_local(term.domain):
            return None
        for part in (term.domain & made.domain).conjunctions():
            side = _side(part)
            if side is None:
                return None
            thick[side[0]] = max(thick[side[0]], side[1])
    low, high = thick[::2], thick[1::2]
    shift = zip(row, low, high, strict=True)
    here = [(a - n, a + m) for a, n, m in shift]
    box = bounded(made.axes)
    rows = made.domain
    for place in range(2):
        rows = rows & box.preimage(tuple(ends[place] for ends in here), made.axes)
    return Inside(made.target, source, rows)


def _side(rows: Domain) -> tuple[int, int] | None:
    """Return a side of boxes that some rows lie at, and how many rows they reach from it."""
    found = []
    for place, axis in enumerate(rows.axes):
        index = Affine.name(axis)
        low, high = Affine.name(f"{axis}_own_lo"), Affine.name(f"{axis}_own_hi")
        for side, depth in (2 * place, index - low + 1), (2 * place + 1, high - index):
            most = rows.largest(depth)
            if most is not None and most <= WIDEST:
                found.append((most, side))
    return (min(found)[1], min(found)[0]) if found else None


def _may_read(step: ir.Step, copy: Inside, program: ir.Program) -> bool:
    """Whether a step reads a copy at its own rows only, in sums, and knows its boxes."""
    if not isinstance(step, (ir.Assignment, ir.Reduction)) or not is_local(step.domain):
        return False
    if program.rows(step).points != program.field(copy.name).points:
        return False
    row = tuple(map(Affine.name, step.axes))
    left = [step.value]
    for node in ir.walk(step.value):
        if isinstance(node, ir.Sum):
            left += [term.weight for term in node.terms]
            operands = (term.operand for term in node.terms if term.operand)
            left += [value for value in operands if not _reads(value, copy, row)]
        else:
            left += ir.children(node)
    return not any(isinstance(v, ir.Load) and v.array == copy.name for v in left)


def _reads(value: ir.Value | None, copy: Inside, row: tuple[Affine, ...]) -> bool:
    """Whether a value is the element of a copy at a row."""
    return value == ir.Load(copy.name, row)


def _reading(step: ir.Step, copy: Inside) -> ir.Step:
    """Return a step that reads the source of a copy inside of boxes."""
    assert isinstance(step, (ir.Assignment, ir.Reduction))
    rows, row = step.domain, tuple(map(Affine.name, step.axes))

    def change(node: ir.Sum) -> ir.Value | None:
        terms: list[ir.Term] = []
        for term in node.terms:
            if not _reads(term.operand, copy, row):
                terms.append(term)
                continue
            near, inside = term.domain - copy.rows, term.domain & copy.rows
            for domain, operand in (near, term.operand), (inside, copy.source):
                found = (domain & rows).simplified(rows)
                if not found.empty:
                    terms.append(replace(term, domain=found, operand=operand))
        return ir.Sum(tuple(terms))

    return replace(step, value=ir.rewrite_sums(step.value, change))
