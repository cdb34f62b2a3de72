"""Elementary functions of numbers, of run-time values in generators, and of fields in programs.

On numbers they are the NumPy functions; on symbols they become operations of the kernel. NumPy's
own functions, applied to symbols, have the same results.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from ..elementary import FUNCTIONS, Function
from ..points.condition import Condition
from ..points.numbers import plain
from .values import apply


def where(condition: Any, a: Any, b: Any) -> Any:
    """Return ``a`` where a run-time condition holds and ``b`` elsewhere; both are computed.

    Conditions are combined by ``&``, ``|`` and ``~``. A number is a condition too, which holds
    where it is not zero.

    Parameters
    ----------
    condition
        A comparison, or a combination of comparisons.
    a, b
        The two alternatives: numbers, arrays, run-time values of a generator, or fields and
        expressions of a program.

    Raises
    ------
    SpaceError
        If expressions of a program are on different spaces.

    Examples
    --------
    >>> float(where(2 > 1, 5.0, 7.0))
    5.0
    """
    if isinstance(plain(condition), (bool, Condition)):
        return a if condition else b
    return apply("where", condition, a, b)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two values; NaN if one is.

    Parameters
    ----------
    a, b
        Numbers, arrays, run-time values of a generator, or fields and expressions of a program.

    Raises
    ------
    DtypeError
        If an operand is not a number, an array or a symbol.
    SpaceError
        If expressions of a program are on different spaces.

    Examples
    --------
    >>> float(minimum(1.0, 2.0))
    1.0
    """
    return apply("min", a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two values; NaN if one is.

    Parameters
    ----------
    a, b
        Numbers, arrays, run-time values of a generator, or fields and expressions of a program.

    Raises
    ------
    DtypeError
        If an operand is not a number, an array or a symbol.
    SpaceError
        If expressions of a program are on different spaces.

    Examples
    --------
    >>> float(maximum(1.0, 2.0))
    2.0
    """
    return apply("max", a, b)


def sign(a: Any) -> Any:
    """Return -1, 0 or 1; NaN of NaN.

    Parameters
    ----------
    a
        A number, an array, a run-time value of a generator,
        or a field or expression of a program.

    Examples
    --------
    >>> float(sign(-3.0))
    -1.0
    """
    return apply("sign", a)


def _documented(function: Function) -> Callable[..., Any]:
    """Return an elementary function of values, with its documentation."""

    def of_values(*values: Any) -> Any:
        return apply(function.name, *values)

    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in function.operands]
    at = [1.5 if function.name == "arccosh" else 0.5 for _ in function.operands]
    of_values.__name__ = of_values.__qualname__ = function.name
    vars(of_values)["__signature__"] = Signature(parameters, return_annotation=Any)
    of_values.__doc__ = f"""{function.summary}

    Parameters
    ----------
    {", ".join(function.operands)}
        Numbers, arrays, run-time values of a generator, or fields and expressions of a program.

    Examples
    --------
    >>> {function.name}({", ".join(map(str, at))}).round(6)
    {function.compute(*at).round(6)!r}
    """
    return of_values


sqrt = _documented(FUNCTIONS["sqrt"])
exp = _documented(FUNCTIONS["exp"])
expm1 = _documented(FUNCTIONS["expm1"])
log = _documented(FUNCTIONS["log"])
log1p = _documented(FUNCTIONS["log1p"])
sin = _documented(FUNCTIONS["sin"])
cos = _documented(FUNCTIONS["cos"])
tan = _documented(FUNCTIONS["tan"])
arcsin = _documented(FUNCTIONS["arcsin"])
arccos = _documented(FUNCTIONS["arccos"])
arctan = _documented(FUNCTIONS["arctan"])
arctan2 = _documented(FUNCTIONS["arctan2"])
sinh = _documented(FUNCTIONS["sinh"])
cosh = _documented(FUNCTIONS["cosh"])
tanh = _documented(FUNCTIONS["tanh"])
arcsinh = _documented(FUNCTIONS["arcsinh"])
arccosh = _documented(FUNCTIONS["arccosh"])
arctanh = _documented(FUNCTIONS["arctanh"])
hypot = _documented(FUNCTIONS["hypot"])
erf = _documented(FUNCTIONS["erf"])
floor = _documented(FUNCTIONS["floor"])
ceil = _documented(FUNCTIONS["ceil"])
