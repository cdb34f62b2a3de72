"""Detection of launchers such as ``mpiexec``, and start of MPI."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from ssr.errors import ArgumentError
from ssr.extension import number_of

from .ending import end_together
from .mpi import Mpi
from .waiting import Watch, watch_of
from .world import Alone, World

LAUNCHERS = (
    ("PMI_RANK", "PMI_SIZE"),  # MPICH, Intel MPI and others; srun --mpi=pmi2
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),  # Open MPI
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),  # MVAPICH
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS"),  # srun --mpi=pmix; other launchers do not set the size
)
"""Environment variables that launchers set for each process: its rank, and the number of ranks."""


def launched(environment: Mapping[str, str]) -> tuple[int, int] | None:
    """Return the rank of this process and the number of ranks; None without a launcher.

    An unknown number of ranks is 1. The variables of Slurm are not sufficient, since a shell or a
    script within a job has them as well. A process belongs to a step of several tasks if it is a
    task itself, or if the step is not a shell at a terminal.
    """
    for rank, size in LAUNCHERS:
        if rank in environment:
            return _number(environment, rank, 0), _number(environment, size, 1)
    tasks = _number(environment, "SLURM_STEP_NUM_TASKS", 1)
    is_task = _number(environment, "SLURM_TASK_PID", 0) == os.getpid()
    if tasks > 1 and (is_task or "SLURM_PTY_PORT" not in environment):
        return _number(environment, "SLURM_PROCID", 0), tasks
    return None


def _number(environment: Mapping[str, str], name: str, otherwise: int) -> int:
    text = environment.get(name, "")
    return int(text) if text.isdecimal() else otherwise


def world(timeout: float | None = None) -> Any:
    """Return MPI's world communicator in a job of several ranks, None in a process that is alone.

    All ranks call it together, before anything else that takes long. From then on they end
    together: an uncaught error is shown with the rank's number and ends all ranks, and
    so does a rank that ends while others wait for it. `boundary.abort` ends them with a message.

    Parameters
    ----------
    timeout
        Seconds that a rank waits for others before it ends the job, 600 by default. It is for jobs
        that hang, and must be longer than any rank works while the others wait for it.

    Raises
    ------
    ArgumentError
        If ``mpiexec`` has started the process and mpi4py is missing, if it has started several
        and MPI says that there is one, or if ``timeout`` is not a positive number.

    Examples
    --------
    >>> import boundary as bc
    >>> print(bc.world())                               # in a run without mpiexec
    None
    """
    if timeout is not None and not number_of("timeout", timeout) > 0:
        raise ArgumentError(f"timeout is {timeout!r}, not a positive number of seconds.")
    place = launched(os.environ)
    if place is None:
        return None
    comm = _mpi(*place).COMM_WORLD
    if timeout is not None:
        Watch.timeout = timeout
    end_together()
    watch_of(comm)
    return comm


def _mpi(rank: int, size: int) -> Any:
    """Return MPI, whose world contains all processes that the launcher has started."""
    try:
        import mpi4py

        if "mpi4py.MPI" not in sys.modules:  # Init_thread is called below; Finalize as usual
            mpi4py.rc.initialize, mpi4py.rc.finalize = False, True
        from mpi4py import MPI
    except ImportError as error:
        raise ArgumentError(
            "A launcher such as mpiexec has started the run, but mpi4py cannot be imported.",
            note=str(error),
            hint="Install the extra: pip install 'staged-sparse-row[mpi]'.",
        ) from None
    library = MPI.Get_library_version()
    if not MPI.Is_initialized():
        if not fits(library, os.environ):
            _refuse(rank, size, library)
        MPI.Init_thread()
    if MPI.COMM_WORLD.size == 1 and size > 1:
        _refuse(rank, size, library)
    return MPI


def fits(library: str, environment: Mapping[str, str]) -> bool:
    """Whether a library can begin under its launcher, as far as is known.

    MPICH ends the process where the launcher offers nothing but PMIx, as that of Open MPI does,
    unless it was built for that.
    """
    mpich = library.startswith("MPICH") and "pmix" not in library.lower()
    return not (mpich and "PMIX_NAMESPACE" in environment and "PMI_RANK" not in environment)


def _refuse(rank: int, size: int, library: str) -> NoReturn:
    """Refuse to run; the first process says why, before the others end the job."""
    if rank:
        time.sleep(1.0)
        sys.exit(1)
    raise ArgumentError(
        f"The launcher has started {size} processes, but MPI does not connect them.",
        note=f"mpi4py uses {library.strip(chr(0)).strip().splitlines()[0]}.",
        hint=(
            "Start them with the mpiexec of this library, or install mpi4py for the library whose "
            "mpiexec you use. Under Slurm, srun --mpi=list shows how srun can connect processes: "
            "mostly it is srun --mpi=pmi2 for MPICH and srun --mpi=pmix for Open MPI."
        ),
    )


def world_of(given: Any) -> World:
    """Return the ranks for a user's argument: a world, a communicator, or None for one rank."""
    if isinstance(given, World):
        return given
    if given is None:
        return Alone()
    if not hasattr(given, "Get_rank"):
        raise ArgumentError(
            f"ranks is {given!r}, neither a communicator nor threads or simulated ranks.",
            hint="Write bc.distribute(grid, bc.world()), or bc.threads(4) for four threads.",
        )
    return Alone() if given.Get_size() == 1 else Mpi(given)
