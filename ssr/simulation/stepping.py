"""Steppers defined by a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..integrate.stepper import number, step_length
from ..spaces.distributed import is_distributed


class FunctionStepper:
    """A stepper defined by a function and its fields, for time loops written by hand.

    Parameters
    ----------
    function
        ``function(t, dt)`` advances the fields in place by one step of length dt from time t. It is
        a Python function or a bound program with these two scalars.
    fields
        The fields on which steps depend, by name: arrays, or fields of ranks (`boundary.Field`).
        Checkpoints hold these fields.
    t
        The time at the start.
    dt
        The usual length of a step; by default that of the simulation.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.program(u=points, t=ssr.scalar, dt=ssr.scalar)
    ... def decay(u, t, dt):
    ...     u[:] = u - dt * u
    >>> u = np.ones(3)
    >>> stepper = ssr.simulation.FunctionStepper(decay.bind(u), {"u": u}, dt=0.5)
    >>> ssr.simulation.Simulation(stepper, stop_time=1.0).run().steps
    2
    >>> u
    array([0.25, 0.25, 0.25])
    """

    def __init__(
        self,
        function: Callable[[float, float], Any],
        fields: Mapping[str, Any],
        t: float = 0.0,
        dt: float | None = None,
    ) -> None:
        if not callable(function):
            raise ArgumentError(f"The step is {function!r}, not a function of t and dt.")
        self._function = function
        self._fields = check_fields(fields)
        is_on_ranks = any(map(is_distributed, self._fields.values()))
        self._repeat = getattr(function, "repeat", None) if is_on_ranks else None
        self.t = number("t", t)
        self.dt = None if dt is None else step_length(dt)

    def step(self, dt: float) -> None:
        """Advance by one step, to the time ``t + dt``.

        Parameters
        ----------
        dt
            The length of the step.
        """
        self._function(self.t, dt)
        self.t += dt

    def steps(self, dt: float, times: Sequence[float]) -> None:
        """Advance by several steps of one length.

        Parameters
        ----------
        dt
            Their length.
        times
            The time at the end of each step.
        """
        if self._repeat is not None and len(times) > 1:
            self._repeat([(t, dt) for t in (self.t, *times[:-1])])
            self.t = times[-1]
            return
        for time in times:
            self._function(self.t, dt)
            self.t = time

    def fields(self) -> dict[str, Any]:
        """Return the fields by name."""
        return dict(self._fields)

    def data(self) -> dict[str, Any]:
        """Return the numbers on which the next steps depend, as values of JSON."""
        return {"t": self.t}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Restore the numbers that `data` has returned.

        Parameters
        ----------
        data
            The result of `data`.

        Raises
        ------
        ArgumentError
            If it is the data of another kind of stepper.
        """
        if not isinstance(data, Mapping):
            raise ArgumentError(f"data is {data!r}, not a dictionary.")
        if data.keys() != {"t"}:
            raise ArgumentError(
                f"The data are those of another stepper: they have {', '.join(sorted(data))}.",
                hint="Restore a run with the stepper it was made with.",
            )
        self.t = number("t", data["t"])


def check_fields(fields: Any) -> dict[str, Any]:
    """Return named fields as a dictionary."""
    if not isinstance(fields, Mapping):
        raise ArgumentError(
            f"The fields are {type(fields).__name__}, not a dictionary.", hint='Write {"u": u}.'
        )
    for name, value in fields.items():
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"A field has the name {name!r}, which is not a string.")
        if not isinstance(value, np.ndarray) and not is_distributed(value):
            raise ArgumentError(
                f"The field {name} is {type(value).__name__}, not a NumPy array.",
                hint="Convert it with np.asarray, or use bc.Field.",
            )
    return dict(fields)
