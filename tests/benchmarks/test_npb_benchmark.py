"""The benchmark of solves along lines runs, and ours agree with Fortran; times are not tested."""

import json
from pathlib import Path

import pytest

from benchmarks import npb


@pytest.mark.fortran
@pytest.mark.slow
def test_the_benchmark_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, only = tmp_path / "bench.json", ["band-3-x", "band-5-z", "blocks-y"]
    npb.main(["--quick", "--json", str(path), "--only", *only])
    found = json.loads(path.read_text(encoding="utf-8"))
    for name in only:
        assert max(found["cases"][name]["distances"].values()) < 1e-12
