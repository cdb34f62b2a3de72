"""What a program's body computes with: fields, and expressions of one row.

An `Expression` holds the value of a generic row as IR. What cannot be part of one row - the
operand of a product that is no field, a solve inside a larger expression - is assigned to a
temporary field first. A `Recorder` collects the assignments of the program being traced.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import ir
from .analyse import diagonal_split
from .errors import ArgumentError, Error, SpaceError, UnboundError
from .families import multiply
from .sets import Domain
from .space import Space
from .trace import row_domain
from .values import Value, node, show

if TYPE_CHECKING:
    from .matrix import Matrix


class Recorder:
    """The assignments and arrays of a program while its body runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: dict[str, Space] = {}
        self.temporaries: dict[str, Space] = {}
        self.scalars: dict[str, float | None] = {}
        self.captured: dict[str, Any] = {}
        self.sizes: dict[str, int] = {}
        self.assignments: list[ir.Assignment] = []

    def fresh(self, stem: str) -> str:
        """Return a name not used yet."""
        taken = {*self.fields, *self.temporaries, *self.scalars}
        count = 0
        name = stem
        while name in taken:
            count += 1
            name = f"{stem}_{count}"
        return name

    def assign(self, name: str, space: Space, expression: Expression) -> None:
        """Record ``name[:] = expression``."""
        if expression.space != space:
            raise SpaceError(
                f"An expression on {expression.space!r} is assigned to {name!r} on {space!r}.",
                hint="Both sides of an assignment live on one space.",
            )

        def place(value: ir.Value) -> ir.Value | None:
            if isinstance(value, ir.Load) and value.array == ir.MADE:
                return replace(value, array=name)
            return None

        value = ir.rewrite(expression.value, place)
        self.assignments.append(
            ir.Assignment(name, space.axes, row_domain(space), value, expression.order)
        )

    def store(self, expression: Expression) -> Field:
        """Return a field that holds an expression: itself, or a new temporary."""
        if isinstance(expression, Field):
            return expression
        name = self.fresh("t")
        self.temporaries[name] = expression.space
        self.assign(name, expression.space, expression)
        return Field(name, expression.space)

    def data(self, matrix: Matrix) -> dict[str, ir.Value | str]:
        """Return what a matrix's data stand for here: a field's name, or a value."""
        meaning: dict[str, ir.Value | str] = {}
        for name, kind in matrix.parts.data.items():
            if name not in matrix.parts.bound:
                raise UnboundError(
                    f"Matrix {matrix.name} needs a value for {name!r}.",
                    hint=f"Bind it: {matrix.name}.bind({name}=...).",
                )
            value = matrix.parts.bound[name]
            if isinstance(value, Expression):
                meaning[name] = self.store(value).name
            elif isinstance(kind, Space):
                meaning[name] = self._capture(name, kind, value)
            else:
                meaning[name] = self._constant(name, value)
        for name in matrix.sizes:
            if name in matrix.parts.bound:
                self.sizes[name] = matrix.parts.bound[name]
        return meaning

    def _capture(self, name: str, space: Space, array: Any) -> str:
        for known, held in self.captured.items():
            if held is array and self.fields.get(known) == space:
                return known
        name = self.fresh(name)
        self.fields[name] = space
        self.captured[name] = array
        return name

    def _constant(self, name: str, value: Any) -> ir.Value:
        if isinstance(value, Value):
            return value.node
        name = self.fresh(name)
        self.scalars[name] = float(value)
        return ir.Scalar(name)


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Collect assignments made inside the block."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


def current() -> Recorder:
    """Return the recorder of the program being traced.

    Raises
    ------
    Error
        Outside a program's body.
    """
    recorder = _recorder.get()
    if recorder is None:
        raise Error(
            "A field of a program is used outside the program's body.",
            hint="Fields are symbols; call the program with arrays.",
        )
    return recorder


class Expression:
    """The value at a generic row of a space: fields, products, solves and arithmetic of them."""

    __slots__ = ("order", "space", "value")
    __array_ufunc__ = None

    def __init__(self, space: Space, value: ir.Value, order: ir.Order = "any") -> None:
        self.space = space
        self.value = value
        self.order = order

    def __repr__(self) -> str:
        return f"<Expression on {self.space!r}: {show(self.value)}>"

    def __add__(self, other: object) -> Expression:
        return self._sum(other, 1.0)

    def __sub__(self, other: object) -> Expression:
        return self._sum(other, -1.0)

    def __neg__(self) -> Expression:
        here = self.settled()
        return Expression(here.space, ir.Sum(_negated(terms(here))))

    def __mul__(self, other: object) -> Expression:
        return self._pointwise("mul", other)

    def __truediv__(self, other: object) -> Expression:
        return self._pointwise("div", other)

    def __radd__(self, other: object) -> Expression:
        return self._lift(other)._sum(self, 1.0)

    def __rsub__(self, other: object) -> Expression:
        return self._lift(other)._sum(self, -1.0)

    def __rmul__(self, other: object) -> Expression:
        return self._lift(other)._pointwise("mul", self)

    def __rtruediv__(self, other: object) -> Expression:
        return self._lift(other)._pointwise("div", self)

    def __bool__(self) -> bool:
        raise Error(
            "A Python condition depends on a field.",
            hint="A program's body runs once, when it is declared, without data.",
        )

    def settled(self) -> Expression:
        """Return an expression without a pending solve, which is stored first."""
        return self if self.order == "any" else current().store(self)

    def _lift(self, other: object) -> Expression:
        if isinstance(other, Expression):
            return other.settled()
        if isinstance(other, np.ndarray):
            raise ArgumentError(
                "A program's body uses a NumPy array.",
                hint="Declare it as a field of the program and pass it when calling.",
            )
        return Expression(self.space, node(other))

    def _sum(self, other: object, sign: float) -> Expression:
        left, right = self.settled(), self._lift(other)
        self._same_space(right)
        more = terms(right)
        return Expression(
            left.space, ir.Sum((*terms(left), *(more if sign > 0 else _negated(more))))
        )

    def _pointwise(self, name: str, other: object) -> Expression:
        left, right = self.settled(), self._lift(other)
        self._same_space(right)
        return Expression(left.space, ir.Op(name, (left.value, right.value)))

    def _same_space(self, other: Expression) -> None:
        if self.space != other.space:
            raise SpaceError(
                f"Expressions on {self.space!r} and {other.space!r} are combined.",
                hint="Pointwise arithmetic needs one space; a matrix leads from one to another.",
            )


class Field(Expression):
    """A field of a program: ``x[:] = expression`` assigns it."""

    __slots__ = ("name",)

    def __init__(self, name: str, space: Space) -> None:
        super().__init__(space, ir.Load(name, space.indices()))
        self.name = name

    def __getitem__(self, where: object) -> Field:
        if where not in (slice(None), Ellipsis):
            raise ArgumentError(
                f"{self.name}[{where!r}] reads a part of a field.",
                hint="Use the whole field; neighbours are read through a matrix.",
            )
        return self

    def __setitem__(self, where: object, value: object) -> None:
        if where not in (slice(None), Ellipsis):
            raise ArgumentError(
                f"{self.name}[{where!r}] assigns a part of a field.",
                hint="Assign the whole field, x[:] = ...; parts are rows of a matrix.",
            )
        recorder = current()
        if self.name in recorder.captured:
            raise ArgumentError(f"Field {self.name!r} is data of a matrix and cannot be assigned.")
        expression = value if isinstance(value, Expression) else self._lift(value)
        recorder.assign(self.name, self.space, expression)


def terms(expression: Expression) -> tuple[ir.Term, ...]:
    """Return an expression as the terms of a sum."""
    if isinstance(expression.value, ir.Sum):
        return expression.value.terms
    return (ir.Term(row_domain(expression.space), ir.ONE, expression.value),)


def _negated(found: tuple[ir.Term, ...]) -> tuple[ir.Term, ...]:
    return tuple(replace(t, weight=multiply(ir.Const(-1.0), t.weight)) for t in found)


def apply_rows(matrix: Matrix, x: Expression) -> Expression:
    """Return the row of ``matrix @ x``."""
    if x.space != matrix.cols:
        raise SpaceError(
            f"{matrix.name} @ an expression on {x.space!r}: the columns are {matrix.cols!r}."
        )
    recorder = current()
    field = recorder.store(x)
    found = bound_families(matrix, recorder)
    return Expression(
        matrix.rows,
        ir.Sum(tuple(ir.Term(f.domain, f.value, ir.Load(field.name, f.column)) for f in found)),
    )


def solve_rows(matrix: Matrix, b: Expression) -> Expression:
    """Return the row of ``matrix.solve(b)``: ``(b - sum of made neighbours) / diagonal``."""
    if b.space != matrix.rows:
        raise SpaceError(
            f"{matrix.name}.solve(an expression on {b.space!r}): the rows are {matrix.rows!r}."
        )
    recorder = current()
    b = b.settled()
    rows = row_domain(matrix.rows)
    order, diagonal, rest = diagonal_split(bound_families(matrix, recorder), rows, matrix.name)
    made = tuple(
        ir.Term(f.domain, multiply(ir.Const(-1.0), f.value), ir.Load(ir.MADE, f.column, True))
        for f in rest
    )
    total = ir.Sum((*terms(b), *made))
    divisor = diagonal_value(diagonal, rows)
    value = total if divisor == ir.ONE else ir.Op("div", (total, divisor))
    return Expression(matrix.rows, value, order)


def diagonal_value(diagonal: tuple[ir.Family, ...], rows: Domain) -> ir.Value:
    """Return the diagonal entry of a row: one value if it is the same expression everywhere."""
    if len(diagonal) == 1 and rows <= diagonal[0].domain:
        return diagonal[0].value
    return ir.Sum(tuple(ir.Term(f.domain, f.value) for f in diagonal))


def bound_families(matrix: Matrix, recorder: Recorder) -> tuple[ir.Family, ...]:
    """Return the families with data replaced by what they are bound to."""
    meaning = recorder.data(matrix)

    def change(value: ir.Value) -> ir.Value | None:
        if isinstance(value, ir.Scalar):
            found = meaning[value.name]
            assert not isinstance(found, str)
            return found
        if isinstance(value, ir.Load):
            name = meaning[value.array]
            assert isinstance(name, str)
            return replace(value, array=name)
        return None

    return tuple(replace(f, value=ir.rewrite(f.value, change)) for f in matrix.families)
