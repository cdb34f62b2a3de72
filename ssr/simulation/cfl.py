"""Step lengths from a CFL condition."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..errors import ArgumentError, OutOfRangeError, StepSizeError
from ..integrate.stepper import positive
from ..points.numbers import real
from .schedules import positive_integer


class CFL:
    """A CFL condition: steps as long as stability allows.

    Parameters
    ----------
    limit
        A function of the simulation that returns the length of a step with Courant number 1, such
        as the smallest ratio of spacing to wave speed, found by a program. All ranks call it.
    number
        The Courant number of the steps.
    every
        The steps between two evaluations.
    max_change
        The largest factor by which the step grows from one evaluation to the next. It may decrease
        by any factor.
    max_dt
        The longest step.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit.

    Examples
    --------
    A speed that halves within each unit of time, on cells of width 0.1:

    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.program(u=points, t=ssr.scalar, dt=ssr.scalar)
    ... def decay(u, t, dt):
    ...     u[:] = u * (1.0 - 0.7 * dt)
    >>> @ssr.program(u=points)
    ... def fastest(u):
    ...     return ssr.max(abs(u))
    >>> u = np.ones(3)
    >>> stepper = ssr.simulation.FunctionStepper(decay.bind(u), {"u": u})
    >>> cfl = ssr.simulation.CFL(lambda simulation: 0.1 / fastest(u), number=0.5, every=4)
    >>> simulation = ssr.simulation.Simulation(stepper, stop_time=1.0, dt=cfl)
    >>> simulation.run().steps
    18
    """

    def __init__(
        self,
        limit: Callable[[Any], float],
        number: float = 0.7,
        *,
        every: int = 10,
        max_change: float = 1.1,
        max_dt: float = math.inf,
    ) -> None:
        if not callable(limit):
            raise ArgumentError(
                f"limit is {limit!r}, not a function of the simulation.",
                hint="Write limit=lambda simulation: spacing / fastest(u).",
            )
        self.limit = limit
        self.number = positive("number", number)
        self.every = positive_integer("every", every)
        self.max_change = positive("max_change", max_change)
        if self.max_change < 1.0:
            raise OutOfRangeError(f"max_change is {max_change!r}, not a number from 1 on.")
        self.max_dt = positive("max_dt", max_dt)

    def _length(self, simulation: Any, before: float | None) -> float:
        """Return the length of the next steps.

        Parameters
        ----------
        simulation
            The simulation.
        before
            The length of the steps before; None at the start.

        Raises
        ------
        StepSizeError
            If the limit is not a positive number.
        """
        limit = real(self.limit(simulation))
        if limit is None or not limit > 0.0:
            raise StepSizeError(
                f"The CFL condition gives dt = {limit} after step {simulation.steps}, at time "
                f"{simulation.time:g}.",
                hint="Its function must return a positive number. Are all fields finite?",
            )
        found = min(self.number * limit, self.max_dt)
        if before is not None:
            found = min(found, before * self.max_change)
        if found == math.inf:
            raise StepSizeError(
                "The CFL condition gives steps of infinite length.", hint="Give max_dt=...."
            )
        return found
