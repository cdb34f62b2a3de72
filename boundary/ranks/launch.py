"""The ranks that a launcher such as ``mpiexec`` has started."""

from __future__ import annotations

import os
from typing import Any

from ssr.errors import ArgumentError

from .ending import joined
from .mpi import Mpi
from .world import Alone, World

LAUNCHED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
"""Variables that mpiexec sets in the environment of each rank."""


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
    joined(MPI.COMM_WORLD)
    return MPI.COMM_WORLD


def world_of(given: Any) -> World:
    """Return the ranks that a user gives: a world, a communicator, or None for one alone."""
    if isinstance(given, World):
        return given
    if given is None:
        return Alone()
    if not hasattr(given, "Get_rank"):
        raise ArgumentError(
            f"ranks is {given!r}, neither a communicator nor bc.simulated(...).",
            hint="Write bc.spread(grid, bc.world()).",
        )
    return Mpi(given)
