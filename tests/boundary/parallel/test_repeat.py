"""Runs for many rows of scalars have the bits of calls, on one process and on ranks of MPI."""

from __future__ import annotations

import os
import subprocess
import sys
from copy import deepcopy
from typing import Any

import pytest

import boundary as bc
import ssr
from boundary.parallel.worlds.mpi_functions import way
from boundary.tables.ghosts import Ghosts
from ssr.compiler.names import text_of
from ssr.errors import ArgumentError

from . import repeated
from .test_mpi import ROOM, ROOT, needs_mpi


@pytest.fixture(scope="module")
def alone() -> list[str]:
    return repeated.lines(None, together=False)


@pytest.mark.parametrize("ranks", [None, 1, 3])
def test_repeated_runs_have_the_bits_of_calls(ranks: int | None, alone: list[str]) -> None:
    simulated = None if ranks is None else bc.simulated_ranks(ranks)
    assert repeated.lines(simulated, together=True) == alone


def started(ranks: int, *arguments: str, **environment: str) -> str:
    """Return what a job of `repeated` prints."""
    command = [
        "mpiexec",
        "-n",
        str(ranks),
        sys.executable,
        "-m",
        "tests.boundary.parallel.repeated",
    ]
    done = subprocess.run(
        [*command, *arguments],
        cwd=ROOT,
        env={**os.environ, **ROOM, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_mpi
@pytest.mark.parametrize(
    ("ranks", "calls"), [(2, "shared"), (3, "shared"), (3, "compiled"), (2, "python")]
)
def test_ranks_of_mpi_have_the_bits_of_one_process(
    ranks: int, calls: str, alone: list[str]
) -> None:
    assert started(ranks, BOUNDARY_CALLS=calls).splitlines() == alone


@needs_mpi
def test_codes_of_mpi_become_errors() -> None:
    said = started(2, "fail")
    assert "Messages do not arrive." in said
    assert "truncated" in said


def test_what_carries_messages_is_memory_or_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUNDARY_CALLS", "fortran")
    with pytest.raises(ArgumentError, match="BOUNDARY_CALLS is 'fortran', not one of 'shared', "):
        way()


def test_the_text_of_a_program_does_not_depend_on_places_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All ranks find one kernel, though rows of ghosts are values that live for a step only."""
    wide = repeated.around

    @ssr.program(u=repeated.plane)
    def smooth(u: Any) -> None:
        for n in range(8):
            sides = bc.robin(1.0, n + 1.0, 0.5, axis=0), bc.dirichlet(float(n), axis=1)
            u[:] = ssr.stencil(repeated.plane, wide, repeated.five) @ bc.fill(wide, *sides) @ u

    rows, known = Ghosts.rows, text_of(smooth.ir)
    monkeypatch.setattr(Ghosts, "rows", lambda *given: deepcopy(rows(*given)))
    assert {text_of(smooth.ir) for _ in range(20)} == {known}
