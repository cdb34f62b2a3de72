"""Gauss quadrature over cells, accurate to rounding error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ..errors import NonFiniteError, OutOfRangeError

Span: TypeAlias = "tuple[Any, Any]"
"""The lower and upper limits of integrals along an axis; or the points of an axis, and None."""

ORDERS = 2, 4, 8, 16, 32, 64
"""The numbers of quadrature points that are tried, in this order."""

ROUNDING = 2e-14
"""The relative difference of two rules below which the integral has converged."""


def integrals(function: Callable[..., Any], spans: Sequence[Span], order: int) -> Any:
    """Return the integrals of a function over boxes that are given by open arrays of their ends."""
    total: Any = 0.0
    every = [[(None, 1.0)] if high is None else gauss(order) for _, high in spans]
    for nodes in product(*every):
        at = [
            low if node is None else low + (high - low) * node
            for (low, high), (node, _) in zip(spans, nodes, strict=True)
        ]
        total = total + np.prod([weight for _, weight in nodes]) * function(*at)
    for low, high in spans:
        total = total * (1.0 if high is None else high - low)
    return total


@lru_cache
def gauss(order: int) -> tuple[tuple[float, float], ...]:
    """Return the points and weights of Gauss's rule on the unit interval."""
    points, weights = np.polynomial.legendre.leggauss(order)
    return tuple(zip((0.5 + 0.5 * points).tolist(), (0.5 * weights).tolist(), strict=True))


def order_for(function: Callable[..., Any], spans: Sequence[Span], what: object) -> int:
    """Return the number of points for integrals of a positive function to rounding."""
    if all(high is None for _, high in spans):
        return ORDERS[0]
    before = integrals(function, spans, ORDERS[0])
    for order in ORDERS[1:]:
        found = integrals(function, spans, order)
        if not np.isfinite(found).all():
            raise NonFiniteError(f"{what} is not finite in all cells.")
        if (abs(found - before) <= ROUNDING * abs(found)).all():
            return order
        before = found
    raise OutOfRangeError(
        f"The integral of {what} over cells needs more than {ORDERS[-1]} points of Gauss.",
        hint="Use smaller cells, and let kinks of the function lie at faces.",
    )
