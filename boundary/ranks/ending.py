"""How the ranks of a job end: all together, whatever ends one of them."""

from __future__ import annotations

import sys
import time
import traceback
from types import TracebackType
from typing import Any, NoReturn

STOPPED = 130
"""The exit status after Ctrl-C."""

_job: list[Any] = []
"""The communicator of all ranks, once `joined`."""


def joined(comm: Any) -> None:
    """Let whatever ends one rank of a communicator end them all."""
    if not _job:
        _job.append(comm)
        sys.excepthook = _failed


def abort(message: str, status: int = 1) -> NoReturn:
    """Show a message on standard error and end all ranks of the job.

    If all ranks abort at the same moment, such as for one wrong argument, one of them shows its
    message: the others wait a little before they show theirs, and are ended meanwhile.

    Parameters
    ----------
    message
        What is shown.
    status
        The exit status of the job.

    Raises
    ------
    SystemExit
        In a process that is not one of several ranks (`boundary.world`).

    Examples
    --------
    >>> import boundary as bc
    >>> bc.abort("The depth is negative.", status=3)
    Traceback (most recent call last):
        ...
    SystemExit: 3
    """
    if not _job:
        print(message, file=sys.stderr, flush=True)
        raise SystemExit(status)
    _end(_job[0], message, status)


def _end(comm: Any, message: str, status: int) -> NoReturn:
    time.sleep(_delay(comm.rank))
    sys.stdout.flush()
    print(message, file=sys.stderr, end="" if message.endswith("\n") else "\n", flush=True)
    comm.Abort(status)
    raise SystemExit(status)


def _delay(rank: int) -> float:
    """Return the seconds for which a rank lets those before it show their message instead."""
    return 0.5 + 0.1 * min(rank, 20) if rank else 0.0


def _failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an error that nobody caught, and end all ranks."""
    comm = _job[0]
    if issubclass(kind, KeyboardInterrupt):
        comm.Abort(STOPPED)
    shown = "".join(traceback.format_exception(kind, error, trace))
    if comm.size > 1:
        shown = f"Rank {comm.rank} of {comm.size} failed:\n{shown}"
    _end(comm, shown, 1)
