"""Initial value problems with the interface of SciPy's ``solve_ivp``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import ArgumentError, OutOfRangeError
from .adaptive import AdaptiveRungeKutta
from .implicit.methods import IMPLICIT
from .implicit.stages import BDF2, ImplicitRungeKutta
from .methods import EXPLICIT
from .multistep import AdamsBashforth, Leapfrog
from .right_side import RightSide, check_right_side
from .runge_kutta import RungeKutta
from .stepper import Stepper, copies, number, state

ADAPTIVE = {name: partial(AdaptiveRungeKutta, method=name) for name in ("RK45", "RK23")}
"""Methods with error control."""

FIXED: dict[str, Callable[..., Stepper]] = {
    **{name: partial(RungeKutta, method=name) for name in EXPLICIT if name not in ADAPTIVE},
    "AB2": partial(AdamsBashforth, order=2),
    "AB3": partial(AdamsBashforth, order=3),
    "leapfrog": Leapfrog,
    **{name: partial(ImplicitRungeKutta, method=name) for name in IMPLICIT},
    "BDF2": BDF2,
}
"""Methods with fixed step size."""


@dataclass(frozen=True)
class OdeResult:
    """The solution of an initial value problem at some times, as `solve_ivp` returns it.

    Attributes
    ----------
    t
        The times.
    y
        The state at each time: an array or field, or a tuple of several, as ``y0`` was.
    stepper
        The integrator, at the last time.
    """

    t: np.ndarray[Any, np.dtype[np.float64]]
    y: list[Any]
    stepper: Stepper


def solve_ivp(
    fun: RightSide,
    t_span: tuple[float, float],
    y0: Any,
    method: str = "RK45",
    t_eval: Sequence[float] | None = None,
    *,
    args: Sequence[Any] = (),
    dt: float | None = None,
    rtol: float = 1e-3,
    atol: float | Sequence[float] = 1e-6,
    max_step: float = math.inf,
) -> OdeResult:
    """Integrate ``y' = f(t, y)`` over a span of time, from ``y(t0) = y0``.

    Names are those of SciPy's function. There are two differences: fields keep their shape, and the
    result holds the states in a list, at the end only unless ``t_eval`` says otherwise. Steps end
    at these times exactly; nothing is interpolated.

    Parameters
    ----------
    fun
        The right side, made by `rhs`.
    t_span
        The first and the last time; the last one may be the earlier one.
    y0
        The state at the first time: an array, a field of several ranks (`boundary.Field`), or a
        tuple of these. It is not changed.
    method
        With error control ``"RK45"`` and ``"RK23"``. With steps of a given length those of
        `explicit`, ``"AB2"``, ``"AB3"`` and ``"leapfrog"``; of implicit ones ``"BDF2"`` and those
        of `ImplicitRungeKutta`, without an approximate inverse.
    t_eval
        The times at which the state is kept; by default the last one.
    args
        The other arguments of the right side, in order.
    dt
        The longest step; steps are shorter where times are not multiples of it. With error control
        the length of the first step, which is estimated by default.
    rtol, atol, max_step
        Tolerances and the longest step of methods with error control, see `AdaptiveRungeKutta`.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit, there is no such method, or ``t_eval`` is not sorted within
        the span.
    ShapeError, DtypeError, ContiguityError
        If an array does not fit.
    StepSizeError
        If a step becomes too short for the time to change.

    Examples
    --------
    Two species of Lotka and Volterra at each point:

    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(prey=points, predators=points, a=ssr.scalar)
    ... def lotka_volterra(t, prey, predators, a):
    ...     return prey - a * prey * predators, a * prey * predators - predators
    >>> y0 = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    >>> found = ssr.integrate.solve_ivp(lotka_volterra, (0.0, 4.0), y0, t_eval=[2, 4], args=(0.5,))
    >>> for t, (prey, predators) in zip(found.t, found.y):
    ...     print(t, prey.round(2), predators.round(2))
    2.0 [3.33 3.29] [0.93 2.67]
    4.0 [1.77 1.05] [4.29 2.46]
    """
    check_right_side(fun)
    begin, end = _span(t_span)
    times = _times(t_eval, begin, end)
    start = copies(state(fun, y0))
    length = None if dt is None else math.copysign(number("dt", dt), end - begin)
    if not isinstance(method, str):
        raise ArgumentError(f"The method is {method!r}, not a name.")
    if method in ADAPTIVE:
        limits: dict[str, Any] = {"rtol": rtol, "atol": atol, "max_step": max_step}
        stepper: Stepper = ADAPTIVE[method](fun, begin, start, length, args=args, **limits)
    elif method in FIXED:
        if length is None:
            raise ArgumentError(f"The method {method} has no error control.", hint="Give dt=....")
        stepper = FIXED[method](fun, begin, start, length, args=args)
    else:
        raise OutOfRangeError(
            f"There is no method {method!r}.", hint=f"There are {', '.join([*ADAPTIVE, *FIXED])}."
        )
    kept = []
    for time in times:
        stepper.advance(time)
        found = copies(state(fun, stepper.y))
        kept.append(found if isinstance(stepper.y, tuple) else found[0])
    return OdeResult(np.array(times), kept, stepper)


def _span(t_span: Any) -> tuple[float, float]:
    """Return the first and the last time."""
    sequence = isinstance(t_span, (tuple, list)) or (
        isinstance(t_span, np.ndarray) and t_span.ndim == 1
    )
    if not sequence or len(t_span) != 2:
        raise ArgumentError(f"t_span is {t_span!r}, not a pair: the first and the last time.")
    first, last = (number("a time of t_span", t) for t in t_span)
    return first, last


def _times(t_eval: Any, begin: float, end: float) -> list[float]:
    """Return the times at which states are kept."""
    if t_eval is None:
        return [end]
    try:
        times = [number("a time of t_eval", t) for t in t_eval]
    except TypeError:
        raise ArgumentError(f"t_eval is {t_eval!r}, not a list of times.") from None
    ordered = sorted(times, reverse=end < begin)
    if times != ordered or any(not min(begin, end) <= t <= max(begin, end) for t in times):
        raise OutOfRangeError(
            f"The times t_eval are not sorted from {begin} to {end}.",
            hint="They lie within t_span, in its direction.",
        )
    return times
