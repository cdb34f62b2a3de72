"""Simulation runs: time, callback schedules, stopping criteria, interruption and checkpoints."""

from ..public import explain_public
from .cfl import CFL
from .checkpointer import Checkpointer
from .interruption import Interrupted
from .simulation import Result, Simulation
from .statistics import Statistics
from .stepping import FunctionStepper
from .stopping import NaNChecker, SteadyState

__all__ = [
    "CFL",
    "Checkpointer",
    "FunctionStepper",
    "Interrupted",
    "NaNChecker",
    "Result",
    "Simulation",
    "Statistics",
    "SteadyState",
]

explain_public(globals(), __all__)
