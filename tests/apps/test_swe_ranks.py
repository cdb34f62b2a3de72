"""Shallow water on many ranks: the bits of one process, and constants box by box."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import boundary as bc
from apps.swe import cases
from apps.swe.constants import Constants, constants
from apps.swe.ranks import RankSolver
from apps.swe.solver import Solver


def ranges(box: list[tuple[int, int]]) -> list[np.ndarray]:  # type: ignore[type-arg]
    return list(np.ogrid[tuple(slice(*edge) for edge in box)])


@pytest.mark.parametrize("n", [8, 13])
def test_constants_of_boxes_are_those_of_the_whole(n: int) -> None:
    case = cases.case("tc5")
    known = Constants(n, case)
    rng = np.random.default_rng(n)
    for whole, values in zip(constants(n, case), known.functions().values(), strict=True):
        lower = -3 if whole.shape[-1] == n + 6 else 0
        extents = whole.shape[-(2 if len(whole) == 9 else whole.ndim) :]
        extents = whole.shape[1:] if whole.ndim == len(extents) and whole.shape[0] in (2, 9) else extents
        for _ in range(8):
            cut = [np.sort(rng.choice(m + 1, 2, replace=False)) for m in extents]
            firsts = [lower if m == n + 6 else 0 for m in extents]
            box = [(int(a + f), int(b + f)) for (a, b), f in zip(cut, firsts, strict=True)]
            part = whole[(..., *(slice(a, b) for a, b in cut))]
            found = values(*ranges(box))
            assert np.array_equal(np.broadcast_to(found, part.shape), part)


@pytest.mark.parametrize(("ranks", "cut"), [(1, None), (4, None), (6, None), (24, (2, 2)), (5, (1, 2))])
def test_steps_have_the_bits_of_one_process(ranks: int, cut: tuple[int, int] | None) -> None:
    case, n = cases.case("tc5"), 12
    alone = Solver(n, case)
    spread = RankSolver(n, case, ranks=bc.simulated(ranks), cut=cut)
    assert np.array_equal(spread.state.gather(), alone.state)
    for _ in range(2):
        alone.step(case.dt(n))
        spread.step(case.dt(n))
    assert np.array_equal(spread.state.gather(), alone.state)


def test_ranks_of_mpi_print_one_digest() -> None:
    command = [sys.executable, "-m", "apps.swe.ranks", "--n", "12", "--steps", "2"]
    mpiexec = [sys.executable.replace("python", "mpiexec"), "-n"]
    alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for ranks in "2", "3":
        found = subprocess.run([*mpiexec, ranks, *command], capture_output=True, text=True, check=True)
        assert found.stdout == alone
