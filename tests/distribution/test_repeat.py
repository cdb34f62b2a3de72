"""Runs for many rows of scalars have the bits of calls, on one process and on ranks of MPI."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import boundary as bc

from . import repeated
from .test_mpi import ROOM, ROOT, needs_mpi


@pytest.fixture(scope="module")
def alone() -> list[str]:
    return repeated.lines(None, together=False)


@pytest.mark.parametrize("ranks", [None, 1, 3])
def test_repeated_runs_have_the_bits_of_calls(ranks: int | None, alone: list[str]) -> None:
    simulated = None if ranks is None else bc.simulated(ranks)
    assert repeated.lines(simulated, together=True) == alone


@needs_mpi
@pytest.mark.parametrize(("ranks", "calls"), [(2, "compiled"), (3, "compiled"), (2, "python")])
def test_ranks_of_mpi_have_the_bits_of_one_process(
    ranks: int, calls: str, alone: list[str]
) -> None:
    command = ["mpiexec", "-n", str(ranks), sys.executable, "-m", "tests.distribution.repeated"]
    variables = {**os.environ, **ROOM, "PYTHONPATH": str(ROOT), "BOUNDARY_CALLS": calls}
    done = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == alone
