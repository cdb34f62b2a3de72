"""Inline the formulas of ghost points into their readers, so that they are not stored. Bit-exact.

    before:  t[j, i] = u[j, i];  ghosts(t);  y[j, i] = ... + w t[j, i - 1] + ...
    after:   y[j, i] = ... + w u[j, i - 1]         where i > 0
                           + w u[j, i - 1 + nx]    where i = 0 ...

The pass removes a temporary that is a copy of a field, is completed by a call and is then only
read: each element read is either an element of the field or a value that the call computes from
the field. A term that reads the temporary becomes several terms at the same position of its sum,
of which each row has exactly one, so that the same values are added in the same order. If the
call computes a sum of several values, that sum is accumulated separately first. Where the
alternatives depend on the line only, they stay one term (`merge_boundary_terms`); constant ghost
values, such as zero, remain separate terms, so that interior lines have neither constants nor
conditions. A step that overwrites the field writes to a temporary first (`old_values`).

The pass runs on nests after the passes that regroup sums, which see the completed temporary. The
call stays if another step writes the field during the lifetime of the temporary; if a stored
matrix, a call or a sweep reads the temporary; if a point that is read has no closed form; or if
the result would have too many terms or conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from ... import ir
from ...algebra.analyse import reads
from ...ir.external import Made
from ...points.affine import AXES, Affine
from ...points.sets import Domain
from ...spaces.space import row_domain
from ..nests import arrays_read, bounds
from ..step_nest import step_nest
from .merge_boundary_terms import chosen, merge_boundary_terms
from .old_values import delayed, saved, saving
from .place_calls import copied

Nests: TypeAlias = tuple[ir.Made, ...]

TERMS = 32
"""Limit of the additional terms of a nest after the ghost points of a call are inlined."""

LINES = 6
"""Limit of the terms of a nest that only some lines have: these lines need separate loops."""

CHOICES = 8
"""Limit of the points of a row whose values differ between lines in more than their index."""


class _Kept(Exception):
    """A call stays, and why."""


def ghost_inlining(program: ir.Program, nests: Nests) -> tuple[ir.Program, Nests]:
    """Return a program without the calls whose ghost points can be inlined as values."""
    program, nests, _ = _inlined(program, nests)
    return program, nests


def ghost_inlining_notes(program: ir.Program, nests: Nests) -> tuple[str, ...]:
    """Return for each call of a program a note on the location of its ghost points."""
    return _inlined(program, nests)[2]


def _inlined(program: ir.Program, nests: Nests) -> tuple[ir.Program, Nests, tuple[str, ...]]:
    notes: list[str] = []
    for call in reversed([step for step in program.steps if isinstance(step, ir.Call)]):
        names, are = ", ".join(call.fields), "is" if len(call.fields) == 1 else "are"
        try:
            program, nests = _without(call, program, nests)
        except _Kept as reason:
            notes.append(f"{names} {are} completed by {call.name}: {reason}.")
        else:
            notes.append(
                f"{names} {are} not stored: {call.name} is folded into what reads {names}."
            )
    return program, nests, tuple(reversed(notes))


def _without(call: ir.Call, program: ir.Program, nests: Nests) -> tuple[ir.Program, Nests]:
    """Return a program without a call and the temporaries it completes."""
    for name in call.fields:
        program, nests = _read_before_written(name, call, program, nests)
    place = program.steps.index(call)
    copies = {name: _copy(name, call, program, nests) for name in call.fields}
    sources = [copied(program.steps[n]) or "" for n in copies.values()]
    made = call.external.rows(sources, call.scalars)
    if made is None:
        raise _Kept(f"{call.fields[0]} has points that are made of several, or by tables")
    for name, source, points in zip(call.fields, sources, made, strict=True):
        read = {source}.union(*(ir.arrays(value) for _, value in points))
        _check_unwritten(name, read, copies[name], program.steps, nests)
    fields = {f.name: f for f in (*program.fields, *program.temporaries)}
    whole: dict[str, Made] = {}
    instead: dict[int, tuple[ir.Assignment, ...]] = {place: ()}
    for name, source, points, (given, _) in zip(
        call.fields, sources, made, call.external.fields, strict=True
    ):
        first, lines = copies[name], None
        if any(source in ir.made(step) for step in program.steps[first:]):
            points, lines = saved(
                fields[source], points, {*fields, *program.scalars, *program.sizes}
            )
        instead[first] = () if lines is None else (saving(lines, fields[source]),)
        fields |= {} if lines is None else {lines.name: lines}
        own = tuple(map(Affine.name, given.axes))
        whole[name] = ((row_domain(given), ir.Load(source, own)), *points)
    found: list[ir.Made] = []
    for number, made_here in enumerate(nests):
        if number > place and not arrays_read(made_here).isdisjoint(copies):
            assert isinstance(made_here, ir.Nest)
            made_here = _reading(made_here, whole, fields)
        found.append(made_here)
    known = {f.name for f in program.fields} | {*copies}
    temporaries = tuple(f for name, f in fields.items() if name not in known)
    return _exchanged(replace(program, temporaries=temporaries), found, instead)


def _exchanged(
    program: ir.Program, nests: Sequence[ir.Made], instead: Mapping[int, Sequence[ir.Assignment]]
) -> tuple[ir.Program, Nests]:
    """Return a program with other steps instead of some."""
    steps = [instead.get(n, (step,)) for n, step in enumerate(program.steps)]
    left = [
        [step_nest(step, program) for step in instead[n]] if n in instead else [made]
        for n, made in enumerate(nests)
    ]
    return replace(program, steps=tuple(chain(*steps))), tuple(chain(*left))


def _read_before_written(
    name: str, call: ir.Call, program: ir.Program, nests: Nests
) -> tuple[ir.Program, Nests]:
    """Return a program in which the field that a temporary copies is replaced after its readers.

    The program is unchanged unless the last reader is the step that replaces the field.
    """
    writer = next((step for step in program.steps if name in ir.made(step)), call)
    source = copied(writer)
    last = max(n for n, made in enumerate(nests) if name in arrays_read(made))
    if source is None or source not in ir.made(program.steps[last]):
        return program, nests
    return delayed(source, last, program, nests) or (program, nests)


def _copy(name: str, call: ir.Call, program: ir.Program, nests: Nests) -> int:
    """Return the step that copies a field to a temporary which a call completes."""
    steps = program.steps
    place = steps.index(call)
    if name not in {f.name for f in program.temporaries}:
        raise _Kept(f"{name} is a field of the caller")
    writers = [n for n, step in enumerate(steps) if name in ir.made(step)]
    readers = [n for n, nest in enumerate(nests) if name in arrays_read(nest) and n != place]
    given = row_domain(call.external.fields[call.fields.index(name)][0])
    if len(writers) != 2 or writers[1] != place or not readers or readers[0] < place:
        raise _Kept(f"{name} is not written once, completed once, and then read")
    copy = steps[writers[0]]
    source = copied(copy)
    if source is None or not isinstance(copy, ir.Assignment) or not copy.domain.equals(given):
        raise _Kept(f"{name} is not a copy of a field")
    for n in readers:
        _check_reader(name, steps[n])
    return writers[0]


def _check_unwritten(
    name: str, sources: set[str], copy: int, steps: Sequence[ir.Step], nests: Nests
) -> None:
    """Refuse reads of copied points whose sources were written after the copy."""
    last = max(n for n, nest in enumerate(nests) if name in arrays_read(nest))
    for step in steps[copy : last + 1]:
        for other in sources.intersection(ir.made(step)):
            raise _Kept(f"{other} is written while {name} is read")


def _check_reader(name: str, step: ir.Step) -> None:
    """Refuse a step in which the values of a field's points cannot be inlined."""
    if isinstance(step, ir.Call):
        raise _Kept(f"{name} is completed further by {step.name}")
    if isinstance(step, (ir.Group, ir.Solve)) or any(
        isinstance(part, ir.Assignment) and part.order != "any" for part in ir.parts(step)
    ):
        raise _Kept(f"{name} is read where rows depend on each other")
    if any(g.array == name for value in ir.values(step) for g in ir.gathers(value)):
        raise _Kept(f"{name} is read through a stored matrix")


def _reading(nest: ir.Nest, whole: Mapping[str, Made], fields: Mapping[str, ir.Field]) -> ir.Nest:
    """Return a nest with the values of points inlined."""
    try:
        return _substituted(nest, whole, fields, apart=True)
    except _Kept:  # the other form has fewer terms
        return _substituted(nest, whole, fields, apart=False)


def _substituted(
    nest: ir.Nest, whole: Mapping[str, Made], fields: Mapping[str, ir.Field], *, apart: bool
) -> ir.Nest:
    """Return a nest with the values of points inlined, constants as terms if ``apart``."""
    made = [_Substitution(s, nest, whole, fields, apart=apart) for s in nest.statements]
    name = next(n for s in made for n in s.fields)
    more, choices = sum(s.more for s in made), max(s.choices for s in made)
    if more > TERMS:
        raise _Kept(f"{name} would become {more} more terms in {nest.target}")
    some = sum(s.some for s in made)
    if some > LINES:
        raise _Kept(f"{name} would become {some} terms that only some lines of {nest.target} have")
    if choices > CHOICES:
        raise _Kept(f"{name} has other values next to the boundary at {choices} points of a row")
    return replace(nest, statements=tuple(s.statement for s in made))


class _Substitution:
    """A statement with the values of points inlined.

    Attributes
    ----------
    apart
        Whether constants next to the boundary are separate terms instead of choices.
    more
        The number of added terms.
    some
        The number of inlined terms that only some lines have; constants that are ``apart`` and
        one other term form an operand with a test.
    choices
        The number of points read by a row that have different values on some lines.
    fields
        The names of the fields that the statement no longer reads.
    """

    def __init__(
        self,
        statement: ir.Statement,
        nest: ir.Nest,
        whole: Mapping[str, Made],
        fields: Mapping[str, ir.Field],
        *,
        apart: bool,
    ) -> None:
        self.apart = apart
        self.more = self.some = self.choices = 0
        rows = (statement.domain & nest.context).without(bounds(nest.axes))
        wanted: dict[ir.Load, Domain] = {}
        for domain, load in reads(statement.value, rows):
            if load.array in whole:
                wanted[load] = wanted[load] | domain if load in wanted else domain
        self.fields = tuple(dict.fromkeys(load.array for load in wanted))
        self._sums: dict[int, ir.Sum] = {}
        self._everywhere = Domain.where(nest.axes, "0 = 0")
        self._known = {
            load: self._parts(load, whole[load.array], rows, met, fields)
            for load, met in wanted.items()
        }
        self.statement = statement
        if wanted:
            self.statement = replace(statement, value=ir.rewrite(statement.value, self._change))

    def _parts(
        self,
        load: ir.Load,
        made: Made,
        rows: Domain,
        met: Domain,
        fields: Mapping[str, ir.Field],
    ) -> ir.Value:
        """Return the value of a point: one value, or a sum with one term at each of the rows."""
        axes = AXES[len(load.index)]
        left = met
        terms: list[ir.Term] = []
        for points, value in made:
            part = met & points.preimage(load.index, rows.axes)
            if part.empty:
                continue
            assert part <= left, f"{load.array} has two values at one point"
            left = left - part
            here = ir.value_at(value, axes, load.index, self._everywhere)
            terms.append(ir.Term(part, ir.ONE, here))
        if not left.empty:
            raise _Kept(
                f"{load.array} is read where nothing defines it, for {left.simplified().notation()}"
            )
        numbers: list[ir.Term] = []
        others: list[ir.Term] = []
        for term in terms:
            is_apart = self.apart and isinstance(term.operand, ir.Const)
            (numbers if is_apart else others).append(term)
        joined = merge_boundary_terms(others, fields)
        terms = [replace(t, domain=t.domain.simplified(rows)) for t in (*joined, *numbers)]
        self.more += len(terms) - 1
        some = sum(t.domain.simplified(met).involves(rows.axes[:-1]) for t in joined)
        self.some += max(0, some - 1) if numbers else some
        self.choices += any(chosen(t) for t in terms)
        first = terms[0]
        assert first.operand is not None
        if len(terms) == 1:
            return first.operand
        whole = ir.Sum(tuple(terms))
        self._sums[id(whole)] = whole
        return whole

    def _change(self, node: ir.Value) -> ir.Value | None:
        match node:
            case ir.Load() if node in self._known:
                return self._known[node]
            case ir.Sum(terms) if id(node) not in self._sums:
                return ir.Sum(tuple(part for term in terms for part in self._spread(term)))
        return None

    def _spread(self, term: ir.Term) -> Sequence[ir.Term]:
        """Return a term as one for each value that the point it reads may have."""
        found = self._sums.get(id(term.operand))
        if found is None:
            return (term,)
        every = (
            replace(term, domain=term.domain & part.domain, operand=part.operand)
            for part in found.terms
        )
        return tuple(part for part in every if not part.domain.empty)
