"""Expressions in the body of a program: fields, and values at a generic row.

An `Expression` holds the value of a generic row as IR. Operands that cannot be part of one row,
such as an expression that a product reads, or a solve inside a larger expression, are first
assigned to a temporary field by the recorder of the program.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from .. import ir
from ..algebra.families import multiply
from ..errors import (
    ArgumentError,
    Error,
    MissingNameError,
    RuntimeConditionError,
    SpaceError,
    UnsupportedError,
)
from ..points.numbers import plain
from ..spaces.distributed import is_distributed
from ..spaces.space import Space, row_domain
from ..symbols.operations import CONDITIONS, LOGICAL, is_condition
from ..symbols.printing import show
from ..symbols.values import Row, node, power, takes_over

NESTED = 16
"""Depth of nested sums beyond which they are flattened at once, before the program is complete."""


class Recording(ABC):
    """The recorder of a program's assignments, as its expressions use it."""

    captured: dict[str, Any]

    @abstractmethod
    def track(self, expression: Expression) -> None:
        """Remember an expression as long as the body can use it."""

    @abstractmethod
    def own(self, expression: Expression) -> None:
        """Check that an expression belongs to this program."""

    @abstractmethod
    def space(self, name: str) -> Space:
        """Return the space of a field or temporary."""

    @abstractmethod
    def store(self, expression: Expression) -> Field:
        """Return a field that holds an expression: itself, or a new temporary."""

    @abstractmethod
    def assign(
        self, name: str, space: Space, expression: Expression, part: Space | None = None
    ) -> None:
        """Record ``name[:] = expression``, or ``name[part] = expression``."""


_recording: ContextVar[Recording | None] = ContextVar("recording", default=None)


@contextmanager
def recording(into: Recording) -> Iterator[None]:
    """Collect assignments made inside the block."""
    token = _recording.set(into)
    try:
        yield
    finally:
        _recording.reset(token)


def in_progress() -> Recording | None:
    """Return the recording of the program being traced, or None."""
    return _recording.get()


def current_recording() -> Recording:
    """Return the recording of the program being traced; raise an error outside of programs."""
    found = _recording.get()
    if found is None:
        raise Error(
            "A field of a program is used outside the program's body.",
            hint="Fields are symbols; call the program with arrays.",
        )
    return found


METHODS = {
    "sum": "The sum over all points is ssr.sum(x).",
    "max": "The largest value is ssr.max(x).",
    "min": "The smallest value is ssr.min(x).",
    "mean": "Divide ssr.sum(x) by the number of points.",
    "dot": "The dot product is ssr.dot(x, y).",
    "shape": "Extents are those of its space: space.shape.",
    "copy": "Assign it to another field: y[:] = x.",
    "T": "Matrices have transposes: A.T @ x.",
}
"""Suggested replacements for array methods."""


class Expression(Row):
    """The value at a generic row of a space: fields, products, solves and arithmetic of them."""

    __slots__ = ("__weakref__", "_reads", "order", "owner", "space", "value")

    def __init__(
        self,
        space: Space,
        value: ir.Value,
        order: ir.Order = "any",
        owner: Recording | None = None,
    ) -> None:
        self.space = space
        self.value = value
        self._reads: tuple[ir.Value, frozenset[str]] | None = None
        self.order = order
        self.owner = current_recording() if owner is None else owner
        if not isinstance(value, ir.Load):
            self.owner.track(self)

    @property
    def reads(self) -> frozenset[str]:
        """The names of the fields that it reads."""
        if self._reads is None or self._reads[0] is not self.value:
            self._reads = self.value, ir.arrays(self.value)
        return self._reads[1]

    def _become(self, name: str) -> None:
        """Stand for the field ``name``, which was just assigned the expression's values."""
        self.value = ir.Load(name, self.space.indices())
        self.order = "any"

    def __getitem__(self, where: object) -> Expression:
        """Return the values at a part of the points."""
        if not isinstance(where, Space):
            raise ArgumentError(
                f"The {self.label()} has no element [{_key(where)}].",
                hint="A part of the points is a Space; neighbours are read through a matrix.",
            )
        here = self.settled()
        check_part(where, here.space, here.label())
        return Expression(where, here.value)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise MissingNameError(
            f"The {self.label()} has no {name!r}.",
            hint=METHODS.get(name, "It stands for the values of all points, as in x + 1."),
        )

    def __len__(self) -> int:
        raise ArgumentError(
            f"The {self.label()} has no length.",
            hint="Extents are those of its space: space.shape.",
        )

    def __matmul__(self, other: object) -> Any:
        if isinstance(other, (Row, np.ndarray)):
            raise ArgumentError(
                f"The {self.label()} is multiplied by `@` with another field.",
                hint="The dot product is ssr.dot(x, y).",
            )
        return NotImplemented

    def __repr__(self) -> str:
        return f"<Expression on {self.space!r}: {show(self.value)}>"

    def label(self) -> str:
        """Return the expression as messages call it."""
        text = show(self.value)
        return f"run-time value {text}" if len(text) <= 40 else f"expression on {self.space!r}"

    def _binary(self, name: str, left: object, right: object) -> Any:
        """Return the operation ``name`` of left and right by rows; sums become one chain of terms.

        It is NotImplemented for vectors and matrices, which define these operations themselves.
        """
        other = right if left is self else left
        if isinstance(other, Row) and not isinstance(other, Expression):
            return NotImplemented
        if is_distributed(other):
            raise ArgumentError(
                "A program's body uses a field of several ranks.",
                hint="Declare it as a field of the program and pass it when calling.",
            )
        if takes_over(other):
            return NotImplemented
        if name in ("add", "sub"):
            return self._sum(left, right, 1.0 if name == "add" else -1.0)
        return self._pointwise(name, left, right)

    def _unary(self, name: str) -> Expression:
        """Return the operation ``name`` row by row."""
        if name != "neg":
            return self._pointwise(name, self)
        here = self.settled()
        return Expression(here.space, ir.Sum(_negated(_summands(here))))

    def __pow__(self, exponent: object) -> Any:
        return power(self.settled(), exponent)

    def __bool__(self) -> bool:
        raise _runtime_condition("depends on a field")

    def settled(self) -> Expression:
        """Return an expression without a pending solve, which is stored first."""
        recorder = current_recording()
        recorder.own(self)
        return self if self.order == "any" else recorder.store(self)

    def _pointwise(self, name: str, *args: object) -> Expression:
        """Return the operation ``name`` on args, numbers, scalars and expressions, by rows."""
        for a in args:
            if isinstance(a, Row) and not isinstance(a, Expression):
                return a._pointwise(name, *args)  # type: ignore[no-any-return]
        conditions = len(args) if name in LOGICAL else int(name == "where")
        rows = [
            a if n < conditions and isinstance(a, Mask) else self._lift(a)
            for n, a in enumerate(args)
        ]
        for row in rows:
            self._same_space(row)
            if name in LOGICAL and not is_condition(row.value):
                raise UnsupportedError(
                    f"The {row.label()} is a number; & | ~ combine conditions.",
                    hint="Compare first: (x > 0) & (y > 0).",
                )
        made = Mask if name in CONDITIONS else Expression
        return made(self.space, ir.Op(name, tuple(row.value for row in rows)))

    def _lift(self, other: object) -> Expression:
        """Return the operand ``other`` as an expression on this space."""
        other = plain(other)
        if isinstance(other, Expression):
            return other.settled()
        if isinstance(other, np.ndarray):
            raise ArgumentError(
                "A program's body uses a NumPy array.",
                hint="Declare it as a field of the program and pass it when calling.",
            )
        return Expression(self.space, node(other, "Operands in a program"))

    def _sum(self, left: object, right: object, sign: float) -> Expression:
        first, second = self._lift(left), self._lift(right)
        first._same_space(second)
        more = _summands(second)
        return Expression(
            self.space, ir.Sum((*_summands(first), *(more if sign > 0 else _negated(more))))
        )

    def _same_space(self, other: Expression) -> None:
        if self.space != other.space:
            raise SpaceError(
                f"Expressions on {self.space!r} and {other.space!r} are combined.",
                hint="Pointwise arithmetic needs one space; a matrix leads from one to another.",
            )


class Mask(Expression):
    """A comparison at a generic row: a condition of `where`; elsewhere one or zero."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise _runtime_condition("compares fields")

    def settled(self) -> Expression:
        """Return one where the comparison holds and zero elsewhere."""
        current_recording().own(self)
        return Expression(self.space, ir.Op("where", (self.value, ir.ONE, ir.ZERO)))

    def _become(self, name: str) -> None:
        """Replace the comparison by a field with the value one where it holds."""
        self.value = ir.Op("ne", (ir.Load(name, self.space.indices()), ir.ZERO))


def _runtime_condition(what: str) -> RuntimeConditionError:
    return RuntimeConditionError(
        f"A Python condition {what}.",
        note="A program's body runs when it is declared, without data.",
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
    """A field of a program: ``x[:] = expression`` assigns it.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> cells = ssr.Space(ssr.size("n"))
    >>> @ssr.program(u=cells)
    ... def step(u):
    ...     u[:] = 0.5 * u + ssr.sqrt(u)
    >>> u = np.array([1.0, 4.0])
    >>> step(u)
    >>> u
    array([1.5, 4. ])
    """

    __slots__ = ("name",)

    def __init__(self, name: str, space: Space, owner: Recording) -> None:
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
        recorder = current_recording()
        if self.name in recorder.captured:
            raise ArgumentError(f"Field {self.name!r} is data of a matrix and cannot be assigned.")
        rows = self if part is None else Expression(part, self.value)
        expression = value if isinstance(value, Expression) else rows._lift(value)
        recorder.assign(self.name, recorder.space(self.name), expression, part or self.space)


def check_part(part: Space, whole: Space, what: str) -> None:
    """Check that all points of a space are points of another one."""
    if part.ndim != whole.ndim:
        raise SpaceError(
            f"{part!r} is not a part of the {what}.",
            note=f"A point has {part.ndim} indices in the one, {whole.ndim} in the other.",
        )
    if part.data.staggered != whole.data.staggered:
        raise SpaceError(
            f"{part!r} is not a part of the {what}.",
            note=f"The one has points at {part.location}, the other at {whole.location}.",
        )
    outside = row_domain(part, (whole,)) - row_domain(whole)
    if not outside.empty:
        raise SpaceError(
            f"{part!r} is not a part of the {what}.",
            note=f"Its points lie in {whole!r}; outside lie {outside.simplified().notation()}.",
            hint="A part has the indices of the whole: with g = cells.grow(1), cells is part of g.",
        )


def check_side(name: str, side: Expression, rows: Space) -> None:
    """Check that the right side of a solve is on the rows of its matrix."""
    if side.space != rows:
        raise SpaceError(f"{name}.solve(an expression on {side.space!r}): the rows are {rows!r}.")


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
