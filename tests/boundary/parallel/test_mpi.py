"""Ranks that are processes: the bits of one process, and jobs that end."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import boundary as bc
from boundary.parallel.worlds.launch import fits, launched
from ssr.errors import ArgumentError

from . import jobs

ROOT = Path(__file__).parents[3]
ROOM = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""What Open MPI needs to start more ranks than there are cores, by any user; others ignore it."""

needs_mpi = pytest.mark.skipif(
    shutil.which("mpiexec") is None or importlib.util.find_spec("mpi4py") is None,
    reason="needs mpiexec and mpi4py",
)


def start(
    ranks: int, *arguments: str, limit: float = 180.0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a job of `jobs` under mpiexec, or alone; it ends within some seconds."""
    launch = ["mpiexec", "-n", str(ranks)] if ranks else []
    command = [*launch, sys.executable, "-m", "tests.boundary.parallel.jobs", *arguments]
    variables = {**os.environ, **ROOM, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=limit
    )


# -- the same bits -------------------------------------------------------------------------------


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 4])
def test_ranks_have_the_bits_of_one_process(ranks: int) -> None:
    """The job compares all ranks with some of them, which have a communicator of their own."""
    found = start(ranks, "programs")
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == repr(jobs.programs(None))


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 2])
def test_ranks_on_several_nodes_have_the_bits_of_one_process(ranks: int) -> None:
    """Messages go through shared memory, by MPI, or both in one exchange."""
    found = start(4, "on nodes", str(ranks))
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == repr(jobs.programs(None))


@needs_mpi
def test_where_no_memory_can_be_shared_messages_are_those_of_mpi() -> None:
    found = start(4, "without files")
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == repr(jobs.programs(None))


@needs_mpi
def test_a_kernel_is_made_by_one_rank(tmp_path: Path) -> None:
    found = start(8, "builds", str(tmp_path), SSR_CACHE_DIR=str(tmp_path / "cache"))
    assert found.returncode == 0, found.stderr
    made = sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    assert made == ["compiled 0", "lowered 0"]


# -- ends ----------------------------------------------------------------------------------------

TOLD = {
    "raises": (1, ["Rank 2 of 3 failed:", "RuntimeError: no more"]),
    "exits": (1, ["Rank 2 has ended while rank", "waits in", " diffuse"]),
    "falls off the end": (1, ["Rank 2 has ended while rank"]),
    "is killed": (None, []),
    "is interrupted": (130, []),
    "aborts": (3, ["The depth is negative."]),
    "all abort": (3, ["The depth is negative."]),
    "goes on": (1, ["has waited in", "for 3 s.", "bc.world(timeout=...)"]),
}
"""How a rank ends, and with which status and messages the job does."""


@needs_mpi
@pytest.mark.parametrize("how", TOLD)
def test_what_ends_a_rank_ends_the_job(how: str, tmp_path: Path) -> None:
    found = start(3, "ends", how, str(tmp_path), limit=90)
    status, messages = TOLD[how]
    assert found.returncode != 0
    assert status is None or found.returncode == status
    for message in messages:
        assert found.stderr.count(message) == 1, found.stderr
    assert ("Traceback" in found.stderr) == (how == "raises")
    left = [int(path.name) for path in tmp_path.iterdir()]
    assert len(left) == 3
    end = time.monotonic() + 5
    while left and time.monotonic() < end:
        left = [process for process in left if is_running(process)]
        time.sleep(0.05)
    assert not left


def is_running(process: int) -> bool:
    """Whether a process has not ended; one that nobody has asked for its status has."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


@needs_mpi
def test_ranks_wait_for_one_that_works() -> None:
    found = start(3, "waits")
    assert found.returncode == 0, found.stderr
    assert "done" in found.stdout


@needs_mpi
def test_an_exchange_that_is_interrupted_is_not_begun_again() -> None:
    found = start(3, "breaks off")
    assert found.returncode == 1
    assert found.stderr.count("was interrupted and cannot be repeated.") == 1, found.stderr


@needs_mpi
@pytest.mark.parametrize("how", ["works", "breaks off"])
def test_ranks_wait_in_reductions(how: str, tmp_path: Path) -> None:
    """What has been interrupted keeps its memory until all ranks have done their part."""
    found = start(3, "reduces", how, str(tmp_path))
    assert found.returncode == 0, found.stderr
    others = "-1.0" if how == "breaks off" else "108.0"
    sums = [(tmp_path / str(rank)).read_text() for rank in range(3)]
    assert sums == [others, "108.0", others]


@needs_mpi
def test_a_reduction_without_all_ranks_ends_the_job(tmp_path: Path) -> None:
    found = start(3, "reduces", "ends", str(tmp_path))
    assert found.returncode == 1
    assert "waits in a reduction of total." in found.stderr
    assert found.stderr.count("Rank 2 has ended") == 1


# -- launchers -----------------------------------------------------------------------------------


def test_a_process_alone_does_not_load_mpi() -> None:
    code = (
        "import sys, boundary as bc; assert bc.world() is None; assert 'mpi4py' not in sys.modules"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ("", None),
        ("PMI_RANK=1 PMI_SIZE=4", (1, 4)),
        ("OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 PMIX_RANK=2", (2, 3)),
        ("PMIX_RANK=2 SLURM_STEP_NUM_TASKS=8", (2, 8)),
        ("PMI_RANK=0 PMI_SIZE=1 SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1", (0, 1)),
        ("SLURM_NTASKS=8 SLURM_PROCID=0 SLURM_JOB_ID=7", None),  # a script that sbatch runs
        ("SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0", None),
        ("SLURM_STEP_NUM_TASKS=8 SLURM_PROCID=3", (3, 8)),  # srun --mpi=none
        (
            "SLURM_STEP_NUM_TASKS=8 SLURM_PROCID=0 SLURM_PTY_PORT=9 SLURM_TASK_PID=1",
            None,
        ),  # a shell
        ("SLURM_STEP_NUM_TASKS=8 SLURM_PTY_PORT=9 SLURM_TASK_PID=OWN", (0, 8)),
    ],
)
def test_variables_of_launchers(variables: str, place: tuple[int, int] | None) -> None:
    own = variables.replace("OWN", str(os.getpid()))
    assert launched(dict(each.split("=") for each in own.split())) == place


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan")])
def test_timeout_is_positive(timeout: float) -> None:
    with pytest.raises(ArgumentError, match="not a positive number of seconds"):
        bc.world(timeout=timeout)


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="needs mpi4py")
@pytest.mark.parametrize("rank", [0, 1])
def test_a_launcher_that_does_not_fit_mpi(rank: int) -> None:
    """Each process is alone for MPI, as under the mpiexec of another library."""
    found = start(0, "programs", SLURM_STEP_NUM_TASKS="4", SLURM_PROCID=str(rank))
    assert found.returncode == 1
    if rank:
        assert "Error" not in found.stderr
    else:
        assert "ArgumentError: The launcher has started 4 processes, but MPI" in found.stderr
        assert "srun --mpi=pmi2" in found.stderr


@pytest.mark.parametrize(
    ("library", "variables", "does"),
    [
        ("MPICH Version: 5.0", "PMI_RANK=0", True),
        ("MPICH Version: 5.0", "OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=a", False),
        ("MPICH Version: 5.0\nMPICH configure: --with-pmix=/usr", "PMIX_NAMESPACE=a", True),
        ("Open MPI v5.0", "OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=a", True),
        ("Open MPI v5.0", "PMI_RANK=0", True),  # it begins, and knows of one process
    ],
)
def test_which_launchers_a_library_can_begin_under(
    library: str, variables: str, does: bool
) -> None:
    assert fits(library, dict(each.split("=") for each in variables.split())) == does
