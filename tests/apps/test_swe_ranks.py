"""Shallow water on many ranks: the bits of one process, and constants box by box."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys

import numpy as np
import pytest

import boundary as bc
from apps.swe import cases
from apps.swe.constants import Constants, constants
from apps.swe.ranks import RankSolver
from apps.swe.solver import Solver, program


@pytest.mark.parametrize("n", [8, 13])
def test_constants_of_boxes_are_those_of_the_whole(n: int) -> None:
    case, rng = cases.case("tc5"), np.random.default_rng(n)
    kinds = dict(program(n, case.passive, "linear").signature.kinds)
    functions = Constants(n, case).functions()
    for whole, (name, values) in zip(constants(n, case), functions.items(), strict=True):
        space = getattr(kinds[name], "space", kinds[name])
        extents = space.box({"more": n - 5})
        for _ in range(8):
            box = [np.sort(rng.choice(np.arange(a, b + 1), 2, replace=False)) for a, b in extents]
            inside = [slice(*(edge - a)) for edge, (a, _) in zip(box, extents, strict=True)]
            part = whole[(..., *inside)]
            found = values(*np.ogrid[tuple(slice(*edge) for edge in box)])
            assert np.array_equal(np.broadcast_to(found, part.shape), part)


@pytest.mark.parametrize(
    ("ranks", "cut"), [(1, None), (4, None), (6, None), (24, (2, 2)), (5, (1, 2))]
)
def test_steps_have_the_bits_of_one_process(ranks: int, cut: tuple[int, int] | None) -> None:
    case, n = cases.case("tc5"), 12
    alone = Solver(n, case)
    spread = RankSolver(n, case, ranks=bc.simulated(ranks), cut=cut)
    assert np.array_equal(spread.state.gather(), alone.state)
    for _ in range(2):
        alone.step(case.dt(n))
        spread.step(case.dt(n))
    assert np.array_equal(spread.state.gather(), alone.state)


@pytest.mark.skipif(
    shutil.which("mpiexec") is None or importlib.util.find_spec("mpi4py") is None,
    reason="needs mpiexec and mpi4py",
)
def test_ranks_of_mpi_print_one_digest() -> None:
    command = [sys.executable, "-m", "apps.swe.ranks", "--n", "12", "--steps", "2"]
    alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for ranks in "2", "3":
        launch = ["mpiexec", "-n", ranks, *command]
        found = subprocess.run(launch, capture_output=True, text=True, check=True, timeout=300)
        assert found.stdout == alone
