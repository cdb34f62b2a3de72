"""Messages between ranks: the only module that uses MPI."""

from __future__ import annotations

import os
import sys
import traceback
import weakref
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from ssr.errors import ArgumentError

from .local import LocalVector

LAUNCHED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
"""Variables that mpiexec sets in the environment of each rank."""

TAG = 7101


def world() -> Any:
    """Return MPI's world communicator under ``mpiexec``, None in a run without it.

    From then on, an error that ends one rank ends the job, and is shown with the rank's number;
    other ranks would wait for it forever.

    Raises
    ------
    ArgumentError
        If the run was started by ``mpiexec`` and mpi4py is missing.

    Examples
    --------
    >>> import boundary as bc
    >>> print(bc.world())                               # in a run without mpiexec
    None
    """
    if not any(name in os.environ for name in LAUNCHED):
        return None
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ArgumentError(
            "The run was started by mpiexec, but mpi4py cannot be imported.",
            note=str(error),
            hint="Install the extra: pip install 'staged-sparse-row[mpi]'.",
        ) from None
    sys.excepthook = _ends_the_job
    return MPI.COMM_WORLD


def _ends_the_job(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Show an error that nobody caught, and end all ranks."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    shown = "".join(traceback.format_exception(kind, error, trace))
    sys.stderr.write(f"Rank {comm.rank} of {comm.size} failed:\n{shown}")
    sys.stderr.flush()
    comm.Abort(1)


class Exchange:
    """The messages of one rank, one for each peer; prepared once, sent many times.

    Parameters
    ----------
    comm
        A communicator of mpi4py.
    vector
        The vector whose ghosts are received.
    """

    def __init__(self, comm: Any, vector: LocalVector) -> None:
        plan = vector.plan
        self._vector = vector
        self._sends = [(m.rows, vector.message(m.rows)) for m in plan.sends]
        self._receives = [(m.rows, vector.message(m.rows)) for m in plan.receives]
        self._requests = [
            comm.Recv_init(data, message.peer, TAG)
            for message, (_, data) in zip(plan.receives, self._receives, strict=True)
        ]
        self._requests += [
            comm.Send_init(data, message.peer, TAG)
            for message, (_, data) in zip(plan.sends, self._sends, strict=True)
        ]
        weakref.finalize(self, _free, tuple(self._requests))

    def begin(self) -> None:
        """Send the owned rows that others read."""
        for rows, data in self._sends:
            self._vector.pack(rows, data)
        for request in self._requests:
            request.Start()

    def finish(self) -> None:
        """Wait for the rows of others, and take them."""
        for request in self._requests:
            request.Wait()
        for rows, data in self._receives:
            self._vector.unpack(rows, data)


def _free(requests: Iterable[Any]) -> None:
    for request in requests:
        request.Free()
