"""Sparse Jacobians by automatic differentiation: the entries of a generic row.

The right-hand side is recorded as the steps of a program. Each value has derivatives with respect
to elements of the unknowns: those of products with matrices are the families of the matrix,
functions follow the chain rule, and ghost points have the entries of their rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from .. import ir
from ..algebra.families import canonical, merge, multiply
from ..errors import UnsupportedError
from ..points.affine import Affine
from ..points.sets import Domain
from ..programs.expression import Expression
from ..programs.recorder import Recorder, current
from ..spaces.space import Space, row_domain
from ..symbols import functions
from .right_side import RightSide
from .tangent import PARTIAL, SELECTIONS, names_in, parts_of

Entries: TypeAlias = "Mapping[str, tuple[ir.Family, ...]]"
"""The derivatives of a value: entry families by the names of the unknowns."""


def jacobian_entries(
    fun: RightSide, t: Any, y: Sequence[Any], args: Sequence[Any]
) -> tuple[tuple[Any, ...], list[list[tuple[ir.Family, ...]]]]:
    """Return the rates of change, and the entries of their Jacobian, in a program."""
    recorder = current()
    unknowns = [recorder.store(part) for unknown in y for part in parts_of(unknown)]
    first = len(recorder.steps)
    rates = fun._rates(t, y, args)
    found = Derivatives(recorder, fun.name, unknowns)
    for step in recorder.steps[first:]:
        found.record(step)
    rows = [found.of(part.space, part.value) for rate in rates for part in parts_of(rate)]
    return rates, [[row.get(u.name, ()) for u in unknowns] for row in rows]


class Derivatives:
    """The entries of the values that a program has recorded, by elements of the unknowns."""

    def __init__(self, recorder: Recorder, name: str, unknowns: Sequence[Any]) -> None:
        self.recorder = recorder
        self.name = name
        self._fields: dict[str, Entries] = {}
        for u in unknowns:
            rows, own = row_domain(u.space), u.space.indices()
            self._fields[u.name] = {u.name: (ir.Family(rows, own, own, ir.ONE),)}

    def record(self, step: ir.Step) -> None:
        """Take note of the entries of the fields that a step makes."""
        if self._fields.keys().isdisjoint(names_in(step)):
            return
        if isinstance(step, ir.Assignment) and step.order == "any":
            whole = self.recorder.space(step.target)
            part = whole if step.part is None else self.recorder.parts[step.part.name]
            kept = _outside(self._fields.get(step.target, {}), row_domain(part))
            self._fields[step.target] = _joined([kept, self.of(part, step.value)])
        elif isinstance(step, ir.Call):
            self._call(step)
        else:
            raise self._refused("It computes a reduction or a solve of the unknowns.")

    def _call(self, step: ir.Call) -> None:
        """Add the entries of ghost points, which follow from the entries of other points."""
        made = step.external.rows(step.fields, step.scalars)
        if made is None:
            raise self._refused(f"The ghost points of {step.name} have no rows.")
        added = [
            _joined(
                [self._within(whole, value, points) for points, value in of]
                + [self._fields.get(name, {})]
            )
            for name, of, (_, whole) in zip(step.fields, made, step.external.fields, strict=True)
        ]
        self._fields |= dict(zip(step.fields, added, strict=True))

    def _refused(self, note: str) -> UnsupportedError:
        return UnsupportedError(
            f"The Jacobian of the right side {self.name} has no rows of entries.",
            note=note,
            hint="Its products may exist: use `operator`, or an integrator with GMRES.",
        )

    def of(self, space: Space, value: ir.Value) -> Entries:
        """Return the entries of a value at the points of a space."""
        return self._within(space, value, row_domain(space))

    def _within(self, space: Space, value: ir.Value, points: Domain) -> Entries:
        match value:
            case ir.Load(array, index):
                return self._read(space, self._fields.get(array, {}), index, points)
            case ir.Sum(terms):
                return _joined([self._term(space, term, points) for term in terms])
            case ir.Op(name, args):
                return self._operation(space, name, args, points)
            case ir.Gather() if value.array in self._fields:
                raise self._refused("It multiplies unknowns by a stored matrix.")
        return {}

    def _read(
        self, space: Space, known: Entries, index: tuple[Affine, ...], points: Domain
    ) -> Entries:
        """Return the entries of an element of a field."""
        own, found = space.indices(), {}
        for array, families in known.items():
            found[array] = tuple(
                _moved(f, dict(zip(f.domain.axes, index, strict=True)), index, own, points)
                for f in families
            )
        return found

    def _term(self, space: Space, term: ir.Term, points: Domain) -> Entries:
        inside = points & term.domain
        parts = []
        if term.operand is not None:
            parts.append(_scaled(self._within(space, term.operand, inside), term.weight))
        by_weight = self._within(space, term.weight, inside)
        parts.append(by_weight if term.operand is None else _scaled(by_weight, term.operand))
        return _joined(parts)

    def _operation(
        self, space: Space, name: str, args: tuple[ir.Value, ...], points: Domain
    ) -> Entries:
        slopes = [self._within(space, a, points) for a in args]
        if not any(slopes):
            return {}
        values: list[Any] = [Expression(space, a) for a in args]
        if name in SELECTIONS:
            condition = SELECTIONS[name](*values)
            return _joined([_chosen(s, condition, n) for n, s in enumerate(slopes[-2:])])
        partials = PARTIAL[name](*values)
        return _joined(
            [
                _scaled(slope, values[0]._lift(partial).value)
                for slope, partial in zip(slopes, partials, strict=True)
                if slope and partial is not None
            ]
        )


def _moved(
    family: ir.Family,
    where: Mapping[str, Affine],
    index: tuple[Affine, ...],
    own: tuple[Affine, ...],
    points: Domain,
) -> ir.Family:
    """Return the entries of the rows ``own`` that read a family's rows at an index."""
    domain = points & family.domain.preimage(index, points.axes)
    column = tuple(c.substitute(where) for c in family.column)
    value = ir.substituted(family.value, where)
    return ir.Family(domain, own, domain.resolved(column), value)


def _scaled(entries: Entries, factor: ir.Value) -> Entries:
    return {
        array: tuple(replace(f, value=multiply(factor, f.value)) for f in families)
        for array, families in entries.items()
    }


def _outside(entries: Entries, points: Domain) -> Entries:
    """Return the entries of the rows that are not among some points."""
    found = {
        array: canonical(tuple(replace(f, domain=f.domain - points) for f in families))
        for array, families in entries.items()
    }
    return {array: families for array, families in found.items() if families}


def _chosen(entries: Entries, condition: Any, operand: int) -> Entries:
    """Return entries that are zero where a condition selects the other one of two operands."""

    def chosen(value: ir.Value) -> ir.Value:
        mine = Expression(condition.space, value)
        zero = mine._lift(0.0)
        pair = (mine, zero) if operand == 0 else (zero, mine)
        made: ir.Value = functions.where(condition, *pair).value
        return made

    return {
        array: tuple(replace(f, value=chosen(f.value)) for f in families)
        for array, families in entries.items()
    }


def _joined(parts: Sequence[Entries]) -> Entries:
    """Return the sum of entries."""
    filled = [part for part in parts if part]
    if len(filled) == 1:
        return filled[0]
    found: dict[str, list[ir.Family]] = {}
    for part in filled:
        for array, families in part.items():
            found.setdefault(array, []).extend(families)
    made = {array: merge(families) for array, families in found.items()}
    return {array: families for array, families in made.items() if families}
