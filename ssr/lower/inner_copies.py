"""Store a temporary near the surface of boxes only, where it is a copy inside. Keeps bits.

What a row reads of other boxes is there at rows near them only:

    before:  t[i] = r[i] + (x[i - 1] if i - 1 < i_own_lo)           i_own_lo <= i < i_own_hi
             y[i] = t[i] - u[i]
    after:   t[i] = r[i] + (x[i - 1] if i - 1 < i_own_lo)           i = i_own_lo
             y[i] = (t[i] if i = i_own_lo) + (r[i] if i > i_own_lo) - u[i]

Every row has one of the two terms, so that the sum is the same chain of operations. It pays where
rows are many: `t` takes the time of memory that is written once and read for each reader.

With several axes, the rows at either end of lines that are inside otherwise have a temporary of
their own, `t_first` and `t_last`. It is as small as what it holds: a column of `t` would take a
cache line for each of its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .. import ir
from ..algebra.own_box import bounded, is_local, own_bounds
from ..ir.liveness import read
from ..points.affine import Affine
from ..points.sets import Domain

WIDEST = 2
"""Rows of the surface at each side of a box, at most."""


@dataclass(frozen=True, slots=True)
class Inside:
    """A temporary that is a copy of a field at the rows inside of boxes.

    The rows near the surface are ``apart`` in some sets; the first one is the temporary's still.
    """

    name: str
    source: ir.Load
    rows: Domain
    apart: tuple[Domain, ...]


def without_inner_copies(program: ir.Program) -> ir.Program:
    """Return a program that reads fields inside of boxes where it has read copies of them."""
    for temporary in program.temporaries:
        steps = program.steps
        places = [n for n, step in enumerate(steps) if temporary.name in ir.made(step)]
        readers = [n for n, step in enumerate(steps) if temporary.name in read(step)]
        if len(places) != 1 or not readers or readers[0] <= places[0]:
            continue
        made = steps[places[0]]
        copy = _inside(made) if isinstance(made, ir.Assignment) and not made.part else None
        if copy is None or program.field(copy.source.array).points != temporary.points:
            continue
        between = steps[places[0] : readers[-1] + 1]
        if any(copy.source.array in ir.made(step) for step in between):
            continue
        if all(_may_read(steps[n], copy, program) for n in readers):
            program = _without(copy, program, places[0], readers)
    return program


def _without(copy: Inside, program: ir.Program, place: int, readers: Sequence[int]) -> ir.Program:
    """Return a program that stores a copy near the surface of boxes only."""
    steps, made, whole = list(program.steps), program.steps[place], program.field(copy.name)
    assert isinstance(made, ir.Assignment)
    taken = {f.name for f in (*program.fields, *program.temporaries)}
    taken |= {*program.scalars, *program.sizes}
    names = [copy.name]
    for stem in ("first", "last")[: len(copy.apart) - 1]:
        names.append(ir.fresh(f"{copy.name}_{stem}", {*taken, *names}))
    parts = dict(zip(names, copy.apart, strict=True))
    for n in readers:
        steps[n] = _reading(steps[n], copy, parts)
    near = (replace(made, target=name, domain=rows, in_part=True) for name, rows in parts.items())
    return replace(
        program,
        temporaries=(*program.temporaries, *(replace(whole, name=name) for name in names[1:])),
        steps=(*steps[:place], *near, *steps[place + 1 :]),
    )


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
    return Inside(made.target, source, rows, _apart(made.domain, rows, here))


def _apart(
    rows: Domain, inside: Domain, here: Sequence[tuple[Affine, Affine]]
) -> tuple[Domain, ...]:
    """Return the rows that are not inside: those of other lines, and both ends of lines inside.

    ``here`` are the points around a row that are in the box as well if the row is inside. Boxes
    whose ends meet have no lines inside.
    """
    axes = rows.axes
    low, high = own_bounds(axes[-1:])
    thick = (here[-1][1] - here[-1][0]).constant
    lines = rows & Domain.where(axes, f"{low} + {thick} <= {high}", (low, high))
    across = bounded(axes[:-1])
    for place in range(2):
        lines = lines & across.preimage(tuple(ends[place] for ends in here[:-1]), axes)
    ends = lines - inside
    first = ends - bounded(axes[-1:]).preimage(here[-1][:1], axes)
    found = rows - lines, first, ends - first
    return found if len(axes) > 1 and not any(part.empty for part in found) else (rows - inside,)


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


def _reading(step: ir.Step, copy: Inside, parts: Mapping[str, Domain]) -> ir.Step:
    """Return a step that reads the source of a copy inside of boxes, and its parts elsewhere."""
    assert isinstance(step, (ir.Assignment, ir.Reduction))
    rows, row = step.domain, tuple(map(Affine.name, step.axes))

    def change(node: ir.Sum) -> ir.Value | None:
        terms: list[ir.Term] = []
        for term in node.terms:
            if not _reads(term.operand, copy, row):
                terms.append(term)
                continue
            near = [(part, ir.Load(name, row)) for name, part in parts.items()]
            for domain, operand in ((copy.rows, copy.source), *near):
                found = (domain & term.domain & rows).simplified(rows)
                if not found.empty:
                    terms.append(replace(term, domain=found, operand=operand))
        return ir.Sum(tuple(terms))

    return replace(step, value=ir.rewrite_sums(step.value, change))
