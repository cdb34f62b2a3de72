"""The exceptions that end an interrupted run."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

from ..spaces.distributed import Ranks
from .signals import Caught, signal_name


class Interrupted(KeyboardInterrupt):
    """A signal has ended a run, after a step and after its checkpoints were written.

    After Ctrl-C it is a KeyboardInterrupt. After a signal that requests termination (SIGTERM,
    SIGHUP, SIGUSR1) it is also a SystemExit: a program that does not catch it ends with exit
    status 1 and a message instead of a traceback.

    Attributes
    ----------
    steps, time
        The steps that were made, and the time.
    checkpoint
        The file written last; None if the run has no `Checkpointer`.

    Examples
    --------
    >>> import signal, numpy as np, ssr
    >>> stepper = ssr.simulation.FunctionStepper(lambda t, dt: None, {"u": np.ones(3)}, dt=0.5)
    >>> simulation = ssr.simulation.Simulation(stepper, stop_steps=1000)
    >>> simulation.add(lambda simulation: signal.raise_signal(signal.SIGINT), times=[5.0])
    >>> try:
    ...     simulation.run()
    ... except ssr.simulation.Interrupted as stopped:
    ...     print(stopped)
    Ctrl-C has ended the run after step 10, at time 5.
    """

    def __init__(self, message: str, steps: int, time: float, checkpoint: Path | None) -> None:
        super().__init__(message)
        self.steps, self.time, self.checkpoint = steps, time, checkpoint


class Terminated(Interrupted, SystemExit):
    """A signal that requests termination has ended a run."""

    code: Any


def interruption(
    caught: Caught, ranks: Ranks, steps: int, time: float, last: Path | None
) -> Interrupted:
    """Return the exception for signals that some rank has caught; all ranks call it together."""
    is_asked = ranks.any(caught.number not in (None, signal.SIGINT))
    number = ranks.broadcast(caught.number)
    message = f"{signal_name(number)} has ended the run after step {steps}, at time {time:g}."
    if last is not None:
        message += f" It can be continued from {last}."
    if not is_asked:
        return Interrupted(message, steps, time, last)
    found = Terminated(message, steps, time, last)
    found.code = message if ranks.is_root else 1  # only one rank prints the message
    return found
