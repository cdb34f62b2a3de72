"""Place the calls of external steps: target field, position, points to compute, and grouping.

    before:  t[cells] = f(u);  ghosts(t);  v[:] = g(w);  u[:] = t
    after:   v[:] = g(w);  u[cells] = f(u);  ghosts(u)

Five rewrites, each of which preserves the results:

- Copy elimination: a temporary is replaced by the field that it is copied to.
  ``h[:] = extend(..., [h[cells]])`` then works in ``h`` itself, and nothing is copied.
- Liveness: each external step receives the elements that are read after it, and may return a step
  that computes fewer. If it cannot compute one of them, it raises its error at the definition.
- Code motion: a call moves down to the first step that reads its results or changes its inputs,
  and below following steps that do not depend on it. Assignments before it can then share loops.
- Grouping: neighboring calls are joined where their package supports it.
- Loop-invariant values: each call receives the names of the temporaries in which no other step
  writes the points that the call computes, so that constant values are written only once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ... import ir
from ...algebra.analyse import reads
from ...errors import Span, at
from ...ir.liveness import read, replaced
from ...points.affine import AXES, Affine
from ...points.sets import Domain
from ...spaces.space import Space, row_domain


def place_calls(
    program: ir.Program, *, places: Sequence[Span | None] = (), distributed: bool = False
) -> ir.Program:
    """Return a program with its calls placed; ``places`` are the source locations by origin."""
    if not any(isinstance(step, ir.Call) for step in program.steps):
        return program
    fields = {f.name: f for f in (*program.fields, *program.temporaries)}
    kept = frozenset(f.name for f in program.fields)
    steps = _without_copies(list(program.steps), fields, kept)
    steps = _narrowed(steps, fields, kept, places)
    steps = _joined(_delayed(_moved_down(steps)))
    steps = _named(steps if distributed else _made_once(steps, kept))
    written = {name for step in steps for name in ir.made(step)}
    temporaries = tuple(f for f in program.temporaries if f.name in written)
    return replace(program, steps=tuple(steps), temporaries=temporaries)


# -- copy elimination ----------------------------------------------------------------------------


def _without_copies(
    steps: list[ir.Step], fields: Mapping[str, ir.Field], kept: frozenset[str]
) -> list[ir.Step]:
    """Return steps in which temporaries of calls are the fields that they are copied to."""
    called = {n for step in steps if isinstance(step, ir.Call) for n in step.fields} - kept
    for source in sorted(called):
        for place, copy in enumerate(steps):
            if copied(copy) != source or not _may_become(source, steps, place, fields):
                continue
            (target,) = ir.made(copy)
            steps = [renamed(step, source, target) for step in steps]
            steps = [step for step in steps if copied(step) not in ir.made(step)]
            break
    return steps


def copied(step: ir.Step) -> str | None:
    """Return the field that a step copies point by point; None for other steps."""
    if not isinstance(step, ir.Assignment) or not isinstance(step.value, ir.Load):
        return None
    own = tuple(map(Affine.name, step.axes))
    return step.value.array if step.value.index == own and not step.value.new else None


def copies(program: ir.Program) -> frozenset[str]:
    """Return the temporaries that are copies of fields and partly computed by calls."""
    names = {field.name for field in program.temporaries}
    made = {
        step.target for step in program.steps if isinstance(step, ir.Assignment) and copied(step)
    }
    return frozenset(names & made)


def _may_become(
    source: str, steps: Sequence[ir.Step], place: int, fields: Mapping[str, ir.Field]
) -> bool:
    """Whether a temporary may be replaced by the field to which the step at a place copies it.

    From the first write of the temporary to the copy no step may access the field, except for old
    values that the first write reads. After the copy the temporary is not written; while it is
    read, the field is not written.
    """
    (target,) = ir.made(steps[place])
    if ir.made(steps[place]) != tuple(replaced(steps[place])):
        return False
    if fields[source].points != fields[target].points:
        return False
    writes = [n for n, step in enumerate(steps) if source in ir.made(step)]
    ends = [n for n, step in enumerate(steps) if source in read(step)]
    first = steps[writes[0]]
    if not isinstance(first, ir.Assignment) or writes[-1] > place:
        return False
    between = steps[writes[0] + 1 : place]
    after = steps[place + 1 : ends[-1]]
    return not any(target in (*ir.made(s), *read(s)) for s in between) and not any(
        target in ir.made(s) for s in after
    )


def renamed(step: ir.Step, old: str, new: str) -> ir.Step:
    """Return a step that has one field instead of another."""
    if old not in (*ir.made(step), *read(step)):
        return step
    if isinstance(step, ir.Call):
        return replace(step, fields=tuple(new if f == old else f for f in step.fields))

    def own(part: ir.Assignment | ir.Reduction) -> ir.Assignment | ir.Reduction:
        if isinstance(part, ir.Assignment) and part.target == old:
            return replace(part, target=new)
        return part

    return ir.with_values(ir.with_parts(step, own), lambda value: ir.renamed(value, {old: new}))


# -- liveness of points --------------------------------------------------------------------------


def _narrowed(
    steps: Sequence[ir.Step],
    fields: Mapping[str, ir.Field],
    kept: frozenset[str],
    places: Sequence[Span | None],
) -> list[ir.Step]:
    """Return steps whose calls compute only the points read later, from the last call backward."""
    needed = {name: _points(field, everything=False) for name, field in fields.items()}
    seen = set(kept)
    narrowed: list[ir.Step] = []
    for step in reversed(steps):
        if isinstance(step, ir.Call):
            visible = tuple(name in seen for name in step.fields)
            with at(places[step.origin] if places else None):
                external = step.external.wanted(_reads_after(step, needed), visible)
            step = replace(step, external=external)
            for name, (given, _) in zip(step.fields, external.fields, strict=True):
                needed[name] = row_domain(given)
        else:
            _before(step, needed, seen)
        narrowed.append(step)
    return narrowed[::-1]


def partly_needed(program: ir.Program) -> frozenset[str]:
    """Return the temporaries of which a step computes elements that no step needs.

    Such elements are undefined if they depend on points that no call has computed.
    """
    if not any(isinstance(step, ir.Call) for step in program.steps):
        return frozenset()
    every = (*program.fields, *program.temporaries)
    needed = {field.name: _points(field, everything=False) for field in every}
    seen = {field.name for field in program.fields}
    partly: set[str] = set()
    for step in reversed(program.steps):
        if isinstance(step, ir.Call):
            for name, (given, _) in zip(step.fields, step.external.fields, strict=True):
                needed[name] = row_domain(given)
            continue
        for part in ir.parts(step):
            rows = _rows(part, step, needed, seen)
            if isinstance(part, ir.Assignment) and not part.domain <= rows:
                partly.add(part.target)
        _before(step, needed, seen)
    return frozenset(partly - {field.name for field in program.fields})


def _reads_after(call: ir.Call, needed: Mapping[str, Domain]) -> list[Domain]:
    """Return the points read after a call, for sizes that leave none of its spaces empty."""
    spaces = zip(call.fields, call.external.fields, strict=True)
    return [needed[name] & row_domain(whole, (given,)) for name, (given, whole) in spaces]


def _points(field: ir.Field, *, everything: bool = True) -> Domain:
    """Return all points of a field, or the empty set."""
    return field.domain if everything else field.domain - field.domain


def _before(step: ir.Step, needed: dict[str, Domain], seen: set[str]) -> None:
    """Update needed points and the fields visible to the caller from after a step to before it."""
    rows = [_rows(part, step, needed, seen) for part in ir.parts(step)]
    for part in ir.parts(step):
        if isinstance(part, ir.Assignment):
            needed[part.target] = needed[part.target] - part.domain
    seen -= replaced(step)
    values = [(part.value, domain) for part, domain in zip(ir.parts(step), rows, strict=True)]
    if isinstance(step, ir.Solve):
        values += [(entry.value, rows[0]) for entry in step.entries]
    for value, domain in values:
        for where, load in reads(value, domain):
            if not load.new:
                met = where.image(load.index, AXES[len(load.index)])
                needed[load.array] = needed[load.array] | met
        for gather in ir.gathers(value):
            if not gather.new:
                needed[gather.array] = needed[gather.array] | _points(gather.cols)


def _rows(
    part: ir.Assignment | ir.Reduction,
    step: ir.Step,
    needed: Mapping[str, Domain],
    seen: Collection[str],
) -> Domain:
    """Return the rows of an assignment that a step needs; all rows if they need each other."""
    together = isinstance(step, (ir.Group, ir.Solve))
    if isinstance(part, ir.Reduction) or together or part.target in seen:
        return part.domain
    return part.domain & needed[part.target] if part.order == "any" else part.domain


# -- code motion ---------------------------------------------------------------------------------


def _moved_down(steps: Sequence[ir.Step]) -> list[ir.Step]:
    """Return steps with each call just before the first step that accesses one of its fields."""
    moved: list[ir.Step] = []
    for step in reversed(steps):
        stop = 0
        if isinstance(step, ir.Call):
            while stop < len(moved) and not _meet(moved[stop], step):
                stop += 1
            while stop and isinstance(moved[stop - 1], ir.Call):  # calls keep their order
                stop -= 1
        moved.insert(stop, step)
    return moved


def _meet(step: ir.Step, call: ir.Call) -> bool:
    """Whether a step reads or writes a field of a call."""
    return not {*ir.made(step), *read(step)}.isdisjoint(call.fields)


def _delayed(steps: Sequence[ir.Step]) -> list[ir.Step]:
    """Return steps with each call and its dependent steps after the independent steps."""
    delayed: list[ir.Step] = []
    waiting: list[ir.Step] = []
    for step in steps:
        if isinstance(step, ir.Call):
            delayed += waiting
            waiting = [step]
        elif waiting and any(_ordered(before, step) for before in waiting):
            waiting.append(step)
        else:
            delayed.append(step)
    return delayed + waiting


def _ordered(before: ir.Step, after: ir.Step) -> bool:
    """Whether two steps depend on each other's order."""
    made, later = {*ir.made(before)}, {*ir.made(after)}
    return not (made.isdisjoint(later | read(after)) and later.isdisjoint(read(before)))


# -- grouping ------------------------------------------------------------------------------------


def _joined(steps: Sequence[ir.Step]) -> list[ir.Step]:
    """Return steps with neighbouring calls joined."""
    joined: list[ir.Step] = []
    for step in steps:
        last = joined[-1] if joined else None
        both = None
        if isinstance(step, ir.Call) and isinstance(last, ir.Call) and not _meet(step, last):
            both = last.external.joined(step.external)
        if both is None:
            joined.append(step)
            continue
        assert isinstance(step, ir.Call)
        assert isinstance(last, ir.Call)
        fields, scalars = last.fields + step.fields, last.scalars + step.scalars
        joined[-1] = replace(last, name=both.name, external=both, fields=fields, scalars=scalars)
    return joined


# -- loop-invariant values -----------------------------------------------------------------------


def _made_once(steps: Sequence[ir.Step], kept: frozenset[str]) -> list[ir.Step]:
    """Return steps whose calls record the fields in which other steps write only given points."""
    known: list[ir.Step] = []
    for step in steps:
        if isinstance(step, ir.Call):
            alone = tuple(
                name not in kept
                and all(_leaves(other, name, given) for other in steps if other is not step)
                for name, (given, _) in zip(step.fields, step.external.fields, strict=True)
            )
            external = step.external.once(alone)
            if external is not step.external:
                names = tuple(name for name, yes in zip(step.fields, alone, strict=True) if yes)
                step = replace(step, external=external, alone=names)
        known.append(step)
    return known


def _leaves(step: ir.Step, name: str, given: Space) -> bool:
    """Whether a step writes only the given points of a field."""
    if isinstance(step, ir.Call):
        return name not in step.fields
    return all(
        part.domain <= row_domain(given)
        for part in ir.parts(step)
        if isinstance(part, ir.Assignment) and part.target == name
    )


# -- names ---------------------------------------------------------------------------------------


def _named(steps: Sequence[ir.Step]) -> list[ir.Step]:
    """Return steps whose calls have unique names."""
    taken: set[str] = set()
    named: list[ir.Step] = []
    for step in steps:
        if isinstance(step, ir.Call):
            step = replace(step, name=ir.fresh(step.external.name, taken))
            taken.add(step.name)
        named.append(step)
    return named
