"""The recorder of a program: it collects the assignments while the body runs.

A `Recorder` assigns values to temporary fields if they cannot be part of one row, or if they are
read after one of their fields is overwritten. It also collects the arrays, the numbers and the
stored matrices that the matrices of the program refer to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal
from weakref import WeakValueDictionary

from .. import ir
from ..algebra.matrix_data import MatrixData
from ..algebra.stored import Stored
from ..errors import ArgumentError, SpaceError, Span, UnboundError, user_span
from ..points.sets import Domain
from ..spaces.distributed import Component
from ..spaces.space import Space, row_domain
from ..symbols.values import Value, node
from .expression import Expression, Field, Mask, Recording, current_recording, in_progress

_PARAMETERS = "Use the parameters of the program's own body."


class Recorder(Recording):
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
            expression = self.store(expression)  # a stored matrix numbers the points of the part
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
                self._domain(rows, {name, *expression.reads}),
                value,
                expression.order,
                None if rows == space else self.part(rows),
            )
        )
        if not isinstance(given.value, ir.Load):
            given._become(name)

    def _domain(self, rows: Space, names: Iterable[str]) -> Domain:
        """Return the rows of a step, for the sizes for which its fields are not empty."""
        known = {**self.fields, **self.temporaries}
        spaces = {known[name] for name in names if name in known}
        others = [space for space in spaces if {*space.sizes} - {*rows.sizes}]
        return row_domain(rows, tuple(sorted(others, key=repr)))

    def call(
        self, external: ir.External, fields: Sequence[str], scalars: Sequence[ir.Value]
    ) -> None:
        """Record the call of a function that updates temporaries that are not read yet."""
        for value in scalars:
            self._own_scalars(value)
        self.places.append(user_span())
        self.steps.append(ir.Call(external.name, external, tuple(fields), tuple(scalars)))

    def whole(self, name: str) -> Expression:
        """Return the expression of a field or temporary."""
        space = self.space(name)
        return Expression(space, ir.Load(name, space.indices()), owner=self)

    def part(self, space: Space) -> ir.Field:
        """Return the rows of a part of a field, by a name that they have in this program."""
        name = repr(space)
        self.parts[name] = space
        return ir.Field(name, space.data.lower, space.data.shape)

    def assign_jointly(
        self, space: Space, values: Mapping[str, ir.Value], order: ir.Order = "forward"
    ) -> None:
        """Record assignments of several fields that are made together, row by row in an order."""
        for name, value in values.items():
            self._own_scalars(value)
            self._keep_readers(name, None)
        rows = row_domain(space)
        made = [ir.Assignment(n, space.axes, rows, v, order) for n, v in values.items()]
        self.places.append(user_span())
        self.steps.append(made[0] if len(made) == 1 else ir.Group(tuple(made)))

    def solve_lines(
        self,
        space: Space,
        axis: int,
        size: int,
        entries: Sequence[ir.Entry],
        right: Sequence[ir.Value],
    ) -> list[Expression]:
        """Record systems of equations, one for each line; return the components of the solution."""
        for value in (*(entry.value for entry in entries), *right):
            self._own_scalars(value)
        names = []
        for _ in right:
            names.append(self.fresh("t"))
            self.temporaries[names[-1]] = space
        rows = row_domain(space)
        made = (ir.Assignment(n, space.axes, rows, v) for n, v in zip(names, right, strict=True))
        self.places.append(user_span())
        self.steps.append(ir.Solve(tuple(made), axis, size, tuple(entries)))
        return [self.whole(name) for name in names]

    def _keep_readers(self, name: str, but: Expression | None) -> None:
        """Store the expressions that read a field which is about to be assigned."""
        for other in list(self._live.values()):
            if other is not but and name in other.reads:
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
        """Store an expression in a temporary, and replace it by the temporary."""
        expression._become(self.put(expression, expression.space))

    def put(self, expression: Expression, whole: Space) -> str:
        """Store an expression in a new temporary, which may have more points; return its name."""
        name = self.fresh("t")
        self.temporaries[name] = whole
        self.assign(name, whole, expression, expression.space)
        return name

    def reduce(
        self, kind: Literal["sum", "max", "min", "norm"], stem: str, values: Expression
    ) -> Value:
        """Record a reduction over all rows; return its result."""
        values = values.settled()
        self._own_scalars(values.value)
        known = self._reduced(kind, values)
        if known is not None:
            return Value(ir.Scalar(known))
        name, space = self.fresh(stem), values.space
        domain = self._domain(space, values.reads)
        rows = ir.Field(name, space.data.lower, space.data.shape)
        self.scalars[name] = None
        self.reductions[name] = space
        self.places.append(user_span())
        self.steps.append(ir.Reduction(name, kind, space.axes, rows, domain, values.value))
        return Value(ir.Scalar(name))

    def _reduced(self, kind: str, values: Expression) -> str | None:
        """Return an earlier reduction of the same values, if their fields are unchanged since."""
        domain = self._domain(values.space, values.reads)
        for step in reversed(self.steps):
            if not isinstance(step, ir.Reduction):
                if not values.reads.isdisjoint(ir.made(step)):
                    return None
            elif (step.kind, step.domain, step.value) == (kind, domain, values.value):
                return step.name
        return None

    def give(self, results: object) -> None:
        """Record the results of the body: nothing, a number, or a sequence of numbers."""
        if isinstance(results, (tuple, list)):
            self.results = tuple(Value(self._result(r)) for r in results)
        elif results is not None:
            self.results = Value(self._result(results))

    def _result(self, result: object) -> ir.Value:
        if isinstance(result, Expression):
            raise ArgumentError(
                f"The program {self.name} returns the {result.label()}.",
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
        """Check that an expression belongs to this program."""
        if expression.owner is not self:
            what = f"Field {expression.name!r}" if isinstance(expression, Field) else "A value"
            raise ArgumentError(f"{what} belongs to another program.", hint=_PARAMETERS)

    def data(
        self, matrix: MatrixData, computed: Callable[[Expression], bool] = lambda _: False
    ) -> dict[str, ir.Value | str]:
        """Return the meaning of each name of a matrix's data: the name of a field, or a value.

        Expressions for which ``computed`` is true are evaluated at each read; others are stored.
        """
        meaning: dict[str, ir.Value | str] = {}
        for name, kind in matrix.data.items():
            if name not in matrix.bound:
                made = name not in matrix.origin.data()
                name = name.partition("[")[0]
                raise UnboundError(
                    f"Matrix {matrix.name} needs a value for {name!r}.",
                    hint=f"Compute the recurrence first: {name}.compute()."
                    if made
                    else f"Bind it: {matrix.name}.bind({name}=...).",
                )
            value = matrix.bound[name]
            if isinstance(value, Expression):
                again = computed(value)
                meaning[name] = value.settled().value if again else self.store(value).name
            elif isinstance(kind, Space):
                meaning[name] = self._capture(name, kind, value)
            else:
                meaning[name] = self._constant(name, value)
        for name in matrix.sizes:
            self.inner.add(name)
            if name in matrix.bound:
                self._bind(name, matrix.bound[name])
        return meaning

    def _bind(self, size: str, value: int) -> None:
        known = self.sizes.setdefault(size, value)
        if known != value:
            raise ArgumentError(f"Size {size} is bound to {known} and to {value} in one program.")

    def _capture(self, name: str, space: Space, array: Any) -> str:
        for known, held in self.captured.items():
            parts = isinstance(held, Component) and isinstance(array, Component)
            one = held is array or (parts and held == array)
            if one and self.fields.get(known) == space:
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


def current() -> Recorder:
    """Return the recorder of the program being traced."""
    found = current_recording()
    assert isinstance(found, Recorder)
    return found


def recorder_of_program() -> Recorder | None:
    """Return the recorder of the program being traced, if one is."""
    return None if in_progress() is None else current()
