"""Joint termination of a job: an error or interrupt on one rank ends all ranks."""

from __future__ import annotations

import sys
import time
import traceback
from types import TracebackType
from typing import Any, NoReturn

STOPPED = 130
"""The exit status after Ctrl-C."""

FORWARDED = 0.2
"""Seconds that a launcher needs to forward a message. At termination it drops pending output."""


def abort(message: str, status: int = 1) -> NoReturn:
    """Show a message on standard error and end all ranks of the job.

    If all ranks abort at the same moment, such as for one wrong argument, the first one shows its
    message: the others wait a little before they show theirs, and are ended meanwhile.

    Parameters
    ----------
    message
        The text to show.
    status
        The exit status of the job.

    Raises
    ------
    SystemExit
        In a process that is alone.

    Examples
    --------
    >>> import boundary as bc
    >>> bc.abort("The depth is negative.", status=3)
    Traceback (most recent call last):
        ...
    SystemExit: 3
    """
    comm = _job()
    if comm is not None:
        time.sleep(0.5 + 0.1 * min(comm.rank, 20) if comm.rank else 0.0)
    sys.stdout.flush()
    print(message.rstrip("\n"), file=sys.stderr, flush=True)
    if comm is not None:
        time.sleep(FORWARDED)
        comm.Abort(status)
    raise SystemExit(status)


def _job() -> Any:
    """Return the communicator of all ranks; None in a job of one process."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None or not mpi.Is_initialized() or mpi.Is_finalized():
        return None
    comm = mpi.COMM_WORLD
    return None if comm.size == 1 else comm


def end_together() -> None:
    """Make an error that ends one rank end all ranks."""
    sys.excepthook = _failed


def _failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an uncaught error, and end all ranks."""
    comm = _job()
    if comm is None:
        sys.__excepthook__(kind, error, trace)
        return
    if issubclass(kind, KeyboardInterrupt):
        comm.Abort(STOPPED)
    shown = "".join(traceback.format_exception(kind, error, trace))
    abort(f"Rank {comm.rank} of {comm.size} failed:\n{shown}")
