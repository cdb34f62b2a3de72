"""Run-time values inside a generator: matrix data and arithmetic on it.

A `Value` is known only when a kernel runs. It can be computed with, but not be the condition of a
Python `if`; `where` chooses between values.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from . import ir
from .affine import Affine
from .errors import DtypeError, OutOfSpaceError, RuntimeConditionError, SpaceError
from .index import Condition, Index, affine
from .sets import Domain
from .space import Space

FOLD: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "min": min,
    "max": max,
}
"""How operations on numbers are computed."""


class Value:
    """A number known at run time: a scalar, an element of a field, or arithmetic of these."""

    __slots__ = ("node",)
    __array_ufunc__ = None

    def __init__(self, node: ir.Value) -> None:
        self.node = node

    def __repr__(self) -> str:
        return show(self.node)

    def __add__(self, other: object) -> Any:
        return _binary("add", self, other)

    def __radd__(self, other: object) -> Any:
        return _binary("add", other, self)

    def __sub__(self, other: object) -> Any:
        return _binary("sub", self, other)

    def __rsub__(self, other: object) -> Any:
        return _binary("sub", other, self)

    def __mul__(self, other: object) -> Any:
        return _binary("mul", self, other)

    def __rmul__(self, other: object) -> Any:
        return _binary("mul", other, self)

    def __truediv__(self, other: object) -> Any:
        return _binary("div", self, other)

    def __rtruediv__(self, other: object) -> Any:
        return _binary("div", other, self)

    def __neg__(self) -> Any:
        return operation("neg", self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Any:
        return operation("abs", self)

    def __lt__(self, other: object) -> Any:
        return _binary("lt", self, other)

    def __le__(self, other: object) -> Any:
        return _binary("le", self, other)

    def __gt__(self, other: object) -> Any:
        return _binary("gt", self, other)

    def __ge__(self, other: object) -> Any:
        return _binary("ge", self, other)

    def __eq__(self, other: object) -> Any:
        return _binary("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return _binary("ne", self, other)

    def __hash__(self) -> int:
        return hash(self.node)

    def __bool__(self) -> bool:
        raise RuntimeConditionError(
            f"A Python condition depends on the run-time value {self}.",
            note="The generator runs once, when the matrix is declared, not for each row.",
            hint="Choose between values with ssr.where(condition, a, b).",
        )

    def __float__(self) -> float:
        raise RuntimeConditionError(
            f"The run-time value {self} is used where Python needs a number.",
            hint="Use ssr.sqrt, ssr.exp, ssr.minimum, ssr.maximum, ssr.where instead of math.",
        )


class FieldData:
    """A field given to a generator: ``u[i, j]`` is its value at a point, relative to the row."""

    __slots__ = ("name", "outside", "space")

    def __init__(
        self, name: str, space: Space, outside: Callable[[Space, tuple[Affine, ...]], Domain]
    ) -> None:
        self.name = name
        self.space = space
        self.outside = outside

    def __getitem__(self, point: object) -> Value:
        index = point if isinstance(point, tuple) else (point,)
        if len(index) != self.space.ndim:
            raise SpaceError(
                f"Field {self.name!r} is read with {len(index)} of {self.space.ndim} indices."
            )
        column = tuple(affine(p) for p in index)
        outside = self.outside(self.space, column)
        if not outside.empty:
            raise OutOfSpaceError(
                f"Field {self.name!r} is read outside its space, "
                f"at ({', '.join(map(str, column))}).",
                note=f"That is outside for {outside.notation()}.",
                hint="Guard the read with `if`, or give the field on space.grow(width).",
            )
        return Value(ir.Load(self.name, column))


def node(value: object) -> ir.Value:
    """Return a number, index or value as an IR node.

    Raises
    ------
    DtypeError
        If it is none of these, or complex.
    """
    if isinstance(value, Value):
        return value.node
    if isinstance(value, Index):
        return ir.Coordinate(value.affine)
    if isinstance(value, Affine):
        return ir.Coordinate(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, np.number)):
        raise DtypeError(
            f"{value!r} is not a real number.",
            hint="Matrix entries are numbers, scalars, fields and arithmetic of these.",
        )
    return ir.Const(float(value))


def _binary(name: str, *args: object) -> Any:
    """Return an operation, or NotImplemented if the other operand knows better."""
    if not all(isinstance(a, (Value, Index, numbers.Real, np.number)) for a in args):
        return NotImplemented
    return operation(name, *args)


def operation(name: str, *args: object) -> Any:
    """Return an operation on values, computed at once if all are numbers."""
    nodes = tuple(node(a) for a in args)
    if name in FOLD and all(isinstance(n, ir.Const) for n in nodes):
        return Value(ir.Const(FOLD[name](*(n.value for n in nodes if isinstance(n, ir.Const)))))
    return Value(ir.Op(name, nodes))


def _function(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*args: Any) -> Any:
        if any(isinstance(a, (Value, Index)) for a in args):
            return operation(name, *args)
        return compute(*args)

    return apply


_where = _function("where", np.where)
_minimum = _function("min", np.minimum)
_maximum = _function("max", np.maximum)
_sqrt = _function("sqrt", np.sqrt)
_exp = _function("exp", np.exp)


def where(condition: Any, a: Any, b: Any) -> Any:
    """Return ``a`` where a run-time condition holds and ``b`` elsewhere; both are computed.

    Examples
    --------
    >>> float(where(2 > 1, 5.0, 7.0))
    5.0
    """
    if isinstance(condition, Condition):
        return a if condition else b
    return _where(condition, a, b)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two values."""
    return _minimum(a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two values."""
    return _maximum(a, b)


def sqrt(a: Any) -> Any:
    """Return the square root."""
    return _sqrt(a)


def exp(a: Any) -> Any:
    """Return the exponential."""
    return _exp(a)


_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip


def show(value: ir.Value) -> str:
    """Return a value as a person writes it."""
    match value:
        case ir.Const(number):
            return repr(number)
        case ir.Scalar(name):
            return name
        case ir.Coordinate(index):
            return f"({index})"
        case ir.Load(array, index, new):
            return f"{array}{'′' if new else ''}[{', '.join(map(str, index))}]"
        case ir.Op("neg", (a,)):
            return f"(-{show(a)})"
        case ir.Op(name, (a, b)) if name in _INFIX:
            return f"({show(a)} {_INFIX[name]} {show(b)})"
        case ir.Op(name, args):
            return f"{name}({', '.join(map(show, args))})"
        case ir.Sum(terms):
            return "sum(" + "; ".join(map(show_term, terms)) + ")"


def show_term(term: ir.Term) -> str:
    """Return one term of a sum with its region."""
    body = show(term.weight)
    if term.operand is not None:
        body += f" * {show(term.operand)}"
    return f"{body} where {term.domain.notation()}"
