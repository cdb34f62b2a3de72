"""BT and SP of the NAS Parallel Benchmarks: class S with the norms of the benchmark."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import ssr
from apps import bt, sp
from apps.npb import flow
from apps.npb.run import main, run

STEPS = {"BT": bt.step, "SP": sp.step}


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


def test_wrong_norms_are_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    @ssr.program(U=flow.states, F=flow.changes, dt=ssr.scalar, h=ssr.scalar)
    def still(U: object, F: object, dt: object, h: object) -> None:
        U[flow.inner] = U[flow.inner] + 0.0 * F  # type: ignore[index]

    assert not run(still, "BT", "S")["verified"]


def test_check_values() -> None:
    """Values at points (3, 5, 7) and (1, 2, 9) that the benchmark's first step has."""
    U, exact = flow.initial(12)
    np.testing.assert_allclose(
        U[:, 7, 5, 3],
        [
            174.3631615056366,
            15.15984485470945,
            57.21595132013523,
            52.40695186365183,
            543.2135390628,
        ],
        rtol=1e-12,
    )

    @ssr.program(R=flow.changes, U=flow.states, h=ssr.scalar)
    def operator(R: object, U: object, h: object) -> None:
        R[:] = flow.spatial(U, h)  # type: ignore[index]

    R = np.empty((5, 10, 10, 10))
    operator(R, exact, 1.0 / 11.0)
    np.testing.assert_allclose(
        -R[:, 8, 1, 0],
        [-9.444553992213699, -8.610492326745961, -5.080794572219711, -7.318968536295698,
         5.138097358304075],
        rtol=1e-11,
    )  # fmt: skip
