"""Materialize an expression: compute it once for each point, and reuse it in all reads."""

from __future__ import annotations

from typing import TypeVar

from .. import ir
from ..errors import ArgumentError
from .expression import Expression
from .recorder import current
from .vectors import Vector

Stored = TypeVar("Stored", Expression, Vector)


def materialize(values: Stored) -> Stored:
    """Return an expression or a vector that is computed once for each point, in a program.

    Operands of products are stored in any case, and so are values that are computed at several
    points or in several steps if they are costly; ``explain("program")`` says which. This function
    stores an expression whatever it costs. Where the temporary is read at nearby points only, a few
    of its grid lines are kept in memory. The values are the same.

    Parameters
    ----------
    values
        An expression or a vector of a program.

    Raises
    ------
    ArgumentError
        If the argument is neither.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> A = ssr.stencil(points, points, {-1: -1.0, 0: 2.0, 1: -1.0}, outside="zero")
    >>> @ssr.program(y=points, x=points)
    ... def twice(y, x):
    ...     z = ssr.materialize(ssr.sqrt(x))
    ...     y[:] = A @ z + z
    >>> y = np.zeros(3)
    >>> twice(y, np.array([1.0, 4.0, 9.0]))
    >>> y
    array([1., 2., 7.])
    """
    if isinstance(values, Vector):
        for component in values:
            materialize(component)
        return values
    if not isinstance(values, Expression):
        raise ArgumentError(
            f"ssr.materialize stores an expression of a program, not {type(values).__name__}.",
            hint="Numbers are computed once in any case.",
        )
    if not isinstance(values.value, ir.Load):
        current().put(values, values.space)
    return values
