"""Functions of symbols: of run-time values in generators, of fields in programs, and of numbers.

Of numbers they are NumPy's; of symbols they become operations of the kernel. NumPy's own functions,
applied to symbols, give the same.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import ir
from ..errors import UnsupportedError
from ..points.index import Condition, Index, integer, plain
from .values import FOLD, FUNCTIONS, FieldData, Row, Symbol, Value, is_condition, operation

_POWERS = 8
"""The highest power that is written as products."""


def power(base: Any, exponent: Any) -> Any:
    """Return a power: products for small integers, a square root for 0.5."""
    wanted = plain(exponent)
    if isinstance(wanted, float):
        if wanted == 0.5:
            return sqrt(base)
        wanted = int(wanted) if wanted.is_integer() else wanted
    count = None if isinstance(wanted, (Symbol, Index)) else integer(wanted)
    if count is None or not 1 <= abs(count) <= _POWERS:
        return _power(base, exponent)
    result = base
    for _ in range(abs(count) - 1):
        result = result * base
    return result if count > 0 else 1.0 / result


def logical(name: str, *args: Any) -> Any:
    """Return a combination of conditions, of which one at least is known at run time only.

    Raises
    ------
    UnsupportedError
        If one is a number.
    """
    args = tuple(bool(a) if isinstance(a, Condition) else plain(a) for a in args)
    known = [a for a in args if isinstance(a, bool)]
    (symbol, *_) = (a for a in args if isinstance(a, Symbol))
    if known:
        return np.bool_(known[0]) if known[0] is (name == "or") else symbol
    for a in args:
        if not (isinstance(a, Row) or (isinstance(a, Value) and _decidable(a.node))):
            raise UnsupportedError(
                f"The {symbol.told()} is combined with {a!r} as a condition."
                if a is not symbol
                else f"The {symbol.told()} is a number; & | ~ combine conditions.",
                hint="Compare first: (u > 0) & (v > 0).",
            )
    return _apply(name, *args)


def _decidable(value: ir.Value) -> bool:
    return is_condition(value) or value in (ir.ZERO, ir.ONE)


def _apply(name: str, *args: Any) -> Any:
    """Return an operation on symbols, or on numbers."""
    for a in args:
        if isinstance(a, Row):
            return a.pointwise(name, *args)
    symbols = any(isinstance(a, (Value, Index, FieldData)) for a in args)
    arrays = [a for a in args if isinstance(a, np.ndarray)]
    if any(symbols or a.dtype == object for a in arrays):
        return _elementwise(partial(_apply, name), args)
    if symbols:
        return operation(name, *args)
    return FOLD[name](*args)[()]


def _elementwise(compute: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Return an operation on arrays and symbols, element by element."""

    def array(a: Any) -> Any:
        box = np.empty((), object)
        box[()] = a
        return a if isinstance(a, np.ndarray) else box

    return np.frompyfunc(compute, len(args), 1)(*map(array, args))


def _function(name: str) -> Callable[..., Any]:
    return lambda *args: _apply(name, *map(plain, args))


_where, _minimum, _maximum, _power = map(_function, ("where", "min", "max", "pow"))
_sqrt, _exp, _log, _sign = map(_function, ("sqrt", "exp", "log", "sign"))
_sin, _cos, _tan, _tanh, _arctan2 = map(_function, ("sin", "cos", "tan", "tanh", "arctan2"))


def where(condition: Any, a: Any, b: Any) -> Any:
    """Return ``a`` where a run-time condition holds and ``b`` elsewhere; both are computed.

    Conditions are combined by ``&``, ``|`` and ``~``. A number is a condition too, which holds
    where it is not zero.

    Examples
    --------
    >>> float(where(2 > 1, 5.0, 7.0))
    5.0
    """
    if isinstance(plain(condition), (bool, Condition)):
        return a if condition else b
    return _where(condition, a, b)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two values; NaN if one is."""
    return _minimum(a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two values; NaN if one is."""
    return _maximum(a, b)


def sqrt(a: Any) -> Any:
    """Return the square root; NaN of negative values."""
    return _sqrt(a)


def sign(a: Any) -> Any:
    """Return -1, 0 or 1; NaN of NaN.

    >>> float(sign(-3.0))
    -1.0
    """
    return _sign(a)


def exp(a: Any) -> Any:
    """Return the exponential."""
    return _exp(a)


def log(a: Any) -> Any:
    """Return the natural logarithm; NaN of negative values, -infinity of 0."""
    return _log(a)


def sin(a: Any) -> Any:
    """Return the sine of an angle in radians."""
    return _sin(a)


def cos(a: Any) -> Any:
    """Return the cosine of an angle in radians."""
    return _cos(a)


def tan(a: Any) -> Any:
    """Return the tangent of an angle in radians."""
    return _tan(a)


def tanh(a: Any) -> Any:
    """Return the hyperbolic tangent."""
    return _tanh(a)


def arctan2(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y), from -pi to pi.

    >>> float(arctan2(1.0, 0.0)) == np.pi / 2
    True
    """
    return _arctan2(y, x)


_OPERATORS: dict[Any, Callable[..., Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul,
    np.true_divide: operator.truediv, np.floor_divide: operator.floordiv,
    np.remainder: operator.mod, np.power: operator.pow, np.negative: operator.neg,
    np.positive: operator.pos, np.absolute: abs, np.less: operator.lt, np.less_equal: operator.le,
    np.greater: operator.gt, np.greater_equal: operator.ge, np.equal: operator.eq,
    np.not_equal: operator.ne, np.square: lambda a: a * a, np.float_power: operator.pow,
    np.logical_and: operator.and_, np.logical_or: operator.or_, np.logical_not: operator.inv,
    np.bitwise_and: operator.and_, np.bitwise_or: operator.or_, np.invert: operator.inv,
    np.sqrt: sqrt, np.sign: sign, np.exp: exp, np.log: log, np.sin: sin, np.cos: cos, np.tan: tan,
    np.tanh: tanh, np.arctan2: arctan2, np.minimum: minimum, np.maximum: maximum,
}  # fmt: skip
"""What NumPy's functions do with symbols."""


def ufunc(function: Any, method: str, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return what a function of NumPy gives when an argument is a symbol or an index.

    Raises
    ------
    UnsupportedError
        If there is no such operation.
    ArgumentError
        If a row of a program meets an array.
    """
    compute = _OPERATORS.get(function)
    if compute is None or method != "__call__" or options:
        name = function.__name__ if method == "__call__" else f"{function.__name__}.{method}"
        raise UnsupportedError(
            f"np.{name} of run-time values is not staged.", hint=f"Use {FUNCTIONS}."
        )
    args = tuple(map(plain, args))
    arrays = [a for a in args if isinstance(a, np.ndarray)]
    for row in args:
        if arrays and isinstance(row, Row):
            row.lift(arrays[0])
    return _elementwise(compute, args) if arrays else compute(*args)
