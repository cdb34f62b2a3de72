"""Save a run so that it can go on, bit for bit, and read it back.

A checkpoint has three lines of text and then the state, as little-endian doubles in C order. The
lines are the name of the format, the SHA-256 digest of everything after the second line, and a
header in JSON that says which run the state belongs to. A file is written beside its place and
then moved there, so that a run killed at any moment leaves the previous checkpoint whole; a file
that was damaged later does not fit its digest.
"""

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import ssr

from . import cases
from .files import publish
from .geometry import Array

FORMAT = b"ssr shallow water checkpoint, version 2\n"

HINT = "Start from another checkpoint, or from the beginning."

Weights = Literal["linear", "weno"]


class CheckpointError(ssr.Error, ValueError):
    """A file is not a checkpoint, is damaged, or belongs to another run."""


@dataclass(frozen=True)
class Setting:
    """What two runs must have in common to be parts of one.

    Parameters
    ----------
    angle
        The tilt of the flow's axis, in degrees.
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
    """A state after some steps, and its time in seconds."""

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
    about = {"setting": asdict(checkpoint.setting), "step": checkpoint.step}
    header = json.dumps(about | {"seconds": checkpoint.seconds}).encode() + b"\n"
    state = np.ascontiguousarray(checkpoint.state, "<f8").tobytes()
    pieces = FORMAT, _digest(header, state), header, state
    publish(path, lambda file: file.writelines(pieces))


def load(path: Path) -> Checkpoint:
    """Read a checkpoint; its state is read-only.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or something else.
    """
    try:
        with path.open("rb") as file:
            first = file.readline(len(FORMAT))
            if first == FORMAT:
                digest, header, state = file.readline(65), file.readline(), file.read()
    except OSError as error:
        raise CheckpointError(
            f"{path} cannot be read: {error.strerror or error}.", hint=HINT
        ) from None
    if first != FORMAT and not FORMAT.startswith(first):
        raise CheckpointError(
            f"{path} is not a checkpoint of this program.",
            note=f"it begins with {first!r} where a checkpoint has {FORMAT!r}",
            hint=HINT,
        )
    if first != FORMAT or digest != _digest(header, state):
        raise CheckpointError(
            f"{path} is not a whole checkpoint.",
            note="it was cut short or changed after it was written",
            hint=HINT,
        )
    return _checked(path, header, state)


def _digest(header: bytes, state: bytes) -> bytes:
    """Return the line by which a reader sees whether what follows it is whole."""
    whole = hashlib.sha256(header)
    whole.update(state)
    return whole.hexdigest().encode() + b"\n"


def _checked(path: Path, text: bytes, data: bytes) -> Checkpoint:
    """Return the checkpoint that a header and a state describe, or say why there is none."""
    try:
        header = json.loads(text)
        setting, step, seconds = Setting(**header["setting"]), header["step"], header["seconds"]
        possible = _possible(setting, step, seconds)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        possible = False
    if not possible:
        raise CheckpointError(
            f"{path} does not describe a run of this program.",
            note=f"its header is {text.decode(errors='replace').strip()}",
            hint=HINT,
        )
    shape = (3, 6, setting.n, setting.n)
    if len(data) != 8 * math.prod(shape):
        raise CheckpointError(
            f"{path} does not hold the state of {setting.n} x {setting.n} cells a panel.",
            note=f"that takes {8 * math.prod(shape)} bytes, and there are {len(data)}",
            hint=HINT,
        )
    state = np.frombuffer(data, "<f8").reshape(shape)
    return Checkpoint(setting, step, seconds, state)


def _possible(s: Setting, step: Any, seconds: Any) -> bool:
    """Whether a run of this program can have these names and numbers."""
    if s.case not in cases.NAMES or s.weights not in ("linear", "weno"):
        return False
    if {type(s.n), type(step)} != {int}:
        return False
    numbers = s.dt, s.angle, seconds
    if not all(type(x) in (int, float) and math.isfinite(x) for x in numbers):
        return False
    return s.n > 0 and s.dt > 0 and step >= 0 and seconds >= 0
