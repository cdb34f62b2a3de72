"""Explicit multistep methods: Adams-Bashforth, and leapfrog with a time filter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import OutOfRangeError
from ..points.numbers import integer
from ..programs.materialize import materialize
from ..programs.program import Program
from ..solvers import vectors
from .right_side import RightSide, State
from .runge_kutta import step_program
from .stepper import NEARLY, Stepper, alike, copies, number, step_length
from .tableaux import assign

STARTERS = {1: "Euler", 2: "Heun", 3: "SSPRK33"}
"""One-step methods of the same order for the first steps of Adams-Bashforth methods."""


class AdamsBashforth(Stepper):
    """Adams-Bashforth methods: a step needs one new evaluation of the right side.

    The rates of change of the last steps are extrapolated by their polynomial, whose integral is
    the step. Steps may differ in length. The first steps are those of a Runge-Kutta method of the
    same order. The state is kept with the rates of ``order - 1`` earlier steps.

    Parameters
    ----------
    fun, t0, y0, dt, args
        See `Stepper`.
    order
        The order of convergence, 2 or 3; 1 is Euler's method.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit.
    ShapeError, DtypeError, ContiguityError
        If an array does not fit.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points)
    ... def decay(t, u):
    ...     return -u
    >>> for order in 2, 3:
    ...     u = np.ones(1)
    ...     ssr.integrate.AdamsBashforth(decay, 0.0, u, 0.01, order).advance(1.0)
    ...     print(f"{abs(u[0] - np.exp(-1)):.1e}")
    1.5e-05
    1.4e-07

    References
    ----------
    E. Hairer, S. P. Nørsett and G. Wanner, Solving Ordinary Differential Equations I (2nd ed.
    1993), section III.1, equation (1.5); for steps of any length section III.5.
    """

    def __init__(
        self,
        fun: RightSide,
        t0: float,
        y0: Any,
        dt: float,
        order: int = 3,
        args: Sequence[Any] = (),
    ) -> None:
        super().__init__(fun, t0, y0, dt, args)
        if integer(order) not in STARTERS:
            raise OutOfRangeError(
                f"The order of an Adams-Bashforth method is {order!r}.", hint="It is 1, 2 or 3."
            )
        self.order = order = int(order)
        self._lengths = list[float]()  # of earlier steps, the latest first
        self._rates = [alike(self._y) for _ in range(order - 1)]  # at the starts of these steps
        start = step_program(fun, STARTERS[order])
        self._start = start.bind(*self._y, *self._args)
        self._evaluate = [fun.program.bind(*k, *self._y, *self._args) for k in self._rates]
        program = fun._kept(("Adams-Bashforth", order), lambda: _adams_bashforth(fun, order))
        turns = [self._rates[n:] + self._rates[:n] for n in range(max(order - 1, 1))]
        self._runs = [
            program.bind(*self._y, *(f for k in turn for f in k), *self._args) for turn in turns
        ]
        self._turn = 0

    def _step(self, dt: float) -> None:
        known = self.order - 1
        if len(self._lengths) < known:
            self._evaluate[known - 1 - len(self._lengths)](self.t)
            self._start(self.t, dt)
        else:
            self._runs[self._turn](self.t, *weights(dt, self._lengths))
            self._turn = (self._turn - 1) % max(known, 1)
        self._lengths = [dt, *self._lengths][:known]

    def fields(self) -> dict[str, Any]:
        """Return the unknowns and the rates of earlier steps, ``u_rate1`` the last one."""
        turned = self._rates[self._turn :] + self._rates[: self._turn]
        known = len(self._lengths)
        rates = {
            f"{name}_rate{n}": field
            for n, k in enumerate(turned[len(turned) - known :], 1)
            for name, field in zip(self.fun.unknowns, k, strict=True)
        }
        return {**super().fields(), **rates}

    def data(self) -> dict[str, Any]:
        """Return the numbers on which the next steps depend, as values of JSON."""
        return {**super().data(), "lengths": list(self._lengths)}

    def _restore(self, data: Mapping[str, Any]) -> None:
        super()._restore(data)
        self._lengths = [step_length(length) for length in data["lengths"]][: self.order - 1]
        self._turn = 0


def _adams_bashforth(fun: RightSide, order: int) -> Program:
    """Return the program of a step; the rates that are given last, the oldest, become the new."""

    def step(y: State, *rest: Any) -> None:
        older, (args, t, *by) = rest[: order - 1], rest[order - 1 :]
        k = fun._rates(t, y, args)
        k = tuple(map(materialize, k)) if order > 1 else k
        new = y
        for weight, rate in zip(by, (k, *older), strict=True):
            new = tuple(v + weight * r for v, r in zip(new, rate, strict=True))
        assign(y, new)
        if order > 1:
            assign(older[-1], k)

    parts = "{}", *(f"{{}}_rate{n}" for n in range(1, order))
    return fun._program(parts, step, fun.time, *(f"weight{n}" for n in range(order)))


def weights(dt: float, lengths: Sequence[float]) -> list[float]:
    """Return the weights of the rates at the beginnings of this step and of those before it.

    They integrate the polynomial through the rates over the step, times dt.

    >>> [round(12 * w) for w in weights(1.0, [1.0, 1.0])]
    [23, -16, 5]
    """
    points = [0.0]
    for length in lengths:
        points.append(points[-1] - length / dt)
    found = []
    for n, here in enumerate(points):
        product, scale = [1.0], 1.0  # polynomial coefficients in ascending order
        for there in points[:n] + points[n + 1 :]:
            shifted = [0.0, *product]
            product = [a - there * b for a, b in zip(shifted, [*product, 0.0], strict=True)]
            scale *= here - there
        found.append(dt * math.fsum(c / (k + 1) for k, c in enumerate(product)) / scale)
    return found


class Leapfrog(Stepper):
    """The leapfrog method, ``y_n+1 = y_n-1 + 2 dt f(t_n, y_n)``, with a filter in time.

    It does not damp waves, and is unstable for diffusion. Solutions of even and odd steps drift
    apart; the filter of Robert and Asselin draws them together:
    ``d = nu / 2 (y_n-1 - 2 y_n + y_n+1)`` is added to y_n, where y_n-1 is filtered already. That
    damps the solution, and reduces the order from 2 to 1. With ``alpha`` less than 1, as Williams
    proposed, ``alpha d`` is added to y_n and ``(alpha - 1) d`` to y_n+1, which at ``alpha = 1/2``
    keeps the mean, and the damping of waves is of higher order; 0.53 is recommended.

    The first step is one of Heun's method. A step of another length begins again in this way.

    Parameters
    ----------
    fun, t0, y0, dt, args
        See `Stepper`.
    nu
        The strength of the filter, from 0 to 1; 0 for none.
    alpha
        The part of the filter that acts on y_n, from 0.5 to 1.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit.
    ShapeError, DtypeError, ContiguityError
        If an array does not fit.

    Examples
    --------
    An oscillation, with the errors of its amplitude after ten periods:

    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points, v=points)
    ... def circle(t, u, v):
    ...     return v, -u
    >>> for nu, alpha in (0.0, 1.0), (0.2, 1.0), (0.2, 0.53):
    ...     state = np.ones(1), np.zeros(1)
    ...     run = ssr.integrate.Leapfrog(circle, 0.0, state, 2 * np.pi / 60, nu=nu, alpha=alpha)
    ...     run.advance(20 * np.pi)
    ...     print(f"{np.hypot(*run.y)[0] - 1.0:.4f}")
    0.0000
    -0.3065
    -0.0204

    References
    ----------
    R. A. Asselin, Mon. Weather Rev. 100, 1972, equation (2); P. D. Williams, Mon. Weather Rev. 137,
    2009, equations (7) to (10).
    """

    def __init__(
        self,
        fun: RightSide,
        t0: float,
        y0: Any,
        dt: float,
        nu: float = 0.2,
        alpha: float = 0.53,
        args: Sequence[Any] = (),
    ) -> None:
        super().__init__(fun, t0, y0, dt, args)
        self.nu, self.alpha = number("nu", nu), number("alpha", alpha)
        if not 0.0 <= self.nu <= 1.0:
            raise OutOfRangeError(f"nu is {nu!r}, not a number from 0 to 1.")
        if not 0.5 <= self.alpha <= 1.0:
            raise OutOfRangeError(f"alpha is {alpha!r}, not a number from 0.5 to 1.")
        filtered = self.nu > 0.0
        program = fun._kept(("leapfrog", filtered), lambda: _leapfrog(fun, filtered=filtered))
        states = self._y, copies(self._y)
        start = step_program(fun, "Heun")
        self._states = states
        self._starts = [start.bind(*y, *self._args) for y in states]
        self._runs = [program.bind(*old, *y, *self._args) for y, old in (states, states[::-1])]
        self._turn, self._length = 0, 0.0

    def steps(self, dt: float, times: Sequence[float]) -> None:
        """Advance by several steps of one length; see `Stepper.steps`."""
        try:
            super().steps(dt, times)
        finally:
            self._settle()

    def _settle(self) -> None:
        """Exchange the values of both states if the solution is not in the fields given."""
        if not self._turn:
            return
        for given, other in zip(*self._states, strict=True):
            old = vectors.copied(given)
            vectors.assign(given, other)
            vectors.assign(other, old)
        self._turn, self._y = 0, self._states[0]

    def _step(self, dt: float) -> None:
        here, there = self._states[self._turn], self._states[1 - self._turn]
        if not math.isclose(dt, self._length, rel_tol=NEARLY):
            for target, value in zip(there, here, strict=True):
                vectors.assign(target, value)
            self._starts[self._turn](self.t, dt)
            self._length = dt
            return
        filtered = (self.nu, self.alpha) if self.nu else ()
        self._runs[self._turn](self.t, dt, *filtered)
        self._turn = 1 - self._turn
        self._y = there

    def fields(self) -> dict[str, Any]:
        """Return the unknowns and, after the first step, those one step before: ``u_old``."""
        if not self._length:
            return super().fields()
        before = self._states[1 - self._turn]
        old = {f"{n}_old": field for n, field in zip(self.fun.unknowns, before, strict=True)}
        return {**super().fields(), **old}

    def data(self) -> dict[str, Any]:
        """Return the numbers on which the next steps depend, as values of JSON."""
        return {**super().data(), "length": self._length}

    def _restore(self, data: Mapping[str, Any]) -> None:
        super()._restore(data)
        self._length = number("length", data["length"])
        self._turn, self._y = 0, self._states[0]


def _leapfrog(fun: RightSide, *, filtered: bool) -> Program:
    """Return the program of a step, which assigns the new values to the old ones."""

    def step(old: State, y: State, args: State, t: Any, dt: Any, *strength: Any) -> None:
        k = fun._rates(t, y, args)
        new = tuple(a + (2.0 * dt) * r for a, r in zip(old, k, strict=True))
        if not filtered:
            assign(old, new)
            return
        nu, alpha = strength
        new = tuple(map(materialize, new))
        d = tuple((0.5 * nu) * (a - 2.0 * b + c) for a, b, c in zip(old, y, new, strict=True))
        assign(old, tuple(c + (alpha - 1.0) * e for c, e in zip(new, d, strict=True)))
        assign(y, tuple(b + alpha * e for b, e in zip(y, d, strict=True)))

    scalars = fun.time, "dt", *(("nu", "alpha") if filtered else ())
    return fun._program(("{}_old", "{}"), step, *scalars)
