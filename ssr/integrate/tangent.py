"""Jacobian-vector products by forward-mode automatic differentiation of a program's steps.

The right-hand side is recorded as the steps of a program. The tangent of each value is computed
from the tangents of its operands: products with matrices are linear, functions follow the chain
rule, and the constant part of a ghost fill (its result for zeros) is subtracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .. import ir
from ..elementary import FUNCTIONS
from ..errors import UnsupportedError
from ..ir.liveness import read, replaced
from ..programs.expression import Expression, Mask
from ..programs.recorder import Recorder, current
from ..programs.vectors import Vector
from ..spaces.space import Space
from ..symbols import functions
from .right_side import RightSide


def jacobian_product(
    fun: RightSide, t: Any, y: Sequence[Any], args: Sequence[Any], v: Sequence[Any]
) -> tuple[Any, ...]:
    """Return the derivatives of the rates of change along v, one for each unknown, in a program."""
    recorder = current()
    first = len(recorder.steps)
    rates = fun._rates(t, y, args)
    tangents = Tangents(recorder, fun.name)
    for unknown, direction in zip(y, v, strict=True):
        for value, tangent in zip(parts_of(unknown), parts_of(direction), strict=True):
            tangents.names[value.name] = tangent.name
    for step in recorder.steps[first:]:
        tangents.record(step)
    found = []
    for rate in rates:
        parts = [tangents.of_expression(part) for part in parts_of(rate)]
        found.append(Vector(parts) if isinstance(rate, Vector) else parts[0])
    return tuple(found)


class Tangents:
    """The derivatives of the recorded steps of a program, in the direction of given tangents.

    Attributes
    ----------
    names
        For each field that depends on the unknowns the field of its tangent.
    """

    def __init__(self, recorder: Recorder, name: str) -> None:
        self.recorder = recorder
        self.name = name
        self.names: dict[str, str] = {}
        self._known: dict[tuple[Space, ir.Value], Expression | None] = {}

    def of_expression(self, expression: Expression) -> Expression:
        """Return the derivative of an expression."""
        found = self.of(expression.space, expression.value)
        return expression._lift(0.0) if found is None else found

    def record(self, step: ir.Step) -> None:
        """Record the step that computes the tangents of the results of a step."""
        if self.names.keys().isdisjoint(names_in(step)):
            return
        if isinstance(step, ir.Call):
            self._call(step)
        elif isinstance(step, ir.Assignment) and step.order == "any":
            self._assign(step)
        else:
            raise UnsupportedError(
                f"The right side {self.name} has no derivative by the unknowns.",
                note="It computes a reduction or a solve of them.",
                hint="Use an explicit method.",
            )

    def _assign(self, step: ir.Assignment) -> None:
        recorder, target = self.recorder, step.target
        whole = recorder.space(target)
        part = whole if step.part is None else recorder.parts[step.part.name]
        tangent = self.of(part, step.value)
        if part == whole:
            if tangent is not None:
                self.names[target] = recorder.put(tangent, whole)
        elif tangent is not None or self._depends(target):  # the other points keep their tangents
            zeros = recorder.whole(target)._lift(0.0)
            if not self._depends(target):
                self.names[target] = recorder.put(zeros, whole)
                self._known.clear()
            values = zeros[part] if tangent is None else tangent
            recorder.assign(self.names[target], whole, values, part)

    def _call(self, step: ir.Call) -> None:
        """Record a step of another package on the tangents, and subtract that on zeros."""
        recorder, pairs = self.recorder, step.external.fields
        made, zero = [], []
        for name, (given, whole) in zip(step.fields, pairs, strict=True):
            zeros = recorder.whole(name)[given] * 0.0
            tangent = recorder.whole(self.names[name])[given] if self._depends(name) else zeros
            made.append(recorder.put(tangent, whole))
            zero.append(recorder.put(zeros._lift(0.0), whole))
        for names in made, zero:
            recorder.call(step.external, names, step.scalars)
        for name, tangent_name, zero_name in zip(step.fields, made, zero, strict=True):
            change = recorder.whole(tangent_name) - recorder.whole(zero_name)
            self.names[name] = recorder.put(change, change.space)

    def _depends(self, array: str) -> bool:
        return array in self.names

    def of(self, space: Space, value: ir.Value) -> Expression | None:
        """Return the derivative of a value at the points of a space; None if it is zero."""
        key = space, value
        if key not in self._known:
            self._known[key] = self._derived(space, value)
        return self._known[key]

    def _derived(self, space: Space, value: ir.Value) -> Expression | None:
        match value:
            case ir.Load(array, index):
                name = self.names.get(array)
                return None if name is None else Expression(space, ir.Load(name, index))
            case ir.Sum(terms):
                made = [d for term in terms for d in self._terms(space, term)]
                return Expression(space, ir.Sum(tuple(made))) if made else None
            case ir.Op(name, args):
                return self._operation(space, name, args)
            case ir.Gather():  # a product with a row of a stored matrix
                name = self.names.get(value.array)
                return None if name is None else Expression(space, value.of(name))
        return None  # numbers, scalars and indices

    def _terms(self, space: Space, term: ir.Term) -> list[ir.Term]:
        found = []
        if term.operand is not None:
            operand = self.of(space, term.operand)
            if operand is not None:
                found.append(replace(term, operand=operand.value))
        weight = self.of(space, term.weight)
        if weight is not None:
            found.append(replace(term, weight=weight.value))
        return found

    def _operation(self, space: Space, name: str, args: tuple[ir.Value, ...]) -> Expression | None:
        slopes = [self.of(space, a) for a in args]
        if all(slope is None for slope in slopes):
            return None
        values: list[Any] = [Expression(space, a) for a in args]
        if name in SELECTIONS:
            condition = SELECTIONS[name](*values)
            pair = [values[0]._lift(0.0) if s is None else s for s in slopes[-2:]]
            return functions.where(condition, *pair)  # type: ignore[no-any-return]
        total = None
        for slope, derivative in zip(slopes, PARTIAL[name](*values), strict=True):
            if slope is not None and derivative is not None:
                term = derivative * slope
                total = term if total is None else total + term
        return total


def _pow(a: Any, b: Any) -> tuple[Any, Any]:
    return b * a ** (b - 1.0), a**b * functions.log(a)


PARTIAL: dict[str, Any] = {
    "add": lambda a, b: (1.0, 1.0),
    "sub": lambda a, b: (1.0, -1.0),
    "mul": lambda a, b: (b, a),
    "div": lambda a, b: (1.0 / b, -a / (b * b)),
    "pow": _pow,
    "neg": lambda a: (-1.0,),
    "abs": lambda a: (functions.sign(a),),
    "sign": lambda a: (None,),
    **{name: partial(f.derivative, functions) for name, f in FUNCTIONS.items()},
    **{name: lambda a, b: (None, None) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
    **{name: lambda *args: (None,) * len(args) for name in ("and", "or", "not")},
}
"""The partial derivatives of operations with respect to their operands; None for zero."""

SELECTIONS: dict[str, Any] = {
    "where": lambda c, a, b: _condition(c),
    "min": lambda a, b: a < b,
    "max": lambda a, b: a > b,
}
"""The conditions under which selections return their second to last operand."""


def _condition(value: Expression) -> Mask:
    return Mask(value.space, value.value)


def parts_of(value: Any) -> Sequence[Any]:
    """Return the components of an expression: one, or those of a vector."""
    return value.components if isinstance(value, Vector) else (value,)


def names_in(step: ir.Step) -> frozenset[str]:
    """Return the names that a step reads, and those of fields of which it assigns a part."""
    return read(step).union(set(ir.made(step)) - replaced(step))
