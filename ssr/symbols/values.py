"""Run-time values: matrix data, fields of programs, and arithmetic on them.

A `Value` is known only when a kernel runs. It supports arithmetic, but not the truth test of
a Python `if`; `where` selects between values. NumPy's functions, applied to symbols, become
operations of the kernel.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial, partialmethod
from typing import Any, NoReturn

import numpy as np

from .. import elementary
from ..errors import (
    ArgumentError,
    DtypeError,
    MissingNameError,
    NotAffineError,
    RuntimeConditionError,
    UnsupportedError,
)
from ..points.affine import Affine
from ..points.condition import Condition
from ..points.numbers import integer, plain
from . import nodes
from .operations import FOLD, fold, is_condition, known_early
from .printing import show

FUNCTIONS = "ssr.sqrt, ssr.log, ssr.sin, ssr.maximum, ssr.where and the like"

_POWERS = 8
"""The highest power that is expanded to products."""


class Operand:
    """Operands of run-time arithmetic."""

    __slots__ = ()

    @property
    def node(self) -> nodes.Value:
        """The value in the intermediate representation."""
        raise NotImplementedError


class Symbol:
    """A value that is known at run time: its arithmetic, and the operations that it refuses."""

    __slots__ = ()

    def _binary(self, name: str, left: object, right: object) -> Any:
        """Return an operation with this operand; NotImplemented if the other type is unknown."""
        raise NotImplementedError

    def _unary(self, name: str) -> Any:
        """Return an operation on this number."""
        raise NotImplementedError

    def label(self) -> str:
        """Return the symbol as messages call it."""
        return f"run-time value {self!r}"

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **options: Any) -> Any:
        return ufunc(function, method, args, options)

    def __add__(self, other: object) -> Any:
        return self._binary("add", self, other)

    def __radd__(self, other: object) -> Any:
        return self._binary("add", other, self)

    def __sub__(self, other: object) -> Any:
        return self._binary("sub", self, other)

    def __rsub__(self, other: object) -> Any:
        return self._binary("sub", other, self)

    def __mul__(self, other: object) -> Any:
        return self._binary("mul", self, other)

    def __rmul__(self, other: object) -> Any:
        return self._binary("mul", other, self)

    def __truediv__(self, other: object) -> Any:
        return self._binary("div", self, other)

    def __rtruediv__(self, other: object) -> Any:
        return self._binary("div", other, self)

    def __neg__(self) -> Any:
        return self._unary("neg")

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self._unary("abs")

    def __lt__(self, other: object) -> Any:
        return self._binary("lt", self, other)

    def __le__(self, other: object) -> Any:
        return self._binary("le", self, other)

    def __gt__(self, other: object) -> Any:
        return self._binary("gt", self, other)

    def __ge__(self, other: object) -> Any:
        return self._binary("ge", self, other)

    def __eq__(self, other: object) -> Any:
        return self._binary("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return self._binary("ne", self, other)

    __hash__ = object.__hash__

    def __pow__(self, exponent: object) -> Any:
        return power(self, exponent)

    def __rpow__(self, base: object) -> Any:
        return power(base, self)

    def __and__(self, other: object) -> Any:
        return logical("and", self, other)

    def __or__(self, other: object) -> Any:
        return logical("or", self, other)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Any:
        return logical("not", self)

    def __xor__(self, other: object) -> NoReturn:
        raise UnsupportedError(
            f"The {self.label()} cannot be combined by ^.", hint="Conditions are combined by & | ~."
        )

    __rxor__ = __xor__

    def __floordiv__(self, other: object) -> NoReturn:
        raise UnsupportedError(
            f"The {self.label()} is divided by // or %.", hint="Only + - * / ** and abs."
        )

    __rfloordiv__ = __mod__ = __rmod__ = __floordiv__

    def __getitem__(self, place: object) -> Any:
        raise ArgumentError(f"The {self.label()} has no elements.")

    def __setitem__(self, place: Any, value: Any) -> None:
        raise ArgumentError(
            f"The {self.label()} is assigned to.",
            hint="Fields are assigned; a number is returned by the program.",
        )

    def __format__(self, spec: str) -> str:
        if spec:
            raise RuntimeConditionError(
                f"The {self.label()} is formatted as a number.",
                hint="Its value is known when the program runs: return it, and print it then.",
            )
        return str(self)

    def __float__(self) -> NoReturn:
        raise RuntimeConditionError(
            f"The {self.label()} is used where Python needs a number.",
            hint=f"Use {FUNCTIONS} instead of math.",
        )

    __int__ = __index__ = __complex__ = __trunc__ = __floor__ = __ceil__ = __float__

    def __round__(self, digits: int | None = None) -> NoReturn:
        self.__float__()


class Value(Symbol, Operand):
    """A number known at run time: a scalar, an element of a field, or arithmetic of these.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> line = ssr.Space(ssr.size("n"))
    >>> @ssr.matrix(rows=line, cols=line, w=line)
    ... def A(i, *, w):
    ...     yield i, 1.0 + ssr.sqrt(w[i])
    >>> A.bind(w=np.array([4.0, 9.0])) @ np.ones(2)
    array([3., 4.])
    """

    __slots__ = ("node",)

    node: nodes.Value

    def __init__(self, node: nodes.Value) -> None:
        self.node = node

    def __repr__(self) -> str:
        return show(self.node)

    def _binary(self, name: str, left: object, right: object) -> Any:
        """Return ``name(left, right)``; NotImplemented if an operand defines it itself."""
        if not all(isinstance(plain(a), (Operand, numbers.Number)) for a in (left, right)):
            return NotImplemented
        return operation(name, left, right)

    def _unary(self, name: str) -> Any:
        """Return the operation ``name`` on the value."""
        return operation(name, self)

    def __hash__(self) -> int:
        return hash(self.node)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise MissingNameError(
            f"The {self.label()} has no {name!r}.",
            hint=f"It is one number, which takes part in arithmetic and in {FUNCTIONS}.",
        )

    def __bool__(self) -> bool:
        check_affine(self)
        raise RuntimeConditionError(
            f"A Python condition depends on the run-time value {self}.",
            note="The generator runs once, when the matrix is declared, not for each row.",
            hint="Choose between values with ssr.where(condition, a, b).",
        )


class Row(Symbol):
    """A value at every row of a space: functions are applied row by row."""

    __slots__ = ()

    def _pointwise(self, name: str, *args: object) -> Any:
        """Return an operation on numbers, values and rows, of which this is one."""
        raise NotImplementedError

    def _lift(self, other: object) -> Any:
        """Return a number or value as the same at every row; arrays are refused."""
        raise NotImplementedError

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise RuntimeConditionError(
            f"The {self.label()} is used where NumPy needs an array.",
            hint=f"Values are numbers, one for each row: use {FUNCTIONS}. "
            "Those of other rows are read through a matrix, such as ssr.stencil.",
        )


def node(value: object, what: str = "Matrix entries") -> nodes.Value:
    """Return a number, index or value as an IR node."""
    if isinstance(value, Affine):
        return nodes.Coordinate(value)
    number = plain(value)
    if isinstance(number, Operand):
        return number.node
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        raise DtypeError(
            f"{value!r} is not a real number.",
            hint=f"{what} are numbers, scalars, fields and arithmetic of these.",
        )
    try:
        return nodes.Const(float(number))
    except OverflowError:
        raise DtypeError("A number is too large for a floating point number.") from None


def check_affine(value: object) -> None:
    """Check that a value, which is used as an index or a condition on indices, has no products."""
    if not isinstance(value, Value) or not known_early(value.node):
        return
    for part in nodes.walk(value.node):
        match part:
            case nodes.Op("mul", (nodes.Coordinate(a), nodes.Coordinate(b))):
                raise NotAffineError(
                    f"An index expression multiplies ({a}) by ({b}).",
                    note="Columns and conditions are affine: integer multiples of indices.",
                    hint="Only + - and * // % by integer constants keep an index affine.",
                )


for _function in elementary.FUNCTIONS.values():  # NumPy calls these methods on array elements
    if len(_function.operands) == 1:
        setattr(Value, _function.name, partialmethod(Value._unary, _function.name))


def takes_over(operand: Any) -> bool:
    """Whether an operand of another class defines its products with matrices itself."""
    kind = type(operand)
    opted_out = getattr(kind, "__array_ufunc__", True) is None or hasattr(kind, "__ssr_program__")
    return opted_out and hasattr(kind, "__rmatmul__")


def operation(name: str, *args: object) -> Any:
    """Return an operation on values, computed at once if all are numbers."""
    given = tuple(node(a) for a in args)
    if all(isinstance(g, nodes.Const) for g in given):
        return Value(
            nodes.Const(fold(name, *(g.value for g in given if isinstance(g, nodes.Const))))
        )
    return Value(nodes.Op(name, given))


def apply(name: str, *args: Any) -> Any:
    """Return an operation on symbols, or on numbers."""
    args = tuple(map(plain, args))
    for a in args:
        if isinstance(a, Row):
            return a._pointwise(name, *args)
    symbols = any(isinstance(a, Operand) for a in args)
    arrays = [a for a in args if isinstance(a, np.ndarray)]
    if any(symbols or a.dtype == object for a in arrays):
        return _elementwise(partial(apply, name), args)
    if symbols:
        return operation(name, *args)
    try:
        return FOLD[name](*args)[()]
    except (TypeError, AttributeError):  # for numbers that NumPy treats as objects
        kinds = ", ".join(type(a).__name__ for a in args)
        raise DtypeError(
            f"{name} of {kinds} is not defined.", hint="It takes numbers, arrays and symbols."
        ) from None
    except OverflowError:
        raise DtypeError(f"{name} of an integer that is too large for a float.") from None


def power(base: Any, exponent: Any) -> Any:
    """Return a power: products for small integers, a square root for 0.5."""
    wanted = plain(exponent)
    if isinstance(wanted, float):
        if wanted == 0.5:
            return apply("sqrt", base)
        wanted = int(wanted) if wanted.is_integer() else wanted
    count = None if isinstance(wanted, (Symbol, Operand)) else integer(wanted)
    if count is None or not 1 <= abs(count) <= _POWERS:
        return apply("pow", base, exponent)
    result = base
    for _ in range(abs(count) - 1):
        result = result * base
    return result if count > 0 else 1.0 / result


def logical(name: str, *args: Any) -> Any:
    """Return a combination of conditions, of which one at least is known at run time only."""
    args = tuple(bool(a) if isinstance(a, Condition) else plain(a) for a in args)
    known = [a for a in args if isinstance(a, bool)]
    (symbol, *_) = (a for a in args if isinstance(a, Symbol))
    if known:
        return np.bool_(known[0]) if known[0] is (name == "or") else symbol
    for a in args:
        if not (isinstance(a, Row) or (isinstance(a, Value) and _decidable(a.node))):
            raise UnsupportedError(
                f"The {symbol.label()} is combined with {a!r} as a condition."
                if a is not symbol
                else f"The {symbol.label()} is a number; & | ~ combine conditions.",
                hint="Compare first: (u > 0) & (v > 0).",
            )
    return apply(name, *args)


def _decidable(value: nodes.Value) -> bool:
    return is_condition(value) or value in (nodes.ZERO, nodes.ONE)


def _elementwise(compute: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Return an operation on arrays and symbols, element by element."""

    def array(a: Any) -> Any:
        box = np.empty((), object)
        box[()] = a
        return a if isinstance(a, np.ndarray) else box

    return np.frompyfunc(compute, len(args), 1)(*map(array, args))


_OPERATORS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.true_divide: operator.truediv, np.floor_divide: operator.floordiv,
    np.remainder: operator.mod, np.power: operator.pow, np.negative: operator.neg,
    np.positive: operator.pos, np.absolute: abs, np.less: operator.lt, np.less_equal: operator.le,
    np.greater: operator.gt, np.greater_equal: operator.ge, np.equal: operator.eq,
    np.not_equal: operator.ne, np.square: lambda a: a * a, np.float_power: operator.pow,
    np.logical_and: operator.and_, np.logical_or: operator.or_, np.logical_not: operator.inv,
    np.bitwise_and: operator.and_, np.bitwise_or: operator.or_, np.invert: operator.inv,
    np.sign: partial(apply, "sign"), np.minimum: partial(apply, "min"),
    np.maximum: partial(apply, "max"),
}  # fmt: skip
"""NumPy functions that accept symbols, other than the elementary functions."""


REDUCTIONS = {
    "add.reduce": "The sum over all points is ssr.sum(x).",
    "maximum.reduce": "The largest of all points is ssr.max(x).",
    "minimum.reduce": "The smallest of all points is ssr.min(x).",
}
"""Suggested replacements for NumPy reductions."""


def ufunc(function: Any, method: str, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return the result of a NumPy function of which an argument is a symbol or an index."""
    compute = _OPERATORS.get(function)
    if function.__name__ in elementary.FUNCTIONS:
        compute = partial(apply, function.__name__)
    if compute is None or method != "__call__" or options:
        name = function.__name__ if method == "__call__" else f"{function.__name__}.{method}"
        raise UnsupportedError(
            f"np.{name} of run-time values is not staged.",
            hint=REDUCTIONS.get(name, f"Use {FUNCTIONS}."),
        )
    args = tuple(map(plain, args))
    arrays = [a for a in args if isinstance(a, np.ndarray)]
    for row in args:
        if arrays and isinstance(row, Row):
            row._lift(arrays[0])
    return _elementwise(compute, args) if arrays else compute(*args)


def simplified(entries: Sequence[object]) -> list[object]:
    """Return entries without products with zero and one, and without sums with zero.

    Blocks are computed whole, so most of their zero entries are products with zero.

    >>> x = Value(nodes.Scalar("x"))
    >>> simplified([0.0 + (2 * x) * 0.0, 1.0 + x * 0.0, 0.0 + 1 * x])
    [0.0, 1.0, x]
    """

    def change(value: nodes.Value) -> nodes.Value | None:
        match value:
            case nodes.Op("mul", args) if nodes.ZERO in args:
                return nodes.ZERO
            case nodes.Op("mul", (a, b)) if nodes.ONE in (a, b):
                return b if a == nodes.ONE else a
            case nodes.Op("div", (a, _)) | nodes.Op("neg", (a,)) if a == nodes.ZERO:
                return nodes.ZERO
            case nodes.Op("add", (a, b)) if a == nodes.ZERO:
                return b
            case nodes.Op("add" | "sub", (a, b)) if b == nodes.ZERO:
                return a
            case nodes.Op("sub", (a, b)) if a == nodes.ZERO:
                return nodes.Op("neg", (b,))
        return None

    rewritten = nodes.Rewriting(change)
    return [Value(rewritten(e.node)) if isinstance(e, Value) else e for e in entries]
