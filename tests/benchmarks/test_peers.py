"""First programs agree with what users of Numba write; times are not tested."""

import json
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.peers import in_numba
from benchmarks.peers.__main__ import cases


@pytest.mark.slow
def test_programs_agree(tmp_path: Path) -> None:
    path = tmp_path / "peers.json"
    known = dict(cases({"numba": in_numba}))
    left = "wave-ghosts-float64", "points27-256-float64"  # of the small size it equals another
    only = [name for name in known if name.endswith("float64") and name not in left]
    report.main(known, {}, ["--quick", "--json", str(path), "--only", *only])
    found = json.loads(path.read_text(encoding="utf-8"))
    assert all(found["cases"][name]["distances"]["numba"] < 1e-12 for name in only)
