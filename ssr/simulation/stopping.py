"""Stopping criteria of runs, and checks for NaN and infinity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import NonFiniteError, OutOfRangeError
from ..points.numbers import real
from ..solvers import vectors
from .fields import change, first_index, largest
from .stateful import StatefulCallback


class SteadyState(StatefulCallback):
    """A stop criterion: the fields no longer change.

    It holds if no value has changed by more than ``(atol + rtol * max|u|) * T`` since it was
    evaluated before, where T is the time between.

    Parameters
    ----------
    rtol
        The relative tolerance, in 1 / time.
    atol
        The absolute tolerance, in units of the field / time.

    Raises
    ------
    OutOfRangeError
        If a tolerance is negative, or both are 0.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points)
    ... def decay(t, u):
    ...     return 1.0 - u
    >>> stepper = ssr.integrate.RungeKutta(decay, 0.0, np.zeros(3), dt=0.1)
    >>> simulation = ssr.simulation.Simulation(stepper)
    >>> simulation.stop_when(ssr.simulation.SteadyState(rtol=1e-6), time=1.0)
    >>> simulation.run().reason, simulation.time
    ('SteadyState', 15.0)
    """

    def __init__(self, rtol: float = 1e-6, atol: float = 0.0) -> None:
        tolerances = real(rtol), real(atol)
        if any(t is None or not t >= 0.0 for t in tolerances) or not any(tolerances):
            raise OutOfRangeError(
                f"rtol is {rtol!r} and atol is {atol!r}.",
                hint="Tolerances are 0 or more, and not both are 0.",
            )
        super().__init__(time=None)
        self.rtol, self.atol = float(rtol), float(atol)
        self._unknowns: Any = None

    def begin(self, simulation: Any) -> None:
        """Find the fields in a simulation, which calls this method once.

        Parameters
        ----------
        simulation
            The simulation.
        """
        self._unknowns = simulation.unknowns

    def __call__(self, simulation: Any) -> bool:
        """Return whether the fields have become steady.

        Parameters
        ----------
        simulation
            The simulation.
        """
        now = self._unknowns()
        before = self._data["time"]
        held = before is not None
        for name, field in now.items():
            if name in self._fields:
                span = simulation.time - before
                difference, magnitude = change(field, self._fields[name])
                held = held and difference <= (self.atol + self.rtol * magnitude) * span
                vectors.assign(self._fields[name], field)
            else:
                self._fields[name] = vectors.copied(field)
        self._data["time"] = simulation.time
        return held

    def restore(self, data: Mapping[str, Any]) -> None:
        """Restore the time of the last evaluation; `fields` are assigned afterwards.

        Parameters
        ----------
        data
            A value that `data` has returned.
        """
        super().restore(data)
        known = {} if self._data["time"] is None else self._unknowns()
        self._fields = {name: vectors.copied(field) for name, field in known.items()}


class NaNChecker:
    """A callback that ends a run if a value is NaN or infinite.

    Before a checkpoint is written the fields are checked too, so that checkpoints are finite.

    Raises
    ------
    NonFiniteError
        If a value is NaN or infinite. The error has the name of the field, the index of the first
        such value, the step, and the last checkpoint.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points)
    ... def grow(t, u):
    ...     return u * u
    >>> u = np.array([0.0, 1.0])
    >>> stepper = ssr.integrate.RungeKutta(grow, 0.0, u, dt=0.125)
    >>> simulation = ssr.simulation.Simulation(stepper, stop_time=4.0)
    >>> simulation.add(ssr.simulation.NaNChecker(), steps=1)
    >>> simulation.run()
    Traceback (most recent call last):
        ...
    ssr.errors.NonFiniteError: The field u is not finite at [1] after step 11, at time 1.375.
      ...
    """

    def __call__(self, simulation: Any) -> None:
        """Check all unknowns of the stepper.

        Parameters
        ----------
        simulation
            The simulation.

        Raises
        ------
        NonFiniteError
            If a value is NaN or infinite.
        """
        for name, field in simulation.unknowns().items():
            if largest(field) < math.inf:
                continue
            index = first_index(field, lambda values: ~np.isfinite(values))
            place = "" if index is None else f" at [{', '.join(map(str, index))}]"
            last = simulation.last_checkpoint
            raise NonFiniteError(
                f"The field {name} is not finite{place} after step {simulation.steps}, at time "
                f"{simulation.time:g}.",
                hint="Use a shorter step."
                if last is None
                else f"The last checkpoint is {last}; continue from it with a shorter step.",
            )
