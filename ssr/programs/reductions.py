"""Reductions over fields inside a program: sums, dot products, norms, maxima and minima."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from ..symbols.functions import maximum, minimum, sqrt, where
from ..symbols.values import Value
from .expression import Expression
from .recorder import current
from .vectors import Vector


def dot(x: Any, y: Any) -> Value:
    """Return the sum of ``x * y`` over all points, in a program.

    Like all sums here it does not depend on the order in which points are visited, nor on boxes:
    the terms are added exactly, down to about 2^-53 of the largest one. The result is rounded to
    the type of the fields, as those of all reductions are.

    Parameters
    ----------
    x, y
        Fields, expressions or vectors of a program, on one space.

    Raises
    ------
    ArgumentError
        If an operand is not a field or expression.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.program(x=points, y=points)
    ... def product(x, y):
    ...     return ssr.dot(x, y)
    >>> product(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0

    References
    ----------
    J. Demmel and H. D. Nguyen, Parallel reproducible summation, IEEE Trans. Comput. 64, 2015.
    """
    left, right = _field(x, "dot"), _field(y, "dot")
    return _reduce("sum", "dot", left * right)


def norm(x: Any) -> Value:
    """Return the Euclidean norm, the square root of the sum of squares.

    It is right for values of any size: squares that are too large or too small for the type of the
    fields are scaled. Like sums, it does not depend on the order of the points.

    Parameters
    ----------
    x
        A field, an expression or a vector of a program; of a vector, all components count.

    Raises
    ------
    ArgumentError
        If the operand is not a field, an expression or a vector of a program.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(2)
    >>> @ssr.program(x=points)
    ... def found(x):
    ...     return ssr.norm(x)
    >>> found(np.array([3.0, -4.0]))
    5.0
    """
    values = _field(x, "norm")
    if isinstance(values, Vector):
        return _joint([norm(component) for component in values.components])
    return _reduce("norm", "norm", values)


def usual_norm(x: Any) -> Value:
    """Return the square root of ``dot(x, x)``, where no square is too large or too small.

    On ranks it is one sum, whereas a `norm` is three.
    """
    return sqrt(dot(x, x))  # type: ignore[no-any-return]


def _joint(norms: Sequence[Value]) -> Value:
    """Return the norm of a vector from those of its components, which are divided by the largest.

    If the largest is zero, infinite or NaN, it is the result.
    """
    largest = functools.reduce(maximum, norms)
    squares = [(each / largest) * (each / largest) for each in norms]
    found = largest * sqrt(functools.reduce(operator.add, squares))
    return where((largest > 0.0) & (largest < math.inf), found, largest)  # type: ignore[no-any-return]


def sum(x: Any) -> Value:
    """Return the sum of all values, independent of their order.

    Parameters
    ----------
    x
        A field, an expression or a vector of a program; of a vector, all components count.

    Raises
    ------
    ArgumentError
        If the operand is not a field, an expression or a vector of a program.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(2)
    >>> @ssr.program(x=points)
    ... def found(x):
    ...     return ssr.sum(x)
    >>> found(np.array([3.0, -4.0]))
    -1.0
    """
    return _reduce("sum", "sum", _field(x, "sum"))


def max(x: Any) -> Value:
    """Return the largest value, NaN if one is NaN.

    Parameters
    ----------
    x
        A field, an expression or a vector of a program; of a vector, all components count.

    Raises
    ------
    ArgumentError
        If the operand is not a field, an expression or a vector of a program.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(2)
    >>> @ssr.program(x=points)
    ... def found(x):
    ...     return ssr.max(x)
    >>> found(np.array([3.0, -4.0]))
    3.0
    """
    return _reduce("max", "max", _field(x, "max"))


def min(x: Any) -> Value:
    """Return the smallest value, NaN if one is NaN.

    Parameters
    ----------
    x
        A field, an expression or a vector of a program; of a vector, all components count.

    Raises
    ------
    ArgumentError
        If the operand is not a field, an expression or a vector of a program.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(2)
    >>> @ssr.program(x=points)
    ... def found(x):
    ...     return ssr.min(x)
    >>> found(np.array([3.0, -4.0]))
    -4.0
    """
    return _reduce("min", "min", _field(x, "min"))


def _field(x: Any, what: str) -> Expression | Vector:
    if isinstance(x, Vector):
        return x
    if isinstance(x, Expression):
        return x.settled()
    raise ArgumentError(
        f"ssr.{what} is given {type(x).__name__}, not a field of a program.",
        hint="Reductions are written in programs; for arrays there is NumPy.",
    )


def _reduce(kind: Any, stem: str, values: Expression | Vector) -> Value:
    if isinstance(values, Vector):
        together = {"sum": operator.add, "max": maximum, "min": minimum}[kind]
        values = functools.reduce(together, values.components)
    return current().reduce(kind, stem, values)
