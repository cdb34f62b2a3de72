"""The state that parts of a run share, and the checkpoints from which a run continues.

A checkpoint is one of `ssr.simulation.Checkpointer` with the setting in it.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import ssr

from . import cases
from .solvers import SOLVERS, Kind

Weights = Literal["linear", "weno"]


@dataclass(frozen=True)
class Setting:
    """The properties that two runs share if they are parts of one.

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
        """The properties of the solver."""
        return SOLVERS[self.solver]

    @property
    def points(self) -> int:
        """The number of points along a panel."""
        return self.kind.points(self.n)


class Checkpoint(NamedTuple):
    """A checkpoint that was read: its setting, the number of steps, the time in seconds."""

    setting: Setting
    step: int
    seconds: float
    file: ssr.output.Checkpoint


def load(path: Path, on: Any = None) -> Checkpoint:
    """Read a checkpoint; all ranks of a `boundary.Distribution` may call it together.

    Raises
    ------
    ssr.errors.CheckpointError
        If the file is missing, damaged, or something else.
    """
    file = ssr.output.load(path, on)
    try:
        setting, clock = Setting(**file.data["setting"]), file.data["simulation"]
        found = Checkpoint(setting, clock["steps"], clock["time"], file)
        if _is_possible(found):
            return found
    except (KeyError, TypeError, OverflowError):
        pass
    raise ssr.errors.CheckpointError(
        f"{path} does not describe a run of this program.",
        note=f"its setting is {file.data.get('setting')}",
        hint="Start from another checkpoint, or from the beginning.",
    )


def _is_possible(found: Checkpoint) -> bool:
    """Whether a run of this program can have these names and numbers."""
    s, step, seconds, file = found
    numbers = s.n, step, s.dt, seconds, s.viscosity
    return (
        s.case in cases.NAMES
        and s.solver in SOLVERS
        and s.weights in get_args(Weights)
        and {type(s.n), type(step)} == {int}
        and all(type(x) in (int, float) and math.isfinite(x) for x in (*numbers, s.angle))
        and s.n * s.dt > 0 <= min(numbers)
        and file.fields["state"].shape == (3, 6, s.points, s.points)
    )
