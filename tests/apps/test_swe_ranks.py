"""Shallow water on many ranks: the bits of one process, constants box by box, files, failures."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundary as bc
from apps.swe import cases, geometry
from apps.swe.__main__ import main
from apps.swe.checkpoint import load
from apps.swe.constants import Constants
from apps.swe.volumes import Volumes, program
from tests.apps.swe_oracle import FieldSolver, lines
from tests.boundary.parallel.test_messages import OneOfMany


@pytest.mark.parametrize("n", [8, 13])
def test_constants_of_boxes_are_those_of_the_whole(n: int) -> None:
    case, rng = cases.case("tc5"), np.random.default_rng(n)
    functions = Constants(n, case).functions()
    for name, field in Volumes(n, case).constants.items():
        extents = field.space.box({"more": n - 5})
        for _ in range(8):
            box = [np.sort(rng.choice(np.arange(a, b + 1), 2, replace=False)) for a, b in extents]
            part = field.gather(box=[tuple(edge) for edge in box])
            found = functions[name](*np.ogrid[tuple(slice(*edge) for edge in box)])
            assert np.array_equal(np.broadcast_to(found, part.shape), part)


@pytest.mark.parametrize(
    ("ranks", "cut"), [(1, None), (4, None), (6, None), (24, (2, 2)), (5, (1, 2))]
)
def test_steps_have_the_bits_of_one_process(ranks: int, cut: tuple[int, int] | None) -> None:
    case, n = cases.case("tc5"), 12
    alone, spread = Volumes(n, case), Volumes(n, case, ranks=bc.simulated_ranks(ranks), cut=cut)
    assert np.array_equal(spread.state.gather(), alone.state.gather())
    for _ in range(2):
        alone.step(case.dt(n))
        spread.step(case.dt(n))
    assert np.array_equal(spread.state.gather(), alone.state.gather())


def test_no_rank_holds_the_whole() -> None:
    """Of 14 fields of the sphere and 13 of a panel, 51 MB, a rank of 64 holds a twentieth."""
    case, n = cases.case("tc5"), 256
    Volumes(8, case)  # what is made once for all sizes
    tracemalloc.start()
    made = Volumes(n, case, ranks=OneOfMany(64, 27))
    used, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(values.size for _, values in made.state.parts()) == 3 * 6 * n**2 // 64
    assert used < 3e6
    assert most < 8e6


@pytest.mark.parametrize("n", [8, 13])
def test_messages_of_a_stage_are_those_counted_point_by_point(n: int) -> None:
    """With a panel on each rank: what ghosts are interpolated from, and fluxes through edges."""
    first, _ = geometry.interpolation(n)
    stage, known = (
        program(n, False, "linear"),
        Volumes(n, cases.case("tc5"), ranks=bc.simulated_ranks(6)),
    )
    on, fields = known.on, known.constants
    kinds = dict(stage.signature.kinds)
    run = stage.bind(known.state, on.zeros(kinds["V"]), **fields, per=1.0, a=0.0, dt=1.0)
    run()  # constants are sent once
    numbers = np.arange(6 * n * n).reshape(6, n, n)
    for panel in range(6):
        values = messages = 0
        for side in geometry.SIDES:
            other = geometry.link(panel, side)
            inward = lines(numbers[other.panel], other.side, 3)
            taps = first[..., None] + np.arange(6)
            read = {inward[k, t] for k in range(3) for t in taps[k].ravel()}
            values += 3 * len(read) + n
            messages += 2
        assert run.schedule.bytes(panel) == 8 * values
        assert run.schedule.messages(panel) == messages


# -- files ---------------------------------------------------------------------------------------


def simulated_ranks(ranks: int | None) -> Any:
    """Return what makes the solver of the tests on some ranks."""
    world = None if ranks is None else bc.simulated_ranks(ranks)
    return lambda setting: FieldSolver.of(setting, world)


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_files_do_not_depend_on_ranks(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chunks are smaller than panels, and the boxes of ranks none of both."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    monkeypatch.setattr("apps.swe.output.SIDES", {"panel": 1, "y": 5, "x": 5})
    found = {}
    for ranks in None, 4, 13:
        path = tmp_path / f"on-{ranks}.{suffix}"
        options = f"--case tc5 --n 8 --steps 3 --every 0.5 --output {path}"
        assert main(options.split(), simulated_ranks(ranks)) == 0
        found[ranks] = xarray.load_dataset(path).drop_attrs(deep=False)
        assert found[ranks].sizes["time"] == 4
    assert found[None].identical(found[4])
    assert found[None].identical(found[13])
    if suffix == "zarr":
        names = [
            sorted(str(file.relative_to(folder)) for file in folder.rglob("*"))
            for folder in (tmp_path / "on-None.zarr", tmp_path / "on-13.zarr")
        ]
        assert names[0] == names[1]


def test_a_run_goes_on_with_other_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start, numbers = tmp_path / "start", tmp_path / "numbers.json"
    options = f"--case tc5 --n 8 --steps 9 --digest --json {numbers}"
    assert main(options.split(), simulated_ranks(None)) == 0
    whole, told = capsys.readouterr().out, json.loads(numbers.read_text())
    assert main(f"--case tc5 --n 8 --steps 4 --checkpoint {start}".split(), simulated_ranks(3)) == 0
    for ranks in 2, 7:
        capsys.readouterr()
        options = f"--restart {start} --steps 9 --digest --json {numbers}"
        assert main(options.split(), simulated_ranks(ranks)) == 0
        assert capsys.readouterr().out == whole
        found = json.loads(numbers.read_text())
        assert found.pop("ranks") == ranks
        for name, value in found.items():
            if name not in ("wall_s", "compile_s", "ms_per_step", "cell_updates_per_s"):
                assert value == told[name], name


# -- MPI -----------------------------------------------------------------------------------------

needs_mpi = pytest.mark.skipif(
    shutil.which("mpiexec") is None or importlib.util.find_spec("mpi4py") is None,
    reason="needs mpiexec and mpi4py",
)
COMMAND = [sys.executable, "-m", "apps.swe", "--case", "tc5", "--n", "12"]


def launched(ranks: int, *options: object, **how: Any) -> subprocess.CompletedProcess[str]:
    """Run the command on ranks of MPI."""
    launch = ["mpiexec", "-n", str(ranks), *COMMAND, *map(str, options)]
    return subprocess.run(launch, capture_output=True, text=True, timeout=300, **how)


@needs_mpi
def test_ranks_of_mpi_print_one_digest(tmp_path: Path) -> None:
    command = [*COMMAND, "--steps", "4", "--digest"]
    alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert len(alone) == 65
    start = tmp_path / "start"
    assert launched(3, "--steps", 4, "--digest").stdout == alone
    assert launched(3, "--steps", 2, "--checkpoint", start).returncode == 0
    again = [sys.executable, "-m", "apps.swe", "--restart", str(start), "--steps", "4", "--digest"]
    found = subprocess.run(
        ["mpiexec", "-n", "2", *again], capture_output=True, text=True, timeout=300
    )
    assert found.stdout == alone


@needs_mpi
def test_mistakes_are_told_once(tmp_path: Path) -> None:
    path = tmp_path / "nowhere"
    for options, text in (
        (("--restart", path), f"error: {path} cannot be read: No such file or directory.\n"),
        (("--dt", "9000", "--steps", 3), "error: The run stops at step 0: panel"),
    ):
        found = launched(3, *options)
        assert found.returncode != 0
        assert found.stderr.count("error: ") == 1, found.stderr
        assert text in found.stderr
        assert "Traceback" not in found.stderr


def process_of_a_rank(mark: str) -> int:
    """Return a process of Python, not of a launcher, whose arguments hold a text."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
            if b"python" in arguments[0] and any(mark.encode() in a for a in arguments):
                return int(folder.name)
    raise AssertionError("no rank is running")


@needs_mpi
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("how", ["Ctrl-C", "kill -9"])
def test_what_ends_a_run_leaves_a_whole_checkpoint(how: str, tmp_path: Path) -> None:
    path = tmp_path / "there"
    options = ["--dt", "100", "--days", "1000", "--every", "1", "--checkpoint", str(path)]
    launch = ["mpiexec", "-n", "2", *COMMAND, *options]
    with subprocess.Popen(launch, stderr=subprocess.PIPE, text=True) as process:
        began = time.monotonic()
        while not path.exists():
            assert process.poll() is None
            assert time.monotonic() - began < 200
            time.sleep(0.05)
        if how == "Ctrl-C":
            process.send_signal(signal.SIGINT)
        else:
            os.kill(process_of_a_rank(str(path)), signal.SIGKILL)
        told = process.communicate(timeout=60)[1]
    assert process.returncode != 0
    assert (f"is in {path}" in told) == (how == "Ctrl-C")
    assert load(path).step % 36 == 0 or how == "Ctrl-C"
