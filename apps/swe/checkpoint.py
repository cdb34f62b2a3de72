"""Save a run so that it can go on, bit for bit, and read it back.

A checkpoint has three lines of text and then the state, as little-endian doubles row by row: panels
one after the other, their rows in the order of beta, and of each row the three components of the
state. The lines are the name of the format, the SHA-256 digest of everything after the second line,
and a header in JSON that says which run the state belongs to. A file is written beside its place
and then moved there, so that a run killed at any moment leaves the previous checkpoint whole; a
file that was damaged later does not fit its digest.

The first rank writes the file, some rows at a time; all ranks read their own part of it. So a run
goes on with any number of ranks, and no rank holds the whole.
"""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

import boundary as bc
import ssr

from . import cases
from .files import publish
from .solvers import SOLVERS, Kind

FORMAT = b"ssr shallow water checkpoint, version 3\n"

PIECE = 2**23
"""Bytes that are written or read at a time."""

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
    """A state after some steps, and its time in seconds."""

    setting: Setting
    step: int
    seconds: float
    state: Any
    """The field; or, where it was read, an array (3, 6, m, m) that is mapped from a file."""


def rows(state: bc.Field) -> Iterator[bytes]:
    """Yield a state piece by piece as it stands in a file, on the first rank; else nothing.

    All ranks call it together, and go through all of it.
    """
    n = state.shape[-1]
    count = max(1, PIECE // (3 * 8 * n))
    for panel in range(6):
        for low in range(0, n, count):
            box = (panel, panel + 1), (low, min(low + count, n)), (0, n)
            piece = state.gather(root=0, box=box)
            yield b"" if piece is None else np.moveaxis(piece, 0, 2).astype("<f8").tobytes()


def digest(state: bc.Field) -> str:
    """Return the SHA-256 digest of a state on the first rank; all ranks call it together."""
    found = hashlib.sha256()
    for piece in rows(state):
        found.update(piece)
    return found.hexdigest()


def save(path: Path, checkpoint: Checkpoint, *, first: bool = True) -> None:
    """Write a checkpoint of a field, whole or not at all; all ranks call it together.

    Parameters
    ----------
    first
        Whether this process has the first rank, which writes.

    Raises
    ------
    OutputError
        If it cannot be written; on the first rank.
    """
    state = checkpoint.state
    about = {"setting": asdict(checkpoint.setting), "step": checkpoint.step}
    header = json.dumps(about | {"seconds": checkpoint.seconds}).encode() + b"\n"
    if first:
        publish(path, lambda file: _write(file, header, rows(state)))
    else:
        for _ in rows(state):
            pass


def _write(file: BinaryIO, header: bytes, pieces: Iterator[bytes]) -> None:
    """Write a checkpoint; its digest is known, and written, at last."""
    found = hashlib.sha256(header)
    file.writelines((FORMAT, _line(found), header))
    for piece in pieces:
        found.update(piece)
        file.write(piece)
    file.seek(len(FORMAT))
    file.write(_line(found))


def _line(digest: Any) -> bytes:
    """Return the line by which a reader sees whether what follows it is whole."""
    return f"{digest.hexdigest()}\n".encode()


def load(path: Path, *, check: bool = True) -> Checkpoint:
    """Read a checkpoint; its state is mapped from the file, and read-only.

    Parameters
    ----------
    check
        Whether the state is compared with its digest; one rank of a job suffices.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or something else.
    """
    found = hashlib.sha256()
    try:
        with path.open("rb") as file:
            first = file.readline(len(FORMAT))
            if first == FORMAT:
                told, header, start = file.readline(65), file.readline(), file.tell()
                found.update(header)
                while check and (piece := file.read(PIECE)):
                    found.update(piece)
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
    if first != FORMAT or (check and told != _line(found)):
        raise CheckpointError(
            f"{path} is not a whole checkpoint.",
            note="it was cut short or changed after it was written",
            hint=HINT,
        )
    return _checked(path, header, start)


def _checked(path: Path, text: bytes, start: int) -> Checkpoint:
    """Return the checkpoint of a header and what follows it, or say why there is none."""
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
    n = setting.points
    shape, size = (6, n, 3, n), path.stat().st_size - start
    if size != 8 * math.prod(shape):
        raise CheckpointError(
            f"{path} does not hold the state of {n} x {n} points a panel.",
            note=f"that takes {8 * math.prod(shape)} bytes, and there are {size}",
            hint=HINT,
        )
    state = np.moveaxis(np.memmap(path, "<f8", "r", start, shape), 2, 0)
    return Checkpoint(setting, step, seconds, state)


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
