"""Save a run so that it can go on, bit for bit, and read it back.

A checkpoint is a NumPy archive: the state, and a header in JSON that says which run it belongs to.
It is written beside its place and then moved there, so that a run killed at any moment leaves the
previous one whole. The archive carries a checksum of each part.
"""

import json
import math
import zipfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import ssr

from . import cases
from .files import publish
from .geometry import Array

FORMAT = "ssr shallow water checkpoint, version 1"

Weights = Literal["linear", "weno"]


class CheckpointError(ssr.Error, ValueError):
    """A file is not a checkpoint, is damaged, or belongs to another run."""


@dataclass(frozen=True)
class Setting:
    """What two runs must share to be parts of one.

    Parameters
    ----------
    angle
        Of the flow's axis, in degrees.
    dt
        The time step in seconds.
    """

    case: str
    n: int
    dt: float
    angle: float = 0.0
    weights: Weights = "linear"


@dataclass(frozen=True)
class Checkpoint:
    """A state after some steps, and the time it is for in seconds."""

    setting: Setting
    step: int
    seconds: float
    state: Array


def save(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, whole or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    header = {"format": FORMAT, "setting": asdict(checkpoint.setting), "step": checkpoint.step}
    text = json.dumps(header | {"seconds": checkpoint.seconds})
    publish(path, lambda file: np.savez(file, header=np.array(text), state=checkpoint.state))


def load(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or something else.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            header, state = json.loads(str(archive["header"])), archive["state"]
    except OSError as error:
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise CheckpointError(f"{path} cannot be read: {error.strerror}.") from None
        raise _damaged(path, error) from None
    except (ValueError, KeyError, EOFError, AttributeError, TypeError) as error:
        raise _damaged(path, error) from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise _damaged(path, error) from None
    return _checked(path, header, state)


def _damaged(path: Path, error: Exception) -> CheckpointError:
    return CheckpointError(
        f"{path} is not a whole checkpoint.",
        note=f"reading it failed: {error}".rstrip("."),
        hint="Start from another checkpoint, or from the beginning.",
    )


def _checked(path: Path, header: Any, state: Array) -> Checkpoint:
    """Return a checkpoint of what was read, or say what is wrong with it."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found = header.get("format") if isinstance(header, dict) else header
        raise CheckpointError(
            f"{path} is not a checkpoint of this program.", note=f"it says {found!r}"
        )
    try:
        found = Checkpoint(Setting(**header["setting"]), header["step"], header["seconds"], state)
    except (KeyError, TypeError) as error:
        raise _damaged(path, error) from None
    n = found.setting.n
    if found.setting.case not in cases.NAMES:
        raise CheckpointError(f"{path} is of an unknown case, {found.setting.case!r}.")
    if not _possible(found):
        raise CheckpointError(
            f"{path} is of no run of this program.", note=f"its header is {json.dumps(header)}"
        )
    if state.shape != (3, 6, n, n) or state.dtype != np.float64:
        raise CheckpointError(
            f"{path} holds no state of {n} cells.",
            note=f"it has {state.dtype}, shape {state.shape}",
        )
    return found


def _possible(found: Checkpoint) -> bool:
    """Whether numbers and names are such as runs have."""
    s = found.setting
    if s.weights not in ("linear", "weno") or {type(s.n), type(found.step)} != {int}:
        return False
    numbers = s.dt, s.angle, found.seconds
    if not all(type(x) in (int, float) and math.isfinite(x) for x in numbers):
        return False
    return s.dt > 0 and found.step >= 0 and found.seconds >= 0
