"""The benchmark of our kernels runs, and says what it should; its numbers are not looked at."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import hpcg, programs, report
from benchmarks import ssr as benchmark
from benchmarks.cases import CASES, Candidate, builds, disagreement
from benchmarks.timing import Timing

PARTS = ["overhead", "sizes"]


@pytest.mark.fortran
@pytest.mark.slow
def test_the_benchmark_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bench.json"
    only = ["jacobi5-2048", "startup", *PARTS]
    benchmark.main(["--quick", "--json", str(path), "--only", *only])
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found.keys() == {"machine", "load", "cases", "startup", *PARTS}
    assert found["machine"]["numba"]
    case = found["cases"]["jacobi5-2048"]
    assert {"shape", "bytes_per_point", "bound_seconds", "distances", "timings"} <= case.keys()
    names = [one["name"] for one in case["timings"]["timings"]]
    assert names[0] == "ours"
    assert names[-1] == "triad"
    assert set(names) >= {b for goal in ("natural", "tuned") for b in builds(goal)}
    assert case["goals"].keys() == {"natural", "tuned"}
    assert case["goals"]["natural"].keys() == {"limit", "against", "ratio", "met"}
    assert max(case["distances"].values()) < 1e-12
    kinds = {f"{kind} {state}" for kind in ("ours", "hand") for state in ("cold", "warm")}
    assert found["startup"]["jacobi5"].keys() == {"lower", *kinds}
    assert found["sizes"]["jacobi5"]["kernels"] == 1
    assert "A.apply(x, out=y)" in found["overhead"]["seconds"]
    assert "ours: compact NumPy arrays" in capsys.readouterr().out


@pytest.mark.fortran
@pytest.mark.slow
def test_programs_equal_their_references(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    only = ["chain5-4096", "cg7-128", "galerkin-1024", "euler-512"]
    programs.main(["--quick", "--json", str(path), "--only", *only])
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    for case in cases.values():
        assert max(case["distances"].values()) < 1e-12
    assert cases["chain5-4096"]["goals"].keys() == {"natural", "tuned"}
    assert cases["galerkin-1024"]["goals"].keys() == {"factors"}


@pytest.mark.fortran
@pytest.mark.slow
def test_hpcg_equals_its_references(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    hpcg.main(["--quick", "--json", str(path)])
    found = json.loads(path.read_text(encoding="utf-8"))
    assert max(found["cases"]["hpcg-104"]["distances"].values()) < 1e-12
    assert max(found["kinds"]["distances"].values()) < 1e-11
    assert found["kinds"]["seconds"].keys() == {"ours", "tuned", "CSR"}


def test_unknown_parts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        benchmark.main(["--only", "spmv"])
    assert "no such part: spmv" in capsys.readouterr().err


def test_the_faster_build_counts() -> None:
    times = {"ours": 2.0, "natural O3": 4.0, "natural Ofast": 3.0, "natural wide": 1.0}
    timings = tuple(Timing(name, (value,) * 3) for name, value in {**times, "triad": 1.0}.items())
    case = CASES["jacobi5-2048"]
    result = report.Result(case, (10, 10), timings, {})
    assert result.against("natural") == ("natural Ofast", 2 / 3)
    assert result.bandwidth == 32 * 100
    assert result.bound == case.moved / 32


def test_disagreement_is_found() -> None:
    def candidate(value: float) -> Candidate:
        return Candidate(lambda: None, lambda: np.array([1.0, value]))

    assert disagreement({"ours": candidate(2.0), "a": candidate(2.0 + 1e-13)})["a"] < 1e-13
    with pytest.raises(ArithmeticError, match=r"^a differs from ours by 5\.0e-01\.$"):
        disagreement({"ours": candidate(2.0), "a": candidate(3.0)})
    with pytest.raises(ArithmeticError, match=r"^a differs from ours by nan\.$"):
        disagreement({"ours": candidate(2.0), "a": candidate(np.nan)})
