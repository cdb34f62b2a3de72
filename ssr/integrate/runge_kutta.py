"""Explicit Runge-Kutta methods with fixed step size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError
from ..programs.program import Program, made_program
from ..programs.signature import Kind
from ..spaces.distributed import is_distributed
from ..trace.trace import scalar
from .methods import explicit
from .right_side import RightSide, check_right_side
from .stepper import Stepper, alike
from .tableaux import ButcherTableau, LowStorage, Method, ShuOsher


def step_program(
    fun: RightSide, method: str | ButcherTableau | ShuOsher | LowStorage = "RK4"
) -> Program:
    """Return one step of an explicit Runge-Kutta method as a program.

    Its parameters are those of the right side, the time last, and the length dt of the step: a
    right side ``f(t, u, k)`` gives the program ``step(u, k, t, dt)``, which assigns u. It is a
    program like others: the stages are fused, it may be bound, called by other programs and by
    compiled code, and it runs on ranks. A method in `LowStorage` form takes a field for the change
    of each unknown after the arguments, ``step(u, k, u_change, t, dt)``, and needs no other memory
    of the size of a field.

    Parameters
    ----------
    fun
        The right side, made by `rhs`.
    method
        A name, see `explicit`, or a tableau.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If the right side was not made by `rhs`, a parameter is called dt, or there is no such
        method.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points)
    ... def decay(t, u):
    ...     return -u
    >>> step = ssr.integrate.step_program(decay, "RK4")
    >>> step
    <Program decay(u: Space(n), t: ssr.scalar, dt: ssr.scalar), 1 step>
    >>> u = np.ones(3)
    >>> advance = step.bind(u)
    >>> for n in range(10):
    ...     advance(0.1 * n, 0.1)
    >>> u.round(5), round(float(np.exp(-1.0)), 5)
    (array([0.36788, 0.36788, 0.36788]), 0.36788)
    """
    check_right_side(fun)
    chosen = explicit(method)
    return fun._kept(("step", chosen), lambda: _stepping(fun, chosen))


def _stepping(fun: RightSide, method: Method) -> Program:
    """Return the program of a step."""
    if "dt" in (fun.time, *fun.kinds):
        raise ArgumentError(
            f"A parameter of {fun.name} is called dt.", hint="dt is the length of a step."
        )
    count, last = len(fun.unknowns), len(fun.kinds)
    kinds: dict[str, Kind] = dict(fun.kinds)
    if method.has_work:
        kinds |= {fun._fresh(f"{name}_change"): fun.kinds[name] for name in fun.unknowns}

    def step(*values: Any) -> None:
        y, args, work, (t, dt) = (
            values[:count], values[count:last], values[last:-2], values[-2:],
        )  # fmt: skip
        method._advance(lambda t, y: fun._rates(t, y, args), t, dt, y, work)

    return made_program(fun.name, step, {**kinds, fun.time: scalar, "dt": scalar})


class RungeKutta(Stepper):
    """An explicit Runge-Kutta method with steps of a given length.

    Parameters
    ----------
    fun, t0, y0, dt, args
        See `Stepper`.
    method
        A name, see `explicit`, or a tableau.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit, or there is no such method.
    ShapeError, DtypeError, ContiguityError
        If an array does not fit.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points, v=points)
    ... def circle(t, u, v):
    ...     return v, -u
    >>> u, v = np.ones(1), np.zeros(1)
    >>> orbit = ssr.integrate.RungeKutta(circle, 0.0, (u, v), dt=0.01, method="RK4")
    >>> orbit.advance(2 * np.pi)
    >>> u.round(6), v.round(6)
    (array([1.]), array([0.]))
    """

    def __init__(
        self,
        fun: RightSide,
        t0: float,
        y0: Any,
        dt: float,
        method: str | ButcherTableau | ShuOsher | LowStorage = "RK4",
        args: Sequence[Any] = (),
    ) -> None:
        super().__init__(fun, t0, y0, dt, args)
        self.method = explicit(method)
        work = alike(self._y) if self.method.has_work else ()
        self._is_distributed = is_distributed(self._y[0])
        self._run = step_program(fun, method).bind(*self._y, *self._args, *work)

    def _step(self, dt: float) -> None:
        self._run(self.t, dt)

    def steps(self, dt: float, times: Sequence[float]) -> None:
        """Advance by several steps of one length; on ranks they are one call of compiled code.

        Parameters
        ----------
        dt
            Their length.
        times
            The time at the end of each step.
        """
        starts = (self.t, *times[:-1])
        if self._is_distributed and len(times) > 1:
            self._run.repeat([(t, dt) for t in starts])
        else:
            for start in starts:
                self._run(start, dt)
        self.t = times[-1]
