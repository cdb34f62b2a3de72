"""Store costly common subexpressions of different points or steps in temporary fields. Bit-exact.

    before:  y[i] = - exp(k[i-1]) x[i-1] + 2 exp(k[i]) x[i] - exp(k[i+1]) x[i+1]
    after:   once[i] = exp(k[i])
             y[i] = - once[i-1] x[i-1] + 2 once[i] x[i] - once[i+1] x[i+1]

Operands of products are temporaries already. The remaining candidates are the values of entries
that a matrix evaluates at other points than its row, and expressions that a program repeats in
a step that reads neighbors of the result of an earlier step. Expressions that are equal at one row
of one line are computed once in any case (`ssr.ir.value_numbering`). A value is stored if this
saves `STORING` operations. It is computed exactly at the points at which it was computed before;
these must be the points of a field, and none of its operands may change between its uses. The
decision depends on the program only, not on sizes or boxes.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from ... import ir
from ...elementary import FUNCTIONS
from ...ir.liveness import read
from ...ir.translation import Forms
from ...points.affine import AXES, Affine, Offset
from ...points.sets import Domain
from ...symbols.operations import CONDITIONS, is_condition
from ...symbols.printing import show

STORING = 40
"""Cost of a temporary in operations: an average of arrays in memory and of line buffers."""

COSTS = {name: function.cost for name, function in FUNCTIONS.items()} | {"pow": 250, "div": 10}
COSTS |= dict.fromkeys((*CONDITIONS, "where", "min", "max"), 2)
"""Costs of operations in additions; all other operations, and the terms of a sum, cost one."""

NOTABLE, LONG = 10, 40
"""Least cost of a repeated value that is reported; longest text of a value that is shown."""

Place = tuple[int, Offset]
"""A point of computation: the level of the step, and the offset of the point from its row.

Steps of one level do not read neighbors of each other's results, so they can share line loops.
"""


@dataclass(frozen=True, slots=True)
class Repeated:
    """A value that is computed at several places: its form, and all values of this form.

    The ``steps`` that compute it are given by number. The ``offset`` belongs to the first value.
    """

    form: int
    values: tuple[ir.Value, ...]
    offset: Offset
    places: tuple[Place, ...]
    steps: tuple[int, ...]

    @property
    def value(self) -> ir.Value:
        """The first value of the form."""
        return self.values[0]

    @property
    def saved(self) -> int:
        """The operations that are saved at each row if it is stored."""
        return cost(self.value) * (len(self.places) - 1)


def stored_values(program: ir.Program) -> ir.Program:
    """Return a program in which costly values that are computed several times are stored."""
    changed: ir.Program | None = program
    while changed is not None:
        program = changed
        forms = Forms()
        worth = [r for r in repeated(program, forms) if r.saved >= STORING]
        worth.sort(key=lambda r: (-r.saved, r.form))
        users = _users(program) if worth else {}
        changed = next(filter(None, (_stored(program, forms, users, r) for r in worth)), None)
    return program


def storage_notes(program: ir.Program) -> tuple[str, ...]:
    """Return notes on temporaries read at several places, and on values computed repeatedly."""
    return (*_stored_notes(program), *_repeated_notes(program))


def _stored_notes(program: ir.Program) -> Iterator[str]:
    places: dict[str, set[tuple[int, tuple[Affine, ...]]]] = {}
    for n, step in enumerate(program.steps):
        for load in (load for value in ir.values(step) for load in ir.loads(value)):
            places.setdefault(load.array, set()).add((n, load.index))
    temporaries = {f.name for f in program.temporaries}
    for part in (part for step in program.steps for part in ir.parts(step)):
        if isinstance(part, ir.Assignment) and part.target in temporaries:
            count = len(places.get(part.target, ()))
            if count > 1:
                yield (
                    f"{part.target}[:] is stored: {count} places read it, "
                    f"and computing it costs {cost(part.value)}."
                )


def _repeated_notes(program: ir.Program) -> Iterator[str]:
    again = [r for r in repeated(program, Forms()) if cost(r.value) >= NOTABLE]
    inside = {id(v) for r in again for part in ir.children(r.value) for v in ir.walk(part)}
    for found in (r for r in again if id(r.value) not in inside):
        what = f"A value of {', '.join(sorted({*_read(found.value)}))}"
        if sum(1 for _ in ir.walk(found.value)) <= LONG // 2:  # the text of more is longer
            text = show(found.value)
            what = text if len(text) <= LONG else what
        why = (
            f"storing it saves {found.saved} and costs {STORING}"
            if found.saved < STORING
            else "its points are those of no field, or what it reads changes in between"
        )
        yield f"{what} is computed at {len(found.places)} places: {why}."


def cost(value: ir.Value) -> int:
    """Return the operations that a value takes, in units of an addition.

    >>> x = ir.Load("x", ())
    >>> cost(ir.Op("sqrt", (ir.Op("mul", (x, x)),)))
    21
    """
    total = 0
    for part in ir.walk(value, lambda part: not isinstance(part, ir.Rounded)):
        match part:
            case ir.Op(name):
                total += COSTS.get(name, 1)
            case ir.Sum(terms):
                total += len(terms)
    return total


def repeated(program: ir.Program, forms: Forms) -> list[Repeated]:
    """Return the values of a program that are computed at several places, in order."""
    places: dict[int, dict[Place, None]] = {}
    steps: dict[int, dict[int, None]] = {}
    values: dict[int, list[ir.Value]] = {}
    first: dict[int, Offset] = {}
    for n, (step, level) in enumerate(zip(program.steps, _levels(program.steps), strict=True)):
        for part in ir.parts(step):
            for value in _always(part.value):
                found = forms.of(value, part.domain)
                if found is not None and found.offset is not None:
                    places.setdefault(found.number, {})[level, found.offset] = None
                    steps.setdefault(found.number, {})[n] = None
                    values.setdefault(found.number, []).append(value)
                    first.setdefault(found.number, found.offset)
    return [
        Repeated(form, tuple(values[form]), first[form], tuple(where), tuple(steps[form]))
        for form, where in places.items()
        if len(where) > 1
    ]


def _levels(steps: Sequence[ir.Step]) -> list[int]:
    """Return for each step the length of the longest chain of neighbour reads to its values."""
    known: dict[str, int] = {}
    levels = []
    for step in steps:
        level = max((known.get(name, 0) for name in read(step)), default=0)
        for part in ir.parts(step):
            row = tuple(map(Affine.name, part.axes))
            near = (v.array for v in ir.loads(part.value) if v.index != row)
            gathered = (g.array for g in ir.gathers(part.value))
            level = max([level, *(known[n] + 1 for n in (*near, *gathered) if n in known)])
        levels.append(level)
        known |= dict.fromkeys(ir.made(step), level)
    return levels


def _certain(value: ir.Value) -> tuple[ir.Value, ...]:
    """Return the operands that every row evaluates: of a choice, the condition only."""
    chosen = isinstance(value, ir.Op) and value.name == "where"
    return ir.children(value)[:1] if chosen else ir.children(value)


def _always(value: ir.Value) -> Iterator[ir.Value]:
    """Yield the operations and sums in a value that are computed unconditionally."""
    seen: set[int] = set()
    left = [value]
    while left:
        here = left.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        if isinstance(here, (ir.Op, ir.Sum)) and not is_condition(here):
            yield here
        left += reversed(_certain(here))


def _users(program: ir.Program) -> dict[int, list[int]]:
    """Return for each value those that it is certainly a part of, all of them by their `id`."""
    users: dict[int, list[int]] = {}
    seen: set[int] = set()
    left = [part.value for step in program.steps for part in ir.parts(step)]
    while left:
        here = left.pop()
        if id(here) not in seen:
            seen.add(id(here))
            for part in _certain(here):
                users.setdefault(id(part), []).append(id(here))
                left.append(part)
    return users


def _holders(values: Sequence[ir.Value], users: Mapping[int, Sequence[int]]) -> frozenset[int]:
    """Return some values and all that they are certainly parts of, by their `id`."""
    found: set[int] = set()
    left = [*map(id, values)]
    while left:
        here = left.pop()
        if here not in found:
            found.add(here)
            left += users.get(here, ())
    return frozenset(found)


def _stored(
    program: ir.Program, forms: Forms, users: Mapping[int, Sequence[int]], found: Repeated
) -> ir.Program | None:
    """Return a program that stores a value; None if it cannot be stored."""
    first, last = found.steps[0], found.steps[-1]
    changed = {name for step in program.steps[first:last] for name in ir.made(step)}
    if changed & {*_read(found.value)}:
        return None
    reader = _Reader(forms, found.form, _holders(found.values, users))
    uses = [
        (n, offset, rows)
        for n in found.steps
        for part in ir.parts(program.steps[n])
        for offset, rows in reader.uses(part)
    ]
    axes = AXES[len(found.offset)]
    points = reduce(operator.or_, (rows.image(_moved(axes, o), axes) for _, o, rows in uses))
    space = _space(program, points)
    if space is None:
        return None
    taken = {f.name for f in (*program.fields, *program.temporaries)}
    name = ir.fresh("once", {*taken, *program.scalars, *program.sizes})
    rows, back = space.domain, _moved(axes, tuple(-o for o in found.offset))
    origin = ir.parts(program.steps[first])[0].origin
    value = ir.value_at(found.value, axes, back, rows)
    made = ir.Assignment(name, axes, rows, value, origin=origin)
    steps = list(program.steps)
    for n in found.steps:
        steps[n] = reader.reading(steps[n], name)
    return replace(
        program,
        temporaries=(*program.temporaries, replace(space, name=name)),
        steps=(*steps[:first], made, *steps[first:]),
    )


def _read(value: ir.Value) -> Iterator[str]:
    """Yield the names of the arrays and scalars that a value reads."""
    for part in ir.walk(value):
        match part:
            case ir.Load(name) | ir.Scalar(name):
                yield name


def _moved(axes: tuple[str, ...], offset: Offset) -> tuple[Affine, ...]:
    return tuple(Affine.name(axis) + step for axis, step in zip(axes, offset, strict=True))


def _space(program: ir.Program, points: Domain) -> ir.Field | None:
    """Return a field, temporary or rows of a step with these points; None if there is none."""
    parts = [part for step in program.steps for part in ir.parts(step)]
    rows = (part.rows if isinstance(part, ir.Reduction) else part.part for part in parts)
    known: dict[Domain, ir.Field] = {}
    for field in (*program.fields, *program.temporaries, *filter(None, rows)):
        if len(field.shape) == len(points.axes):
            known.setdefault(field.domain, field)
    return next((field for domain, field in known.items() if domain.equals(points)), None)


@dataclass(frozen=True, slots=True)
class _Reader:
    """A search for the values of a form in steps, and their replacement by an array.

    Values computed under a condition are not replaced: no row may depend on a value that it does
    not compute.

    Attributes
    ----------
    forms, form
        The forms of all values, and the form.
    holders
        The `id` of the values that may have the form or contain such values; others are skipped.
    """

    forms: Forms
    form: int
    holders: frozenset[int]

    def met(self, value: ir.Value, rows: Domain) -> Offset | None:
        """Return the offset of a value if it has the form."""
        found = self.forms.of(value, rows)
        return found.offset if found is not None and found.number == self.form else None

    def uses(self, part: ir.Assignment | ir.Reduction) -> Iterator[tuple[Offset, Domain]]:
        """Yield the offsets at which a step computes the form, with the rows at which it does."""
        seen: set[tuple[int, Domain]] = set()
        left = [(part.value, part.domain)]
        while left:
            here, rows = left.pop()
            if id(here) not in self.holders or (id(here), rows) in seen:
                continue
            seen.add((id(here), rows))
            offset = self.met(here, part.domain)
            if offset is not None:
                yield offset, rows
            elif isinstance(here, ir.Sum):
                for term in here.terms:
                    inside = rows & term.domain
                    left += [(each, inside) for each in (term.weight, term.operand) if each]
            else:
                left += [(each, rows) for each in _certain(here)]

    def reading(self, step: ir.Step, name: str) -> ir.Step:
        """Return a step that reads an array where it has computed the form."""
        return ir.with_parts(step, lambda part: replace(part, value=self._value(part, name)))

    def _value(self, part: ir.Assignment | ir.Reduction, name: str) -> ir.Value:
        done: dict[int, ir.Value] = {}

        def visit(here: ir.Value) -> ir.Value:
            if id(here) not in self.holders:
                return here
            if id(here) not in done:
                done[id(here)] = changed(here)
            return done[id(here)]

        def changed(here: ir.Value) -> ir.Value:
            offset = self.met(here, part.domain)
            if offset is not None:
                return ir.Load(name, _moved(part.axes, offset))
            certain = set(map(id, _certain(here)))
            return ir.with_children(here, lambda p: visit(p) if id(p) in certain else p)

        return visit(part.value)
