"""BT and SP of the NAS Parallel Benchmarks: class S with the norms of the benchmark."""

import json
import os
import shutil
import subprocess
import sys
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from apps import bt, sp
from apps.npb import flow
from apps.npb.run import KNOWN, begun, exact, initial, main, residual, run
from tests.boundary.parallel.ranks import plain_kernels
from tests.boundary.parallel.test_mpi import ROOM, ROOT

STEPS = {"BT": bt.step, "SP": sp.step}
LAUNCHER = shutil.which("mpiexec")


@pytest.mark.parametrize("name", STEPS)
def test_class_s(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "found.json"
    monkeypatch.setattr(sys, "argv", [name, "--class", "S", "--json", str(path)])
    main(name, STEPS[name])
    found, known = json.loads(path.read_text()), KNOWN[name]["S"]
    assert found["verified"]
    assert (found["class"], found["steps"], found["ranks"]) == ("S", known["steps"], 1)
    np.testing.assert_allclose(found["xcr"], known["xcr"], rtol=1e-8)
    np.testing.assert_allclose(found["xce"], known["xce"], rtol=1e-8)
    assert found["seconds"] > 0.0
    assert found["mops"] > 0.0


def test_wrong_norms_are_not_verified() -> None:
    @ssr.program(R=flow.changes, U=flow.states, S=flow.changes, dt=ssr.scalar, h=ssr.scalar)
    def still(R: Any, U: Any, S: Any, dt: Any, h: Any) -> None:
        R[:] = 0.0 * S
        U[flow.inner] = U[flow.inner] + R

    assert not run(still, "BT", "S")["verified"]


@pytest.mark.slow
def test_ranks_have_the_bits_of_one_process(tmp_path: Path) -> None:
    """Simulated ranks, and those of mpiexec: sums of squares have no order, so norms tell bits."""
    norms = itemgetter("xcr", "xce")
    found = norms(run(bt.step, "BT", "S"))
    assert norms(run(bt.step, "BT", "S", bc.simulated_ranks(3))) == found
    if LAUNCHER:
        path = tmp_path / "norms.json"
        command = [LAUNCHER, "-n", "4", sys.executable, "-m", "apps.bt", "--json", str(path)]
        subprocess.run(command, check=True, env={**os.environ, **ROOM, "PYTHONPATH": str(ROOT)})
        assert norms(json.loads(path.read_text())) == found


def test_steps_of_sp_on_ranks() -> None:
    h, made = 1.0 / 4.0, []
    for count in 1, 3:
        U, _ = begun(5, bc.simulated_ranks(count))
        R, S = U.distribution.zeros(flow.changes), U.distribution.zeros(flow.changes)
        with plain_kernels():
            sp.step.bind(R=R, U=U, S=S, dt=0.01, h=h)()
        made.append(U.gather())
    assert np.array_equal(*made)


def test_check_values() -> None:
    """Values at points (3, 5, 7) and (1, 2, 9) that the benchmark's first step has."""
    x, y, z = (n / 11.0 for n in np.ogrid[:12, :12, :12][::-1])
    np.testing.assert_allclose(
        initial(x, y, z)[:, 7, 5, 3],
        [
            174.3631615056366,
            15.15984485470945,
            57.21595132013523,
            52.40695186365183,
            543.2135390628,
        ],
        rtol=1e-12,
    )

    R, zero = np.empty((2, 5, 10, 10, 10))
    zero[...] = 0.0
    residual(R, exact(x, y, z), zero, np.zeros((5, 12, 12, 12)), 1.0 / 11.0)
    np.testing.assert_allclose(
        -R[:, 8, 1, 0],
        [-9.444553992213699, -8.610492326745961, -5.080794572219711, -7.318968536295698,
         5.138097358304075],
        rtol=1e-11,
    )  # fmt: skip
