"""Explicit Runge-Kutta methods by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..errors import ArgumentError, OutOfRangeError
from .tableaux import ButcherTableau, LowStorage, Method, ShuOsher

EXPLICIT: Mapping[str, Method] = MappingProxyType(
    {
        "Euler": ButcherTableau([[]], [1]),
        "Heun": ButcherTableau([[], [1]], [1 / 2, 1 / 2], embedded=[1, 0]),
        "RK23": ButcherTableau(
            [[], [1 / 2], [0, 3 / 4]],
            [2 / 9, 1 / 3, 4 / 9],
            embedded=[7 / 24, 1 / 4, 1 / 3, 1 / 8],
        ),
        "SSPRK33": ShuOsher(
            [[1], [3 / 4, 1 / 4], [1 / 3, 0, 2 / 3]], [[1], [0, 1 / 4], [0, 0, 2 / 3]]
        ),
        "SSPRK54": ShuOsher(
            [
                [1],
                [0.444370493651235, 0.555629506348765],
                [0.620101851488403, 0, 0.379898148511597],
                [0.178079954393132, 0, 0, 0.821920045606868],
                [0, 0, 0.517231671970585, 0.096059710526147, 0.386708617503269],
            ],
            [
                [0.391752226571890],
                [0, 0.368410593050371],
                [0, 0, 0.251891774271694],
                [0, 0, 0, 0.544974750228521],
                [0, 0, 0, 0.063692468666290, 0.226007483236906],
            ],
        ),
        "RK4": ButcherTableau([[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
        "CK54": LowStorage(
            [
                0,
                -567301805773 / 1357537059087,
                -2404267990393 / 2016746695238,
                -3550918686646 / 2091501179385,
                -1275806237668 / 842570457699,
            ],
            [
                1432997174477 / 9575080441755,
                5161836677717 / 13612068292357,
                1720146321549 / 2090206949498,
                3134564353537 / 4481467310338,
                2277821191437 / 14882151754819,
            ],
        ),
        "RK45": ButcherTableau(
            [
                [],
                [1 / 5],
                [3 / 40, 9 / 40],
                [44 / 45, -56 / 15, 32 / 9],
                [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
                [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
            ],
            [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
            embedded=[
                5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40,
            ],
        ),
    }
)  # fmt: skip
"""The methods by name; names contain the order or the authors."""


def explicit(method: Any) -> Method:
    """Return the explicit Runge-Kutta method with a name; return a given method unchanged.

    | name | stages | order | source |
    | --- | --- | --- | --- |
    | `Euler` | 1 | 1 |  |
    | `Heun` | 2 | 2 | the trapezoidal rule after a step of Euler |
    | `RK23` | 3 | 3 | Bogacki and Shampine, Appl. Math. Lett. 2, 1989; embedded order 2 |
    | `SSPRK33` | 3 | 3 | Shu and Osher, J. Comput. Phys. 77, 1988, equation (2.18) |
    | `RK4` | 4 | 4 | Kutta 1901; Hairer, Nørsett and Wanner I, table II.1.2 |
    | `SSPRK54` | 5 | 4 | Spiteri and Ruuth, SIAM J. Numer. Anal. 40, 2002 |
    | `CK54` | 5 | 4 | Carpenter and Kennedy, NASA TM 109112, 1994; two values an unknown |
    | `RK45` | 6 | 5 | Dormand and Prince, J. Comput. Appl. Math. 6, 1980; embedded order 4 |

    ``SSPRK33`` and ``SSPRK54`` preserve strong stability (total variation, positivity), in steps of
    up to 1 and 1.508 times those of Euler's method.

    Parameters
    ----------
    method
        A name, a `ButcherTableau`, `ShuOsher` or `LowStorage`.

    Raises
    ------
    OutOfRangeError
        If there is no such name.
    ArgumentError
        If it is not a method, or it is implicit.

    Examples
    --------
    >>> import ssr
    >>> ssr.integrate.explicit("SSPRK54").ssp
    1.508180049189...
    """
    chosen: Method = named(
        method, EXPLICIT, "explicit Runge-Kutta", ButcherTableau, ShuOsher, LowStorage
    )
    if not chosen.butcher.is_explicit:
        raise ArgumentError(f"The method {method!r} is implicit.")
    return chosen


def named(method: Any, known: Mapping[str, Any], what: str, *kinds: type) -> Any:
    """Return the method with a name; return a given method of some kinds unchanged."""
    if isinstance(method, str):
        if method not in known:
            raise OutOfRangeError(
                f"There is no {what} method {method!r}.", hint=f"There are {', '.join(known)}."
            )
        return known[method]
    if not isinstance(method, kinds):
        raise ArgumentError(
            f"The method is {method!r}, not a name or {' or '.join(k.__name__ for k in kinds)}.",
            hint=f"There are {', '.join(known)}.",
        )
    return method
