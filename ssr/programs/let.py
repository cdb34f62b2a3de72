"""Values that a program computes once, wherever they are read."""

from __future__ import annotations

from typing import TypeVar

from .. import ir
from ..errors import ArgumentError
from .expression import Expression
from .recorder import current
from .vectors import Vector

Stored = TypeVar("Stored", Expression, Vector)


def let(values: Stored) -> Stored:
    """Return an expression or a vector that is computed once for each point, in a program.

    Operands of products are stored in any case, and so are values that are computed at several
    points or in several steps if they are costly; ``explain("program")`` says which. ``let`` stores
    an expression whatever it costs. Only a few lines of the temporary are kept in memory where
    what reads them lies near by. The values are the same.

    Parameters
    ----------
    values
        An expression or a vector of a program.

    Raises
    ------
    ArgumentError
        If it is neither.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> A = ssr.stencil(points, points, {-1: -1.0, 0: 2.0, 1: -1.0}, outside="drop")
    >>> @ssr.program(y=points, x=points)
    ... def twice(y, x):
    ...     z = ssr.let(ssr.sqrt(x))
    ...     y[:] = A @ z + z
    >>> y = np.zeros(3)
    >>> twice(y, np.array([1.0, 4.0, 9.0]))
    >>> y
    array([1., 2., 7.])
    """
    if isinstance(values, Vector):
        for component in values:
            let(component)
        return values
    if not isinstance(values, Expression):
        raise ArgumentError(
            f"ssr.let stores an expression of a program, not {type(values).__name__}.",
            hint="Numbers are computed once in any case.",
        )
    if not isinstance(values.value, ir.Load):
        current().put(values, values.space)
    return values
