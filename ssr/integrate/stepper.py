"""The base class of time integrators: the time, the unknowns, and the next step."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ArgumentError, OutOfRangeError, StepSizeError
from ..points.numbers import real
from ..solvers import vectors
from .right_side import RightSide, check_right_side, check_unknowns

NEARLY = 1e-9
"""Tolerance, as a fraction of a step, for an interval that is a whole number of steps."""


class Stepper(ABC):
    """An integrator of ``y' = f(t, y)``: the time, the unknowns, and a step.

    Parameters
    ----------
    fun
        The right side, made by `rhs`.
    t0
        The time at the start.
    y0
        The unknowns at the start: an array, or a field of several ranks (`boundary.Field`), or a
        tuple of these for several unknowns. They are advanced in place, see `y`.
    dt
        The length of a step; negative to go back in time.
    args
        The other arguments of the right side, fields and numbers in order. Fields may change
        between steps.

    Raises
    ------
    ArgumentError
        If the right side was not made by `rhs`, or arguments do not fit it.
    ShapeError, DtypeError, ContiguityError
        If an array does not fit.
    """

    def __init__(
        self, fun: RightSide, t0: float, y0: Any, dt: float, args: Sequence[Any] = ()
    ) -> None:
        check_right_side(fun)
        self.fun = fun
        self.t = number("t0", t0)
        self.dt = step_length(dt)
        self._y, self._args = state(fun, y0), arguments(fun, args)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.fun.name} at t = {self.t:g}, dt = {self.dt:g}>"

    @property
    def y(self) -> Any:
        """The unknowns at time t: an array or field, or a tuple of several."""
        return self._y[0] if len(self._y) == 1 else self._y

    def step(self, dt: float | None = None) -> None:
        """Advance by one step, to the time ``t + dt``.

        Parameters
        ----------
        dt
            The length of this step; by default that of the stepper.

        Raises
        ------
        OutOfRangeError
            If it is 0 or not finite.
        """
        length = self.dt if dt is None else step_length(dt)
        self.steps(length, [self.t + length])

    def advance(self, t: float) -> None:
        """Advance to a time, in equal steps of at most dt.

        Parameters
        ----------
        t
            The time to stop at.

        Raises
        ------
        OutOfRangeError
            If it lies before the present time, or after it for negative dt.
        StepSizeError
            If a step is too short for the time to change.
        """
        end = number("t", t)
        parts = (end - self.t) / self.dt
        if parts < 0.0:
            raise OutOfRangeError(
                f"The time {end} lies before t = {self.t}.", hint="Give dt another sign to go back."
            )
        if parts and end - self.dt == end:
            raise StepSizeError(
                f"A step of {self.dt} is too short for the time to change at t = {end}.",
                hint="Give an earlier time, or longer steps.",
            )
        count = max(math.ceil(parts - NEARLY), 0)
        if count:
            start, dt = self.t, (end - self.t) / count
            self.steps(dt, [*(start + k * dt for k in range(1, count)), end])
        self.t = end

    def steps(self, dt: float, times: Sequence[float]) -> None:
        """Advance by several steps of one length.

        Parameters
        ----------
        dt
            Their length.
        times
            The time at the end of each step. The caller computes them, so that their rounding
            errors do not accumulate.
        """
        for time in times:
            self._step(dt)
            self.t = time

    def fields(self) -> dict[str, Any]:
        """Return all fields on which the next steps depend: the unknowns, and valid history.

        Returns
        -------
        dict
            Arrays or fields of ranks by name. They are those of the stepper, not copies.

        Examples
        --------
        >>> import numpy as np, ssr
        >>> points = ssr.Space(ssr.size("n"))
        >>> @ssr.integrate.rhs(u=points)
        ... def decay(t, u):
        ...     return -u
        >>> run = ssr.integrate.AdamsBashforth(decay, 0.0, np.ones(3), 0.01)
        >>> list(run.fields())
        ['u']
        >>> run.advance(0.1)
        >>> list(run.fields())
        ['u', 'u_rate1', 'u_rate2']
        """
        return dict(zip(self.fun.unknowns, self._y, strict=True))

    def data(self) -> dict[str, Any]:
        """Return the numbers on which the next steps depend, as values of JSON."""
        return {"t": self.t, "dt": self.dt}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Restore the numbers that `data` has returned.

        Afterwards the values of all `fields` are to be assigned; then the next steps have the same
        bits as those of the stepper that returned the numbers.

        Parameters
        ----------
        data
            The result of `data` of a stepper of the same kind.

        Raises
        ------
        ArgumentError
            If it is the data of another kind of stepper.
        """
        if not isinstance(data, Mapping):
            raise ArgumentError(f"data is {data!r}, not a dictionary.")
        missing = self.data().keys() ^ data.keys()
        if missing:
            raise ArgumentError(
                f"The data are not those of {type(self).__name__}: {', '.join(sorted(missing))} "
                "is in one of them only.",
                hint="Restore a run with the method it was made with.",
            )
        self._restore(data)

    def _restore(self, data: Mapping[str, Any]) -> None:
        """Take over numbers with the right names."""
        self.t, self.dt = number("t", data["t"]), step_length(data["dt"])

    @abstractmethod
    def _step(self, dt: float) -> None:
        """Advance the unknowns by a step."""


def state(fun: RightSide, y0: Any) -> tuple[Any, ...]:
    """Return the unknowns as a tuple of arrays or fields."""
    found = tuple(y0) if isinstance(y0, (tuple, list)) else (y0,)
    if len(found) != len(fun.unknowns):
        raise ArgumentError(
            f"{len(found)} fields are given for the unknowns {', '.join(fun.unknowns)}.",
            hint="Give a tuple with one field for each unknown.",
        )
    check_unknowns(fun.unknowns, found)
    return found


def arguments(fun: RightSide, args: Any) -> tuple[Any, ...]:
    """Return the arguments after the unknowns as a tuple."""
    found = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    if len(found) != len(fun.arguments):
        raise ArgumentError(
            f"{len(found)} values are given for the arguments ({', '.join(fun.arguments)}) of "
            f"{fun.name}.",
            hint="Give args=(...) in their order.",
        )
    return found


def copies(y: Sequence[Any]) -> tuple[Any, ...]:
    """Return fields with the same values."""
    return tuple(map(vectors.copied, y))


def alike(y: Sequence[Any]) -> tuple[Any, ...]:
    """Return fields without values on the points of others."""
    return tuple(map(vectors.empty, y))


def number(name: str, value: Any) -> float:
    """Return a finite number."""
    found = real(value)
    if found is None or not math.isfinite(found):
        raise OutOfRangeError(f"{name} is {value!r}, not a finite number.")
    return float(found)


def positive(name: str, value: Any) -> float:
    """Return a positive number, which may be infinite."""
    found = real(value)
    if found is None or not found > 0.0:
        raise OutOfRangeError(f"{name} is {value!r}, not a positive number.")
    return float(found)


def step_length(dt: Any) -> float:
    """Return the length of a step, which is not zero."""
    found = number("dt", dt)
    if found == 0.0:
        raise OutOfRangeError("dt is 0.", hint="A step has a length, positive or negative.")
    return found
