"""Implicit Runge-Kutta methods by name, and implicit-explicit (IMEX) pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ...errors import ArgumentError, OutOfRangeError
from ..stepper import number
from ..tableaux import ButcherTableau, order_of

_ALEXANDER = 1.0 - math.sqrt(0.5)
_THIRD = 0.43586652150845899942  # a root of 6 g^3 - 18 g^2 + 9 g - 1

IMPLICIT: Mapping[str, ButcherTableau] = MappingProxyType(
    {
        "BackwardEuler": ButcherTableau([[1]], [1]),
        "CrankNicolson": ButcherTableau([[0], [1 / 2, 1 / 2]], [1 / 2, 1 / 2]),
        "SDIRK2": ButcherTableau(
            [[_ALEXANDER], [1 - _ALEXANDER, _ALEXANDER]], [1 - _ALEXANDER, _ALEXANDER]
        ),
        "SDIRK3": ButcherTableau(
            [
                [_THIRD],
                [(1 - _THIRD) / 2, _THIRD],
                [
                    -(6 * _THIRD**2 - 16 * _THIRD + 1) / 4,
                    (6 * _THIRD**2 - 20 * _THIRD + 5) / 4,
                    _THIRD,
                ],
            ],
            [
                -(6 * _THIRD**2 - 16 * _THIRD + 1) / 4,
                (6 * _THIRD**2 - 20 * _THIRD + 5) / 4,
                _THIRD,
            ],
        ),
        "SDIRK4": ButcherTableau(
            [
                [1 / 4],
                [1 / 2, 1 / 4],
                [17 / 50, -1 / 25, 1 / 4],
                [371 / 1360, -137 / 2720, 15 / 544, 1 / 4],
                [25 / 24, -49 / 48, 125 / 16, -85 / 12, 1 / 4],
            ],
            [25 / 24, -49 / 48, 125 / 16, -85 / 12, 1 / 4],
        ),
    }
)
"""Diagonally implicit Runge-Kutta methods by name."""


def check_diagonal(tableau: Any) -> None:
    """Check that the stages of a method follow one after the other."""
    if not isinstance(tableau, ButcherTableau):
        raise ArgumentError(f"The method is {tableau!r}, not a ButcherTableau.")
    if any(any(row[i + 1 :]) for i, row in enumerate(tableau.A)):
        raise ArgumentError(
            "The tableau has weights above its diagonal: stages are solved jointly."
        )


@dataclass(frozen=True)
class ImexTableau:
    """A Runge-Kutta method for a sum of two right sides, one of which is taken implicitly.

    Parameters
    ----------
    explicit, implicit
        The tableaux of both parts, with the same number of stages.

    Raises
    ------
    ArgumentError
        If they differ in the number of stages, or one is not explicit, or the other has weights
        above its diagonal.

    Examples
    --------
    Euler's method, forward for one part and backward for the other:

    >>> import ssr
    >>> it = ssr.integrate
    >>> euler = it.ImexTableau(
    ...     it.ButcherTableau([[], [1]], [1, 0]), it.ButcherTableau([[], [0, 1]], [0, 1])
    ... )
    >>> euler.order
    1
    """

    explicit: ButcherTableau
    implicit: ButcherTableau

    def __post_init__(self) -> None:
        check_diagonal(self.explicit)
        check_diagonal(self.implicit)
        if not self.explicit.is_explicit:
            raise ArgumentError("The tableau of the explicit part is not explicit.")
        if len(self.explicit.b) != len(self.implicit.b):
            raise ArgumentError("The tableaux of both parts have different numbers of stages.")

    @property
    def order(self) -> int:
        """The order of convergence, from the order conditions of both parts and their coupling."""
        return order_of([(part.A, part.b) for part in (self.explicit, self.implicit)])


_DELTA = 1.0 - 0.5 / _ALEXANDER

IMEX: Mapping[str, ImexTableau] = MappingProxyType(
    {
        "ARS111": ImexTableau(
            ButcherTableau([[], [1]], [1, 0]), ButcherTableau([[], [0, 1]], [0, 1])
        ),
        "ARS222": ImexTableau(
            ButcherTableau([[], [_ALEXANDER], [_DELTA, 1 - _DELTA]], [_DELTA, 1 - _DELTA, 0]),
            ButcherTableau(
                [[], [0, _ALEXANDER], [0, 1 - _ALEXANDER, _ALEXANDER]],
                [0, 1 - _ALEXANDER, _ALEXANDER],
            ),
        ),
        "ARS443": ImexTableau(
            ButcherTableau(
                [
                    [],
                    [1 / 2],
                    [11 / 18, 1 / 18],
                    [5 / 6, -5 / 6, 1 / 2],
                    [1 / 4, 7 / 4, 3 / 4, -7 / 4],
                ],
                [1 / 4, 7 / 4, 3 / 4, -7 / 4, 0],
            ),
            ButcherTableau(
                [
                    [],
                    [0, 1 / 2],
                    [0, 1 / 6, 1 / 2],
                    [0, -1 / 2, 1 / 2, 1 / 2],
                    [0, 3 / 2, -3 / 2, 1 / 2, 1 / 2],
                ],
                [0, 3 / 2, -3 / 2, 1 / 2, 1 / 2],
            ),
        ),
    }
)
"""Implicit-explicit methods by name."""


def theta_method(theta: float) -> ButcherTableau:
    """Return the method ``y_n+1 = y_n + dt ((1 - theta) f(t_n, y_n) + theta f(t_n+1, y_n+1))``.

    Parameters
    ----------
    theta
        1 for Euler's backward method, 1/2 for that of Crank and Nicolson, 0 for Euler's.

    Raises
    ------
    OutOfRangeError
        If it is not from 0 to 1.

    Examples
    --------
    >>> import ssr
    >>> ssr.integrate.theta_method(0.5).order, ssr.integrate.theta_method(0.6).order
    (2, 1)
    """
    if not 0.0 <= number("theta", theta) <= 1.0:
        raise OutOfRangeError(f"theta is {theta!r}, not a number from 0 to 1.")
    return ButcherTableau([[], [1.0 - theta, theta]], [1.0 - theta, theta])
