"""`benchmarks.cores` runs on two ranks and writes what it measures."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from benchmarks import cores

pytestmark = pytest.mark.skipif(
    shutil.which("mpiexec") is None or importlib.util.find_spec("mpi4py") is None,
    reason="needs mpiexec and mpi4py",
)


def test_the_command_writes_what_it_measures(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    cores.main(["--quick", "--cores", "2", "--rounds", "1", "--json", str(path)])
    found = json.loads(path.read_text())["samples"]
    assert {name for name in found["weak"] if name.startswith("2")} == {
        *("2 triads", "2 apart", "2 ranks", "2 threads", "2 alone", "2 simulated")
    }
    assert {name for name in found["strong"] if name.startswith("LU, 2")} == {
        *("LU, 2: one core", "LU, 2: ranks", "LU, 2: threads")
    }
    assert all(min(times) > 0 for part in found.values() for times in part.values())
