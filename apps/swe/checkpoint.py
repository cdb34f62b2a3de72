"""What parts of a run have in common, and the checkpoints from which a run continues.

A checkpoint is one of `ssr.simulation.Checkpointer` with the setting in it.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import ssr

from . import cases
from .solvers import SOLVERS, Kind

HINT = "Start from another checkpoint, or from the beginning."

Weights = Literal["linear", "weno"]


@dataclass(frozen=True)
class Setting:
    """What two runs must have in common to be parts of one.

    Parameters
    ----------
    angle
        The tilt of the flow's axis, in degrees.
    n
        The cells, or elements, along a panel.
    dt
        The time step in seconds.
    weights
        Of values at faces, for finite volumes.
    solver
        Its name in `SOLVERS`.
    viscosity
        Of spectral elements, in m4/s.
    """

    case: str
    n: int
    dt: float
    angle: float = 0.0
    weights: Weights = "linear"
    solver: str = "fv"
    viscosity: float = 0.0

    @property
    def kind(self) -> Kind:
        """What is known of the solver."""
        return SOLVERS[self.solver]

    @property
    def points(self) -> int:
        """The number of points along a panel."""
        return self.kind.points(self.n)


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read: the setting, the number of steps, and the time in seconds."""

    setting: Setting
    step: int
    seconds: float
    file: ssr.output.Checkpoint

    @property
    def state(self) -> Any:
        """The state, an array (3, 6, m, m) that is mapped from the file."""
        return self.file.fields["state"]


def load(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises
    ------
    ssr.errors.CheckpointError
        If the file is missing, damaged, or something else.
    """
    file = ssr.output.load(path)
    try:
        setting, clock = Setting(**file.data["setting"]), file.data["simulation"]
        step, seconds = clock["steps"], clock["time"]
        possible = _possible(setting, step, seconds)
        shape = 3, 6, setting.points, setting.points
        possible = possible and file.fields["state"].shape == shape
    except (KeyError, TypeError, OverflowError):
        possible = False
    if not possible:
        raise ssr.errors.CheckpointError(
            f"{path} does not describe a run of this program.",
            note=f"its setting is {file.data.get('setting')}",
            hint=HINT,
        )
    return Checkpoint(setting, step, seconds, file)


def _possible(s: Setting, step: Any, seconds: Any) -> bool:
    """Whether a run of this program can have these names and numbers."""
    known = s.case in cases.NAMES and s.solver in SOLVERS
    if not known or s.weights not in ("linear", "weno"):
        return False
    if {type(s.n), type(step)} != {int}:
        return False
    numbers = s.dt, s.angle, s.viscosity, seconds
    if not all(type(x) in (int, float) and math.isfinite(x) for x in numbers):
        return False
    return s.n > 0 and s.dt > 0 and s.viscosity >= 0 and step >= 0 and seconds >= 0
