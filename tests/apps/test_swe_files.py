"""Files: checkpoints that survive, output that xarray reads, pictures."""

import math
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssr
from apps.swe import cases, conventions, geometry, plot
from apps.swe.cases import DAY, at_centres
from apps.swe.checkpoint import Setting, load
from apps.swe.constants import Constants
from apps.swe.output import check, read, writer
from apps.swe.run import Run
from tests.apps.swe_oracle import FieldSolver

SETTING = Setting("tc5", 8, 1200.0, weights="weno")


def written(path: Path, setting: Any = None, **clock: Any) -> bytes:
    """Write a checkpoint with some data, and return its bytes."""
    about = {"setting": asdict(SETTING) if setting is None else setting}
    state = np.random.default_rng(7).random((3, 6, 8, 8))
    ssr.output.save(path, {"state": state}, {**about, "simulation": clock})
    return path.read_bytes()


def test_a_checkpoint_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "there"
    made = Run(SETTING, FieldSolver.of, 8400.0, checkpoint=path)
    made.run()
    found = load(path)
    assert found.setting == SETTING
    assert (found.step, found.seconds) == (7, 8400.0)
    assert np.array_equal(found.file.fields["state"], made.solver.state.gather())


def test_foreign_checkpoints_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "there"
    ssr.output.save(path, {"state": np.zeros(3)}, {"setting": asdict(SETTING)})
    with pytest.raises(ssr.errors.CheckpointError, match="does not describe a run"):
        load(path)
    ssr.output.save(path, {"state": np.zeros(3)}, {})
    with pytest.raises(ssr.errors.CheckpointError, match="does not describe a run"):
        load(path)
    written(path, asdict(SETTING) | {"n": 9}, steps=7, time=8400.0)
    with pytest.raises(ssr.errors.CheckpointError, match="does not describe a run"):
        load(path)
    with pytest.raises(ssr.errors.CheckpointError, match="cannot be read: No such file"):
        load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "change",
    [{"case": "tc9"}, {"case": []}, {"n": 8.0}, {"n": 0}, {"n": "8"}, {"dt": 0}, {"dt": None},
     {"dt": "x"}, {"dt": math.nan}, {"dt": 10**400}, {"angle": [1]}, {"weights": "foo"},
     {"other": 1}],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    check_refused(asdict(SETTING) | change, {"steps": 7, "time": 8400.0}, tmp_path)


@pytest.mark.parametrize(
    "change",
    [{"steps": -1}, {"steps": 2.5}, {"steps": True}, {"time": None}, {"time": -1.0}],
)
def test_clocks_that_make_no_sense_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    check_refused(asdict(SETTING), {"steps": 7, "time": 8400.0} | change, tmp_path)
    check_refused([], {"steps": 7, "time": 8400.0}, tmp_path)


def check_refused(setting: Any, clock: dict[str, Any], folder: Path) -> None:
    """Check that a whole checkpoint is refused for its data."""
    written(folder / "there", setting, **clock)
    with pytest.raises(ssr.errors.CheckpointError, match="does not describe a run of this program"):
        load(folder / "there")


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_output_is_read_by_xarray(suffix: str, tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    path = tmp_path / "new" / f"run{suffix}"
    run = Run(SETTING, FieldSolver.of, DAY / 4, every=7200.0)
    out = writer(path, run, "a command")
    result = run.run(lambda report: out.write(report.seconds))
    with xarray.open_dataset(path) as file:
        assert dict(file.sizes) == {"time": 4, "panel": 6, "y": 8, "x": 8, "corner": 4}
        hours = (file.time - file.time[0]).values / np.timedelta64(1, "h")
        assert hours.tolist() == [0, 2, 4, 6]
        assert file.attrs["Conventions"].startswith("CF-1.")
        assert "a command" in file.attrs["history"]
        assert file.attrs["version"]
        named = [*file.variables, *file.sizes]
        assert len({name.lower() for name in named}) == len(set(named))  # CF conventions, 2.3
        last = result.last.values
        for name, field in ("depth", last.h), ("height", last.H), ("zeta", last.zeta):
            found = field.gather()
            assert (file[name][-1].values == found).all()
        assert file.height.attrs["units"] == "m"
        assert file.zeta.attrs["standard_name"] == "atmosphere_relative_vorticity"
        assert file.lon.attrs["units"] == "degrees_east"
        lon = np.deg2rad(file.lon.values)
        expected = at_centres(lambda lon, lat: lon, 8)
        np.testing.assert_allclose(lon, expected, rtol=1e-12)
        surface = file.depth + file.bottom
        np.testing.assert_allclose(surface, file.height, rtol=1e-14)
        assert float(file.cell_area.sum()) == pytest.approx(4 * np.pi * 6.37122e6**2, rel=1e-8)
        wind = cases.tc5().wind(lon, np.deg2rad(file.lat.values))
        np.testing.assert_allclose([file.u[0], file.v[0]], wind, atol=0.3)


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes")
@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_a_name_that_is_not_utf8(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/run\xff." + suffix.encode()))
    out = writer(path, Run(SETTING, FieldSolver.of, 1200.0), f"--output {path}")
    out.write(0.0)
    out.write(60.0)
    with read(path) as file:
        assert file.sizes["time"] == 2
        assert file.attrs["command"] == f"--output {tmp_path}/run\\udcff.{suffix}"


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_two_runs_do_not_write_one_file(suffix: str, tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    path = tmp_path / f"run{suffix}"
    run = Run(SETTING, FieldSolver.of, 1200.0)
    one, other = (writer(path, run, "") for _ in range(2))
    one.write(0.0)
    one.write(60.0)
    other.write(0.0)
    with pytest.raises(ssr.errors.OutputError, match="no longer the file"):
        one.write(120.0)
    other.write(60.0)
    with xarray.open_dataset(path) as file:
        assert file.sizes["time"] == 2
    assert list(tmp_path.iterdir()) == [path]


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    path = tmp_path / "run.nc"
    writer(path, Run(SETTING, FieldSolver.of, 1200.0), "").write(0.0)
    with xarray.open_dataset(path, decode_times=False) as file:
        whole = file.load()
    for foreign in whole.drop_attrs(), whole.isel(panel=slice(0, 2)), whole.drop_vars("time"):
        foreign.to_netcdf(path, engine="h5netcdf")
        refused = pytest.raises(ssr.errors.OutputError, match="not a file of a shallow-water run")
        with refused, read(path):
            pass
    whole.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(ssr.errors.OutputError, match=r"run\.nc cannot be read") as e, read(path):
        raise RuntimeError("metadata\nchecksum")  # what HDF5 says while values are read
    assert e.value.note == "metadata checksum"


def test_bounds_surround_the_cells() -> None:
    n = 8
    lon, lat = conventions.bounds(Constants(n, cases.case("tc2")), *np.ogrid[:6, :n, :n])
    place = geometry.position(geometry.PANELS, *geometry.grid(n))
    r = plot.unit(lon, lat)
    middle = r.sum(axis=-1)
    middle /= np.linalg.norm(middle, axis=0)
    assert np.linalg.norm(middle - place, axis=0).max() < 0.01
    following = np.roll(r, -1, axis=-1)
    turn = np.einsum("r...c,r...->...c", np.cross(r, following, axis=0), place)
    assert (turn > 0).all()


def test_output_names_and_old_files(tmp_path: Path) -> None:
    with pytest.raises(ssr.errors.OutputError, match="no known format"):
        check(tmp_path / "run.txt")
    old = tmp_path / "run.nc"
    old.touch()
    with pytest.raises(ssr.errors.OutputError, match="exists already"):
        check(old, fresh=False)
    with pytest.raises(ssr.errors.OutputError, match="does not exist"), read(tmp_path / "none.nc"):
        pass
    pytest.importorskip("h5netcdf")
    with pytest.raises(ssr.errors.OutputError, match="cannot be read"), read(old):
        pass


def smooth(r: np.ndarray) -> np.ndarray:
    value: np.ndarray = r[0] + 0.5 * r[1] * r[2]
    return value


def test_samples_are_of_second_order_everywhere() -> None:
    r = np.random.default_rng(2).normal(size=(3, 3000))
    r /= np.linalg.norm(r, axis=0)
    errors = []
    for n in 16, 32:
        field = smooth(geometry.position(geometry.PANELS, *geometry.grid(n)))
        errors.append(
            np.abs(plot.sample(field, r, plot.Points(geometry.centres(n), 1)) - smooth(r)).max()
        )
    assert errors[1] < 2e-3
    assert 3.0 < errors[0] / errors[1] < 6.0


def test_edges_lie_between_panels() -> None:
    lines = plot.edge_lines()
    assert len(lines) == 12
    for line in lines:
        distances = np.sort(np.einsum("pr,rt->pt", geometry.MATRICES[:, :, 0], line), axis=0)
        np.testing.assert_allclose(distances[-1], distances[-2], atol=1e-14)


def test_rounding_is_not_drawn() -> None:
    pytest.importorskip("matplotlib")
    level = 6000.0 + 1e-12 * np.arange(6 * 64).reshape(6, 8, 8)
    flat = plot._heights(level)
    assert flat.high - flat.low > 1
    assert not flat.levels.size
    assert plot._vorticities(1e-20 * level).high == plot.STILL
    bell = plot._heights(np.linspace(-50.0, 700.0, 6 * 64))
    assert bell.levels.size > 5
    assert 0.0 not in bell.levels


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("matplotlib.image")
    field = smooth(geometry.position(geometry.PANELS, *geometry.grid(8)))
    points, shown = plot.Points(geometry.centres(8), 1), []
    for edges in False, True:
        path = tmp_path / "new" / f"{edges}.png"
        plot.draw(plot.Picture(field, 0 * field, points, "a title"), path, edges=edges)
        shown.append(image.imread(path))
    assert shown[0].shape == shown[1].shape
    assert (shown[0] != shown[1]).any()
    assert np.ptp(shown[0]) > 0.5
