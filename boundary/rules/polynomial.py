"""Interpolation polynomials near a side, and the weights of ghost points."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .arguments import vanishes


def ghost_weights(
    points: Sequence[Fraction], ghost: Fraction, condition: tuple[float, float] | None = None
) -> tuple[list[float], float] | None:
    """Return the value at a ghost of the polynomial through values at points.

    With a condition (a, b) the polynomial meets ``a p(0) + b p'(0) = value`` too and is of one
    degree more. The weights of the points are returned, and that of the condition's value; None if
    no polynomial, or more than one, does so, for a and b or for numbers within their rounding.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> ghost_weights([half, 3 * half], -half)                # linear extrapolation
    ([2.0, -1.0], 0.0)
    >>> ghost_weights([half], -half, (1.0, 0.0))              # a value given on the side
    ([-1.0], 2.0)
    """
    if condition is None:
        return [float(lagrange(points, n, ghost)) for n in range(len(points))], 0.0
    # p = sum of v_n l_n + c m, where m = prod (x - x_n) vanishes at all points. The condition
    # a p(0) + b p'(0) = value determines c.
    a, b = Fraction(condition[0]), Fraction(condition[1])
    zero, slope = product(points, Fraction(0)), product_slope(points)
    divisor = a * zero + b * slope
    if vanishes(divisor, a * zero, b * slope):
        return None
    rise = product(points, ghost) / divisor
    weights = [
        lagrange(points, n, ghost)
        - rise * (a * lagrange(points, n, Fraction(0)) + b * lagrange_slope(points, n))
        for n in range(len(points))
    ]
    return [float(w) for w in weights], float(rise)


def lagrange(points: Sequence[Fraction], n: int, x: Fraction) -> Fraction:
    """Return a Lagrange polynomial: one at a point and zero at the others."""
    value = Fraction(1)
    for m, p in enumerate(points):
        if m != n:
            value *= (x - p) / (points[n] - p)
    return value


def lagrange_slope(points: Sequence[Fraction], n: int) -> Fraction:
    """Return the derivative of a Lagrange polynomial at zero."""
    others = [p for m, p in enumerate(points) if m != n]
    scale = Fraction(1)
    for p in others:
        scale *= points[n] - p
    return product_slope(others) / scale


def product(points: Sequence[Fraction], x: Fraction) -> Fraction:
    """Return ``prod (x - p)``."""
    value = Fraction(1)
    for p in points:
        value *= x - p
    return value


def product_slope(points: Sequence[Fraction]) -> Fraction:
    """Return the derivative of ``prod (x - p)`` at zero."""
    total = Fraction(0)
    for n in range(len(points)):
        total += product([p for m, p in enumerate(points) if m != n], Fraction(0))
    return total
