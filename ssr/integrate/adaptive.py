"""Explicit Runge-Kutta methods with adaptive step size and error control."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ArgumentError, OutOfRangeError, StepSizeError
from ..programs import reductions
from ..programs.program import Program
from ..solvers import vectors
from ..symbols.functions import maximum
from .methods import explicit
from .right_side import RightSide, State
from .stepper import NEARLY, Stepper, alike, number, positive, step_length
from .tableaux import ButcherTableau, assign, combined, moment, weighted

SAFETY, SHORTEST, LONGEST = 0.9, 0.2, 10.0
"""The safety factor of the step size controller, and bounds of the ratio of consecutive steps."""


class AdaptiveRungeKutta(Stepper):
    """An explicit Runge-Kutta method with error control, as ``RK45`` of `scipy.integrate` is.

    A second result of the embedded weights estimates the error of a step. Its norm is the root mean
    square of the errors divided by ``atol + rtol * abs(y)``, over all values of all unknowns; a
    step is repeated with a shorter one if it is above 1. The norm does not depend on the order of
    the points, so the steps are the same on any number of ranks and threads.

    The first stage of a step is the last one of the step before. Four fields are kept for each
    unknown: `y` and the rate of change, at both ends of a step.

    Parameters
    ----------
    fun, t0, y0, args
        See `Stepper`.
    dt
        The length of the first step; negative to go back in time. By default it is estimated.
    method
        ``"RK45"`` (Dormand and Prince), ``"RK23"`` (Bogacki and Shampine), or a `ButcherTableau`
        with embedded weights.
    rtol, atol
        The relative and the absolute tolerance; ``atol`` may have one number for each unknown.
    max_step
        The longest step.

    Attributes
    ----------
    dt
        The length of the next step, unless it is shortened to reach a given time.
    accepted, rejected
        How many steps have been made, and how many were repeated.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit, or a method has no embedded weights.
    ShapeError, DtypeError, ContiguityError
        If an array does not fit.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points, v=points)
    ... def circle(t, u, v):
    ...     return v, -u
    >>> state = np.ones(1), np.zeros(1)
    >>> orbit = ssr.integrate.AdaptiveRungeKutta(circle, 0.0, state, rtol=1e-8, atol=1e-10)
    >>> orbit.advance(2 * np.pi)
    >>> bool(np.allclose(orbit.y, [[1.0], [0.0]], atol=1e-6)), orbit.accepted < 100
    (True, True)

    References
    ----------
    J. R. Dormand and P. J. Prince, J. Comput. Appl. Math. 6, 1980, table 2; for the control of
    steps and the first one E. Hairer, S. P. Nørsett and G. Wanner, Solving Ordinary Differential
    Equations I (2nd ed. 1993), section II.4.
    """

    adaptive = True
    """Whether a step may be shorter than the requested length."""

    def __init__(
        self,
        fun: RightSide,
        t0: float,
        y0: Any,
        dt: float | None = None,
        method: str | ButcherTableau = "RK45",
        args: Sequence[Any] = (),
        *,
        rtol: float = 1e-3,
        atol: float | Sequence[float] = 1e-6,
        max_step: float = math.inf,
    ) -> None:
        super().__init__(fun, t0, y0, 1.0 if dt is None else dt, args)
        tableau = explicit(method).butcher
        if not tableau.embedded:
            raise ArgumentError(
                f"The method {method!r} has no embedded weights to estimate errors.",
                hint='"RK45" and "RK23" have.',
            )
        self.method = tableau
        self.rtol, self.atol = tolerances(fun, rtol, atol)
        self.max_step = positive("max_step", max_step)
        self.accepted = self.rejected = 0
        self._size = sum(y.size for y in self._y)
        self._power = -1.0 / tableau.order
        states, rates = (self._y, alike(self._y)), (alike(self._y), alike(self._y))
        self._states, self._rates, self._turn = states, rates, 0
        program = fun._kept(("adaptive", tableau), lambda: _adaptive(fun, tableau))
        self._runs = [
            program.bind(*states[1 - n], *rates[1 - n], *states[n], *rates[n], *self._args)
            for n in (0, 1)
        ]
        self._evaluate = [
            fun.program.bind(*k, *y, *self._args) for k, y in zip(rates, states, strict=True)
        ]
        self._ready = False
        self._estimated = dt is None

    def step(self, dt: float | None = None) -> None:
        """Advance by one step, as far as the tolerance allows.

        Parameters
        ----------
        dt
            The longest step; by default there is no other bound than `max_step`.

        Raises
        ------
        OutOfRangeError
            If it is 0 or not finite.
        StepSizeError
            If the step becomes too short for the time to change.
        """
        self._begin()
        usual, longest = self.dt, math.inf if dt is None else abs(step_length(dt))
        if abs(usual) <= longest:
            self._made(usual)
        elif abs(self._made(math.copysign(longest, usual))) == longest:
            self.dt = math.copysign(max(abs(usual), abs(self.dt)), usual)
        self._settle()

    def steps(self, dt: float, times: Sequence[float]) -> None:
        """Advance to several times, one after the other.

        Parameters
        ----------
        dt
            Ignored: the tolerance determines the steps.
        times
            The times, which steps meet exactly.
        """
        for time in times:
            self.advance(time)

    def fields(self) -> dict[str, Any]:
        """Return the unknowns and, after the first step, their rates of change: ``u_rate``."""
        if not self._ready:
            return super().fields()
        now = self._rates[self._turn]
        rates = {f"{n}_rate": field for n, field in zip(self.fun.unknowns, now, strict=True)}
        return {**super().fields(), **rates}

    def data(self) -> dict[str, Any]:
        """Return the numbers on which the next steps depend, as values of JSON."""
        counted = {"accepted": self.accepted, "rejected": self.rejected}
        return {**super().data(), **counted, "ready": self._ready, "estimated": self._estimated}

    def _restore(self, data: Mapping[str, Any]) -> None:
        super()._restore(data)
        self.accepted, self.rejected = int(data["accepted"]), int(data["rejected"])
        self._ready, self._estimated = bool(data["ready"]), bool(data["estimated"])
        self._turn, self._y = 0, self._states[0]

    def advance(self, t: float) -> None:
        """Advance to a time, which the last step meets exactly.

        Parameters
        ----------
        t
            The time to stop at.

        Raises
        ------
        OutOfRangeError
            If it lies before the present time, or after it for negative dt.
        StepSizeError
            If a step becomes too short for the time to change.
        """
        end = number("t", t)
        if self._estimated and end < self.t:
            self.dt = -abs(self.dt)
        if (end - self.t) * self.dt < 0.0:
            raise OutOfRangeError(
                f"The time {end} lies before t = {self.t}.", hint="Give dt another sign to go back."
            )
        try:
            while self.t != end:
                self._begin()
                rest, usual = end - self.t, self.dt
                if abs(rest) > abs(usual) * (1.0 + NEARLY):
                    self._made(usual)
                elif self._made(rest) == rest:
                    self.t, self.dt = end, math.copysign(max(abs(usual), abs(self.dt)), usual)
        finally:
            self._settle()

    def _settle(self) -> None:
        """Copy the solution and its rates to the given fields, if they are in the other fields."""
        if not self._turn:
            return
        here, there = ((*self._states[n], *self._rates[n]) for n in (0, 1))
        for given, other in zip(here, there, strict=True):
            vectors.assign(given, other)
        self._turn, self._y = 0, self._states[0]

    def _step(self, dt: float) -> None:
        self._begin()
        self._made(dt)

    def _made(self, dt: float) -> float:
        """Make a step that is at most of some length, and return its length."""
        dt = math.copysign(min(abs(dt), self.max_step), dt)
        repeated = False
        while True:
            if self.t + dt == self.t:
                raise StepSizeError(
                    f"The step of {self.fun.name} becomes too short at t = {self.t}: {dt:.1e}.",
                    hint="The solution may end here, or the tolerances be too small.",
                )
            total = self._runs[self._turn](self.t, dt, self.rtol, *self.atol)
            error = math.sqrt(total / self._size) if total >= 0.0 else math.inf
            factor = SAFETY * error**self._power if error > 0.0 else LONGEST
            if error <= 1.0:
                break
            self.rejected += 1
            repeated = True
            dt *= max(SHORTEST, factor) if math.isfinite(error) else SHORTEST
        self.accepted += 1
        self.t += dt
        factor = min(max(factor, SHORTEST), 1.0 if repeated else LONGEST)
        self.dt = math.copysign(min(abs(dt) * factor, self.max_step), dt)
        self._turn = 1 - self._turn
        self._y = self._states[self._turn]
        return dt

    def _begin(self) -> None:
        """Compute the first rates of change and, if it was not given, the length of a step."""
        if self._ready:
            return
        self._evaluate[self._turn](self.t)
        self._ready = True
        if self._estimated:
            self.dt = math.copysign(self._first(math.copysign(1.0, self.dt)), self.dt)

    def _first(self, sign: float) -> float:
        """Return an estimate of the length of the first step."""
        count = len(self._y)
        program = self.fun._kept("first step", lambda: _first_step(self.fun))
        y, k = self._states[self._turn], self._rates[self._turn]
        run = program.bind(*y, *k, *self._args)

        def norms(h: float) -> list[float]:
            found = run(self.t, sign * h, self.rtol, *self.atol)
            sums = [math.fsum(found[n * count : (n + 1) * count]) for n in range(3)]
            return [math.sqrt(total / self._size) for total in sums]

        value, rate, _ = norms(0.0)
        h = 1e-6 if min(value, rate) < 1e-5 else 0.01 * value / rate
        h = min(h, self.max_step)
        bend = norms(h)[2] / h
        steep = max(rate, bend)
        longer = max(1e-6, 1e-3 * h) if steep <= 1e-15 else (0.01 / steep) ** -self._power
        return min(100.0 * h, longer, self.max_step)


def tolerances(fun: RightSide, rtol: Any, atol: Any) -> tuple[float, tuple[float, ...]]:
    """Return the relative tolerance, and the absolute one of each unknown."""
    given = tuple(atol) if isinstance(atol, (tuple, list)) else (atol,) * len(fun.unknowns)
    if len(given) != len(fun.unknowns):
        raise ArgumentError(f"atol has {len(given)} numbers for {len(fun.unknowns)} unknowns.")
    relative, absolute = number("rtol", rtol), tuple(number("atol", a) for a in given)
    if relative < 0.0 or min(absolute) < 0.0 or relative + min(absolute) == 0.0:
        raise OutOfRangeError(
            f"rtol is {rtol!r} and atol is {atol!r}.",
            hint="Tolerances are 0 or more, and not both are 0.",
        )
    return relative, absolute


def _scaled(values: Any, size: Any, rtol: Any, atol: Any) -> Any:
    """Return the sum of squares of values over ``atol + rtol * size``."""
    ratio = values / (atol + rtol * size)
    return reductions.sum(ratio * ratio)


def _added(sums: Sequence[Any]) -> Any:
    total = sums[0]
    for more in sums[1:]:
        total = total + more
    return total


def _scalars(fun: RightSide) -> tuple[str, ...]:
    """Return the names of the scalars of a step: time, length and tolerances."""
    return fun.time, "dt", "rtol", *(f"atol_{name}" for name in fun.unknowns)


def _adaptive(fun: RightSide, tableau: ButcherTableau) -> Program:
    """Return the program of a step, which returns the sum of the squares of the scaled errors."""
    full = len(tableau.embedded) > len(tableau.b)
    weights = [*tableau.b, 0.0] if full else tableau.b
    errors = [a - b for a, b in zip(weights, tableau.embedded, strict=True)]

    def step(
        new: State, rate: State, y: State, k1: State, args: State, t: Any, dt: Any, *limits: Any
    ) -> Any:
        rtol, *atol = limits
        k = [k1]
        for c, row in zip(tableau.c[1:], tableau.A[1:], strict=True):
            k.append(fun._rates(moment(t, c, dt), combined(y, dt, row, k), args))
        assign(new, combined(y, dt, tableau.b, k))
        assign(rate, fun._rates(t + dt, new, args))
        k.append(rate)
        found = tuple(dt * e for e in weighted(errors, k))
        rows = zip(found, y, new, atol, strict=True)
        return _added([_scaled(e, maximum(abs(a), abs(b)), rtol, tol) for e, a, b, tol in rows])

    return fun._program(("{}_new", "{}_rate_new", "{}", "{}_rate"), step, *_scalars(fun))


def _first_step(fun: RightSide) -> Program:
    """Return the program of norms for the first step: of y, its rate, and the rate's change."""

    def norms(y: State, k: State, args: State, t: Any, dt: Any, rtol: Any, *atol: Any) -> Any:
        moved = fun._rates(t + dt, combined(y, dt, (1.0,), [k]), args)
        change = tuple(a - b for a, b in zip(moved, k, strict=True))
        return tuple(
            _scaled(part, abs(value), rtol, tol)
            for parts in (y, k, change)
            for part, value, tol in zip(parts, y, atol, strict=True)
        )

    return fun._program(("{}", "{}_rate"), norms, *_scalars(fun))
