"""BT and SP of the NAS Parallel Benchmarks: class S with the norms of the benchmark."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import boundary as bc
import ssr
from apps import bt, sp
from apps.npb import flow
from apps.npb.run import begun, main, operator, run
from tests.distribution.ranks import plain_kernels
from tests.distribution.test_mpi import ROOM, ROOT

STEPS = {"BT": bt.step, "SP": sp.step}
LAUNCHER = shutil.which("mpiexec")


@pytest.mark.parametrize("name", STEPS)
def test_class_s(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "found.json"
    monkeypatch.setattr(sys, "argv", [name, "--class", "S", "--json", str(path)])
    main(name, STEPS[name])
    found, known = json.loads(path.read_text()), flow.KNOWN[name]["S"]
    assert found["verified"]
    assert (found["class"], found["steps"], found["ranks"]) == ("S", known["steps"], 1)
    np.testing.assert_allclose(found["xcr"], known["xcr"], rtol=1e-8)
    np.testing.assert_allclose(found["xce"], known["xce"], rtol=1e-8)
    assert found["seconds"] > 0.0
    assert found["mops"] > 0.0


def test_wrong_norms_are_not_verified() -> None:
    @ssr.program(U=flow.states, F=flow.changes, dt=ssr.scalar, h=ssr.scalar)
    def still(U: object, F: object, dt: object, h: object) -> None:
        U[flow.inner] = U[flow.inner] + 0.0 * F  # type: ignore[index]

    assert not run(still.bind, "BT", "S")["verified"]


@pytest.mark.slow
def test_ranks_have_the_bits_of_one_process(tmp_path: Path) -> None:
    """Simulated ranks, and those of mpiexec."""
    found = run(bt.step, "BT", "S")["digest"]
    assert run(bt.step, "BT", "S", bc.simulated(3))["digest"] == found
    for count in (2, 4) if LAUNCHER else ():
        path = tmp_path / f"{count}.json"
        command = [LAUNCHER, "-n", str(count), sys.executable, "-m", "apps.bt", "--json", str(path)]
        subprocess.run(command, check=True, env={**os.environ, **ROOM, "PYTHONPATH": str(ROOT)})
        assert json.loads(path.read_text())["digest"] == found


def test_steps_of_sp_on_ranks() -> None:
    h, made = 1.0 / 4.0, []
    for count in 1, 3:
        U, _ = begun(5, bc.simulated(count))
        F = U.spread.zeros(flow.changes)
        with plain_kernels():
            sp.step(U=U, F=F, dt=0.01, h=h)()
        made.append(U.gather())
    assert np.array_equal(*made)


def test_check_values() -> None:
    """Values at points (3, 5, 7) and (1, 2, 9) that the benchmark's first step has."""
    x, y, z = (n / 11.0 for n in np.ogrid[:12, :12, :12][::-1])
    exact = flow.exact(x, y, z)
    np.testing.assert_allclose(
        flow.initial(x, y, z)[:, 7, 5, 3],
        [
            174.3631615056366,
            15.15984485470945,
            57.21595132013523,
            52.40695186365183,
            543.2135390628,
        ],
        rtol=1e-12,
    )

    R = np.empty((5, 10, 10, 10))
    operator(R, exact, 1.0 / 11.0, -1.0)
    np.testing.assert_allclose(
        R[:, 8, 1, 0],
        [-9.444553992213699, -8.610492326745961, -5.080794572219711, -7.318968536295698,
         5.138097358304075],
        rtol=1e-11,
    )  # fmt: skip
