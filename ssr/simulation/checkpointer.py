"""The callback that writes checkpoints of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..output.places import as_path


class Checkpointer:
    """A callback that writes the state of a run, for a bitwise identical restart.

    A checkpoint holds the fields of the stepper with the history of multistep methods, the clock,
    and the state of callbacks such as `Statistics`. A run also writes one when it ends, whether it
    has come to its end or was interrupted. Where several callbacks are due, it is the last one.

    Parameters
    ----------
    path
        The file; ``{steps}`` in its name stands for the number of steps, so that earlier
        checkpoints are kept. Without it, each checkpoint replaces the one before.
    data
        Other values of JSON to keep in the file, by name.

    Attributes
    ----------
    last
        The file written last; None if there is none.

    Raises
    ------
    ArgumentError
        If an argument does not fit.

    Examples
    --------
    >>> import tempfile, numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points)
    ... def decay(t, u):
    ...     return -u
    >>> def simulation(u, stop_time):
    ...     stepper = ssr.integrate.AdamsBashforth(decay, 0.0, u, dt=0.01)
    ...     return ssr.simulation.Simulation(stepper, stop_time)
    >>> whole, parts = np.ones(3), np.ones(3)
    >>> simulation(whole, 1.0).run().steps
    100
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = simulation(np.ones(3), 0.5)
    ...     first.add(ssr.simulation.Checkpointer(f"{folder}/half"), time=0.25)
    ...     _ = first.run()
    ...     second = simulation(parts, 1.0)
    ...     second.restore(f"{folder}/half")
    ...     second.run().steps
    50
    >>> bool((parts == whole).all())
    True
    """

    def __init__(
        self, path: str | os.PathLike[str], *, data: Mapping[str, Any] | None = None
    ) -> None:
        if data is not None and not isinstance(data, Mapping):
            raise ArgumentError(f"data is {data!r}, not a dictionary.")
        self.path = as_path(path)
        self.given = dict(data or {})
        self.last: Path | None = None
        self.steps: int | None = None

    def __call__(self, simulation: Any) -> None:
        """Write a checkpoint.

        Parameters
        ----------
        simulation
            The simulation.
        """
        name = self.path.name.replace("{steps}", str(simulation.steps))
        path = self.path.with_name(name)
        simulation.save(path, data=self.given)
        self.last, self.steps = path, simulation.steps
