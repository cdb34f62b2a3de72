"""`benchmarks.scaling` measures on two ranks, simulates, and compares both."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import timing
from benchmarks.scaling import tables
from benchmarks.scaling.__main__ import main
from benchmarks.scaling.compare import ideal, steps

needs_mpi = pytest.mark.skipif(
    shutil.which("mpiexec") is None or importlib.util.find_spec("mpi4py") is None,
    reason="needs mpiexec and mpi4py",
)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("simulated") / "simulated.json"
    only = "--only", "shallow water"
    main(["--simulate", str(path), *only, "--tiny", "--ranks", "6", "24"])
    return path


def test_counts_do_not_depend_on_times(simulated: Path) -> None:
    found = json.loads(simulated.read_text())["problems"]["shallow water"]
    counts = found["6"]["counts"]
    assert counts["neighbors"] == 4  # a panel for each rank
    assert counts["messages of all"] == 6 * 4 * counts["exchanges"]
    assert counts["unmerged messages of all"] > counts["messages of all"]
    assert counts["bytes of all"] == 6 * counts["bytes"]


def test_bands_contain_the_middle(simulated: Path) -> None:
    found = json.loads(simulated.read_text())["problems"]["shallow water"]["24"]["simulated"]
    assert found["fastest"]["fast"] < found["fastest"]["middle"] < found["fastest"]["slow"]
    assert min(found["drawn"]["slow"]) > found["fastest"]["fast"]
    assert re.match("(latency|overhead|gap), [0-9]+ %$", tables.decisive(found["parameters"]))


def test_tables_and_picture(simulated: Path, tmp_path: Path) -> None:
    found = json.loads(simulated.read_text())
    ranks = found["problems"]["shallow water"]
    ranks["1344"] = ranks.pop("24")  # of tiny grids there are not so many boxes
    simulated = tmp_path / "simulated.json"
    simulated.write_text(json.dumps(found))
    main(["--tables", str(tmp_path), str(simulated)])
    for name in "scaling", "scaling-counts", "scaling-checks":
        found = json.loads((tmp_path / f"{name}.json").read_text())
        assert all(row.keys() <= found["columns"].keys() for row in found["rows"])
    assert found["rows"][0]["reference"] == "0.72 to 0.88, published"
    pytest.importorskip("matplotlib")
    main(["--plot", str(tmp_path / "scaling.png"), str(simulated)])
    assert (tmp_path / "scaling.png").stat().st_size > 10_000


@needs_mpi
@pytest.mark.parametrize("problem", ["shallow water", pytest.param("HPCG", marks=pytest.mark.slow)])
def test_two_ranks_measure(
    problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "measured.json"
    command = [sys.executable, "-m", "benchmarks.scaling", "--measure", str(path)]
    given = "--tiny", "--rounds", "3", "--only", problem
    subprocess.run(
        ["mpiexec", "-n", "2", *command, *given],
        check=True,
        cwd=timing.ROOT,
        stdout=subprocess.DEVNULL,
    )
    found: dict[str, Any] = json.loads(path.read_text())
    assert found["job"]["ranks"] == 2
    one = found["problems"][problem]
    assert [len(times) for times in one["steps"]] == [3, 3]
    assert len(steps(one)) == 3
    assert ideal(one) > 0
    assert set(one["simulated"]["drawn"]) == {"fast", "middle", "slow", "measured"}
    main(["--compare", str(path)])
    assert "simulated, measured network" in capsys.readouterr().out


def test_a_measurement_needs_ranks(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="mpiexec"):
        main(["--measure", str(tmp_path / "measured.json")])
