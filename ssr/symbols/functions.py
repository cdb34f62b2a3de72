"""Functions of symbols: of run-time values in generators, of fields in programs, and of numbers.

Of numbers they are NumPy's; of symbols they become operations of the kernel. NumPy's own functions,
applied to symbols, give the same.
"""

from __future__ import annotations

from typing import Any

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
        What is chosen from: numbers, arrays, run-time values of a generator, or fields and
        expressions of a program.

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

    Examples
    --------
    >>> float(maximum(1.0, 2.0))
    2.0
    """
    return apply("max", a, b)


def sqrt(a: Any) -> Any:
    """Return the square root; NaN of negative values.

    Parameters
    ----------
    a
        A number, an array, a run-time value of a generator,
        or a field or expression of a program.

    Examples
    --------
    >>> float(sqrt(4.0))
    2.0
    """
    return apply("sqrt", a)


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


def exp(a: Any) -> Any:
    """Return the exponential.

    Parameters
    ----------
    a
        A number, an array, a run-time value of a generator,
        or a field or expression of a program.

    Examples
    --------
    >>> float(exp(0.0))
    1.0
    """
    return apply("exp", a)


def log(a: Any) -> Any:
    """Return the natural logarithm; NaN of negative values, -infinity of 0.

    Parameters
    ----------
    a
        A number, an array, a run-time value of a generator,
        or a field or expression of a program.

    Examples
    --------
    >>> float(log(1.0))
    0.0
    """
    return apply("log", a)


def sin(a: Any) -> Any:
    """Return the sine of an angle in radians.

    Parameters
    ----------
    a
        A number, an array, a run-time value of a generator,
        or a field or expression of a program.

    Examples
    --------
    >>> float(sin(0.0))
    0.0
    """
    return apply("sin", a)


def cos(a: Any) -> Any:
    """Return the cosine of an angle in radians.

    Parameters
    ----------
    a
        A number, an array, a run-time value of a generator,
        or a field or expression of a program.

    Examples
    --------
    >>> float(cos(0.0))
    1.0
    """
    return apply("cos", a)


def tan(a: Any) -> Any:
    """Return the tangent of an angle in radians.

    Parameters
    ----------
    a
        A number, an array, a run-time value of a generator,
        or a field or expression of a program.

    Examples
    --------
    >>> float(tan(0.0))
    0.0
    """
    return apply("tan", a)


def tanh(a: Any) -> Any:
    """Return the hyperbolic tangent.

    Parameters
    ----------
    a
        A number, an array, a run-time value of a generator,
        or a field or expression of a program.

    Examples
    --------
    >>> float(tanh(0.0))
    0.0
    """
    return apply("tanh", a)


def arctan2(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y), from -pi to pi.

    Parameters
    ----------
    y, x
        The coordinates, in this order: numbers, arrays, run-time values, fields or expressions.

    Examples
    --------
    >>> import numpy as np
    >>> float(arctan2(1.0, 0.0)) == np.pi / 2
    True
    """
    return apply("arctan2", y, x)
