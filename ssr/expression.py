"""What a program's body computes with: fields, and expressions of one row.

An `Expression` holds the value of a generic row as IR. What cannot be part of one row - the
operand of a product that is no field, a solve inside a larger expression - is assigned to a
temporary field first. A `Recorder` collects the assignments of the program being traced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn
from weakref import WeakValueDictionary

import numpy as np

from . import ir
from .analyse import diagonal_split
from .errors import (
    ArgumentError,
    Error,
    RuntimeConditionError,
    SpaceError,
    Span,
    UnboundError,
    UnsupportedError,
    user_span,
)
from .families import multiply
from .functions import power
from .index import plain
from .oracle import data_of
from .sets import Domain
from .space import Space
from .trace import row_domain
from .values import CONDITIONS, LOGICAL, Row, Value, is_condition, node, show

if TYPE_CHECKING:
    from .external import External
    from .matrix import Matrix
    from .stored import Stored


NESTED = 16
"""Sums of sums at most that are kept apart until a program is complete."""

_PARAMETERS = "Use the parameters of the program's own body."


class Recorder:
    """The assignments and arrays of a program while its body runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fields: dict[str, Space] = {}
        self.temporaries: dict[str, Space] = {}
        self.scalars: dict[str, float | None] = {}
        self.captured: dict[str, Any] = {}
        self.stored: dict[str, Stored] = {}
        self.sizes: dict[str, int] = {}
        self.inner: set[str] = set()
        self.reductions: dict[str, Space] = {}
        self.parts: dict[str, Space] = {}
        self.steps: list[ir.Step] = []
        self.places: list[Span | None] = []
        self.results: Value | tuple[Value, ...] | None = None

        self._live: WeakValueDictionary[int, Expression] = WeakValueDictionary()

    def track(self, expression: Expression) -> None:
        """Remember an expression as long as the body can use it."""
        self._live[id(expression)] = expression

    def fresh(self, stem: str) -> str:
        """Return a name not used yet."""
        spaces = {**self.fields, **self.temporaries}
        taken = {*spaces, *self.scalars}.union(*(space.sizes for space in spaces.values()))
        return ir.fresh(stem, taken)

    def assign(
        self, name: str, space: Space, expression: Expression, part: Space | None = None
    ) -> None:
        """Record ``name[:] = expression``, or ``name[part] = expression``.

        Expressions that read the old values and may still be used are stored before.
        """
        self.own(expression)
        rows = part or space
        if rows != space and any(g.new for g in ir.gathers(expression.value)):
            expression = self.store(expression)  # stored matrices number the points of the part
        self._keep_readers(name, expression)
        given = expression
        if isinstance(expression, Mask):
            expression = expression.settled()
        if expression.space != rows:
            what = "" if rows == space else "the part of "
            raise SpaceError(
                f"An expression on {expression.space!r} is assigned to {what}{name!r} on {rows!r}.",
                hint="Both sides of an assignment live on one space.",
            )
        value = ir.reading(expression.value, ir.MADE, name)
        self._own_scalars(value)
        self.places.append(user_span())
        self.steps.append(
            ir.Assignment(
                name,
                rows.axes,
                row_domain(rows),
                value,
                expression.order,
                None if rows == space else self.part(rows),
            )
        )
        if not isinstance(given.value, ir.Load):
            given.become(name)

    def call(self, external: External, fields: Sequence[str], scalars: Sequence[ir.Value]) -> None:
        """Record the call of a function that updates temporaries nobody has read yet."""
        for value in scalars:
            self._own_scalars(value)
        self.places.append(user_span())
        self.steps.append(ir.Call(external.name, external, tuple(fields), tuple(scalars)))

    def whole(self, name: str) -> Expression:
        """Return the expression that stands for a field or temporary."""
        space = self.space(name)
        return Expression(space, ir.Load(name, space.indices()), owner=self)

    def part(self, space: Space) -> ir.Field:
        """Return the rows of a part of a field, by a name that they have in this program."""
        name = repr(space)
        self.parts[name] = space
        return ir.Field(name, space.lower, space.data.shape)

    def together(self, space: Space, values: Mapping[str, ir.Value]) -> None:
        """Record assignments of several fields that are made together, row by row in C order."""
        for name in values:
            self._keep_readers(name, None)
        rows = row_domain(space)
        made = [ir.Assignment(n, space.axes, rows, v, "forward") for n, v in values.items()]
        self.places.append(user_span())
        self.steps.append(made[0] if len(made) == 1 else ir.Group(tuple(made)))

    def _keep_readers(self, name: str, but: Expression | None) -> None:
        """Store the expressions that read a field which is about to be assigned."""
        for other in list(self._live.values()):
            if other is not but and reads_field(other.value, name):
                self._keep(other)

    def space(self, name: str) -> Space:
        """Return the space of a field or temporary."""
        return self.fields[name] if name in self.fields else self.temporaries[name]

    def keep(self, stored: Stored) -> str:
        """Return the name of a stored matrix in this program."""
        for name, known in self.stored.items():
            if known is stored:
                return name
        name = f"csr{len(self.stored) + 1}"
        self.stored[name] = stored
        return name

    def _own_scalars(self, value: ir.Value) -> None:
        for part in ir.walk(value):
            if isinstance(part, ir.Scalar) and part.name not in self.scalars:
                raise ArgumentError(
                    f"Scalar {part.name!r} belongs to another program.", hint=_PARAMETERS
                )

    def _keep(self, expression: Expression) -> None:
        """Store an expression in a temporary, which it stands for from now on."""
        expression.become(self.put(expression, expression.space))

    def put(self, expression: Expression, whole: Space) -> str:
        """Store an expression in a new temporary, which may have more points; return its name."""
        name = self.fresh("t")
        self.temporaries[name] = whole
        self.assign(name, whole, expression, expression.space)
        return name

    def reduce(self, kind: Literal["sum", "max", "min"], stem: str, values: Expression) -> Value:
        """Record a reduction over all rows; return the number it gives."""
        values = values.settled()
        self._own_scalars(values.value)
        known = self._reduced(kind, values)
        if known is not None:
            return Value(ir.Scalar(known))
        name, space = self.fresh(stem), values.space
        rows = ir.Field(name, space.lower, space.data.shape)
        self.scalars[name] = None
        self.reductions[name] = space
        self.places.append(user_span())
        self.steps.append(
            ir.Reduction(name, kind, space.axes, rows, row_domain(space), values.value)
        )
        return Value(ir.Scalar(name))

    def _reduced(self, kind: str, values: Expression) -> str | None:
        """Return an earlier reduction of the same values, if what they read has not changed."""
        domain = row_domain(values.space)
        for step in reversed(self.steps):
            if not isinstance(step, ir.Reduction):
                if any(reads_field(values.value, name) for name in ir.made(step)):
                    return None
            elif (step.kind, step.domain, step.value) == (kind, domain, values.value):
                return step.name
        return None

    def give(self, results: object) -> None:
        """Take what the body returns: nothing, a number, or a sequence of numbers."""
        if isinstance(results, (tuple, list)):
            self.results = tuple(Value(self._result(r)) for r in results)
        elif results is not None:
            self.results = Value(self._result(results))

    def _result(self, result: object) -> ir.Value:
        if isinstance(result, Expression):
            raise ArgumentError(
                f"The program {self.name} returns the {result.told()}.",
                note="A program returns numbers: scalars, reductions and arithmetic of these.",
                hint="Assign fields to parameters: y[:] = ....",
            )
        value = node(result, "Results of a program")
        self._own_scalars(value)
        return value

    def returned(self) -> tuple[Value, ...]:
        """Return all results."""
        if self.results is None:
            return ()
        return self.results if isinstance(self.results, tuple) else (self.results,)

    def store(self, expression: Expression) -> Field:
        """Return a field that holds an expression: itself, or a new temporary."""
        self.own(expression)
        if isinstance(expression, Mask):
            expression = expression.settled()
        space, value = expression.space, expression.value
        if isinstance(value, ir.Load) and value == ir.Load(value.array, space.indices()):
            return Field(value.array, space, self)
        self._keep(expression)
        return self.store(expression)

    def alone(self, expression: Expression) -> Field:
        """Return a field that holds an expression and has no other points."""
        field = self.store(expression)
        if self.space(field.name) == field.space:
            return field
        return Field(self.put(Expression(field.space, field.value), field.space), field.space, self)

    def own(self, expression: Expression) -> None:
        """Check that an expression is made of the fields of this program."""
        if expression.owner is not self:
            what = f"Field {expression.name!r}" if isinstance(expression, Field) else "A value"
            raise ArgumentError(f"{what} belongs to another program.", hint=_PARAMETERS)

    def data(self, matrix: Matrix) -> dict[str, ir.Value | str]:
        """Return what a matrix's data stand for here: a field's name, or a value."""
        meaning: dict[str, ir.Value | str] = {}
        for name, kind in matrix.parts.data.items():
            if name not in matrix.parts.bound:
                made = name not in data_of(matrix.parts.origin)
                name = name.partition("[")[0]
                raise UnboundError(
                    f"Matrix {matrix.name} needs a value for {name!r}.",
                    hint=f"Compute the recurrence first: {name}.compute()."
                    if made
                    else f"Bind it: {matrix.name}.bind({name}=...).",
                )
            value = matrix.parts.bound[name]
            if isinstance(value, Expression):
                meaning[name] = self.store(value).name
            elif isinstance(kind, Space):
                meaning[name] = self._capture(name, kind, value)
            else:
                meaning[name] = self._constant(name, value)
        for name in matrix.sizes:
            self.inner.add(name)
            if name in matrix.parts.bound:
                self._bind(name, matrix.parts.bound[name])
        return meaning

    def _bind(self, size: str, value: int) -> None:
        known = self.sizes.setdefault(size, value)
        if known != value:
            raise ArgumentError(f"Size {size} is bound to {known} and to {value} in one program.")

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


def recorder_of_program() -> Recorder | None:
    """Return the recorder of the program being traced, if one is."""
    return _recorder.get()


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


class Expression(Row):
    """The value at a generic row of a space: fields, products, solves and arithmetic of them."""

    __slots__ = ("__weakref__", "order", "owner", "space", "value")

    def __init__(
        self,
        space: Space,
        value: ir.Value,
        order: ir.Order = "any",
        owner: Recorder | None = None,
    ) -> None:
        self.space = space
        self.value = value
        self.order = order
        self.owner = current() if owner is None else owner
        if not isinstance(value, ir.Load):
            self.owner.track(self)

    def become(self, name: str) -> None:
        """Stand for a field that was just assigned the expression's values."""
        self.value = ir.Load(name, self.space.indices())
        self.order = "any"

    def __getitem__(self, where: object) -> Expression:
        """Return the values at a part of the points."""
        if not isinstance(where, Space):
            raise ArgumentError(
                f"[{_key(where)}] is asked of the {self.told()}.",
                hint="A part of the points is a Space; neighbours are read through a matrix.",
            )
        here = self.settled()
        check_part(where, here.space, here.told())
        return Expression(where, here.value)

    def __repr__(self) -> str:
        return f"<Expression on {self.space!r}: {show(self.value)}>"

    def told(self) -> str:
        """Return the expression as messages call it."""
        text = show(self.value)
        return f"run-time value {text}" if len(text) <= 40 else f"expression on {self.space!r}"

    def __add__(self, other: object) -> Expression:
        return NotImplemented if _is_vector(other) else self._sum(other, 1.0)

    def __sub__(self, other: object) -> Expression:
        return NotImplemented if _is_vector(other) else self._sum(other, -1.0)

    def __neg__(self) -> Expression:
        here = self.settled()
        return Expression(here.space, ir.Sum(_negated(_summands(here))))

    def __mul__(self, other: object) -> Expression:
        return self.pointwise("mul", self, other)

    def __truediv__(self, other: object) -> Expression:
        return self.pointwise("div", self, other)

    def __pow__(self, exponent: object) -> Any:
        return power(self.settled(), exponent)

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return self.pointwise("abs", self)

    def __lt__(self, other: object) -> Expression:
        return self.pointwise("lt", self, other)

    def __le__(self, other: object) -> Expression:
        return self.pointwise("le", self, other)

    def __gt__(self, other: object) -> Expression:
        return self.pointwise("gt", self, other)

    def __ge__(self, other: object) -> Expression:
        return self.pointwise("ge", self, other)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return self.pointwise("eq", self, other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return self.pointwise("ne", self, other)

    __hash__ = object.__hash__

    def __radd__(self, other: object) -> Expression:
        return self.lift(other)._sum(self, 1.0)

    def __rsub__(self, other: object) -> Expression:
        return self.lift(other)._sum(self, -1.0)

    def __rmul__(self, other: object) -> Expression:
        return self.pointwise("mul", other, self)

    def __rtruediv__(self, other: object) -> Expression:
        return self.pointwise("div", other, self)

    def __bool__(self) -> bool:
        raise _runtime_condition("depends on a field")

    def settled(self) -> Expression:
        """Return an expression without a pending solve, which is stored first."""
        recorder = current()
        recorder.own(self)
        return self if self.order == "any" else recorder.store(self)

    def pointwise(self, name: str, *args: object) -> Expression:
        """Return an operation on numbers, scalars and expressions, row by row."""
        for a in args:
            if _is_vector(a):
                return a.pointwise(name, *args)  # type: ignore[attr-defined,no-any-return]
        conditions = len(args) if name in LOGICAL else int(name == "where")
        rows = [
            a if n < conditions and isinstance(a, Mask) else self.lift(a)
            for n, a in enumerate(args)
        ]
        for row in rows:
            self._same_space(row)
            if name in LOGICAL and not is_condition(row.value):
                raise UnsupportedError(
                    f"The {row.told()} is a number; & | ~ combine conditions.",
                    hint="Compare first: (x > 0) & (y > 0).",
                )
        made = Mask if name in CONDITIONS else Expression
        return made(self.space, ir.Op(name, tuple(row.value for row in rows)))

    def lift(self, other: object) -> Expression:
        """Return an operand as an expression on this space."""
        other = plain(other)
        if isinstance(other, Expression):
            return other.settled()
        if isinstance(other, np.ndarray):
            raise ArgumentError(
                "A program's body uses a NumPy array.",
                hint="Declare it as a field of the program and pass it when calling.",
            )
        from .matrix import Matrix

        if isinstance(other, Matrix):
            raise UnsupportedError(
                f"A field is combined with the matrix {other.name}.",
                hint=f"Apply the matrix first, as in w * ({other.name} @ x).",
            )
        return Expression(self.space, node(other, "Operands in a program"))

    def _sum(self, other: object, sign: float) -> Expression:
        left, right = self.settled(), self.lift(other)
        self._same_space(right)
        more = _summands(right)
        return Expression(
            left.space, ir.Sum((*_summands(left), *(more if sign > 0 else _negated(more))))
        )

    def _same_space(self, other: Expression) -> None:
        if self.space != other.space:
            raise SpaceError(
                f"Expressions on {self.space!r} and {other.space!r} are combined.",
                hint="Pointwise arithmetic needs one space; a matrix leads from one to another.",
            )


def _is_vector(other: object) -> bool:
    return isinstance(other, Row) and not isinstance(other, Expression)


class Mask(Expression):
    """A comparison at a generic row: a condition of `where`; elsewhere one or zero."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise _runtime_condition("compares fields")

    def settled(self) -> Expression:
        """Return one where the comparison holds and zero elsewhere."""
        current().own(self)
        return Expression(self.space, ir.Op("where", (self.value, ir.ONE, ir.ZERO)))

    def become(self, name: str) -> None:
        """Stand for a field that was just assigned one where the comparison holds."""
        self.value = ir.Op("ne", (ir.Load(name, self.space.indices()), ir.ZERO))


def _runtime_condition(what: str) -> RuntimeConditionError:
    return RuntimeConditionError(
        f"A Python condition {what}.",
        note="A program's body runs once, when it is declared, without data.",
        hint="Choose between values with ssr.where(condition, a, b).",
    )


def renaming(sign: str) -> Callable[[Any, object], NoReturn]:
    """Return the method of an assignment such as ``x += b``, which would change nothing."""

    def method(self: Any, other: object) -> NoReturn:
        raise ArgumentError(
            f"`{self.name} {sign} ...` only renames {self.name} in a program.",
            hint=f"Write {self.name}[:] {sign} ....",
        )

    return method


class Field(Expression):
    """A field of a program: ``x[:] = expression`` assigns it."""

    __slots__ = ("name",)

    def __init__(self, name: str, space: Space, owner: Recorder) -> None:
        super().__init__(space, ir.Load(name, space.indices()), owner=owner)
        self.name = name

    __iadd__ = renaming("+=")
    __isub__ = renaming("-=")
    __imul__ = renaming("*=")
    __itruediv__ = renaming("/=")
    __ipow__ = renaming("**=")

    def __getitem__(self, where: object) -> Expression:
        if isinstance(where, Space):
            check_part(where, self.space, f"field {self.name!r}")
            return Expression(where, self.value, owner=self.owner)
        if not _is_all(where):
            raise ArgumentError(
                f"{self.name}[{_key(where)}] reads a part of a field.",
                hint="Use the whole field, or name a part by its Space; "
                "neighbours are read through a matrix.",
            )
        return Expression(self.space, self.value, owner=self.owner)

    def __setitem__(self, where: object, value: object) -> None:
        part = where if isinstance(where, Space) else None
        if part is not None:
            check_part(part, self.space, f"field {self.name!r}")
        elif not _is_all(where):
            raise ArgumentError(
                f"{self.name}[{_key(where)}] assigns a part of a field.",
                hint=f"Assign the whole field, {self.name}[:] = ssr.where(condition, new, old)."
                if isinstance(where, Mask)
                else "Assign the whole field, x[:] = ..., or a part named by its Space.",
            )
        recorder = current()
        if self.name in recorder.captured:
            raise ArgumentError(f"Field {self.name!r} is data of a matrix and cannot be assigned.")
        rows = self if part is None else Expression(part, self.value)
        expression = value if isinstance(value, Expression) else rows.lift(value)
        recorder.assign(self.name, recorder.space(self.name), expression, part or self.space)


def check_part(part: Space, whole: Space, what: str) -> None:
    """Check that all points of a space are points of another one.

    Raises
    ------
    SpaceError
        If they are not, for all sizes.
    """
    if part.ndim != whole.ndim:
        raise SpaceError(
            f"{part!r} is no part of the {what}.",
            note=f"A point has {part.ndim} indices in the one, {whole.ndim} in the other.",
        )
    if part.data.staggered != whole.data.staggered:
        raise SpaceError(
            f"{part!r} is no part of the {what}.",
            note=f"The one has points at {part.location}, the other at {whole.location}.",
        )
    outside = row_domain(part) - row_domain(whole)
    if not outside.empty:
        raise SpaceError(
            f"{part!r} is no part of the {what}.",
            note=f"Its points lie in {whole!r}; outside lie {outside.simplified().notation()}.",
            hint="A part has the indices of the whole: with g = cells.grow(1), cells is part of g.",
        )


def reads_field(value: ir.Value, name: str) -> bool:
    """Whether a value reads a field."""
    return name in ir.arrays(value)


def _is_all(where: object) -> bool:
    return where is Ellipsis or (isinstance(where, slice) and where == slice(None))


def _key(where: object) -> str:
    return "condition" if isinstance(where, Mask) else repr(where)


def terms(expression: Expression) -> tuple[ir.Term, ...]:
    """Return an expression as the terms of a sum."""
    if isinstance(expression.value, ir.Sum):
        return expression.value.terms
    return (ir.Term(row_domain(expression.space), ir.ONE, expression.value),)


def _summands(expression: Expression) -> tuple[ir.Term, ...]:
    """Return an expression as one term of a sum; `shared.joined` settles which sums are one.

    A sum of sums of sums is joined at once: it is one that grows in a loop.
    """
    value, depth = expression.value, 0
    while isinstance(value, ir.Sum) and value.terms and depth <= NESTED:
        value, depth = value.terms[0].operand, depth + 1  # type: ignore[assignment]
    if depth > NESTED:
        return terms(expression)
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
    return tuple(replace(f, value=bound_value(f.value, meaning)) for f in matrix.families)


def bound_value(value: ir.Value, meaning: Mapping[str, ir.Value | str]) -> ir.Value:
    """Return a value with data replaced by what they are bound to."""

    def change(part: ir.Value) -> ir.Value | None:
        if isinstance(part, ir.Scalar):
            found = meaning[part.name]
            assert not isinstance(found, str)
            return found
        if isinstance(part, ir.Load):
            name = meaning[part.array]
            assert isinstance(name, str)
            return replace(part, array=name)
        return None

    return ir.rewrite(value, change)
