"""The benchmark of solves along lines runs, and ours agree with Fortran; times are not tested."""

import json
from pathlib import Path

import numpy as np
import pytest

from apps.npb.flow import changes
from apps.npb.run import KNOWN, begun, residual
from benchmarks import npb


@pytest.mark.fortran
@pytest.mark.slow
def test_the_benchmark_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, only = tmp_path / "bench.json", ["band-3-x", "band-5-z", "blocks-y", "lu-W"]
    npb.main(["--quick", "--json", str(path), "--only", *only])
    found = json.loads(path.read_text(encoding="utf-8"))
    for name in only:
        assert max(found["cases"][name]["distances"].values()) < 1e-12


@pytest.mark.fortran
@pytest.mark.parametrize("name", ["BT", "SP", "LU"])
def test_fortran_has_the_norms_of_the_benchmark(name: str) -> None:
    known, h = KNOWN[name]["S"], 1.0 / 11.0
    U, solution = begun(12)
    R, S = (U.distribution.zeros(changes) for _ in range(2))
    residual(S, solution, R, U, h)
    for build, candidate in npb.BY_HAND[name](known["dt"], U, S).items():
        for _ in range(known["steps"]):
            candidate.call()
        U.set(candidate.result())
        norms = [(s / 1000.0) ** 0.5 for s in residual(R, U, S, solution, h)]
        np.testing.assert_allclose(norms, known["xcr"] + known["xce"], rtol=1e-8, err_msg=build)
